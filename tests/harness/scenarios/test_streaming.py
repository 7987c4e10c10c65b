"""Streams: slow, silent and coalescing clients, and where a line is cut."""

from __future__ import annotations

from typing import Any

import pytest

from acp_agent.harness.scenarios.streaming import NO_TEXT
from acp_agent.harness.verdict import Verdict
from acp_agent.protocol import schema

STREAMS = [
    "stream/two-thousand-letters",
    "stream/empty-chunks",
    "stream/thoughts-between",
    "stream/content-that-is-no-text",
    "stream/cut-in-every-character",
]
ENDINGS = [
    "stream/five-hundred-then-the-end",
    "stream/end-in-one-write",
    "stream/end-cut-in-the-answer",
    "stream/end-cut-before-the-line-feed",
]


@pytest.mark.parametrize("scenario", STREAMS)
def test_a_client_that_shows_each_turn_as_a_whole_passes(play: Any, scenario: str) -> None:
    """No piece in the record, only the text at the end; and it takes its time for answers, which are results."""

    async def slow(puppet: Any) -> None:
        puppet.delay_s = 0.2
        puppet.answers["_barrier/1"] = {"result": {}}
        await puppet.hello()
        await puppet.open()
        await puppet.prompt()

    result = play(scenario, slow, records=True)
    assert [outcome.rule for outcome in result.outcomes if outcome.verdict is not Verdict.PASS] == []


@pytest.mark.parametrize("scenario", ENDINGS)
def test_a_client_that_prompts_again_at_once_passes(play: Any, scenario: str) -> None:
    """The end of the turn arrives whole, however it was cut, and what came before it is all there."""

    async def quick(puppet: Any) -> None:
        await puppet.hello()
        await puppet.open()
        await puppet.prompt()
        await puppet.prompt("Again.")

    result = play(scenario, quick, records=True)
    assert [outcome.rule for outcome in result.outcomes if outcome.verdict is not Verdict.PASS] == []


def test_a_text_behind_the_end_is_found(play: Any) -> None:
    """Whole but late breaks R-308."""

    async def late(puppet: Any) -> None:
        await puppet.hello()
        await puppet.open()
        await puppet.prompt()
        puppet.show("message", text="<499>")
        await puppet.prompt("Again.")

    assert play("stream/five-hundred-then-the-end", late, records=True).failed_rules == ("R-308",)


def test_a_client_that_leaves_after_its_turn_is_not_to_blame(play: Any) -> None:
    """Nobody has to stay for what comes while no turn runs."""

    async def leaves(puppet: Any) -> None:
        await puppet.hello()
        await puppet.open()
        await puppet.prompt()

    assert play("stream/updates-while-idle", leaves).failed_rules == ()


@pytest.mark.parametrize("content", NO_TEXT, ids=lambda content: str(content["type"]))
def test_each_block_is_of_the_protocol(content: dict[str, Any]) -> None:
    """A client is not asked for more than the schema has."""
    assert schema.is_valid("ContentBlock", content)
