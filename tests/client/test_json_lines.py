"""The documented form of `acp-agent chat --json`."""

from __future__ import annotations

import io
import json
from typing import Any

from acp_agent.client.events import (
    AgentEnded,
    AgentMisbehaved,
    PermissionAnswered,
    PermissionAsked,
    SessionOpened,
    UpdateReceived,
)
from acp_agent.client.json_lines import JsonLines
from acp_agent.client.permissions import read_request
from acp_agent.protocol.verdicts import violation

CALL = {"toolCallId": "c1", "kind": "execute", "status": "in_progress"}


def test_each_event_is_one_line_of_the_documented_form() -> None:
    out = io.StringIO()
    view = JsonLines(out)
    options = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
    request = read_request({"sessionId": "S1", "toolCall": CALL, "options": options})
    update = {
        "sessionUpdate": "tool_call",
        "title": "e\u2028",
        "kind": "edit",
        "status": "completed",
        "toolCallId": "c2",
    }

    view.agent_started({"name": "a", "version": "1"})
    view.show(SessionOpened("S1", {"sessionId": "S1"}))
    view.ready_for_prompt()
    view.turn_started()
    view.show(PermissionAsked(request))
    view.question(request)
    view.show(PermissionAnswered(request, "y", cancelled=False))
    view.show(UpdateReceived("S1", update, 1))
    view.show(UpdateReceived("S1", update, None))
    view.show(AgentMisbehaved(violation("parse_error", "not JSON")))
    view.note("by the way")
    view.cancel_asked()
    view.turn_ended("cancelled")
    view.failed("gone", "last words")
    view.show(AgentEnded("gone"))

    expected: list[dict[str, Any]] = [
        {
            "event": "session",
            "sessionId": "S1",
            "agent": {"name": "a", "version": "1"},
            "result": {"sessionId": "S1"},
        },
        {"event": "permission", "sessionId": "S1", "toolCall": CALL, "options": options},
        {
            "event": "permission_answer",
            "sessionId": "S1",
            "toolCallId": "c1",
            "optionId": "y",
            "cancelled": False,
        },
        {"event": "update", "sessionId": "S1", "turn": 1, "update": update},
        {"event": "update", "sessionId": "S1", "turn": None, "update": update},
        {"event": "misbehaviour", "reason": "parse_error", "severity": "violation", "sentence": "not JSON"},
        {"event": "note", "text": "by the way"},
        {"event": "end", "stopReason": "cancelled", "commands": 1, "fileOperations": 1, "skills": 0},
        {"event": "error", "text": "gone", "stderr": "last words"},
    ]
    assert [json.loads(line) for line in out.getvalue().split("\n")[:-1]] == expected
