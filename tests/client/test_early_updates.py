"""Updates that wait for the answer to `session/new`."""

from __future__ import annotations

from acp_agent.client.early_updates import MOST_BYTES, MOST_LINES, EarlyUpdates
from acp_agent.protocol.events import ProtocolViolation
from acp_agent.protocol.verdicts import violation

UNKNOWN = ProtocolViolation(violation("update_session_unknown", "an update names a session that was opened"))


def test_each_session_gets_its_own_in_order_and_once() -> None:
    early = EarlyUpdates()
    for session_id, line in [("A", b"1"), ("B", b"2"), ("A", b"3")]:
        assert early.hold(session_id, line, UNKNOWN)
    assert early.take("A") == [b"1", b"3"]
    assert early.take("A") == []
    assert early.take_rest() == [UNKNOWN]
    assert early.take("B") == []


def test_their_number_is_bounded() -> None:
    early = EarlyUpdates()
    assert all(early.hold("A", b"x", UNKNOWN) for _ in range(MOST_LINES))
    assert not early.hold("A", b"x", UNKNOWN)
    assert len(early.take("A")) == MOST_LINES
    assert early.hold("A", b"x", UNKNOWN)


def test_their_size_is_bounded() -> None:
    early = EarlyUpdates()
    half = bytes(MOST_BYTES // 2)
    assert early.hold("A", half, UNKNOWN)
    assert early.hold("A", half, UNKNOWN)
    assert not early.hold("A", b"x", UNKNOWN)
    early.take_rest()
    assert early.hold("A", half, UNKNOWN)
