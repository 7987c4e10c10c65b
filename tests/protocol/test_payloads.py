"""Params and results against their definitions, as they are read and as they are sent."""

from __future__ import annotations

import pytest

from acp_agent.protocol import payloads
from acp_agent.protocol.errors import LocalProtocolError

INITIALIZE = {"protocolVersion": 1, "clientCapabilities": {"fs": {"readTextFile": "yes"}}, "x": 1}


def test_what_is_valid_is_given_back_as_it_is() -> None:
    """No copy, no remark."""
    value = {"sessionId": "s", "extra": 1}
    read, problem, notes = payloads.read("CancelNotification", value, "session/cancel", strict=False)
    assert (read is value, problem, notes) == (True, None, [])


def test_a_tolerable_fault_is_repaired_with_a_warning_and_unknown_members_are_found_when_strict() -> None:
    """Both in one message."""
    read, problem, notes = payloads.read("InitializeRequest", INITIALIZE, "initialize", strict=True)
    assert read == {"protocolVersion": 1, "clientCapabilities": {"fs": {}}, "x": 1}
    assert problem is None
    assert [(one.reason, one.where["path"]) for one in notes] == [
        ("params_invalid", "/clientCapabilities/fs/readTextFile"),
        ("unknown_member", "/x"),
    ]


def test_a_fault_that_is_not_tolerable_makes_the_value_unusable() -> None:
    """The verdict has the pointer, what was expected, and the slug that was asked for."""
    value = {"stopReason": "enough"}
    read, problem, notes = payloads.read(
        "PromptResponse", value, "session/prompt", strict=False, reason="result_invalid"
    )
    assert read is value
    assert notes == []
    assert problem is not None
    assert (problem.reason, problem.where["path"]) == ("result_invalid", "/stopReason")


def test_a_hundred_thousand_bad_items_are_a_few_remarks() -> None:
    """Nobody reads more, and each would be a line in a log; the last one says how many there were."""
    entries = [{"content": "c", "priority": "low", "status": "?"}] * 100_000
    value = {"sessionId": "s", "update": {"sessionUpdate": "plan", "entries": entries}}
    read, problem, notes = payloads.read("SessionNotification", value, "session/update", strict=False)
    assert problem is None
    assert read["update"]["entries"] == []
    assert len(notes) == 21
    assert notes[-1].sentence == "99980 more members are read as their defaults"


def test_a_payload_of_ours_is_exact() -> None:
    """What a reader would repair is refused; unknown members in strict mode only."""
    payloads.refuse_invalid("InitializeRequest", {"protocolVersion": 1, "x": 1}, "initialize", strict=False)
    with pytest.raises(LocalProtocolError, match="readTextFile"):
        payloads.refuse_invalid("InitializeRequest", INITIALIZE, "initialize", strict=False)
    with pytest.raises(LocalProtocolError, match="no such member"):
        payloads.refuse_invalid(
            "InitializeRequest", {"protocolVersion": 1, "x": 1}, "initialize", strict=True
        )
