"""The explanation of a refusal, and the members nobody asked for."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_agent.protocol import schema
from acp_agent.protocol.validation import Problem, check, unknown_members

S = {"sessionId": "s"}
KINDS = '"read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"'


def update(tag: str, **members: Any) -> dict[str, Any]:
    return {**S, "update": {"sessionUpdate": tag, **members}}


EXPLAINED = {
    "a member is missing": ("NewSessionRequest", {"mcpServers": []}, "", 'the member "cwd"'),
    "the first of several": ("NewSessionRequest", {}, "", 'the member "cwd"'),
    "no object at all": ("NewSessionRequest", [], "", "an object"),
    "a wrong type": ("PromptRequest", {**S, "prompt": "hi"}, "/prompt", "an array"),
    "a wrong type where null is legal": ("ListSessionsRequest", {"cwd": 1}, "/cwd", "a string or null"),
    "a wrong item": (
        "PromptRequest",
        {**S, "prompt": [{"type": "text", "text": "a"}, {"type": "text", "text": 1}]},
        "/prompt/1/text",
        "a string",
    ),
    "an unknown tag": (
        "RequestPermissionResponse",
        {"outcome": {"outcome": "maybe"}},
        "/outcome/outcome",
        'one of "cancelled", "selected"',
    ),
    "no tag": ("SessionNotification", {**S, "update": {}}, "/update", 'the member "sessionUpdate"'),
    "a flat outcome": ("RequestPermissionResponse", {"outcome": "selected"}, "/outcome", "an object"),
    "a member of the branch is missing": (
        "RequestPermissionResponse",
        {"outcome": {"outcome": "selected"}},
        "/outcome",
        'the member "optionId"',
    ),
    "an unknown value of a closed enumeration": (
        "SessionNotification",
        update("tool_call", toolCallId="1", title="t", kind="mend"),
        "/update/kind",
        f"one of {KINDS}",
    ),
    "deep in the branch that is meant": (
        "SessionNotification",
        update("tool_call_update", toolCallId="1", content=[{"type": "diff", "path": "/a"}]),
        "/update/content/0",
        'the member "newText"',
    ),
    "an untagged entry is stdio": (
        "NewSessionRequest",
        {"cwd": "/", "mcpServers": [{"name": "n", "command": "c", "args": [1], "env": []}]},
        "/mcpServers/0/args/0",
        "a string",
    ),
    "an entry tagged http": (
        "NewSessionRequest",
        {"cwd": "/", "mcpServers": [{"type": "http", "name": "n"}]},
        "/mcpServers/0",
        'the member "url"',
    ),
    "neither of two shapes": (
        "ContentBlock",
        {"type": "resource", "resource": {"uri": "u"}},
        "/resource",
        'the member "text" or the member "blob"',
    ),
    "no scope": (
        "CreateElicitationRequest",
        {"message": "m", "mode": "form", "requestedSchema": {}},
        "",
        'the member "sessionId" or the member "requestId"',
    ),
    "a tag of an open union that is no string": (
        "CreateElicitationRequest",
        {"message": "m", "mode": 1, **S},
        "/mode",
        "a string",
    ),
    "a wrong value for the tag": (
        "SetSessionConfigOptionRequest",
        {**S, "configId": "c", "type": "boolean", "value": 1},
        "/value",
        "true or false",
    ),
    "in a map, with an escaped key": (
        "ElicitationSchema",
        {"properties": {"a/b": {"type": "string", "minLength": -1}}},
        "/properties/a~1b/minLength",
        "an integer from 0 to 4294967295 or null",
    ),
    "out of range": (
        "InitializeRequest",
        {"protocolVersion": 65536},
        "/protocolVersion",
        "an integer from 0 to 65535",
    ),
    "a 64-bit integer": (
        "CancelRequestNotification",
        {"requestId": 2**63},
        "/requestId",
        "a 64-bit integer",
    ),
    "none of several types": (
        "CancelRequestNotification",
        {"requestId": [1]},
        "/requestId",
        "null, a 64-bit integer or a string",
    ),
    "an empty title": ("Notice", {"severity": "info", "title": ""}, "/title", "a non-empty string"),
    "the only value there is": ("ElicitationSchemaType", "array", "", '"object"'),
    "options of a choice": (
        "SessionConfigOption",
        {
            "id": "i",
            "name": "n",
            "type": "select",
            "currentValue": "v",
            "options": [{"value": "v", "name": 1}],
        },
        "/options/0/name",
        "a string",
    ),
    "an error answer": (
        "AgentResponse",
        {"id": 1, "error": {"code": "x", "message": ""}},
        "/error/code",
        "a 32-bit integer",
    ),
    "a string that is no UTF-8": ("SessionId", "\ud800", "", "a valid SessionId"),
}


@pytest.mark.parametrize(("definition", "value", "path", "expected"), EXPLAINED.values(), ids=EXPLAINED)
def test_a_refusal_says_where_and_what(definition: str, value: object, path: str, expected: str) -> None:
    """Requirement: a refusal is explained with a JSON pointer and what was expected, the branch picked by its tag."""
    assert check(definition, value) == Problem(path, expected)


def test_a_valid_value_has_no_problem() -> None:
    """Unknown members are legal."""
    assert check("PromptRequest", {**S, "prompt": [], "zz": 1}) is None


def test_a_problem_reads_as_a_sentence() -> None:
    """It ends up in error messages and logs."""
    assert str(Problem("/cwd", "a string")) == "expected a string at /cwd"
    assert str(Problem("", 'the member "cwd"')) == 'expected the member "cwd" at the top level'


def test_an_unknown_definition_is_the_callers_mistake() -> None:
    """Not a problem of the value."""
    with pytest.raises(KeyError):
        check("Nothing", {})


def test_the_values_of_the_peer_are_not_repeated() -> None:
    """They may be secret or huge."""
    secret = "hunter2-" * 1000
    for value in ({"sessionId": 1, "prompt": secret}, {**S, "prompt": [{"type": secret}]}, secret, [secret]):
        problem = check("PromptRequest", value)
        assert problem
        assert "hunter2" not in str(problem)


def test_the_work_stays_in_proportion_for_a_huge_value() -> None:
    """The slow validator only sees the place that is wrong, not the 200 000 blocks before it."""
    good = {"type": "text", "text": "x"}
    blocks: list[object] = [good] * 200_000
    assert check("PromptRequest", {**S, "prompt": [*blocks, {"type": "text"}]}) == Problem(
        "/prompt/200000", 'the member "text"'
    )


def test_jsonschema_rs_decides_even_if_nothing_can_be_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two validators may differ; then the deciding one stands, with a general sentence."""
    monkeypatch.setattr(schema, "is_valid", lambda definition, value: False)
    assert check("CancelNotification", S) == Problem("", "a valid CancelNotification")


LEAVES: list[Any] = [None, True, 0, -1, 1.5, "", "x", [], {}, 2**70]
SOURCES: list[tuple[str, Any]] = [
    (definition, value) for definition, value, _, _ in EXPLAINED.values() if json.dumps(value).isascii()
]


@given(st.sampled_from(SOURCES), st.lists(st.tuples(st.integers(0, 50), st.sampled_from(LEAVES)), max_size=3))
def test_every_refusal_is_explained_at_a_place_that_exists(
    source: tuple[str, Any], changes: list[tuple[int, object]]
) -> None:
    """check() is None exactly for valid values; a path leads somewhere in the value."""
    definition, value = source
    value = copy.deepcopy(value)
    for where, leaf in changes:
        holders = [inner for inner in _inside(value) if isinstance(inner, (dict, list)) and inner]
        if holders:
            holder = holders[where % len(holders)]
            holder[list(holder)[where % len(holder)] if isinstance(holder, dict) else where % len(holder)] = (
                leaf
            )
    problem = check(definition, value)
    assert (problem is None) == schema.is_valid(definition, value)
    if problem:
        place = value
        for step in problem.path.split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            place = place[int(key)] if isinstance(place, list) else place[key]


def _inside(value: Any) -> list[Any]:
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value, *(inner for item in below for inner in _inside(item))]


# definition, value, members nobody asked for
STRICT = {
    "at the root and deep inside": (
        "NewSessionRequest",
        {
            "cwd": "/",
            "x": 1,
            "mcpServers": [
                {
                    "name": "n",
                    "command": "c",
                    "args": [],
                    "env": [{"name": "a", "value": "b", "z": 1}],
                    "type": "stdio",
                }
            ],
        },
        ["/x", "/mcpServers/0/type", "/mcpServers/0/env/0/z"],
    ),
    "beside a discriminator": (
        "SessionNotification",
        update("agent_message_chunk", content={"type": "text", "text": "", "foo": 1}, bar=1),
        ["/update/bar", "/update/content/foo"],
    ),
    "in capability objects without members": (
        "InitializeRequest",
        {"protocolVersion": 1, "clientCapabilities": {"session": {"notices": {"a/b": 1}}}},
        ["/clientCapabilities/session/notices/a~1b"],
    ),
    "in a branch without members of its own": (
        "RequestPermissionResponse",
        {"outcome": {"outcome": "cancelled", "optionId": "o"}},
        ["/outcome/optionId"],
    ),
    "in a known elicitation mode": (
        "CreateElicitationRequest",
        {"message": "m", "mode": "url", "elicitationId": "e", "url": "u", **S, "q": 1},
        ["/q"],
    ),
    "in a known field of a form": (
        "ElicitationSchema",
        {"properties": {"a": {"type": "string", "k": 1}, "b": {"type": "_own", "k": 1}}},
        ["/properties/a/k"],
    ),
    "in an answer": (
        "CreateElicitationResponse",
        {"action": "accept", "content": {"a": "x"}, "k": 1},
        ["/k"],
    ),
    "in an error but not in its data": (
        "Error",
        {"code": 1, "message": "", "data": {"k": 1}, "k": 1},
        ["/k"],
    ),
    "in an option of a choice": (
        "SessionConfigOption",
        {
            "id": "i",
            "name": "n",
            "type": "select",
            "currentValue": "v",
            "options": [{"value": "v", "name": "n", "k": 1}],
        },
        ["/options/0/k"],
    ),
    "nothing in _meta": ("LogoutRequest", {"_meta": {"x": {"y": 1}}}, []),
    "nothing in what a tool took and gave": (
        "ToolCall",
        {"toolCallId": "1", "title": "t", "rawInput": {"q": 1}, "rawOutput": {"output": "x"}},
        [],
    ),
    "nothing in a custom mode": (
        "CreateElicitationRequest",
        {"message": "m", "mode": "_own", **S, "q": 1},
        [],
    ),
    "nothing in a custom action": ("CreateElicitationResponse", {"action": "_own", "content": 1, "k": 1}, []),
    "nothing in a custom kind of items": ("MultiSelectItems", {"type": "_own", "k": 1}, []),
    "nothing in an extension": ("ExtRequest", {"k": {"l": 1}}, []),
    "nothing in a request that may be an extension's": (
        "AgentRequest",
        {"id": 1, "method": "_x", "params": {"k": 1}},
        [],
    ),
    "not a free discriminator": (
        "SetSessionConfigOptionRequest",
        {**S, "configId": "c", "type": "id", "value": "v"},
        [],
    ),
    "not the names of a map": ("AuthMethodTerminal", {"id": "i", "name": "n", "env": {"PATH": "/"}}, []),
}


@pytest.mark.parametrize(("definition", "value", "expected"), STRICT.values(), ids=STRICT)
def test_strict_mode_reports_members_nobody_asked_for(
    definition: str, value: object, expected: list[str]
) -> None:
    """R-249: no own members at the root of a specified type; extensions and free members excepted."""
    assert schema.is_valid(definition, value)
    assert sorted(unknown_members(definition, value)) == sorted(expected)
