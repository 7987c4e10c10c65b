"""The bundled schemas as validators: found, compiled late and narrowly, never raising for a value."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from acp_agent import bundled
from acp_agent.protocol import schema

CHUNK = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hello"}}


def nested(depth: int, inside: Any) -> Any:
    for _ in range(depth):
        inside = [inside]
    return inside


def test_a_definition_decides() -> None:
    """Requirement: every message is validated against its definition."""
    assert schema.is_valid("SessionNotification", {"sessionId": "s", "update": CHUNK})
    assert not schema.is_valid("SessionNotification", {"update": CHUNK})
    assert not schema.is_valid(
        "SessionNotification", {"sessionId": "s", "update": {**CHUNK, "content": "hello"}}
    )


def test_there_are_178_definitions_and_all_compile() -> None:
    """Requirement: all definitions of the official schema."""
    assert len(schema.definitions()) == 178
    for definition in schema.definitions():
        assert schema.is_valid(definition, {"": 0}) in (True, False)


def test_an_unknown_definition_is_the_callers_mistake() -> None:
    """A misspelt name must not pass for a schema that accepts or refuses everything."""
    with pytest.raises(KeyError):
        schema.is_valid("PromptRequests", {})
    with pytest.raises(KeyError):
        schema.document("PromptRequests")


@pytest.mark.parametrize(
    ("definition", "value"),
    [
        ("SessionId", "\ud800"),
        ("SessionId", b"bytes"),
        ("SessionId", object()),
        ("CancelNotification", {1: 2}),
        ("PromptRequest", {"sessionId": "s", "prompt": nested(100_000, [])}),
        ("UsageUpdate", {"used": 10**400, "size": 1}),
        ("UsageUpdate", {"used": float("inf"), "size": 1}),
        ("Cost", {"amount": float("nan"), "currency": "EUR"}),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isalpha() else "value",
)
def test_a_value_no_validator_can_hold_is_invalid_and_never_an_exception(
    definition: str, value: object
) -> None:
    """No input ends the process, whatever a decoder or a caller made of it."""
    assert not schema.is_valid(definition, value)


def test_an_enormously_nested_free_member_is_a_matter_of_the_codec() -> None:
    """Where anything is allowed, as in rawInput, its depth does not reach the validator's stack."""
    value = {
        "toolCallId": "1",
        "title": "t",
        "rawInput": nested(100_000, 1),
        "_meta": {"a": nested(100_000, 1)},
    }
    assert schema.is_valid("ToolCall", value)


@pytest.mark.parametrize(
    ("value", "valid"),
    [
        (0, True),
        (2**64 - 1, True),
        (2**64, False),
        (-1, False),
        (1.0, True),
        (1.5, False),
        (True, False),
        (2.0**64, False),
    ],
)
def test_the_range_of_an_integer_format_is_asserted(value: object, valid: bool) -> None:
    """`format` is part of the contract; 1.0 counts as an integer."""
    assert schema.is_valid("UsageUpdate", {"used": value, "size": 1}) is valid


def test_a_document_holds_what_it_can_reach_and_no_more() -> None:
    """A start that sees only `initialize` must not compile the rest."""
    document = schema.document("InitializeRequest")
    assert document["$ref"] == "#/$defs/InitializeRequest"
    assert "FileSystemCapabilities" in document["$defs"]
    assert "ContentBlock" not in document["$defs"]
    assert len(document["$defs"]) < 20


def test_a_piece_of_a_schema_decides_too() -> None:
    """What explains or tolerates a refusal asks about one member at a time."""
    members = schema.node("ToolCall")["properties"]
    assert schema.fits(members["kind"], "read")
    assert not schema.fits(members["kind"], "mend")
    assert not schema.fits(members["title"], "\ud800")


def test_a_bundled_file_of_another_room_can_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Configuration and scripts are checked against bundled schemas as well."""
    monkeypatch.setattr(bundled, "load", lambda path: {"type": "string"} if path == "some.json" else {})
    monkeypatch.setattr(schema, "_compiled", {})
    assert schema.is_valid_document("some.json", "x")
    assert not schema.is_valid_document("some.json", 1)
    assert not schema.is_valid_document("some.json", "\ud800")


def test_validating_does_not_import_jsonschema() -> None:
    """Start-up path: the explaining validator is imported after the first refusal only."""
    code = (
        "import sys; from acp_agent.protocol import schema, validation, leniency;"
        "assert schema.is_valid('InitializeRequest', {'protocolVersion': 1});"
        "assert 'jsonschema' not in sys.modules;"
        "assert validation.check('InitializeRequest', {});"
        "assert 'jsonschema' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
