"""The bundled files: what derive.py makes, complete, self-consistent, and refused when something is missing."""

from __future__ import annotations

import copy
import json
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import pytest

from acp_agent.protocol.methods import METHODS

CHECKOUT = Path(__file__).resolve().parents[2]
FILES = {
    path.name: json.loads(path.read_text(encoding="utf-8")) for path in CHECKOUT.glob("schemas/acp/v1/*.json")
}
INDEX = FILES["index.json"]
AREAS = {name: content for name, content in FILES.items() if name != "index.json"}
WORDS = tomllib.loads((CHECKOUT / "schemas" / "descriptions.toml").read_text(encoding="utf-8"))

Schema = dict[str, Any]
Files = Callable[[Schema, dict[str, Any]], dict[str, str]]


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def member_names(node: Any) -> Counter[str]:
    """The names in every `properties` of a schema, outside prose and default values."""
    found: Counter[str] = Counter()
    if isinstance(node, dict):
        found.update(node.get("properties", {}).keys())
        for key, value in node.items():
            if key == "properties":
                for inner in value.values():
                    found += member_names(inner)
            elif key not in ("default", "not"):
                found += member_names(value)
    elif isinstance(node, list):
        for value in node:
            found += member_names(value)
    return found


def test_the_files_are_what_the_script_makes(derive: ModuleType, official_schema: Schema) -> None:
    """Requirement: a script derives the structure, and a check tells when a file was edited by hand."""
    wanted = derive.files(official_schema, WORDS)
    present = {name: (derive.TARGET / name).read_text(encoding="utf-8") for name in FILES}
    assert wanted == present


def test_every_definition_stands_in_exactly_one_file(official_schema: Schema) -> None:
    """Requirement: one file an area, all definitions, each once."""
    homes = [(name, file) for file, content in AREAS.items() for name in content["$defs"]]
    assert len(homes) == len(dict(homes)) == 178
    assert dict(homes) == INDEX["definitions"]
    assert set(dict(homes)) == set(official_schema["$defs"])


def test_no_member_of_any_definition_is_lost(official_schema: Schema) -> None:
    """Members that accept anything (rawInput, data) could vanish without changing what is accepted."""
    for file, content in AREAS.items():
        for name, ours in content["$defs"].items():
            assert member_names(ours) == member_names(official_schema["$defs"][name]), f"{file} {name}"


@pytest.mark.parametrize("file", sorted(AREAS))
def test_every_file_is_a_json_schema_whose_references_resolve(file: str) -> None:
    """Requirement: JSON Schema 2020-12, references between files by relative URI."""
    jsonschema.Draft202012Validator.check_schema(AREAS[file])
    for reference in references(AREAS[file]):
        target, _, name = reference.partition("#/$defs/")
        assert target != file
        assert name in AREAS[target or file]["$defs"]


def test_the_index_binds_every_method_to_its_types() -> None:
    """Requirement: one index that binds each of the 25 stable methods to direction, kind, params and result."""
    assert len(INDEX["methods"]) == 25
    for name, entry in INDEX["methods"].items():
        method = METHODS[name]
        assert entry["direction"] in ("client to agent", "agent to client", "both")
        assert entry["kind"] == method.kind
        assert entry["params"]["$ref"].endswith(f"#/$defs/{method.params}")
        assert ("result" in entry) == (entry["kind"] == "request")
        assert entry.get("gate", []) == list(method.gate)
    for reference in references(INDEX):
        target, _, name = reference.partition("#/$defs/")
        assert name in AREAS[target]["$defs"]


def test_no_official_prose_is_shipped(official_schema: Schema) -> None:
    """Requirement: descriptions in own words."""

    def prose(node: Any) -> Iterator[str]:
        if isinstance(node, dict):
            if isinstance(node.get("description"), str):
                yield node["description"]
            for value in node.values():
                yield from prose(value)
        elif isinstance(node, list):
            for value in node:
                yield from prose(value)

    assert not set(prose(AREAS)) & set(prose(official_schema))


def test_a_missing_and_a_stale_description_are_both_refused(
    derive: ModuleType, official_schema: Schema
) -> None:
    """Requirement: every definition and every member has a description, and no description is left over."""
    words = copy.deepcopy(WORDS)
    del words["PlanEntry"]["status"]
    del words["Role"]
    del words["ContentBlock"]["variants"]["audio"]
    words["Plan"]["steps"] = "No such member."
    with pytest.raises(derive.DerivationError) as refused:
        derive.files(official_schema, words)
    assert set(str(refused.value).splitlines()) == {
        "no description of PlanEntry.status",
        "no description of Role",
        "no description of ContentBlock, variant audio",
        "stale description Plan.steps",
    }


def test_a_definition_without_an_area_and_a_changed_method_are_refused(
    derive: ModuleType, official_schema: Schema
) -> None:
    """A newer official file must not be carried over half understood."""
    newer = copy.deepcopy(official_schema)
    newer["$defs"]["Novelty"] = {"type": "string"}
    newer["$defs"]["PromptRequest"]["x-method"] = "session/ask"
    with pytest.raises(derive.DerivationError) as refused:
        derive.files(newer, WORDS)
    assert "definition Novelty has no area" in str(refused.value)
    assert "session/ask" in str(refused.value)


def test_a_keyword_the_script_does_not_know_is_refused(derive: ModuleType) -> None:
    """A keyword dropped in silence would make the schemas accept more."""
    with pytest.raises(derive.DerivationError, match="maxLength"):
        derive.structure({"type": "string", "maxLength": 3})


@pytest.mark.parametrize(
    ("size", "low", "high"),
    [
        ("uint16", 0, 65535),
        ("uint32", 0, 4294967295),
        ("uint64", 0, 18446744073709551615),
        ("int32", -2147483648, 2147483647),
        ("int64", -9223372036854775808, 9223372036854775807),
    ],
)
def test_an_integer_format_becomes_a_range(derive: ModuleType, size: str, low: int, high: int) -> None:
    """The one addition to the official structure: what `format` promises is asserted."""
    made = derive.structure({"type": ["integer", "null"], "format": size})
    assert (made["minimum"], made["maximum"]) == (low, high)


def test_check_names_the_files_that_differ(
    derive: ModuleType,
    official_schema: Schema,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`--check` exits with 1 and the list; without it the files are written and the next check is content."""
    assert official_schema
    monkeypatch.setattr(derive, "TARGET", tmp_path)
    monkeypatch.setattr(derive.official, "obtain", lambda given: json.dumps(official_schema).encode())
    assert derive.main([]) == 0
    assert derive.main(["--check"]) == 0
    (tmp_path / "plan.json").write_text("{}", encoding="utf-8")
    (tmp_path / "leftover.json").write_text("{}", encoding="utf-8")
    (tmp_path / "fs.json").unlink()
    capsys.readouterr()
    assert derive.main(["--check"]) == 1
    told = capsys.readouterr().out
    assert [line.split()[0] for line in told.splitlines()] == [
        f"schemas/acp/v1/{name}" for name in ("fs.json", "leftover.json", "plan.json")
    ]
    assert derive.main([]) == 0
    assert derive.main(["--check"]) == 0


def test_another_file_than_the_pinned_one_is_refused(
    derive: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The oracle is pinned by content: an edited copy cannot pass for it."""
    other = tmp_path / "schema.json"
    other.write_text("{}", encoding="utf-8")
    assert derive.main(["--check", "--official", str(other)]) == 2
    assert "is not the ACP schema this project is derived from" in capsys.readouterr().err
    assert derive.main(["--check", "--official", str(tmp_path / "none.json")]) == 2
    assert "cannot read" in capsys.readouterr().err
