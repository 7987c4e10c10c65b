"""`acp-agent init`: find a model, let the person choose, write the configuration, say what the editor needs.

Owns the conversation and its exit codes: 0 written, 1 nothing written (nothing found, or the person left), 2 refused
before anything was asked. Deliberately absent: starting or installing anything, and editing an editor's configuration.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO

from acp_agent import config
from acp_agent.llm.route import is_loopback
from acp_agent.setup.configuration import AlreadyThereError, Choice, NotWrittenError, write
from acp_agent.setup.models import ModelEntry, same_model
from acp_agent.setup.probe import shown_address
from acp_agent.setup.servers import (
    NO_MODEL,
    USUAL_PLACES,
    Place,
    Server,
    find_servers,
    from_environment,
    usable,
)
from acp_agent.setup.snippets import SNIPPETS, Command, command_in_use

WRITTEN: Final = 0
NOTHING_WRITTEN: Final = 1
REFUSED: Final = 2
INTERRUPTED: Final = 130

MAX_SHOWN: Final = 40
"""Models of one server that are listed; the others can be picked by name."""

ADVICE: Final = """\
No model server was found. Start one of these and run `acp-agent init` again:

  Ollama               install it from https://ollama.com, then: ollama pull qwen3:8b
  llama.cpp            llama-server -hf Qwen/Qwen3-8B-GGUF --jinja -c 32768
  LM Studio            load a model, then: lms server start
  vLLM                 vllm serve Qwen/Qwen3-8B --enable-auto-tool-choice --tool-call-parser hermes
  Docker Model Runner  docker model pull ai/qwen3, then: docker desktop enable model-runner --tcp 12434

Or use a server elsewhere: set OPENAI_BASE_URL to its address, ending in /v1, and OPENAI_API_KEY to its key.
docs/models.md says more about each. Without any model, `acp-agent chat` talks to a small built-in one."""


@dataclass(frozen=True, slots=True)
class InitOptions:
    """What the person asked for.

    output: the file to write, relative to the working directory. model: the name to take instead of asking."""

    output: Path | None = None
    yes: bool = False
    force: bool = False
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the conversation happens in. ask: shows a question and gives the answer; raises EOFError at the end."""

    cwd: Path
    environ: Mapping[str, str]
    command: Command
    out: TextIO
    err: TextIO
    ask: Callable[[str], str]

    @classmethod
    def of_this_process(cls) -> Surroundings:
        """The terminal, or the pipes, that this process was started with. Raises FileNotFoundError without a cwd."""
        command = command_in_use(sys.argv, sys.executable, os.environ)
        return cls(Path.cwd(), os.environ, command, sys.stdout, sys.stderr, input)


def run(
    options: InitOptions,
    around: Surroundings,
    places: Sequence[Place] = USUAL_PLACES,
    deadline_s: float | None = None,
) -> int:
    """Hold the conversation; return the exit code."""
    path = around.cwd / (options.output or config.FILE_NAME)
    if path.is_dir():
        return _refuse(around, f"{path} is a directory; --output takes the name of a file")
    if path.exists() and options.yes and not options.force:
        return _refuse(around, f"{path} exists already; add --force to replace it")
    try:
        return _converse(options, around, path, places, deadline_s)
    except EOFError:
        _say(around, "\nNothing was written.")
        return NOTHING_WRITTEN
    except KeyboardInterrupt:
        _say(around, "\nNothing was written.")
        return INTERRUPTED


def _converse(
    options: InitOptions,
    around: Surroundings,
    path: Path,
    places: Sequence[Place],
    deadline_s: float | None,
) -> int:
    where = ["this machine (ports " + ", ".join(str(place.port) for place in places) + ")"]
    where += [shown_address(url) for url in from_environment(around.environ).addresses]
    _say(around, f"Looking for model servers on {' and at '.join(where)} ...\n")
    servers = asyncio.run(find_servers(around.environ, places, deadline_s=deadline_s))
    offered = _show(servers, around)
    good = usable(servers)
    if not good:
        _say(around, _nothing_usable(servers))
        return NOTHING_WRITTEN
    default = _default(good)
    if options.model is not None:
        choice = _by_name(options.model, good)
        if choice is None:
            _complain(around, f'no model server that was found offers "{options.model}"')
            return NOTHING_WRITTEN
    elif not options.yes:
        choice = _choose(offered, good, default, around)
    elif is_loopback(default[0].base_url) or sum(model.chat for model in default[0].models) == 1:
        choice = _choice(*default)
    else:
        # What to pay for is not to be guessed.
        _complain(around, f"{default[0].base_url} offers several models; name one with --model")
        return NOTHING_WRITTEN
    replace = options.force
    if path.exists() and not (replace or options.yes):
        replace = _agrees(f"{path} exists already. Replace it? [y/N] ", around)
        if not replace:
            _say(around, "Nothing was written.")
            return NOTHING_WRITTEN
    try:
        write(path, choice, replace=replace)
    except AlreadyThereError as error:
        _complain(around, f"{error}; run init again to decide what becomes of it")
        return NOTHING_WRITTEN
    except NotWrittenError as error:
        _complain(around, str(error))
        return NOTHING_WRITTEN
    _finish(path, choice, around)
    return WRITTEN


# What was found


Offer = tuple[Server, ModelEntry]


def _show(servers: Sequence[Server], around: Surroundings) -> list[Offer]:
    """List all servers and their models; return the models by their numbers, counted from 1."""
    offered: list[Offer] = []
    for server in servers:
        if server.problem:
            _say(around, f"{server.title} {server.problem}\n")
            continue
        _say(around, server.title)
        shown = server.models[:MAX_SHOWN]
        width = max(len(model.name) for model in shown)
        for model in shown:
            offered.append((server, model))
            _say(around, f"  {len(offered):>3}  {model.name:<{width}}  {model.remark}".rstrip())
        if len(server.models) > MAX_SHOWN:
            _say(around, f"       and {len(server.models) - MAX_SHOWN} more, to be picked by name")
        _say(around, "")
    return offered


def _nothing_usable(servers: Sequence[Server]) -> str:
    if any(server.models for server in servers):
        return "None of these models is for chat. Load or pull one that is, and run `acp-agent init` again."
    if any(server.problem == NO_MODEL for server in servers):
        return "Load or pull a model first (docs/models.md), and run `acp-agent init` again."
    if servers:
        return "No model server could be used. Mend what is said above, and run `acp-agent init` again."
    return ADVICE


# The choice


def _default(good: Sequence[Server]) -> Offer:
    """What Enter takes: the first model of the first server that has one which may call tools, as Bob needs it."""
    server = next((one for one in good if one.models[0].tools is not False), good[0])
    return server, server.models[0]


def _choose(offered: Sequence[Offer], good: Sequence[Server], default: Offer, around: Surroundings) -> Choice:
    numbers = [str(number) for number in range(1, len(offered) + 1)]
    usual = numbers[offered.index(default)]
    while True:
        answer = around.ask(f"Which model? A number or a name [{usual}] ").strip()
        if not answer:
            return _choice(*default)
        if answer in numbers:
            return _choice(*offered[numbers.index(answer)])
        choice = _by_name(answer, good)
        if choice is not None:
            return choice
        _say(
            around,
            f"There is no such model. Type a number from 1 to {len(offered)} or a name; Ctrl-D leaves.",
        )


def _by_name(name: str, servers: Sequence[Server]) -> Choice | None:
    """The first model of exactly this name, else the first that its server takes for the same."""
    for fits in (str.__eq__, same_model):
        for server in servers:
            for model in server.models:
                if fits(name, model.name):
                    return _choice(server, model)
    return None


def _choice(server: Server, model: ModelEntry) -> Choice:
    return Choice(server.base_url, model.name, server.identity, server.key_variable)


def _agrees(question: str, around: Surroundings) -> bool:
    return around.ask(question).strip().lower() in ("y", "yes")


# What comes next


def _finish(path: Path, choice: Choice, around: Surroundings) -> None:
    users_own = config.user_file(around.environ)
    command = around.command
    if users_own is None or path != Path(users_own):
        # An editor starts Bob wherever it likes, so the file is named.
        command = Command(command.program, (*command.arguments, "--config", str(path)))
    _say(around, f"Wrote {path}: {choice.name} at {choice.base_url}\n")
    if choice.key_variable:
        _say(
            around,
            f"Bob reads the key from {choice.key_variable}, which your editor has to pass on: it has to be in the\n"
            "environment that the editor was started with (and, for Avante, in the env below).\n",
        )
    _say(around, "To use Bob in your editor, put this into its configuration:")
    for snippet in SNIPPETS:
        _say(around, f"\n--- {snippet.editor}: {snippet.where}\n")
        _say(around, snippet.text(command))
    found = path == around.cwd / config.FILE_NAME or path == Path(users_own or "")
    options = "" if found else f" --config {shlex.quote(str(path))}"
    # Last, where it is in sight: the above is more than a terminal shows.
    _say(around, f"\nNext: `acp-agent doctor{options}` checks it,")
    _say(around, f"`acp-agent chat{options}` talks to Bob here in the terminal.")


def _say(around: Surroundings, text: str) -> None:
    print(text, file=around.out, flush=True)


def _complain(around: Surroundings, sentence: str) -> None:
    print(f"acp-agent: {sentence}", file=around.err, flush=True)


def _refuse(around: Surroundings, sentence: str) -> int:
    _complain(around, sentence)
    return REFUSED
