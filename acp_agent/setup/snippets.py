"""What an editor's configuration needs so that it starts Bob: the one place where these texts stand.

`acp-agent init` prints them with the command in use; docs/editors/ and the README show them for a plain `acp-agent`,
and a test compares. Deliberately absent: editing anybody's configuration, which is theirs and may hold anything.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

EXECUTABLE: Final = "acp-agent"


@dataclass(frozen=True, slots=True)
class Command:
    """What an editor runs: a program and its arguments, the first of them up to and with `serve`."""

    program: str
    arguments: tuple[str, ...] = ("serve",)


@dataclass(frozen=True, slots=True)
class Snippet:
    """One editor's configuration.

    page: its page is docs/editors/<page>.md. where: the file the text belongs into. language: as a Markdown fence names
    it; it also says how the command is quoted."""

    editor: str
    page: str
    where: str
    language: str
    template: str

    def text(self, command: Command) -> str:
        """The configuration for this command, without a final newline."""
        quote, join = _LANGUAGES[self.language]
        words = {
            "program": quote(command.program),
            "arguments": join.join(quote(one) for one in command.arguments),
            "all": join.join(quote(one) for one in (command.program, *command.arguments)),
        }
        # One pass: a path may hold anything, a placeholder's name too.
        return re.sub("@(program|arguments|all)@", lambda found: words[found[1]], self.template)


def _as_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _as_lua_or_lisp(text: str) -> str:
    """Both end a text at a quotation mark and begin an escape with a backslash; a line feed is \\n in both."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


_LANGUAGES: Final[Mapping[str, tuple[Callable[[str], str], str]]] = {
    "json": (_as_json, ", "),
    "lua": (_as_lua_or_lisp, ", "),
    "elisp": (_as_lua_or_lisp, " "),
}

ZED: Final = Snippet(
    editor="Zed",
    page="zed",
    where="settings.json (command palette: `zed: open settings file`)",
    language="json",
    template=(
        '{ "agent_servers": { "Bob": { "type": "custom", "command": @program@, "args": [@arguments@], "env": {} } } }'
    ),
)

JETBRAINS: Final = Snippet(
    editor="JetBrains IDEs",
    page="jetbrains",
    where="~/.jetbrains/acp.json (AI Chat: Add Custom Agent)",
    language="json",
    template='{ "agent_servers": { "Bob": { "command": @program@, "args": [@arguments@], "env": {} } } }',
)

CODECOMPANION: Final = Snippet(
    editor="Neovim, CodeCompanion",
    page="codecompanion",
    where="your Neovim configuration, such as ~/.config/nvim/init.lua",
    language="lua",
    template="""\
require("codecompanion").setup({
  adapters = { acp = { bob = function()
    return {
      name = "bob", formatted_name = "Bob", type = "acp",
      roles = { llm = "assistant", user = "user" },
      commands = { default = { @all@ } },
      defaults = { mcpServers = {}, timeout = 20000 },
      parameters = { protocolVersion = 1, clientInfo = { name = "CodeCompanion.nvim", version = "1" } },
      handlers = {
        setup = function() return true end,
        form_messages = function(self, messages, capabilities)
          return require("codecompanion.adapters.acp.helpers").form_messages(self, messages, capabilities)
        end,
        on_exit = function() end,
      },
    }
  end } },
  interactions = { chat = { adapter = "bob" } },
})""",
)

AVANTE: Final = Snippet(
    editor="Neovim, Avante",
    page="avante",
    where="your Neovim configuration, such as ~/.config/nvim/init.lua",
    language="lua",
    # Avante passes on PATH and what stands in env, nothing else: without HOME Bob would not find his own
    # configuration, and the commands he runs would not find theirs.
    template="""\
require("avante").setup({
  provider = "bob",
  acp_providers = { bob = { command = @program@, args = { @arguments@ }, env = { HOME = os.getenv("HOME") } } },
})""",
)

AGENT_SHELL: Final = Snippet(
    editor="Emacs, agent-shell",
    page="agent-shell",
    where="your Emacs configuration, such as ~/.emacs.d/init.el",
    language="elisp",
    template="""\
(defun my-bob-config ()
  (agent-shell-make-agent-config
   :identifier 'bob :mode-line-name "Bob" :buffer-name "Bob"
   :shell-prompt "Bob> " :shell-prompt-regexp "Bob> "
   :client-maker (lambda (buffer)
                   (agent-shell--make-acp-client :command @program@ :command-params '(@arguments@)
                                                 :context-buffer buffer))))
(defun my-bob () (interactive) (agent-shell-start :config (my-bob-config)))""",
)

SNIPPETS: Final = (ZED, JETBRAINS, CODECOMPANION, AVANTE, AGENT_SHELL)


def command_in_use(argv: Sequence[str], python: str, environ: Mapping[str, str]) -> Command:
    """How this very installation is started, by absolute path: an editor may not have the shell's PATH.

    argv: the process's arguments with the program at 0. python: the running interpreter. A link is not followed: the
    link's place outlives an update, what it points to may not."""
    beside = Path(python).parent / EXECUTABLE
    called = argv[0] if argv and Path(argv[0]).name == EXECUTABLE else ""
    if called and os.sep not in called:
        called = shutil.which(called, path=environ.get("PATH", "")) or ""
    for candidate in (called, str(beside), shutil.which(EXECUTABLE, path=environ.get("PATH", "")) or ""):
        if candidate and os.access(candidate, os.X_OK) and Path(candidate).is_file():
            return Command(str(Path(candidate).absolute()))
    # -P: a project's own files must not stand in for modules of Python.
    return Command(str(Path(python).absolute()), ("-P", "-m", "acp_agent", "serve"))
