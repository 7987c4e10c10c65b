"""A SKILL.md is a skill whose name and description are the YAML's own, or one warning; nothing raises, nothing is run.

Documented: ToolError for a body that cannot be read. The plain reader is a whole YAML parser that makes only text.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import yaml
from hypothesis import strategies as st
from strategies.damage import damaged
from strategies.text import ENCODABLE

from acp_agent.agent.commands import DESCRIPTIONS as COMMANDS
from acp_agent.agent.skills import MAX_DESCRIPTION_CHARS, MAX_FILE_BYTES, MAX_NAME_CHARS, Skills, load_skills
from acp_agent.tools.base import ToolError

# Gives a tag of another kind only to what was written with one.
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_FOLDERS = ("do-it", "a1", "new", "Bad", "x--y")
_VALUES = st.one_of(
    st.sampled_from(
        [
            *(
                "Does it.",
                "'quoted'",
                '"q\\u00e9"',
                "|\n  two\n  lines",
                ">-\n  folded\n  text",
                "on",
                "2048",
                "null",
            ),
            *(
                "~",
                "",
                "a: b",
                "[a, b]",
                "{a: b}",
                "&x y",
                "*x",
                "!!str 5",
                "!!int 5",
                "!!python/name:os.system z",
            ),
            *(
                "!own text",
                "# only a comment",
                "x # note",
                "'",
                "x" * 1030,
                "\x1b[31m",
                "a\u2028b",
                "? a",
                "%x",
                "@x",
            ),
        ]
    ),
    ENCODABLE,
)
_LINES = st.one_of(
    st.builds(
        lambda key, value: f"{key}: {value}", st.sampled_from(["name", "description", "license"]), _VALUES
    ),
    st.sampled_from(
        ["? name", ": x", "- a", "...", "# note", "<<: {name: x}", "metadata:\n  name: inner", "x"]
    ),
)
_BODIES = st.sampled_from(["# Do it\n\nWell.\n", "", "---\nmore\n---\n", "\n\ntext"]) | ENCODABLE


@st.composite
def _files(draw: st.DrawFn) -> list[Any]:
    """A folder and the bytes of its SKILL.md, which is sound if it is not changed."""
    folder = draw(st.sampled_from(_FOLDERS))
    lines = [f"name: {folder}", f"description: {draw(_VALUES)}"]
    for _ in range(draw(st.integers(0, 2))):
        lines.insert(draw(st.integers(0, len(lines))), draw(_LINES))
    if draw(st.integers(0, 5)) == 5:
        del lines[draw(st.integers(0, len(lines) - 1))]
    end = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    text = end.join(["---", *lines, "---", draw(_BODIES)])
    return [folder, draw(damaged(st.just(text.encode("utf-8", "replace")), most=2))]


cases = st.fixed_dictionaries({"files": st.lists(_files(), min_size=1, max_size=3)})


def check(case: Any) -> None:
    """Write the folders, load them, compare each."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        files = dict(case["files"])
        for name, content in files.items():
            (folder / "skills" / name).mkdir(parents=True)
            (folder / "skills" / name / "SKILL.md").write_bytes(content)
        skills = load_skills(folder, ["skills", "none", "~/skills"], folder / "home")
        for warning in skills.warnings:
            assert "\n" not in warning
            warning.encode()
        for name, content in files.items():
            wanted = plain(content, name)
            found = skills.get(name)
            assert (found and (found.name, found.description)) == wanted
            left_out = [one for one in skills.warnings if f"/{name}/SKILL.md" in one and "left out" in one]
            assert len(left_out) == (wanted is None)
        _use(skills)


def _use(skills: Skills) -> None:
    section = skills.prompt_section()
    for name, skill in skills.items():
        assert f"- {name}: {skill.description}\n" in f"{section}\n"
        assert len(section.splitlines()) == len(skills) + 1 or "\x85" in section
        assert skills.instructions(name).startswith("[skill folder: ")
    assert {skill.name for skill in skills.commands()} == set(skills) - COMMANDS.keys()
    try:
        skills.body("no such skill")
    except ToolError:
        return
    raise AssertionError("a skill that is not there has a body")


def plain(content: bytes, folder: str) -> tuple[str, str] | None:
    """Name and description as a whole YAML parser has them; None where the file is no skill."""
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
        parts = re.match(r"---[ \t\r]*\n(.*?)^---[ \t\r]*$", text, re.DOTALL | re.MULTILINE)
        if parts is None or len(content) > MAX_FILE_BYTES:
            return None
        node = yaml.compose(parts[1], Loader=_LOADER)
    except (UnicodeDecodeError, yaml.YAMLError):
        return None
    if not isinstance(node, yaml.MappingNode):
        return None
    name, description = (_text_of(node, key) for key in ("name", "description"))
    if name is None or description is None:
        return None
    description = " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", description).split())
    name = name.strip()
    if not re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", name) or len(name) > MAX_NAME_CHARS or name != folder:
        return None
    return (name, description) if 0 < len(description) <= MAX_DESCRIPTION_CHARS else None


def _text_of(mapping: yaml.MappingNode, wanted: str) -> str | None:
    """The one value of that key, if it is a text as it was written."""
    values = [
        value for key, value in mapping.value if isinstance(key, yaml.ScalarNode) and key.value == wanted
    ]
    if len(values) != 1 or not isinstance(values[0], yaml.ScalarNode):
        return None
    value = values[0]
    if value.tag not in {"!", "tag:yaml.org,2002:str"}:
        return None
    if not value.style and value.value in {"", "~", "null", "Null", "NULL"}:
        return None
    written: str = value.value
    return written
