"""Slices and long lines: what is compared is the text, to the byte."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_agent.harness.verdict import Verdict


async def one_turn(puppet: Any) -> None:
    await puppet.hello()
    await puppet.open()
    await puppet.prompt()


@pytest.mark.parametrize("scenario", ["framing/byte-by-byte", "framing/line-of-16-mib"])
def test_a_client_that_puts_lines_together_passes(play: Any, scenario: str) -> None:
    """R-001, R-312: and shows the whole text."""
    result = play(scenario, one_turn, records=True)
    assert (result.verdict, result.failed_rules) == (Verdict.PASS, ())


@pytest.mark.parametrize("scenario", ["framing/byte-by-byte", "framing/line-of-16-mib"])
def test_one_character_that_is_lost_is_found(play: Any, scenario: str) -> None:
    """R-308."""

    async def script(puppet: Any) -> None:
        await one_turn(puppet)
        puppet.shown[-1]["text"] = puppet.shown[-1]["text"][:-1] + "\ufffd"

    assert play(scenario, script, records=True).failed_rules == ("R-308",)


@pytest.mark.parametrize(
    ("scenario", "failed"), [("framing/byte-by-byte", ("R-001",)), ("framing/line-of-16-mib", ("R-312",))]
)
def test_who_closes_the_connection_over_it_is_found(
    play: Any, scenario: str, failed: tuple[str, ...]
) -> None:
    """To refuse a line is one thing, to give the connection up another."""

    async def script(puppet: Any) -> None:
        await puppet.hello()
        await puppet.open()
        turn = asyncio.create_task(puppet.prompt())
        await puppet.until(lambda: puppet.updates)
        turn.cancel()

    assert play(scenario, script).failed_rules == failed
