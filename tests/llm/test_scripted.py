"""A model that is a file."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acp_agent.llm.errors import ContextOverflow, ModelError, ModelRefused
from acp_agent.llm.model import (
    Finished,
    FinishReason,
    Message,
    ReasoningDelta,
    TextDelta,
    ToolCallReady,
    Usage,
)
from acp_agent.llm.script import ERROR_KINDS, load_script
from acp_agent.llm.scripted import ScriptedModel

BENCH = Path(__file__).parents[2] / "bench" / "bench.model"


@pytest.fixture
def scripted(tmp_path: Path) -> Callable[[str], ScriptedModel]:
    def make(text: str) -> ScriptedModel:
        path = tmp_path / "a.model"
        path.write_text(text, encoding="utf-8")
        return ScriptedModel(load_script(path))

    return make


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def play(model: ScriptedModel, *messages: Message) -> list[Any]:
    async def collect() -> list[Any]:
        return [event async for event in model.stream(messages, [])]

    return asyncio.run(collect())


def whole_turn(model: ScriptedModel, text: str) -> list[list[Any]]:
    """Play a turn as an agent does, a result for each call."""

    async def turn() -> list[list[Any]]:
        messages = [user(text)]
        answers = []
        while True:
            events = [event async for event in model.stream(messages, [])]
            answers.append(events)
            if events[-1].reason is not FinishReason.TOOL_CALLS:
                return answers
            calls = [event for event in events if isinstance(event, ToolCallReady)]
            messages.append(
                {"role": "assistant", "content": None, "tool_calls": [{"id": call.id} for call in calls]}
            )
            messages += [{"role": "tool", "tool_call_id": call.id, "content": "x"} for call in calls]

    return asyncio.run(turn())


FULL = """
name = "demo"
[[rule]]
exact = "say"
[[rule.reply]]
parts = [ { reasoning = "hm" }, { delay_ms = 0 }, { text = "a ", repeat = 3 }, { text = "b", times = 3 } ]
usage = { input_tokens = 5, output_tokens = 6 }
[[rule]]
regex = '(?P<verb>do) (\\w+) (\\d+)'
[[rule.reply]]
cycles = "{3}"
parts = [ { tool_call = { name = "bash", arguments = { command = "{2} {verb} {other} {", list = [ "{0}", 1 ] } } } ]
[[rule.reply]]
parts = [ { text = "{verb}ne with {2}" } ]
finish = "length"
[[rule]]
exact = "fail"
[[rule.reply]]
parts = [ { text = "a" }, { error = { kind = "context_overflow", message = "too long" } } ]
"""


def test_all_parts_are_played_in_order(scripted: Callable[[str], ScriptedModel]) -> None:
    """Text in chunks and in one chunk, reasoning, delay, usage."""
    model = scripted(FULL)
    assert model.label == "demo (scripted, a.model)"
    assert play(model, user(" say\n")) == [
        ReasoningDelta("hm"),
        *[TextDelta("a ")] * 3,
        TextDelta("bbb"),
        Finished(FinishReason.STOP, Usage(5, 6)),
    ]


def test_a_turn_of_cycles_ends_with_the_next_reply(scripted: Callable[[str], ScriptedModel]) -> None:
    """Groups are filled in everywhere, other braces stay; ids are unique."""
    answers = whole_turn(scripted(FULL), "do it 3")
    calls = [event for events in answers for event in events if isinstance(event, ToolCallReady)]
    assert len(calls) == 3
    assert len({call.id for call in calls}) == 3
    assert json.loads(calls[0].arguments) == {"command": "it do {other} {", "list": ["do it 3", 1]}
    assert answers[-1] == [TextDelta("done with it"), Finished(FinishReason.LENGTH, None)]
    assert whole_turn(scripted(FULL), "do it 0") == [answers[-1]]


def test_an_error_part_is_raised_after_the_text_before_it(scripted: Callable[[str], ScriptedModel]) -> None:
    """As a real model fails in the middle."""
    events: list[Any] = []

    async def collect() -> None:
        async for event in scripted(FULL).stream([user("fail")], []):
            events.append(event)

    with pytest.raises(ContextOverflow, match=r"^too long$"):
        asyncio.run(collect())
    assert events == [TextDelta("a")]


def test_every_error_of_the_tree_can_be_scripted() -> None:
    """A new subclass needs its word here."""
    assert set(ERROR_KINDS.values()) == set(ModelError.__subclasses__())


def test_a_text_no_rule_fits_and_a_turn_without_a_reply_are_explained(
    scripted: Callable[[str], ScriptedModel],
) -> None:
    """File, rule and what is missing."""
    with pytest.raises(ModelRefused, match=r'a\.model: no rule fits the text "what"'):
        play(scripted(FULL), user("what"))
    with pytest.raises(ModelRefused, match=r"rule 1 has replies for 1 model call\(s\), and call 2"):
        play(scripted(FULL), user("say"), {"role": "assistant"}, {"role": "tool", "content": "x"})
    odd = '[[rule]]\nregex = "n (.*)"\n[[rule.reply]]\nparts = [ { text = "a", repeat = "{1}" } ]'
    with pytest.raises(ModelRefused, match='rule 1 repeat should be a whole number, got "x"'):
        play(scripted(odd), user("n x"))


def test_a_cancel_during_a_delay_acts_at_once(scripted: Callable[[str], ScriptedModel]) -> None:
    """A delay is a wait like any other."""
    model = scripted(
        '[[rule]]\ndefault = true\n[[rule.reply]]\nparts = [ { text = "a" }, { delay_ms = 3600000 } ]'
    )

    async def run() -> None:
        began = asyncio.Event()

        async def collect() -> None:
            async for _ in model.stream([user("x")], []):
                began.set()

        task = asyncio.create_task(collect())
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())


def test_others_run_during_a_long_text(scripted: Callable[[str], ScriptedModel]) -> None:
    """A cancel must be read while 20,000 chunks stream."""
    model = ScriptedModel(load_script(BENCH))

    async def run() -> int:
        seen = 0

        async def collect() -> None:
            nonlocal seen
            async for _ in model.stream([user("stream 20000")], []):
                seen += 1

        task = asyncio.create_task(collect())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return seen

    assert asyncio.run(run()) < 20_000


def test_sessions_that_take_turns_do_not_disturb_each_other() -> None:
    """What is remembered of one conversation is not believed of another."""
    model = ScriptedModel(load_script(BENCH))
    one, other = [user("tools 2")], [user("tools 5"), {"role": "assistant"}, {"role": "tool", "content": "x"}]
    for _ in range(2):
        assert isinstance(play(model, *one)[0], ToolCallReady)
        assert isinstance(play(model, *other)[0], ToolCallReady)
        one += [{"role": "assistant"}, {"role": "tool", "content": "x"}]
    assert play(model, *one)[0] == TextDelta("All tools have run.")
    assert isinstance(play(model, *other)[0], ToolCallReady)
    assert play(model, *one, user("echo"))[0] == TextDelta("echo")
    assert play(model, *one[:1])[0].name == "read_file"


def test_the_bench_script_says_what_the_bench_asks() -> None:
    """echo, stream N, tools N, big K, as the header of the file says."""
    model = ScriptedModel(load_script(BENCH))
    assert play(model, user("echo")) == [TextDelta("echo"), Finished(FinishReason.STOP, None)]
    chunks = play(model, user("stream 300"))[:-1]
    assert len(chunks) == 300
    assert {len(chunk.text) for chunk in chunks} == {40}
    (big, _) = play(model, user("big 8"))
    assert len(big.text.encode()) == 8 * 1024
    answers = whole_turn(model, "tools 3")
    assert len(answers) == 4
    assert json.loads(answers[0][0].arguments) == {"path": str(BENCH), "limit": 1}
    assert play(model, user("anything"))[-1].reason is FinishReason.STOP
