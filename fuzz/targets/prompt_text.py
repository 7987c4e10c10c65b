"""What a prompt's text attaches, calls and commands is what a plain reading finds; the rest of it stays as typed.

No exception is documented. Free text is only looked at for what must hold of any; words put together, each with what
it means by itself, have to mean that together.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from strategies.text import ANY

from acp_agent.agent.attachments import attach
from acp_agent.agent.commands import DESCRIPTIONS as COMMANDS
from acp_agent.agent.commands import command_in
from acp_agent.agent.skills import Skill, Skills, resolve

_FILES = (
    "a.txt",
    "b c.txt",
    "dir/é.md",
    "dir/a",
    "x",
    "~home",
    "weird\nname",
    "a,b",
    "日本.txt",
    "-x",
    "o'c",
)
# A word, and the path that it points at by itself.
_WORDS: dict[str, str | None] = {
    "@a.txt": "a.txt",
    "(@a.txt),": "a.txt",
    "@a.txt.": "a.txt",
    "@a.txt:12": "a.txt",
    "@a.txt's": "a.txt",
    "@./a.txt": "a.txt",
    "@dir/../a.txt": "a.txt",
    '@"b c.txt"': "b c.txt",
    "@'b c.txt'": "b c.txt",
    "@b\\ c.txt": "b c.txt",
    "@dir": "dir",
    "@dir/": "dir",
    "@dir/é.md": "dir/é.md",
    "@a,b": "a,b",
    "@日本.txtを": "日本.txt",
    "@~/notes.md": "home/notes.md",
    "@../outside": None,
    "@.": None,
    "@missing": None,
    "見て@a.txt": "a.txt",
    "é@a.txt": None,
    "me@a.txt": None,
    "@@a.txt": None,
    "\\@a.txt": None,
    "`@a.txt`": None,
    "``@a.txt``": None,
    "@pipe": None,
    "@dir/a\0": "dir/a",
    "@": None,
    "plain": None,
    "\n\n": None,
}
_COMPOSED = st.lists(
    st.tuples(st.sampled_from(sorted(_WORDS)), st.sampled_from([" ", "\n", "\t"])), max_size=8
)
_PIECES = st.sampled_from(
    [
        *_WORDS,
        "@",
        '@"',
        "`",
        "```\n",
        "~~~",
        "\\",
        "[attached file: ",
        "]",
        "a.txt",
        "@weird\nname",
        " ",
        "\n",
        "~/",
    ]
)
_FREE = st.lists(_PIECES | ANY, max_size=8).map("".join)
_CALLS = st.builds(
    lambda *parts: "".join(parts),
    st.sampled_from(["", " ", "\n", "\u2028"]),
    st.sampled_from(["/", "$", "//", "", "／"]),
    st.sampled_from(["new", "compact", "do-it", "do", "it-", "NEW", "", "new2", "none"]),
    st.sampled_from(["", " ", "\n", " \n ", "\x1f", ".", "\u00a0"]),
    ANY,
)

cases = st.fixed_dictionaries({"words": _COMPOSED}) | st.fixed_dictionaries({"text": _FREE | _CALLS})


def check(case: Any) -> None:
    """Attach in a folder with a few files; take calls and commands apart by hand."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(os.path.realpath(place))
        cwd, home = folder / "work", folder / "work" / "home"
        for name in (*_FILES, "home/notes.md", "../outside"):
            (cwd / name).parent.mkdir(parents=True, exist_ok=True)
            (cwd / name).write_bytes(b"")
        os.mkfifo(cwd / "pipe")
        if "words" in case:
            text = "".join(word + space for word, space in case["words"])
            paths = [_WORDS[word] for word, _ in case["words"]]
            wanted = list(dict.fromkeys(str(cwd / path) for path in paths if path is not None))
            assert attach(text, cwd, home)[1] == wanted
        else:
            text = case["text"]
            _called(text)
        _attached(text, cwd, home)


def _attached(text: str, cwd: Path, home: Path) -> None:
    """What holds for any text."""
    given, paths = attach(text, cwd, home)
    assert given.startswith(text)
    assert len(set(paths)) == len(paths)
    lines = given[len(text) :]
    for path in paths:
        path.encode()
        assert os.path.normpath(path) == path
        assert path.startswith("/")
        kind = "directory" if Path(path).is_dir() else "file"
        assert Path(path).is_dir() or Path(path).is_file()
        assert path.startswith((f"{cwd}/", f"{home}/")) or f"@{path}" in text or "@" in text
        assert f"[attached {kind}: {path}]" in lines
    assert lines.count("\n[attached ") == len(paths)
    if "@" not in text:
        assert given == text


def _called(text: str) -> None:
    skills = Skills([Skill(name, "d", Path("/s")) for name in ("do-it", "do", "new")])
    trimmed = text.strip()
    assert command_in(text) == {"/new": "new", "/compact": "compact"}.get(trimmed)
    word = (trimmed.split(maxsplit=1) or [""])[0]
    name = word[1:]
    is_call = word[:1] in ("/", "$") and name in skills and not (word[0] == "/" and name in COMMANDS)
    found = resolve(text, skills)
    if not is_call:
        assert found == text
        return
    assert f'read_skill with the name "{name}"' in found
    rest = trimmed[len(word) :]
    assert found.endswith(
        f"\n\n${name}{rest and (chr(10) if chr(10) in rest[: _blanks(rest)] else ' ')}{rest.strip()}"
    )


def _blanks(text: str) -> int:
    return len(text) - len(text.lstrip())
