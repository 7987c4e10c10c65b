"""Events: values that compare by what they say, with what a watcher needs and no more."""

from __future__ import annotations

import pytest

from acp_agent.protocol.events import (
    NotificationReceived,
    ProtocolViolation,
    RequestReceived,
    ResponseReceived,
    StreamEnded,
)
from acp_agent.protocol.verdicts import violation


@pytest.mark.parametrize(
    "event",
    [
        RequestReceived(1, "m", {}),
        NotificationReceived("m", {}),
        ResponseReceived(1, "m", {}, None),
        ProtocolViolation(violation("batch", "x")),
        StreamEnded((1,)),
    ],
)
def test_an_event_is_a_value(event: object) -> None:
    """It has happened, so it can't be changed."""
    with pytest.raises(AttributeError):
        event.method = "other"  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        event.more = 1  # type: ignore[attr-defined]


def test_a_violation_has_a_reply_only_when_one_is_to_be_posted() -> None:
    """Most findings are only reported."""
    event = ProtocolViolation(violation("batch", "x"))
    assert (event.reply, event.message) == (None, None)
