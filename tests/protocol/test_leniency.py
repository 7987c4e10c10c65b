"""What a tolerant reader makes of bad values: exactly the marks E, S and N, and null for an empty result."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_agent.protocol import schema
from acp_agent.protocol.leniency import read

ENTRY = {"content": "c", "priority": "low", "status": "pending"}
STDIO = {"name": "n", "command": "/c", "args": [], "env": []}


def call(**members: Any) -> dict[str, Any]:
    return {"toolCallId": "1", "title": "t", **members}


# definition, what came, how it reads, what is noted
READ = {
    "E: bad values of nested members fall away one by one": (
        "InitializeRequest",
        {"protocolVersion": 1, "clientCapabilities": {"fs": {"readTextFile": "yes", "writeTextFile": True}}},
        {"protocolVersion": 1, "clientCapabilities": {"fs": {"writeTextFile": True}}},
        ["/clientCapabilities/fs/readTextFile"],
    ),
    "E: null containers of capabilities read as absent": (
        "InitializeRequest",
        {"protocolVersion": 1, "clientCapabilities": {"fs": None, "auth": None, "terminal": True}},
        {"protocolVersion": 1, "clientCapabilities": {"terminal": True}},
        ["/clientCapabilities/fs", "/clientCapabilities/auth"],
    ),
    "E: capabilities that are no object are none": (
        "InitializeRequest",
        {"protocolVersion": 1, "clientCapabilities": [], "clientInfo": {"name": "no version"}},
        {"protocolVersion": 1},
        ["/clientCapabilities", "/clientInfo"],
    ),
    "E: an unknown value of a closed enumeration reads as absent": (
        "ToolCall",
        call(kind="mend", status="cancelled"),
        call(),
        ["/kind", "/status"],
    ),
    "E: _meta that is no object reads as absent": ("LogoutRequest", {"_meta": 1}, {}, ["/_meta"]),
    "E on a required list: a bad value reads as empty": (
        "Plan",
        {"entries": 5},
        {"entries": []},
        ["/entries"],
    ),
    "E on a required list: null reads as empty": ("Plan", {"entries": None}, {"entries": []}, ["/entries"]),
    "S: bad items are dropped, tolerable ones mended, good ones kept": (
        "Plan",
        {"entries": [{**ENTRY, "priority": "urgent"}, ENTRY, {**ENTRY, "_meta": 1}, None]},
        {"entries": [ENTRY, ENTRY]},
        ["/entries/0", "/entries/2/_meta", "/entries/3"],
    ),
    "S: an unknown content block in a tool call is dropped": (
        "ToolCall",
        call(
            content=[
                {"type": "content", "content": {"type": "hologram"}},
                {"type": "terminal", "terminalId": "t"},
            ]
        ),
        call(content=[{"type": "terminal", "terminalId": "t"}]),
        ["/content/0"],
    ),
    "S in depth: a bad role does not cost the block": (
        "ContentBlock",
        {"type": "text", "text": "t", "annotations": {"audience": ["user", "machine"]}},
        {"type": "text", "text": "t", "annotations": {"audience": ["user"]}},
        ["/annotations/audience/1"],
    ),
    "N: null reads as an empty list": (
        "NewSessionRequest",
        {"cwd": "/", "mcpServers": None, "additionalDirectories": None},
        {"cwd": "/", "mcpServers": [], "additionalDirectories": []},
        ["/mcpServers", "/additionalDirectories"],
    ),
    "N in depth, in the branch that is meant": (
        "NewSessionRequest",
        {"cwd": "/", "mcpServers": [{**STDIO, "args": None, "env": None}, STDIO]},
        {"cwd": "/", "mcpServers": [STDIO, STDIO]},
        ["/mcpServers/0/args", "/mcpServers/0/env"],
    ),
    "N on a map: null reads as an empty map": (
        "AuthMethodTerminal",
        {"id": "i", "name": "n", "env": None},
        {"id": "i", "name": "n", "env": {}},
        ["/env"],
    ),
    "E in depth of a map": (
        "ElicitationSchema",
        {"type": "array", "properties": {"a/b": {"type": "string", "title": 5}}},
        {"properties": {"a/b": {"type": "string"}}},
        ["/type", "/properties/a~1b/title"],
    ),
    "null for a result without required members": ("CloseSessionResponse", None, {}, [""]),
    "null for a result with optional members": ("LoadSessionResponse", None, {}, [""]),
}

# What no mark covers stays an error.
STAYS_INVALID = {
    "a missing required E list": ("Plan", {}),
    "a missing required N list": ("NewSessionRequest", {"cwd": "/"}),
    "another bad value of an N list": ("NewSessionRequest", {"cwd": "/", "mcpServers": {}}),
    "a bad item of an N list": ("NewSessionRequest", {"cwd": "/", "mcpServers": [{"name": "n"}]}),
    "a bad block in a prompt": ("PromptRequest", {"sessionId": "s", "prompt": [{"type": "hologram"}]}),
    "a bad block in a chunk": ("ContentChunk", {"content": {"type": "hologram"}}),
    "an unknown stop reason": ("PromptResponse", {"stopReason": "tired"}),
    "an unknown kind of permission option": (
        "PermissionOption",
        {"optionId": "o", "name": "n", "kind": "allow"},
    ),
    "an unknown update": ("SessionUpdate", {"sessionUpdate": "mood"}),
    "null for a result with required members": ("NewSessionResponse", None),
    "a bad line of a file": ("ReadTextFileRequest", {"sessionId": "s", "path": "/", "line": -1}),
    "null for properties of a form": ("ElicitationSchema", {"properties": None}),
    "a bad required list of a form": ("ElicitationSchema", {"required": [1]}),
    "a scalar for an object": ("PromptRequest", 5),
}


@pytest.mark.parametrize(("definition", "value", "expected", "notes"), READ.values(), ids=READ)
def test_a_marked_fault_reads_as_the_protocol_says(
    definition: str, value: object, expected: object, notes: list[str]
) -> None:
    """Leniency exactly as marked (E, S, N), and null read as {} (result: null)."""
    before = copy.deepcopy(value)
    assert not schema.is_valid(definition, value)
    assert read(definition, value) == (expected, notes)
    assert schema.is_valid(definition, expected)
    assert value == before


@pytest.mark.parametrize(("definition", "value"), STAYS_INVALID.values(), ids=STAYS_INVALID)
def test_an_unmarked_fault_stays_an_error(definition: str, value: object) -> None:
    """Tolerance is not guessing."""
    result, _ = read(definition, value)
    assert not schema.is_valid(definition, result)


def test_a_valid_value_is_returned_itself() -> None:
    """Nothing is copied or normalised: `null` in a patch keeps its meaning."""
    value = {"title": None, "updatedAt": None, "_meta": None, "x": 1}
    result, notes = read("SessionInfoUpdate", value)
    assert result is value
    assert notes == []


def test_members_nobody_knows_pass_through_a_mended_object() -> None:
    """Unknown members are legal to receive."""
    assert read("ToolCall", call(kind="mend", _x={"y": 1}))[0] == call(_x={"y": 1})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "sessionUpdate", "entries", "content", "text", "clientCapabilities", "_meta"]
            ),
            inner,
        )
    ),
    max_leaves=8,
)


@given(st.sampled_from(schema.definitions()), JSON)
def test_any_value_can_be_read_and_none_is_changed(definition: str, value: object) -> None:
    """Never an exception, never a mutation, and reading twice changes nothing more."""
    before = repr(value)
    result, notes = read(definition, value)
    assert repr(value) == before
    assert repr(read(definition, result)[0]) == repr(result)
    assert notes or result is value or repr(result) == before
