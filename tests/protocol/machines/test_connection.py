"""The connection machine against a table written by hand from the rows K2, K3, K4, K8 and K9."""

from __future__ import annotations

import itertools

import pytest

from acp_agent.protocol.machines.connection import ConnectionEvent, ConnectionFacts, ConnectionState
from acp_agent.protocol.machines.step import CONNECTION, step

# (state, event, whether the client speaks the version) -> the next state; what is not here is refused.
BY_HAND = {
    ("uninitialised", "agree_version", True): "ready",
    ("uninitialised", "refuse_version", False): "closing",
    ("uninitialised", "fail_initialize", True): "uninitialised",
    ("uninitialised", "fail_initialize", False): "uninitialised",
    ("uninitialised", "end_stream", True): "closing",
    ("uninitialised", "end_stream", False): "closing",
    ("ready", "end_stream", True): "closing",
    ("ready", "end_stream", False): "closing",
}


@pytest.mark.parametrize("spoken", [True, False])
@pytest.mark.parametrize("event", ConnectionEvent)
@pytest.mark.parametrize("state", ConnectionState)
def test_every_event_in_every_state_is_as_written_by_hand(
    state: ConnectionState, event: ConnectionEvent, spoken: bool
) -> None:
    """Requirement: rows K2 to K9 and no other transition."""
    taken = step(CONNECTION, state, event, ConnectionFacts(version_spoken=spoken))
    assert (taken.before, taken.event) == (state, event)
    assert taken.after == BY_HAND.get((state, event, spoken))


def test_agreeing_on_a_version_the_client_does_not_speak_says_which_fact_was_missing() -> None:
    """Requirement: a refusal names what stood in the way, and where an onlooker would have to follow."""
    refused = step(
        CONNECTION, ConnectionState.UNINITIALISED, ConnectionEvent.AGREE_VERSION, ConnectionFacts(False)
    )
    assert refused.after is None
    assert refused.failed_guards == ("version_spoken",)
    assert refused.forced is ConnectionState.READY


def test_a_second_initialize_result_finds_no_edge() -> None:
    """Requirement: K6, a ready connection is not initialised again."""
    for event in (
        ConnectionEvent.AGREE_VERSION,
        ConnectionEvent.REFUSE_VERSION,
        ConnectionEvent.FAIL_INITIALIZE,
    ):
        refused = step(CONNECTION, ConnectionState.READY, event, ConnectionFacts(True))
        assert (refused.after, refused.failed_guards, refused.forced) == (None, (), None)


def test_all_eight_rows_are_reached_from_the_states_by_their_facts() -> None:
    """Requirement: the hand-written table is not wider than the machine."""
    legal = {
        (state.value, event.value, spoken)
        for state, event, spoken in itertools.product(ConnectionState, ConnectionEvent, [True, False])
        if step(CONNECTION, state, event, ConnectionFacts(spoken)).after is not None
    }
    assert legal == set(BY_HAND)
