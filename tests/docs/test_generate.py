"""docs/configuration.md tells all that schemas/config.json does, and a change of one alone is seen."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def keys(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(table, key, its schema) of every key."""
    for name, member in schema["properties"].items():
        if member.get("type") == "object":
            yield from keys(member, f"{path}.{name}".strip("."))
        else:
            yield path, name, member


@pytest.fixture
def schema(checkout: Path) -> dict[str, Any]:
    return dict(json.loads((checkout / "schemas" / "config.json").read_bytes()))


@pytest.fixture
def copy(generate: ModuleType, checkout: Path, tmp_path: Path) -> Path:
    """A copy of the page, current whether the page is or not."""
    page = tmp_path / "configuration.md"
    page.write_bytes((checkout / "docs" / "configuration.md").read_bytes())
    assert generate.main([], page) == 0
    return page


def test_the_page_is_current(generate: ModuleType) -> None:
    """As `tox -e diagrams` checks it."""
    assert generate.main(["--check"]) == 0


def test_every_key_stands_in_its_table_with_its_default(checkout: Path, schema: dict[str, Any]) -> None:
    """And the default is written as it would be in the file."""
    page = (checkout / "docs" / "configuration.md").read_text(encoding="utf-8")
    for table, key, member in keys(schema):
        section = page.partition(f"### `[{table}]`\n")[2].partition("\n#")[0]
        row = re.search(rf"^\| `{key}` \| (.*) \| (.*) \| (.*) \|$", section, re.MULTILINE)
        assert row, f"{table}.{key}"
        if "default" in member:
            assert tomllib.loads(f"x = {row[2].strip('`')}")["x"] == member["default"]
        else:
            assert row[2] == "none"
        assert row[3] == member["description"]


def test_a_page_that_is_not_current_is_said_and_mended(
    generate: ModuleType, copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = copy.read_text(encoding="utf-8")
    copy.write_text(whole.replace("`maxSteps`", "`maxStep`"), encoding="utf-8")
    assert generate.main(["--check"], copy) == 1
    assert "configuration.md does not show schemas/config.json as it is" in capsys.readouterr().err
    assert generate.main([], copy) == 0
    assert copy.read_text(encoding="utf-8") == whole


def test_what_is_written_by_hand_stays(generate: ModuleType, copy: Path) -> None:
    """Before the marks and behind them."""
    whole = copy.read_text(encoding="utf-8")
    copy.write_text(f"By hand.\n{whole}By hand.\n", encoding="utf-8")
    assert generate.main([], copy) == 0
    assert copy.read_text(encoding="utf-8") == f"By hand.\n{whole}By hand.\n"


@pytest.mark.parametrize("mark", ["BEGIN", "END"])
@pytest.mark.parametrize("times", [0, 2])
def test_a_page_without_its_marks_is_not_touched(
    generate: ModuleType, copy: Path, capsys: pytest.CaptureFixture[str], mark: str, times: int
) -> None:
    line = getattr(generate, mark)
    broken = copy.read_text(encoding="utf-8").replace(line, line * times)
    copy.write_text(broken, encoding="utf-8")
    assert generate.main([], copy) == 1
    assert "needs these two lines" in capsys.readouterr().err
    assert copy.read_text(encoding="utf-8") == broken


def test_other_arguments_are_refused(generate: ModuleType) -> None:
    assert generate.main(["--chek"]) == 2


@pytest.mark.parametrize(
    ("member", "words"),
    [
        ({"enum": ["a", "b"]}, '`"a"` or `"b"`'),
        ({"type": "string"}, "text"),
        ({"type": "boolean"}, "true or false"),
        ({"type": "array", "items": {"type": "string"}}, "list of texts"),
        ({"type": "integer", "minimum": 0, "maximum": 100000}, "whole number, 0 to 100,000"),
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 10}, "number above 0, up to 10"),
    ],
)
def test_a_type_is_said_in_words(generate: ModuleType, member: dict[str, Any], words: str) -> None:
    assert generate.kind(member) == words


def test_a_bar_in_a_description_does_not_end_its_cell(generate: ModuleType) -> None:
    assert generate.row("x", {"type": "string", "description": "a|b"}) == "| `x` | text | none | a\\|b |\n"
