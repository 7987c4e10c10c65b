"""One turn: every way through it, every way out of it."""

from __future__ import annotations

import asyncio
import contextlib
import math
from pathlib import Path
from typing import Any

import pytest

from acp_agent.agent import turn as turn_module
from acp_agent.agent.keeper import Keeper
from acp_agent.agent.turn import PromptTurn
from acp_agent.llm.errors import ContextOverflow, ModelUnreachable
from acp_agent.llm.model import FinishReason, ReasoningDelta
from acp_agent.tools.base import ToolResult

LIMIT = 1 << 20
"""Of the outbox, where a client does not read."""


def turn_of(
    wired: Any, kit: Any, *replies: Any, id_: object = "p1", text: str = "question", **how: Any
) -> Any:
    """A turn of the open session, its prompt sent; `model` is what it asks."""
    wired.prompt(id_)
    model = kit.HandModel(*replies)
    turn = PromptTurn(id_, wired.session, text, wired.peer, wired.engine(model, **how))
    turn.model = model  # type: ignore[attr-defined]
    return turn


def contents(wired: Any) -> list[object]:
    """What the history holds behind the system prompt."""
    return [message["content"] for message in wired.session.history.messages()[1:]]


def test_text_streams_and_the_answer_is_the_last_word(kit: Any, wired: Any) -> None:
    """The answer to session/prompt is the last thing a turn posts."""

    async def scenario() -> None:
        turn = turn_of(wired, kit, [kit.text(" a"), ReasoningDelta("hm"), kit.text("\n"), kit.stop()])
        await turn.run()
        wired.take()
        assert [(one["sessionUpdate"], one["content"]["text"]) for one in wired.updates] == [
            ("agent_message_chunk", " a"),
            ("agent_thought_chunk", "hm"),
            ("agent_message_chunk", "\n"),
        ]
        assert wired.sent[-1] == {"jsonrpc": "2.0", "id": "p1", "result": {"stopReason": "end_turn"}}
        assert contents(wired) == ["question", " a\n"]
        assert wired.log.lines == ["turn done: 0 command(s) · 0 file op(s) · 0 skill(s)"]

    kit.run(scenario())


@pytest.mark.parametrize(
    ("reason", "stop_reason"),
    [
        (FinishReason.STOP, "end_turn"),
        (FinishReason.LENGTH, "max_tokens"),
        (FinishReason.CONTENT_FILTER, "refusal"),
        (FinishReason.TOOL_CALLS, "end_turn"),
    ],
)
def test_the_models_reason_becomes_the_stop_reason(
    kit: Any, wired: Any, reason: FinishReason, stop_reason: str
) -> None:
    """R-137: the closed set."""

    async def scenario() -> None:
        await turn_of(wired, kit, [kit.text("a"), kit.stop(reason)]).run()
        wired.take()
        assert wired.sent[-1]["result"] == {"stopReason": stop_reason}
        assert contents(wired) == ([] if stop_reason == "refusal" else ["question", "a"])

    kit.run(scenario())


def test_tools_run_in_order_until_the_model_calls_none(kit: Any, wired: Any) -> None:
    """One generation on the session's history; the model sees each result."""

    async def scenario() -> None:
        wired.session.allowed.add("work")
        turn = turn_of(
            wired,
            kit,
            [kit.wish("1", "a"), kit.wish("2", "b"), kit.stop(FinishReason.TOOL_CALLS)],
            [kit.wish("3", "c"), kit.stop(FinishReason.TOOL_CALLS)],
            [kit.text("done"), kit.stop()],
        )
        await turn.run()
        wired.take()
        assert [one["what"] for one in wired.tool.ran] == ["1", "2", "3"]
        assert [message.get("tool_call_id") for message in turn.model.asked[2]] == [
            *(None, None, None),
            *("a", "b"),
            None,
            "c",
        ]
        assert wired.sent[-1]["result"] == {"stopReason": "end_turn"}
        assert wired.log.lines == ["turn done: 3 command(s) · 0 file op(s) · 0 skill(s)"]

    kit.run(scenario())


def test_the_steps_are_limited(kit: Any, wired: Any) -> None:
    """max_turn_requests; the calls of the last step have their results."""

    async def scenario() -> None:
        wired.session.allowed.add("work")
        replies = [[kit.wish(id_=f"t{step}"), kit.stop(FinishReason.TOOL_CALLS)] for step in range(9)]
        turn = turn_of(wired, kit, *replies, max_steps=2)
        await turn.run()
        wired.take()
        assert len(turn.model.asked) == 2
        assert wired.sent[-1]["result"] == {"stopReason": "max_turn_requests"}
        assert wired.session.history.messages()[-1]["role"] == "tool"

    kit.run(scenario())


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (ModelUnreachable("nobody at http://x"), "error: nobody at http://x"),
        (ContextOverflow("too long"), "error: too long; /new begins a conversation without it"),
        (ValueError("a bug\nwith lines"), "error: internal error: ValueError: a bug"),
        (RecursionError(), "error: internal error: RecursionError: "),
        (asyncio.CancelledError(), "error: internal error: the model call stopped by itself"),
        (StopAsyncIteration(), "error: internal error: "),
    ],
)
@pytest.mark.parametrize("said_before", [False, True])
def test_every_failure_is_one_sentence(
    kit: Any, wired: Any, failure: BaseException, said: str, said_before: bool
) -> None:
    """-32603 with `error: <one line>`; what was said is kept, a question without any answer is removed, and the
    next turn works."""

    async def scenario() -> None:
        await turn_of(wired, kit, [*([kit.text("half")] if said_before else []), failure]).run()
        wired.take()
        error = wired.sent[-1]["error"]
        assert error["code"] == -32603
        assert error["message"].startswith(said)
        assert "\n" not in error["message"]
        assert contents(wired) == (["question", "half"] if said_before else [])
        await turn_of(wired, kit, [kit.text("ok"), kit.stop()], id_="p2").run()
        wired.take()
        assert wired.sent[-1]["result"] == {"stopReason": "end_turn"}

    kit.run(scenario())


def test_wishes_of_an_answer_that_broke_off_are_not_kept(kit: Any, wired: Any) -> None:
    """A half plan is neither run nor remembered."""

    async def scenario() -> None:
        wired.session.allowed.add("work")
        await turn_of(wired, kit, [kit.text("I "), kit.wish(), ModelUnreachable("gone")]).run()
        assert wired.tool.ran == []
        assert wired.session.history.messages()[-1] == {"role": "assistant", "content": "I "}

    kit.run(scenario())


class Gate:
    """Where a turn waits until it is interrupted."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()

    async def hang(self, *_: object) -> Any:
        self.reached.set()
        await asyncio.Event().wait()


Interrupt = Any
WAYS = {
    "cancel": lambda turn, wired: (wired.cancel(), turn.cancel()),
    "cancel twice": lambda turn, wired: (wired.cancel(), turn.cancel(), turn.cancel()),
    "stop": lambda turn, wired: turn.stop(),
    "cancel, then stop": lambda turn, wired: (wired.cancel(), turn.cancel(), turn.stop()),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "place", ["before the first token", "in the text", "in a tool", "in the second call"]
)
def test_an_interrupted_turn_ends_in_order(kit: Any, wired: Any, way: str, place: str) -> None:
    """Whatever it waits for: the model call is closed, calls get their final status, the answer is `cancelled` when
    the client asked and an error -32800 when the program ends; the history is valid (R-156, R-139, R-171)."""

    async def scenario() -> None:
        gate = Gate()
        wired.session.allowed.add("work")
        replies: list[Any] = {
            "before the first token": [[gate.hang]],
            "in the text": [[kit.text("half"), gate.hang]],
            "in a tool": [[kit.wish("1", "a"), kit.wish("2", "b"), kit.stop(FinishReason.TOOL_CALLS)]],
            "in the second call": [[kit.wish(), kit.stop(FinishReason.TOOL_CALLS)], [gate.hang]],
        }[place]
        if place == "in a tool":
            wired.tool.act = gate.hang
        turn = turn_of(wired, kit, *replies)
        running = asyncio.ensure_future(turn.run())
        await gate.reached.wait()
        WAYS[way](turn, wired)
        await running
        wired.take()
        (answer,) = wired.answers("p1")
        assert wired.sent[-1] is answer
        if way == "stop":
            assert answer["error"]["code"] == -32800
        else:
            assert answer["result"] == {"stopReason": "cancelled"}
        assert turn.model.closed == len(turn.model.asked)
        status = {one["toolCallId"]: one["status"] for one in wired.updates if "toolCallId" in one}
        assert set(status.values()) <= {"completed", "failed"}
        messages = wired.session.history.messages()
        called = [call["id"] for message in messages for call in message.get("tool_calls", [])]
        assert [message["tool_call_id"] for message in messages if message["role"] == "tool"] == called
        if place == "before the first token":
            assert contents(wired) == []

    kit.run(scenario())


def test_a_permission_that_is_open_is_settled_before_the_answer(kit: Any, wired: Any) -> None:
    """Decision 6: the client's `cancelled` comes, then the call ends, then the prompt is answered."""

    async def scenario() -> None:
        turn = turn_of(wired, kit, [kit.wish(), kit.stop(FinishReason.TOOL_CALLS)])
        running = asyncio.ensure_future(turn.run())
        request = await wired.permission()
        wired.cancel()
        turn.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert wired.take() == []
        wired.choose(request, "cancelled")
        await running
        ended, answer = wired.take()
        assert ended["params"]["update"]["status"] == "failed"
        assert answer["result"] == {"stopReason": "cancelled"}
        assert wired.tool.ran == []

    kit.run(scenario())


def test_a_cancel_wins_over_a_failure_it_caused(kit: Any, wired: Any) -> None:
    """R-157, R13: a library that turns the abort into an error of its own."""

    async def scenario() -> None:
        reached = asyncio.Event()

        async def turns_the_abort_into_an_error() -> None:
            reached.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                raise ModelUnreachable("aborted") from None

        turn = turn_of(wired, kit, [turns_the_abort_into_an_error])
        running = asyncio.ensure_future(turn.run())
        await reached.wait()
        wired.cancel()
        turn.cancel()
        await running
        wired.take()
        assert wired.sent[-1]["result"] == {"stopReason": "cancelled"}

    kit.run(scenario())


def test_a_cancel_that_the_model_swallows_is_still_the_end(kit: Any, wired: Any) -> None:
    """A library that eats the abort and goes on: no new tool call starts (B117), and the answer is `cancelled`."""

    async def scenario() -> None:
        reached = asyncio.Event()

        async def swallows() -> None:
            reached.set()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()

        wired.session.allowed.add("work")
        turn = turn_of(wired, kit, [swallows, kit.wish(), kit.stop(FinishReason.TOOL_CALLS)])
        running = asyncio.ensure_future(turn.run())
        await reached.wait()
        wired.cancel()
        turn.cancel()
        await running
        wired.take()
        assert wired.sent[-1]["result"] == {"stopReason": "cancelled"}
        assert wired.tool.ran == []

    kit.run(scenario())


def test_a_tool_that_swallows_the_cancel_does_not_start_another(kit: Any, wired: Any) -> None:
    """R12: a tool that finishes while the cancel is on its way: its result stands, nothing new begins."""

    async def scenario() -> None:
        reached = asyncio.Event()

        async def finishes_all_the_same(_: object) -> ToolResult:
            reached.set()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            return ToolResult("finished")

        wired.session.allowed.add("work")
        wired.tool.act = finishes_all_the_same
        turn = turn_of(
            wired, kit, [kit.wish("1", "a"), kit.wish("2", "b"), kit.stop(FinishReason.TOOL_CALLS)]
        )
        running = asyncio.ensure_future(turn.run())
        await reached.wait()
        wired.cancel()
        turn.cancel()
        await running
        wired.take()
        assert wired.sent[-1]["result"] == {"stopReason": "cancelled"}
        assert len(wired.tool.ran) == 1
        assert contents(wired)[2] == "finished"

    kit.run(scenario())


def test_after_a_swallowed_cancel_the_model_is_not_asked_again(kit: Any, wired: Any) -> None:
    """R-155: no further model request, though the tool went to its end."""

    async def scenario() -> None:
        reached = asyncio.Event()

        async def finishes_all_the_same(_: object) -> ToolResult:
            reached.set()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            return ToolResult("finished")

        wired.session.allowed.add("work")
        wired.tool.act = finishes_all_the_same
        turn = turn_of(wired, kit, [kit.wish(), kit.stop(FinishReason.TOOL_CALLS)])
        running = asyncio.ensure_future(turn.run())
        await reached.wait()
        wired.cancel()
        turn.cancel()
        await running
        wired.take()
        assert wired.sent[-1]["result"] == {"stopReason": "cancelled"}
        assert len(turn.model.asked) == 1

    kit.run(scenario())


def test_tools_wait_for_a_client_that_is_behind(kit: Any, tmp_path: Path) -> None:
    """Backpressure holds for what tools print, too."""
    wired = kit.Wired(tmp_path, limit_bytes=LIMIT)

    async def scenario() -> None:
        async def prints_much(_: object) -> ToolResult:
            return ToolResult("x" * 20_000)

        wired.session.allowed.add("work")
        wired.tool.act = prints_much
        replies = [
            [kit.wish(f"{step}", f"t{step}"), kit.stop(FinishReason.TOOL_CALLS)] for step in range(1000)
        ]
        turn = turn_of(wired, kit, *replies, max_steps=1000)
        running = asyncio.ensure_future(turn.run())
        for _ in range(5000):
            await asyncio.sleep(0)
        assert not running.done()
        assert wired.outbox.pending_bytes < LIMIT + 10_000  # and one message
        wired.cancel()
        turn.cancel()
        await running
        wired.take()
        assert wired.sent[-1]["result"] == {"stopReason": "cancelled"}

    kit.run(scenario())


def test_a_late_cancel_changes_nothing(kit: Any, wired: Any) -> None:
    """R-161: after the answer."""

    async def scenario() -> None:
        turn = turn_of(wired, kit, [kit.text("a"), kit.stop()])
        await turn.run()
        turn.cancel()
        turn.stop()
        wired.take()
        assert wired.answers("p1") == [{"jsonrpc": "2.0", "id": "p1", "result": {"stopReason": "end_turn"}}]

    kit.run(scenario())


def test_a_turn_that_never_ran_can_be_answered(kit: Any, wired: Any) -> None:
    """A waiting turn: cancelled at once, with no update at all (R3)."""

    async def scenario() -> None:
        turn = turn_of(wired, kit)
        wired.cancel()
        turn.cancel()
        turn.drop()
        assert [message["result"] for message in wired.take()] == [{"stopReason": "cancelled"}]
        assert contents(wired) == []

    kit.run(scenario())


def test_nothing_is_said_to_a_client_that_has_gone(kit: Any, wired: Any) -> None:
    """R15: connection ends: nothing is sent; the turn still winds down."""

    async def scenario() -> None:
        gate = Gate()
        turn = turn_of(wired, kit, [kit.text("half"), gate.hang])
        running = asyncio.ensure_future(turn.run())
        await gate.reached.wait()
        wired.take()
        wired.connection.end_of_stream()
        turn.stop()
        await running
        assert wired.take() == []
        assert turn.model.closed == 1

    kit.run(scenario())


def test_a_stream_waits_for_a_client_that_is_behind_and_can_be_cancelled_there(
    kit: Any, tmp_path: Path
) -> None:
    """Backpressure: what is unread stays under the limit and one message; a cancel acts during the stall."""
    wired = kit.Wired(tmp_path, limit_bytes=LIMIT)

    async def scenario() -> None:
        turn = turn_of(
            wired, kit, [*(kit.text(f"{number:05} " + "x" * 100) for number in range(20_000)), kit.stop()]
        )
        running = asyncio.ensure_future(turn.run())
        for _ in range(5000):
            await asyncio.sleep(0)
        assert not running.done()
        assert wired.outbox.pending_bytes < LIMIT + 10_000  # and one message
        wired.cancel()
        turn.cancel()
        await running
        wired.take()
        assert wired.sent[-1]["result"] == {"stopReason": "cancelled"}
        assert turn.model.closed == 1

    kit.run(scenario())


def test_others_run_while_a_model_talks_without_a_pause(kit: Any, tmp_path: Path) -> None:
    """A model that never waits does not keep the reader from a cancel."""
    wired = kit.Wired(tmp_path, limit_bytes=1 << 40)

    async def scenario() -> None:
        turn = turn_of(wired, kit, [kit.text("x" * 1000)] * 100_000)  # type: ignore[arg-type]
        running = asyncio.ensure_future(turn.run())
        await asyncio.sleep(0)
        for _ in range(5):
            await asyncio.sleep(0)
        assert not running.done()
        wired.cancel()
        turn.cancel()
        await running
        assert wired.outbox.pending_bytes < 10_000_000

    kit.run(scenario())


def test_the_answer_leaves_in_the_pass_in_which_it_is_made(kit: Any, wired: Any) -> None:
    """With the last words, and without waiting for the event loop to come round again."""

    async def scenario() -> None:
        flushed: list[list[Any]] = []
        wired.outbox.attach(lambda: None, lambda: flushed.append(wired.take()))
        wired.prompt()
        model = kit.HandModel([kit.text("hello"), kit.stop()])
        await PromptTurn("p1", wired.session, "q", wired.peer, wired.engine(model)).run()
        assert [[message.get("id") for message in one] for one in flushed] == [[None, "p1"]]

    kit.run(scenario())


@pytest.mark.parametrize("mute", [False, True])
def test_a_cancelled_turn_has_one_deadline_for_all_it_waits_for(
    kit: Any, wired: Any, monkeypatch: pytest.MonkeyPatch, mute: bool
) -> None:
    """Under 2 s together: what a client that never answers the permission took is not given to a disk that hangs."""

    class Recording(Keeper):
        keeps = True

        async def keep(self, session: Any, within_s: float = math.inf) -> None:
            allowed.append(within_s)

    allowed: list[float] = []

    async def scenario() -> None:
        monkeypatch.setattr(turn_module, "_LATE_ANSWER_S", 0.1)
        assert turn_module._BREAK_OFF_S < 2
        wired.prompt()
        model = kit.HandModel([kit.wish(), kit.stop(FinishReason.TOOL_CALLS)])
        turn = PromptTurn(
            "p1", wired.session, "q", wired.peer, wired.engine(model, Recording(None, wired.log))
        )
        running = asyncio.ensure_future(turn.run())
        request = await wired.permission()
        wired.cancel()
        turn.cancel()
        if not mute:
            wired.choose(request, "cancelled")
        await running
        waited = 0.09 if mute else 0.0  # a clock may tick early
        assert allowed[0] <= turn_module._BREAK_OFF_S - waited

    kit.run(scenario())


def test_half_an_answer_before_an_overflow_is_not_part_of_the_conversation(kit: Any, wired: Any) -> None:
    """A server that notices in the middle of its answer: the retry is asked the question, and what the user has seen
    of the half is set apart from the whole."""

    async def scenario() -> None:
        for number in range(3):
            await turn_of(wired, kit, [kit.text(f"a{number}"), kit.stop()], id_=number).run()
        wired.take()
        before = len(wired.updates)
        turn = turn_of(
            wired,
            kit,
            [kit.text("ha"), ContextOverflow("too long")],
            [kit.text("summary"), kit.stop()],
            [kit.text("whole"), kit.stop()],
        )
        await turn.run()
        wired.take()
        assert turn.model.asked[-1][-1] == {"role": "user", "content": "question"}
        assert [one["content"]["text"] for one in wired.updates[before:]] == ["ha", "\n\n", "whole"]
        assert contents(wired)[-2:] == ["question", "whole"]

    kit.run(scenario())
