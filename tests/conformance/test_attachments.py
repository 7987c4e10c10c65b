"""`@path` in a prompt, as people type it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from kept_sessions import log_lines, said, talk
from model_server import ModelServer
from raw_client import Agent

FILES = ["a.txt", "src/b.py", "a b.txt", "x@y.z", "dir/c", "odd[1].txt", "ü.txt", "-d"]

# What is typed, and the paths that are attached, from the session's directory; a directory ends with a stroke.
MENTIONS: dict[str, list[str]] = {
    "look at @a.txt": ["a.txt"],
    "@a.txt": ["a.txt"],
    "@src": ["src/"],
    "@src/": ["src/"],
    "@src/b.py and @a.txt": ["src/b.py", "a.txt"],
    "@a.txt @a.txt @./a.txt @src/../a.txt": ["a.txt"],
    'see @"a b.txt" now': ["a b.txt"],
    "see @'a b.txt' now": ["a b.txt"],
    "see @a\\ b.txt now": ["a b.txt"],
    "(@a.txt), @src/b.py.": ["a.txt", "src/b.py"],
    "is it @a.txt?": ["a.txt"],
    "@a.txt:12": ["a.txt"],
    "@a.txt's end": ["a.txt"],
    "line\n@a.txt\nline": ["a.txt"],
    "@odd[1].txt": ["odd[1].txt"],
    "@ü.txt": ["ü.txt"],
    "@none.txt": [],
    "mail me@a.txt": [],
    "x@y.z": [],
    "user@example.com": [],
    "@property": [],
    "```\n@a.txt\n```": [],
    "`@a.txt`": [],
    "@": [],
    "@ a.txt": [],
    "@.": [],
    "@..": [],
    "@../outside": [],
    '@"../outside"': [],
    "@dir/../../outside": [],
    "no at sign": [],
}


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    """A directory with files, and one beside it that relative paths must not reach."""
    (tmp_path / "outside").write_text("x")
    for name in FILES:
        path = tmp_path / "work" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("content\n")
    return tmp_path / "work"


def line_for(path: Path) -> str:
    return f"\n[attached {'directory' if path.is_dir() else 'file'}: {path}]"


@pytest.mark.parametrize(("text", "names"), MENTIONS.items(), ids=map(repr, MENTIONS))
def test_a_mention_of_what_exists_is_attached(
    bob: Agent, model: ModelServer, cwd: Path, text: str, names: list[str]
) -> None:
    """One line for each path, once, absolute, behind the text as typed; logged; contents are not sent."""
    session = bob.new_session(cwd)
    call = talk(bob, model, session, text)
    paths = [cwd / name for name in names]
    assert said(call) == [("user", text + "".join(line_for(path) for path in paths))]
    assert "content\\n" not in str(call.messages)
    attached = [line for line in log_lines(bob, session) if line.startswith("attached ")]
    assert attached == [f"attached {path}" for path in paths]


def test_absolute_paths_may_be_anywhere(bob: Agent, model: ModelServer, cwd: Path) -> None:
    """They are what the person means, wherever they lead."""
    outside = cwd.parent / "outside"
    session = bob.new_session(cwd)
    text = f"@{outside} and @/ and @{outside}.none"
    assert said(talk(bob, model, session, text))[0][1] == f"{text}{line_for(outside)}{line_for(Path('/'))}"


def test_the_home_directory_is_known(
    start: Callable[..., Agent], cwd: Path, tmp_path: Path, own_model: ModelServer
) -> None:
    """`~/notes.md`."""
    (tmp_path / "notes.md").write_text("x")
    config = f'[model]\nprovider = "openai"\nbaseUrl = "{own_model.url}"\nname = "m"\n'
    bob = start(config, environ={**os.environ, "HOME": str(tmp_path)})
    bob.initialize()
    session = bob.new_session(cwd)
    text = "see @~/notes.md, not @~/none"
    assert said(talk(bob, own_model, session, text))[0][1] == text + line_for(tmp_path / "notes.md")


def test_a_path_that_a_link_has_attached_is_not_attached_again(
    bob: Agent, model: ModelServer, cwd: Path
) -> None:
    """Editors send both, the text and a resource link."""
    session = bob.new_session(cwd)
    prompt = bob.prompt(
        session,
        [
            {"type": "text", "text": "see @a.txt and @src"},
            {"type": "resource_link", "name": "a.txt", "uri": f"file://{cwd}/a.txt"},
        ],
    )
    call = model.next()
    attached = line_for(cwd / "a.txt")
    assert said(call)[0][1] == f"see @a.txt and @src{attached}{line_for(cwd / 'src')}"
    call.text("ok").finish()
    bob.answer(prompt)


def test_a_paste_full_of_at_signs_holds_up_nothing(bob: Agent, model: ModelServer, cwd: Path) -> None:
    """A megabyte of them reaches the model as it is."""
    session = bob.new_session(cwd)
    text = "@x " * 350_000
    assert said(talk(bob, model, session, text)) == [("user", text)]


def test_a_command_is_no_place_for_attachments(bob: Agent, model: ModelServer, cwd: Path) -> None:
    """What is attached to is the model's text; `/new @a.txt` is no command, and so such a text."""
    session = bob.new_session(cwd)
    text = "/new @a.txt"
    assert said(talk(bob, model, session, text)) == [("user", text + line_for(cwd / "a.txt"))]
