"""What editors are told: the same in the documentation as in what init prints, and quoted whatever the path."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from acp_agent.setup.snippets import (
    AGENT_SHELL,
    AVANTE,
    CODECOMPANION,
    JETBRAINS,
    SNIPPETS,
    ZED,
    Command,
    Snippet,
    command_in_use,
)

CHECKOUT = Path(__file__).resolve().parents[2]
PLAIN = Command("acp-agent")
STRANGE = Command('/a b/"c"\\d/@arguments@/ü', ("serve", "--config", 'x"y'))


def fences(text: str) -> list[tuple[str, str]]:
    """The fenced blocks of a Markdown text: (language, content)."""
    return re.findall(r"^```(\w+)\n(.*?)\n```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda snippet: snippet.page)
def test_each_editor_has_a_page_that_shows_its_configuration(snippet: Snippet) -> None:
    """The first block of the page is the configuration; the page says all that a person needs."""
    text = (CHECKOUT / "docs" / "editors" / f"{snippet.page}.md").read_text(encoding="utf-8")
    assert fences(text)[0] == (snippet.language, snippet.text(PLAIN))
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert headings == ["Configuration", "Start a thread", "See Bob's log", "Cancel", "Known limits"]


def test_every_page_belongs_to_an_editor() -> None:
    """A page that nothing compares would grow old."""
    pages = {path.stem for path in (CHECKOUT / "docs" / "editors").glob("*.md")}
    assert pages == {snippet.page for snippet in SNIPPETS}


def test_the_readme_shows_the_same_configurations() -> None:
    """All five, in order, and no other block in that section."""
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    section = readme.partition("## Use Bob in your editor\n")[2].partition("\n## ")[0]
    assert fences(section) == [(snippet.language, snippet.text(PLAIN)) for snippet in SNIPPETS]


@pytest.mark.parametrize("snippet", [ZED, JETBRAINS], ids=lambda snippet: snippet.page)
def test_json_is_json_whatever_the_path(snippet: Snippet) -> None:
    """Quotation marks, backslashes, spaces, and a placeholder's name in a path."""
    bob = json.loads(snippet.text(STRANGE))["agent_servers"]["Bob"]
    assert (bob["command"], tuple(bob["args"])) == (STRANGE.program, STRANGE.arguments)


def test_only_zed_wants_the_type() -> None:
    """Zed tells kinds of agents apart by it; JetBrains does not know it."""
    assert json.loads(ZED.text(PLAIN))["agent_servers"]["Bob"]["type"] == "custom"
    assert "type" not in json.loads(JETBRAINS.text(PLAIN))["agent_servers"]["Bob"]


@pytest.mark.parametrize("snippet", [CODECOMPANION, AVANTE, AGENT_SHELL], ids=lambda snippet: snippet.page)
def test_lua_and_lisp_texts_end_where_they_should(snippet: Snippet) -> None:
    """Both escape with a backslash; brackets stay balanced outside of texts."""
    text = snippet.text(STRANGE)
    texts = re.findall(r'"((?:[^"\\]|\\.)*)"', text)
    said = [re.sub(r"\\(.)", r"\1", one) for one in texts]
    for word in (STRANGE.program, *STRANGE.arguments):
        assert word in said
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', "", text)
    for opening, closing in ("()", "{}"):
        assert bare.count(opening) == bare.count(closing)


def test_avante_passes_the_home_directory_on() -> None:
    """Avante gives an agent PATH and env only; without HOME there is no configuration of the person's."""
    assert 'env = { HOME = os.getenv("HOME") }' in AVANTE.text(PLAIN)


def executable(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_the_command_is_the_one_that_was_called(tmp_path: Path) -> None:
    """By absolute path, a link as it is: its place outlives an update."""
    real = executable(tmp_path / "versions" / "1" / "acp-agent")
    link = tmp_path / "bin" / "acp-agent"
    link.parent.mkdir()
    link.symlink_to(real)
    other = executable(tmp_path / "other" / "acp-agent")
    environ = {"PATH": str(other.parent)}
    assert command_in_use([str(link)], "/nowhere/python", environ) == Command(str(link))
    assert command_in_use(["acp-agent"], "/nowhere/python", environ) == Command(str(other))


def test_called_as_a_module_the_program_beside_the_interpreter_is_named(tmp_path: Path) -> None:
    """Python -m acp_agent in a virtual environment has its acp-agent beside it; without one, Python itself is named."""
    program = executable(tmp_path / "venv" / "bin" / "acp-agent")
    python = str(tmp_path / "venv" / "bin" / "python")
    assert command_in_use(["/x/acp_agent/__main__.py"], python, {}) == Command(str(program))
    program.unlink()
    found = executable(tmp_path / "elsewhere" / "acp-agent")
    assert command_in_use(["x.py"], python, {"PATH": str(found.parent)}) == Command(str(found))
    assert command_in_use(["x.py"], python, {"PATH": ""}) == Command(
        python, ("-P", "-m", "acp_agent", "serve")
    )
