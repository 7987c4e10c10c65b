"""Picking the branch of a union that a value means."""

from __future__ import annotations

import pytest

from acp_agent.protocol import schema
from acp_agent.protocol.fragments import (
    branches,
    parts,
    pointer,
    takes_anything,
    takes_type_of,
    type_name,
    types,
)


def meant(definition: str, value: object) -> list[str]:
    """The definitions that the branches meant by `value` refer to."""
    return [schema.name_of(branch.get("$ref", "")) for branch in branches(schema.node(definition), value)]


@pytest.mark.parametrize(
    ("definition", "value", "expected"),
    [
        ("McpServer", {"type": "http"}, ["McpServerHttp"]),
        ("McpServer", {"type": "sse"}, ["McpServerSse"]),
        ("McpServer", {}, ["McpServerStdio"]),
        ("McpServer", {"type": "carrier pigeon"}, ["McpServerStdio"]),
        ("McpServer", {"type": 5}, ["McpServerStdio"]),
        ("McpServer", "npx", []),
        ("AuthMethod", {"type": "terminal"}, ["AuthMethodTerminal"]),
        ("AuthMethod", {"type": "agent"}, ["AuthMethodAgent"]),
        ("SessionUpdate", {"sessionUpdate": "plan"}, ["Plan"]),
        ("SessionUpdate", {"sessionUpdate": "Plan"}, []),
        ("SessionUpdate", {}, []),
        ("MultiSelectItems", {"type": "string"}, ["StringMultiSelectItems"]),
        ("MultiSelectItems", {"type": "_own"}, [""]),
        ("MultiSelectItems", {}, ["TitledMultiSelectItems"]),
        ("ElicitationPropertySchema", {"type": "array"}, ["MultiSelectPropertySchema"]),
        ("ElicitationPropertySchema", {}, []),
        ("EmbeddedResourceResource", {"text": ""}, ["TextResourceContents", "BlobResourceContents"]),
        ("EmbeddedResourceResource", [], []),
    ],
)
def test_the_discriminator_picks_the_branch(definition: str, value: object, expected: list[str]) -> None:
    """Choose the variant by its tag first, then the one for other tags, then the untagged one."""
    assert meant(definition, value) == expected


def test_parts_follow_references_at_the_same_place() -> None:
    """A branch and the definition it refers to speak about the same object."""
    (branch,) = branches(schema.node("ContentBlock"), {"type": "text"})
    assert list(parts(branch)) == [branch, schema.node("TextContent")]


def test_types_are_found_through_references() -> None:
    """A member that only refers still has a JSON type."""
    assert types(schema.node("ToolCall")["properties"]["kind"]) == ("string",)
    assert types(schema.node("CompactionUpdate")["properties"]["summary"]) == ("array", "null")
    assert types(schema.node("RequestId")) == ()
    assert takes_type_of(schema.node("RequestId"), None)
    assert not takes_type_of(schema.node("RequestId"), {})
    assert takes_type_of(schema.node("Cost")["properties"]["amount"], 1)


def test_only_extension_payloads_take_anything() -> None:
    """Their members belong to nobody."""
    assert {name for name in schema.definitions() if takes_anything(schema.node(name))} == {
        "ExtRequest",
        "ExtResponse",
        "ExtNotification",
    }


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "null"),
        (True, "boolean"),
        (1, "integer"),
        (1.0, "integer"),
        (1.5, "number"),
        (float("inf"), "number"),
        ("", "string"),
        ([], "array"),
        ({}, "object"),
    ],
)
def test_json_types_are_told_apart(value: object, name: str) -> None:
    """A boolean is no integer, and 1.0 is one."""
    assert type_name(value) == name


def test_a_pointer_escapes_its_steps_and_cuts_absurd_ones() -> None:
    """RFC 6901; a key of a megabyte does not fill an error message, a lone surrogate does not break it."""
    assert pointer(pointer("", "a/b~c"), 3) == "/a~1b~0c/3"
    assert pointer("", "\ud800") == "/?"
    assert len(pointer("", "k" * 1_000_000)) < 100
