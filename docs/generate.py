"""Writes the part of configuration.md that schemas/config.json gives: every table and key, with type and default.

`python docs/generate.py` writes it between the two marks in the page; with `--check` it only compares, and ends with
code 1 if the page tells something else than the schema. What stands outside the marks is written by hand.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

COMMAND = "python docs/generate.py"

DOCS = Path(__file__).resolve().parent
PAGE = DOCS / "configuration.md"
SCHEMA = DOCS.parent / "schemas" / "config.json"

BEGIN = f"<!-- From here on generated from schemas/config.json: edit that, then run `{COMMAND}`. -->\n"
END = "<!-- The generated part ends here. -->\n"

KINDS = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}


class UnmarkedPageError(Exception):
    """The page has not both marks, in their order, once."""


def main(arguments: list[str], page: Path = PAGE) -> int:
    """Write the page, or with `--check` compare it; 0 if all is well, 1 if it differs, 2 for other arguments."""
    if arguments not in ([], ["--check"]):
        print(f"usage: {COMMAND} [--check]", file=sys.stderr)
        return 2
    text = page.read_text(encoding="utf-8")
    try:
        wanted = replaced(text, "".join(sections(json.loads(SCHEMA.read_bytes()))))
    except UnmarkedPageError as error:
        print(f"{page.name}: {error}", file=sys.stderr)
        return 1
    if not arguments:
        page.write_text(wanted, encoding="utf-8", newline="\n")
    elif text != wanted:
        print(f"{page.name} does not show schemas/config.json as it is; run `{COMMAND}`.", file=sys.stderr)
        return 1
    return 0


def replaced(text: str, generated: str) -> str:
    """The page with this between its marks."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end or text.count(BEGIN) != 1 or text.count(END) != 1:
        raise UnmarkedPageError(f"it needs these two lines, each once:\n{BEGIN}{END}")
    return f"{before}{begin}\n{generated}{end}{after}"


def sections(schema: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[str]:
    """A section a table that has keys, in the order of the schema; a table in a table follows it."""
    properties: Mapping[str, Mapping[str, Any]] = schema["properties"]
    keys = {name: member for name, member in properties.items() if member.get("type") != "object"}
    if keys:
        name = ".".join(path)
        yield f"### `[{name}]`\n\n{schema['description']}\n\n"
        yield "| Key | Type | Default | |\n|---|---|---|---|\n"
        yield "".join(row(name, member) for name, member in keys.items()) + "\n"
    for name, member in properties.items():
        if name not in keys:
            yield from sections(member, (*path, name))


def row(name: str, member: Mapping[str, Any]) -> str:
    """One key as a line of the table."""
    default = f"`{toml(member['default'])}`" if "default" in member else "none"
    about = member["description"].replace("|", "\\|")
    return f"| `{name}` | {kind(member)} | {default} | {about} |\n"


def kind(member: Mapping[str, Any]) -> str:
    """What a value has to be, in words."""
    if "enum" in member:
        return " or ".join(f"`{toml(value)}`" for value in member["enum"])
    if member["type"] == "array":
        return f"list of {KINDS[member['items']['type']]}s"
    word = KINDS[member["type"]]
    if "exclusiveMinimum" in member:
        return f"{word} above {member['exclusiveMinimum']:,}, up to {member['maximum']:,}"
    if "minimum" in member:
        return f"{word}, {member['minimum']:,} to {member['maximum']:,}"
    return word


def toml(value: object) -> str:
    """A default as it would stand in the file. JSON writes what the schema has of it in the same way."""
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
