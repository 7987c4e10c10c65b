"""Skills: procedures a person writes down once, in a folder with a SKILL.md, for the model to follow.

Owns where skills are looked for, when one is sound, what the system prompt says of them, and `/name` and `$name` at
the start of a prompt. Names and descriptions are read once for a session, a body only when the model asks for it.
Deliberately absent: the tool that asks (tools/skill.py), the commands `/new` and `/compact`, and what other clients
read out of front matter beside `name` and `description`.
Source: the Agent Skills specification, for the form of SKILL.md and of names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from acp_agent.agent.commands import DESCRIPTIONS as COMMANDS
from acp_agent.tools.base import ToolError
from acp_agent.tools.paths import open_to_read

MAX_FILE_BYTES: Final = 131_072
MAX_FRONT_MATTER_CHARS: Final = 16_384
MAX_NAME_CHARS: Final = 64
MAX_DESCRIPTION_CHARS: Final = 1_024
MAX_SKILLS: Final = 256
"""Each one costs a line of every prompt."""

_FILE: Final = "SKILL.md"
_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_CALL: Final = re.compile(rf"[/$]({_NAME.pattern})(?=\s|\Z)")
_FENCE: Final = re.compile(r"^---[ \t\r]*$", re.MULTILINE)
# C0, DEL, C1 and the two Unicode line ends: a description is shown in menus and terminals.
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})


class Skill(NamedTuple):
    """path: absolute, of its SKILL.md. description: one line, 1 to 1024 characters."""

    name: str
    description: str
    path: Path


class Skills(Mapping[str, Skill]):
    """A session's skills by name, in the order they were found."""

    def __init__(self, skills: Iterable[Skill] = (), warnings: Iterable[str] = ()) -> None:
        """warnings: one sentence each, for the banner, on what was left out or is not as it seems."""
        self._skills = {skill.name: skill for skill in skills}
        self.warnings: list[str] = list(warnings)

    def __getitem__(self, name: str) -> Skill:
        return self._skills[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._skills)

    def __len__(self) -> int:
        return len(self._skills)

    def commands(self) -> list[Skill]:
        """Those that may stand in the client's `/` menu: all but the ones named like a command."""
        return [skill for skill in self._skills.values() if skill.name not in COMMANDS]

    def body(self, name: str) -> str:
        """Read what a skill says now, without front matter. Raises ToolError with a sentence for the model."""
        skill = self._skills.get(name)
        if skill is None:
            known = ", ".join(self._skills) or "none"
            raise ToolError(f'There is no skill "{_shown(name)}"; the skills are: {known}.')
        return _split(_read(skill.path), skill.path)[1]

    def instructions(self, name: str) -> str:
        """What read_skill answers: the body, under a line that says where the skill's files are. Raises ToolError."""
        body = self.body(name)
        folder = self._skills[name].path.parent
        return f"[skill folder: {folder}; relative paths below begin there]\n\n{body}"

    def prompt_section(self) -> str:
        """The part of the system prompt about skills; "" without skills."""
        if not self._skills:
            return ""
        lines = "\n".join(f"- {skill.name}: {skill.description}" for skill in self._skills.values())
        return (
            "Skills are procedures written down for tasks of their kind. When one fits the task, or the user names "
            "one as $name, call read_skill with its name before anything else and follow what it says. "
            f"The skills are:\n{lines}"
        )


def load_skills(cwd: Path, dirs: Sequence[str], home: Path) -> Skills:
    """Find the skills of a session: the folders with a SKILL.md in each of dirs, in order of dirs, then of names.

    dirs: relative ones begin at cwd, which is absolute, `~` is home; one that is not there is no mistake.
    Of two skills with one name the first is taken. Nothing here raises: what cannot be used is a warning.
    """
    cwd = Path(os.path.normpath(cwd))
    found: dict[str, Skill] = {}
    warnings: list[str] = []
    for directory in _existing(cwd, dirs, home, warnings):
        for path in _files(directory, warnings):
            name = path.parent.name
            if name in found:
                if directory.is_relative_to(cwd) and not _same(path, found[name].path):
                    first = _shown(found[name].path)
                    warnings.append(
                        f"skill left out: {_shown(path)}: {first} has the same name and comes first"
                    )
                continue
            try:
                skill = _load(path)
            except ToolError as error:
                warnings.append(f"skill left out: {error}")
                continue
            if len(found) == MAX_SKILLS:
                warnings.append(f"skills left out: there are more than {MAX_SKILLS}, from {_shown(path)} on")
                return Skills(found.values(), warnings)
            found[name] = skill
            if name in COMMANDS:
                warnings.append(
                    f"skill not in the menu: {_shown(path)}: /{name} is a command of the agent; "
                    f"rename the skill, or ask for it as ${name}"
                )
    return Skills(found.values(), warnings)


def resolve(text: str, skills: Skills) -> str:
    """Turn a prompt that begins with `/name` or `$name` of a skill into a request to use it; else as typed.

    Both give the same text. What follows the name, over any number of lines, are its parameters.
    """
    trimmed = text.strip()
    call = _CALL.match(trimmed)
    if call is None:
        return text
    name = call[1]
    if name not in skills or (trimmed[0] == "/" and name in COMMANDS):
        return text
    rest = trimmed[call.end() :]
    parameters = rest.lstrip()
    if not parameters:
        return (
            f'Call read_skill with the name "{name}" and do what it says. '
            f"It was called without parameters:\n\n${name}"
        )
    # Parameters that began on a line of their own may be a list or a code block and stay there.
    gap = "\n" if "\n" in rest[: len(rest) - len(parameters)] else " "
    return (
        f'Call read_skill with the name "{name}" and do what it says. '
        f"It was called with what follows its name here as parameters:\n\n${name}{gap}{parameters}"
    )


def _existing(cwd: Path, dirs: Iterable[str], home: Path, warnings: list[str]) -> Iterator[Path]:
    """Each directory that is there, once: links between them are common."""
    seen: set[tuple[int, int]] = set()
    for given in dirs:
        below_home = given == "~" or given.startswith("~/")
        directory = Path(os.path.normpath(home / given[2:].lstrip("/") if below_home else cwd / given))
        try:
            status = directory.stat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError) as error:
            warnings.append(f"skills left out: {_shown(directory)} cannot be read: {_reason(error)}")
            continue
        if (status.st_dev, status.st_ino) not in seen:
            seen.add((status.st_dev, status.st_ino))
            yield directory


def _files(directory: Path, warnings: list[str]) -> list[Path]:
    try:
        with os.scandir(directory) as entries:
            # A hidden folder is no skill by its name, and the usual way to put one aside.
            names = sorted(entry.name for entry in entries if not entry.name.startswith("."))
    except NotADirectoryError:
        return []
    except OSError as error:
        warnings.append(f"skills left out: {_shown(directory)} cannot be read: {_reason(error)}")
        return []
    base = str(directory)
    return [Path(path) for name in names if os.path.lexists(path := f"{base}/{name}/{_FILE}")]


def _same(one: Path, other: Path) -> bool:
    """True if both say the same: many projects keep a copy for each kind of agent."""
    try:
        return one.samefile(other) or _read(one) == _read(other)
    except (OSError, ToolError):
        return False


def _load(path: Path) -> Skill:
    fields = _fields(_split(_read(path), path)[0], path)
    name = _text(fields, "name", path).strip()
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME_CHARS:
        raise _broken(
            path,
            f'its name "{_shown(name)}" must be 1 to {MAX_NAME_CHARS} lowercase letters (a to z), digits and '
            "single hyphens between them",
        )
    if name != path.parent.name:
        raise _broken(path, f'its name "{name}" must be the name of its folder, "{_shown(path.parent.name)}"')
    description = " ".join(_CONTROL.sub(" ", _text(fields, "description", path)).split())
    if not description:
        raise _broken(path, "its description is empty")
    if len(description) > MAX_DESCRIPTION_CHARS:
        raise _broken(
            path, f"its description has {len(description)} characters; {MAX_DESCRIPTION_CHARS} are allowed"
        )
    return Skill(name, description, path)


def _read(path: Path) -> str:
    try:
        with open(open_to_read(path), "rb") as file:  # noqa: PTH123 - a descriptor
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise _broken(path, f"it cannot be read: {_reason(error)}") from error
    if len(content) > MAX_FILE_BYTES:
        raise _broken(path, f"it is larger than {MAX_FILE_BYTES} bytes")
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _broken(path, f"it is not UTF-8 text (line {line})") from error


def _split(text: str, path: Path) -> tuple[str, str]:
    """Front matter and body, each without the lines `---`."""
    begin = _FENCE.match(text)
    if begin is None:
        raise _broken(path, "it does not begin with front matter between two lines ---")
    end = _FENCE.search(text, begin.end())
    if end is None or end.start() > MAX_FRONT_MATTER_CHARS:
        raise _broken(
            path,
            "its front matter has no end: there is no second line --- in its first "
            f"{MAX_FRONT_MATTER_CHARS} characters",
        )
    return text[begin.end() + 1 : end.start()], text[end.end() :].strip("\n")


def _fields(front_matter: str, path: Path) -> dict[str, str | None]:
    """The top level of a YAML mapping: each key with its text as written, None for anything but text.

    Works on the parser's events: nothing is constructed, so tags create nothing, aliases expand to nothing, and a
    name like 2048 or a description like "on" stays what it looks like.
    """
    # Not needed where there are no skills, and dear to import.
    import yaml

    fields: dict[str, str | None] = {}
    key: str | None = None
    depth = 0
    at_key = True
    try:
        for event in yaml.parse(front_matter, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if not isinstance(event, yaml.NodeEvent):
                continue
            if depth == 0 and (fields or not isinstance(event, yaml.MappingStartEvent)):
                raise _broken(path, "its front matter is not one mapping with name and description")
            if depth == 1:
                value = _scalar(event)
                if not at_key:
                    fields[key or ""] = value
                elif value in fields and value in {"name", "description"}:
                    raise _broken(path, f"its front matter has {value} twice")
                else:
                    key = value
                at_key = not at_key
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
    except yaml.MarkedYAMLError as error:
        # The line of the file: its first is ---, and marks count from 0.
        line = f" (line {error.problem_mark.line + 2})" if error.problem_mark else ""
        problem = error.problem or "it cannot be parsed"
        hint = "; a value that holds a colon needs quotes" if "mapping values" in problem else ""
        raise _broken(path, f"its front matter is not valid YAML: {problem}{line}{hint}") from error
    except yaml.YAMLError as error:
        raise _broken(path, "its front matter holds a character that YAML does not allow") from error
    return fields


def _scalar(event: object) -> str | None:
    import yaml

    if not isinstance(event, yaml.ScalarEvent):
        return None
    plain, quoted = event.implicit
    if not (plain or quoted) and event.tag not in {"!", "tag:yaml.org,2002:str"}:
        return None
    return None if plain and event.value in _NULLS else event.value


def _text(fields: Mapping[str, str | None], key: str, path: Path) -> str:
    if key not in fields:
        raise _broken(path, f"its front matter has no {key}")
    value = fields[key]
    if value is None:
        raise _broken(path, f"its {key} is not text")
    return value


def _broken(path: Path, reason: str) -> ToolError:
    return ToolError(f"{_shown(path)}: {reason}")


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _shown(value: object) -> str:
    """Names of files may hold anything; what is said of them is one short printable line."""
    text = str(value)
    if not text.isprintable():
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text if len(text) <= 300 else text[:300] + "..."
