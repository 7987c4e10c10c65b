"""A turn stays open until the verdict is said, and ids of scripts do not meet on one connection."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from acp_agent.harness.narration import HeldAnswer, Narration
from acp_agent.harness.wire import Wire


class Sent:
    """A Port that keeps what is sent."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    def post(self, data: bytes) -> None:
        self.messages.append(orjson.loads(data))

    async def flushed(self) -> None: ...

    async def fetched(self) -> None: ...

    def close_output(self) -> None: ...


def answer(result: dict[str, Any]) -> HeldAnswer:
    return HeldAnswer("s", 1, {"jsonrpc": "2.0", "id": 1, "result": result}, on_purpose=True)


def test_an_answer_is_held_until_it_is_released_and_sent_once() -> None:
    """What is said meanwhile stands before it."""
    port = Sent()
    narration = Narration(Wire(port))
    number = narration.hold(answer({"stopReason": "end_turn"}))
    assert port.messages == []
    narration.say("s", "a verdict")
    narration.release()
    narration.release()
    assert [("result" in message) for message in port.messages] == [False, True]
    assert number == 0


def test_a_second_answer_sends_the_first() -> None:
    """Of two turns the older one has to end first."""
    port = Sent()
    narration = Narration(Wire(port))
    narration.hold(answer({"stopReason": "end_turn"}))
    narration.hold(answer({"stopReason": "refusal"}))
    assert [message["result"]["stopReason"] for message in port.messages] == ["end_turn"]


def test_an_illegal_end_is_sent_all_the_same_when_the_script_is_over() -> None:
    """A client must not wait for ever because of us."""
    port = Sent()
    narration = Narration(Wire(port))
    message = {"jsonrpc": "2.0", "id": 1, "result": {"stopReason": "end_turn"}}
    narration.hold(HeldAnswer("s", 1, message, on_purpose=False))
    narration.release_anyway()
    assert port.messages == [message]


@pytest.mark.parametrize(
    ("result", "well"),
    [
        ({"stopReason": "end_turn"}, True),
        ({"stopReason": "cancelled"}, False),
        ({"stopReason": "end_turn", "_meta": {}}, False),
    ],
)
def test_only_a_plain_end_is_not_missed(result: dict[str, Any], well: bool) -> None:
    """An end that a client should see must not be dropped for the next scenario."""
    assert answer(result).ends_well is well


def test_the_second_scenario_on_a_connection_has_ids_of_its_own() -> None:
    """Tool calls and elicitations live as long as the session."""
    message = {
        "params": {"toolCall": {"toolCallId": "t"}, "list": [{"elicitationId": "e"}], "sessionId": "s"}
    }
    wire = Wire(Sent())
    assert Narration(wire).renamed(message) is message
    renamed = Narration(wire, number=2).renamed(message)
    assert renamed["params"]["toolCall"]["toolCallId"] == "t-2"
    assert renamed["params"]["list"] == [{"elicitationId": "e-2"}]
    assert renamed["params"]["sessionId"] == "s"
