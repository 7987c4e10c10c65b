"""The way out to the client: order, calls and their answers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from acp_agent.agent.updates import message_chunk
from acp_agent.protocol.errors import LocalProtocolError


def ask(wired: Any) -> Any:
    """Any request to the client that is legal in a turn."""
    params = {
        "sessionId": "s1",
        "toolCall": {"toolCallId": "call_1", "title": "t"},
        "options": [{"optionId": "allow", "name": "Allow", "kind": "allow_once"}],
    }
    return wired.peer.call("session/request_permission", params)


def test_order_in_the_code_is_order_on_the_wire(kit: Any, wired: Any) -> None:
    """Posting never waits."""
    wired.prompt()
    wired.peer.update("s1", message_chunk("a"))
    wired.peer.update("s1", message_chunk("b"))
    wired.peer.respond("p1", {"stopReason": "end_turn"})
    wired.take()
    assert [update["content"]["text"] for update in wired.updates] == ["a", "b"]
    assert wired.sent[-1] == {"jsonrpc": "2.0", "id": "p1", "result": {"stopReason": "end_turn"}}


@pytest.mark.parametrize(
    "illegal",
    [
        lambda peer: peer.update("s1", message_chunk("no turn")),
        lambda peer: peer.update("s2", message_chunk("no such session")),
        lambda peer: peer.update("s1", {"sessionUpdate": "nonsense"}),
        lambda peer: peer.respond("nobody", {}),
        lambda peer: peer.call("session/request_permission", {"sessionId": "s1"}),
        lambda peer: peer.call("fs/read_text_file", {"sessionId": "s1", "path": "/x"}),
    ],
)
def test_what_would_be_illegal_is_raised_and_not_sent(kit: Any, wired: Any, illegal: Any) -> None:
    """An illegal message of ours is stopped before the wire."""

    async def scenario() -> None:
        with pytest.raises(LocalProtocolError):
            illegal(wired.peer)
        assert wired.take() == []

    kit.run(scenario())


def test_a_call_resolves_with_whatever_the_answer_is(kit: Any, wired: Any) -> None:
    """A result and an error alike: never an exception."""

    async def scenario() -> None:
        wired.prompt()
        first, second = ask(wired), None
        wired.take()
        wired.receive({"jsonrpc": "2.0", "id": first.id, "result": {"outcome": {"outcome": "cancelled"}}})
        assert (await first.answer).result == {"outcome": {"outcome": "cancelled"}}
        second = ask(wired)
        wired.receive({"jsonrpc": "2.0", "id": second.id, "error": {"code": -1, "message": "m"}})
        answer = await second.answer
        assert answer.error is not None
        assert answer.error.message == "m"

    kit.run(scenario())


def test_a_malformed_answer_settles_the_call(kit: Any, wired: Any) -> None:
    """Waiting on for a better one would be for ever."""

    async def scenario() -> None:
        wired.prompt()
        call = ask(wired)
        wired.receive({"jsonrpc": "2.0", "id": call.id, "result": {"outcome": 7}})
        assert (await call.answer).error is not None

    kit.run(scenario())


def test_a_withdrawn_call_is_said_once_and_its_late_answer_is_taken_without_a_word(
    kit: Any, wired: Any
) -> None:
    """Decision 6, R7."""

    async def scenario() -> None:
        wired.prompt()
        call = ask(wired)
        wired.take()
        wired.peer.withdraw(call)
        wired.peer.withdraw(call)
        (said,) = wired.take()
        assert said["method"] == "$/cancel_request"
        assert said["params"] == {"requestId": call.id}
        wired.receive({"jsonrpc": "2.0", "id": call.id, "result": {"outcome": {"outcome": "cancelled"}}})
        assert not call.answer.done()
        assert wired.take() == []

    kit.run(scenario())


def test_it_is_crowded_while_much_is_unread(kit: Any, tmp_path: Path) -> None:
    """A producer is told when to breathe, and waits while the client is too far behind."""
    wired = kit.Wired(tmp_path, limit_bytes=200_000)

    async def scenario() -> None:
        wired.prompt()
        assert not wired.peer.crowded
        while wired.outbox.pending_bytes <= 200_000:
            wired.peer.update("s1", message_chunk("x" * 1000))
        assert wired.peer.crowded
        waiting = asyncio.ensure_future(wired.peer.breathe())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not waiting.done()
        wired.take()
        await waiting

    kit.run(scenario())


def test_it_is_open_until_the_client_has_gone(kit: Any, wired: Any) -> None:
    """After the end of the input nothing is sent."""
    assert wired.peer.is_open
    wired.connection.end_of_stream()
    assert not wired.peer.is_open
