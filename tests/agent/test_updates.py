"""The payloads Bob sends fit the schemas, with no member they do not have."""

from __future__ import annotations

from typing import Any

import pytest

from acp_agent.agent import updates
from acp_agent.protocol import schema, validation

ANNOUNCED = updates.tool_call(
    "call_1", title="bash: ls", kind="execute", raw_input={"command": "ls"}, paths=(), name="bash"
)
PAYLOADS: dict[str, dict[str, Any]] = {
    "text": updates.message_chunk("a"),
    "no text": updates.message_chunk(""),
    "thought": updates.thought_chunk("hm"),
    "call": ANNOUNCED,
    "call with paths": updates.tool_call(
        "call_2",
        title="edit_file: a",
        kind="edit",
        raw_input={"path": "a"},
        paths=["/a", "/b"],
        name="edit_file",
    ),
    "call with odd arguments": updates.tool_call(
        "call_3", title="", kind="other", raw_input=[None, {"a": 1}], paths=(), name="?"
    ),
    "started": updates.tool_call_update("call_1", "in_progress"),
    "completed": updates.tool_call_update(
        "call_1", "completed", content=[updates.text_content("out")], output="out"
    ),
    "diff": updates.tool_call_update(
        "call_1", "completed", content=[updates.diff_content("/a", "old", "new")], output="ok"
    ),
    "diff of a new file": updates.tool_call_update(
        "call_1", "failed", content=[updates.diff_content("/a", None, "new")], output=""
    ),
}


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_an_update_fits_its_schema_and_has_no_unknown_member(payload: dict[str, Any]) -> None:
    """A misspelt optional key would pass the schema: strict mode finds it."""
    params = {"sessionId": "s", "update": payload}
    assert schema.is_valid("SessionNotification", params), validation.check("SessionNotification", params)
    assert list(validation.unknown_members("SessionNotification", params)) == []


def test_a_permission_request_carries_the_call_as_it_was_announced() -> None:
    """B107: title, kind, rawInput and locations, and the three options."""
    params = updates.permission_request("s", PAYLOADS["call with paths"])
    assert schema.is_valid("RequestPermissionRequest", params)
    assert list(validation.unknown_members("RequestPermissionRequest", params)) == []
    assert params["toolCall"]["locations"] == [{"path": "/a"}, {"path": "/b"}]
    assert "sessionUpdate" not in params["toolCall"]
    assert [(one["optionId"], one["kind"]) for one in params["options"]] == [
        ("allow", "allow_once"),
        ("allow_always", "allow_always"),
        ("reject", "reject_once"),
    ]


def test_what_is_not_there_is_left_out() -> None:
    """No null where a member may be absent."""
    assert "locations" not in ANNOUNCED
    assert set(PAYLOADS["started"]) == {"sessionUpdate", "toolCallId", "status"}
    assert "oldText" not in updates.diff_content("/a", None, "x")


def test_output_of_nothing_is_said() -> None:
    """Always rawOutput.output, the empty text too."""
    assert PAYLOADS["diff of a new file"]["rawOutput"] == {"output": ""}
