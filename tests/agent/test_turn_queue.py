"""The queue: one turn at a time, in order, whatever becomes of each."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from acp_agent.agent.turn import PromptTurn
from acp_agent.agent.turn_queue import TurnQueue


def queue_of(wired: Any, kit: Any, *replies: Any) -> Any:
    model = kit.HandModel(*replies)
    queue = TurnQueue(wired.peer, wired.engine(model))
    queue.model = model  # type: ignore[attr-defined]
    return queue


def add(queue: Any, wired: Any, id_: str) -> None:
    wired.prompt(id_)
    queue.add(id_, wired.session, id_)


async def answered(wired: Any, id_: str) -> dict[str, Any]:
    """Wait for an answer, that may have been read before."""
    for message in wired.answers(id_):
        return message
    return await wired.until(lambda message: message.get("id") == id_ and "method" not in message)


def test_first_come_first_served(kit: Any, wired: Any) -> None:
    """Turns are serialised: the next begins when the one before has been answered; an idle queue starts again."""

    async def scenario() -> None:
        queue = queue_of(wired, kit, *([kit.text(str(number)), kit.stop()] for number in range(4)))
        for id_ in ("a", "b", "c"):
            add(queue, wired, id_)
        await answered(wired, "c")
        order = [m["id"] if "id" in m else m["params"]["update"]["content"]["text"] for m in wired.sent]
        assert order == ["0", "a", "1", "b", "2", "c"]
        add(queue, wired, "d")
        assert (await answered(wired, "d"))["result"] == {"stopReason": "end_turn"}
        await queue.end(1)

    kit.run(scenario())


def test_a_waiting_turn_is_cancelled_at_once(kit: Any, wired: Any) -> None:
    """It is answered while another runs, and never asks the model."""

    async def scenario() -> None:
        gate = asyncio.Event()
        queue = queue_of(wired, kit, [kit.text("a"), gate.wait, kit.stop()])
        for id_ in ("a", "b", "c"):
            add(queue, wired, id_)
        await wired.until(lambda message: message.get("method") == "session/update")
        wired.receive({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": "b"}})
        queue.cancel(lambda turn: turn.request_id == "b")
        assert [message["id"] for message in wired.take()] == ["b"]
        assert wired.log.lines == ["turn done: 0 command(s) · 0 file op(s) · 0 skill(s)"]
        gate.set()
        await answered(wired, "c")
        assert [one[-1]["content"] for one in queue.model.asked] == ["a", "c"]
        await queue.end(1)

    kit.run(scenario())


def test_stopping_answers_all_that_wait(kit: Any, wired: Any) -> None:
    """The program ends: the running turn stops, those that wait are answered, none of them begins."""

    async def scenario() -> None:
        queue = queue_of(wired, kit, [kit.text("a"), asyncio.Event().wait])
        for id_ in ("a", "b", "c"):
            add(queue, wired, id_)
        await wired.until(lambda message: message.get("method") == "session/update")
        queue.stop()
        assert [message["id"] for message in wired.take()] == ["b", "c"]
        await queue.end(20)
        assert (await answered(wired, "a"))["error"]["code"] == -32800
        assert len(queue.model.asked) == 1

    kit.run(scenario())


def test_the_end_does_not_wait_for_ever(kit: Any, wired: Any) -> None:
    """A turn that does not stop when it is told to is left."""

    async def scenario() -> None:
        told: list[None] = []
        over = asyncio.Event()

        async def deaf() -> None:
            while not over.is_set():
                with suppress(asyncio.CancelledError):
                    await over.wait()
                told.append(None)

        queue = queue_of(wired, kit, [kit.text("a"), deaf])
        add(queue, wired, "a")
        await wired.until(lambda message: message.get("method") == "session/update")
        queue.stop()
        await queue.end(0.1)
        await asyncio.sleep(0)
        assert len(told) == 2  # by the stop, and when it was late
        assert not wired.answers("a")
        over.set()
        await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()})

    kit.run(scenario())


def test_an_empty_queue_ends_at_once(kit: Any, wired: Any) -> None:
    """Nothing was ever asked."""

    async def scenario() -> None:
        queue = queue_of(wired, kit)
        queue.stop()
        queue.cancel(lambda turn: True)
        await queue.end(20)
        assert wired.take() == []

    kit.run(scenario())


def test_a_turn_that_breaks_does_not_hold_up_the_others(
    kit: Any, wired: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bug at the end of one turn: it is logged, and the next turn is served."""

    async def scenario() -> None:
        queue = queue_of(wired, kit, [kit.text("x"), kit.stop()], [kit.text("y"), kit.stop()])
        real = PromptTurn.run

        async def broken(turn: PromptTurn) -> None:
            if turn.request_id == "a":
                raise RuntimeError("a bug")
            await real(turn)

        monkeypatch.setattr(PromptTurn, "run", broken)
        add(queue, wired, "a")
        add(queue, wired, "b")
        await answered(wired, "b")
        assert any("a bug" in line for line in wired.log.lines)
        await queue.end(1)

    kit.run(scenario())


def test_a_cancel_that_a_library_swallowed_is_not_left_to_the_next_turn(kit: Any, wired: Any) -> None:
    """All turns of a burst run in one task: each begins as if nobody had ever cancelled it."""

    async def swallowing() -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()

    async def scenario() -> None:
        queue = queue_of(
            wired,
            kit,
            [kit.text("a"), swallowing, kit.stop()],
            [asyncio.CancelledError()],
            [kit.text("c"), kit.stop()],
        )
        add(queue, wired, "a")
        await wired.until(lambda message: message.get("method") == "session/update")
        add(queue, wired, "b")
        wired.receive({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": "a"}})
        queue.cancel(lambda turn: turn.request_id == "a")
        assert (await answered(wired, "a"))["result"] == {"stopReason": "cancelled"}
        assert (await answered(wired, "b"))["error"]["code"] == -32603
        add(queue, wired, "c")
        assert (await answered(wired, "c"))["result"] == {"stopReason": "end_turn"}
        await queue.end(1)

    kit.run(scenario())
