"""Compressing: what the model is asked, what becomes of the history, and that nothing does when it fails."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_agent.agent.compaction import compact
from acp_agent.agent.history import History
from acp_agent.llm.errors import ContextOverflow, ModelError
from acp_agent.llm.model import Finished, FinishReason, TextDelta, ToolCallReady


def conversation(turns: int) -> History:
    """So many turns with a tool each."""
    history = History("system prompt")
    for number in range(turns):
        history.begin_turn(f"question {number}")
        history.add_answer("", [ToolCallReady(f"t{number}", "bash", '{"command": "ls"}')])
        history.add_result(f"t{number}", f"output {number} " + "x" * 20_000)
        history.add_answer(f"answer {number}")
        history.end_turn("")
    return history


def test_the_model_gets_the_older_turns_and_no_tools(kit: Any) -> None:
    """What was said, called and printed, long outputs clipped; the last turns are not part of it."""

    async def scenario() -> None:
        model = kit.HandModel([TextDelta(" in "), TextDelta("short\n"), Finished(FinishReason.STOP, None)])
        history = conversation(4)
        done = await compact(history, model, keep_last_turns=1, input_tokens=None)
        assert done.changed
        ((system, user),) = model.asked
        assert system["role"] == "system"
        transcript = user["content"]
        for part in ("question 0", "output 2", "answer 2", "bash"):
            assert part in transcript
        assert "question 3" not in transcript
        assert "system prompt" not in transcript
        assert len(transcript) < 3 * 6000
        assert "characters left out" in transcript
        assert [one["content"] for one in history.messages()][:3] == [
            "system prompt",
            "in short",
            "question 3",
        ]

    kit.run(scenario())


def test_the_line_counts_messages_and_tokens(kit: Any) -> None:
    """`compressed N messages → 1 summary + N kept (<before> → <after> tokens, <s>s)`."""

    async def scenario() -> None:
        model = kit.HandModel([TextDelta("short"), Finished(FinishReason.STOP, None)])
        done = await compact(conversation(3), model, keep_last_turns=2, input_tokens=9000)
        assert done.line.startswith("🗜️ compressed 4 messages → 1 summary + 8 kept (9000 → ")
        before, after = done.line.partition("(")[2].partition(" tokens")[0].split(" → ")
        assert int(after) < int(before)
        assert done.line.endswith("s)")

    kit.run(scenario())


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ([ModelError("the server is gone")], "the server is gone"),
        ([TextDelta("half"), ModelError("broke off")], "broke off"),
        ([Finished(FinishReason.STOP, None)], "no summary"),
        ([TextDelta(" \n"), Finished(FinishReason.STOP, None)], "no summary"),
        ([TextDelta("half"), Finished(FinishReason.CONTENT_FILTER, None)], "declined"),
    ],
)
def test_a_failure_leaves_the_history_as_it_was(kit: Any, reply: list[Any], why: str) -> None:
    """`[compact: failed, history kept: <explanation>]`."""

    async def scenario() -> None:
        history = conversation(3)
        before = history.records()
        done = await compact(history, kit.HandModel(reply), keep_last_turns=1, input_tokens=None)
        assert not done.changed
        assert done.line.startswith("[compact: failed, history kept: ")
        assert why in done.line
        assert history.records() == before

    kit.run(scenario())


def test_with_nothing_older_nobody_is_asked(kit: Any) -> None:
    """`nothing to compact: N message(s), no turn older than the last K`."""

    async def scenario() -> None:
        model = kit.HandModel()
        done = await compact(conversation(2), model, keep_last_turns=2, input_tokens=None)
        assert done == ("🗜️ nothing to compact: 8 message(s), no turn older than the last 2", False)
        assert model.asked == []

    kit.run(scenario())


def test_cancelled_it_changes_nothing_and_lets_go_of_the_model(kit: Any) -> None:
    """A command is a turn like others: it can be cancelled."""

    async def scenario() -> None:
        reached = asyncio.Event()

        async def hang() -> None:
            reached.set()
            await asyncio.Event().wait()

        model = kit.HandModel([TextDelta("half"), hang])
        history = conversation(3)
        before = history.records()
        task = asyncio.ensure_future(compact(history, model, keep_last_turns=1, input_tokens=None))
        await reached.wait()
        task.cancel()
        await asyncio.wait([task])
        assert history.records() == before
        assert model.closed == 1

    kit.run(scenario())


TOO_LITTLE_ROOM = [
    [ContextOverflow("too long")],
    [TextDelta("half"), Finished(FinishReason.LENGTH, None)],
]


@pytest.mark.parametrize("reply", TOO_LITTLE_ROOM, ids=["for the transcript", "for the summary"])
def test_where_there_is_little_room_the_transcript_gets_shorter(kit: Any, reply: list[Any]) -> None:
    """A conversation that has outgrown the model can still be compressed; a summary is never cut down again."""

    async def scenario() -> None:
        model = kit.HandModel(reply, reply, [TextDelta("short"), Finished(FinishReason.STOP, None)])
        history = conversation(3)
        history.summarise(history.older_turns(2), "old summary " + "s" * 3000)
        assert (await compact(history, model, keep_last_turns=1, input_tokens=None)).changed
        lengths = [len(asked[1]["content"]) for asked in model.asked]
        assert lengths == sorted(set(lengths), reverse=True)
        assert all("s" * 3000 in asked[1]["content"] for asked in model.asked)

    kit.run(scenario())


@pytest.mark.parametrize("reply", TOO_LITTLE_ROOM, ids=["for the transcript", "for the summary"])
def test_where_there_is_no_room_at_all_nothing_changes(kit: Any, reply: list[Any]) -> None:
    """Half a summary is none: the history is kept, and the sentence says what can be done or what is wrong."""

    async def scenario() -> None:
        model = kit.HandModel(*[reply] * 9)
        history = conversation(3)
        before = history.records()
        done = await compact(history, model, keep_last_turns=1, input_tokens=None)
        assert not done.changed
        assert done.line.startswith("[compact: failed, history kept: ")
        assert history.records() == before
        assert len(model.asked) < 5

    kit.run(scenario())
