"""An agent that does wrong: what a client may make of it, and what it may not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_agent.harness.aftermath import Aftermath
from acp_agent.harness.scenarios.misbehaviour import same_process
from acp_agent.harness.verdict import Verdict


async def started(puppet: Any) -> asyncio.Task[Any]:
    await puppet.hello()
    await puppet.open()
    turn = asyncio.create_task(puppet.prompt())
    await puppet.until(lambda: puppet.updates)
    return turn


def test_an_error_in_answer_to_a_cancelled_prompt_is_no_crash(play: Any) -> None:
    """R-305: the next prompt goes to the same process."""

    async def script(puppet: Any) -> None:
        turn = await started(puppet)
        puppet.notify("session/cancel", {"sessionId": puppet.session})
        assert (await turn)["error"]["code"] == -32800
        await puppet.prompt("Go on.")

    result = play("misbehaviour/error-instead-of-cancelled", script)
    assert (result.verdict, result.failed_rules) == (Verdict.PASS, ())


@pytest.mark.parametrize(
    ("notes", "lives", "failed"),
    [
        ({}, 1, []),
        ({"left after the error": True}, 1, []),
        ({"left after the error": True}, 2, [False]),
        ({}, 2, []),
    ],
    ids=["stays", "leaves for good", "starts it again", "was left by the agent"],
)
def test_who_starts_the_agent_again_takes_a_stop_for_a_crash(
    notes: dict[str, Any], lives: int, failed: list[bool]
) -> None:
    """R-305: unless it was the agent that had lost patience, as on a slow machine."""
    after = Aftermath(("R-305",), notes=notes, exit_code=0, hung=False, display=None, lives=lives)
    same_process(after)
    assert [check.ok for check in after.checks] == failed


@pytest.mark.parametrize(("late", "failed"), [("", ()), (" Too late.", ("R-308",))])
def test_a_late_chunk_is_not_text_of_the_next_turn(play: Any, late: str, failed: tuple[str, ...]) -> None:
    """R-308: it was read before the next prompt was sent."""

    async def script(puppet: Any) -> None:
        await puppet.hello()
        await puppet.open()
        await puppet.prompt()
        await puppet.until(lambda: len(puppet.updates) == 2 and puppet.asked)
        await asyncio.sleep(0.01)
        await puppet.prompt("Again, please.")
        puppet.shown[-1]["text"] = late + puppet.shown[-1]["text"]

    assert play("misbehaviour/late-update", script, records=True).failed_rules == failed


@pytest.mark.parametrize(("exit_code", "failed"), [(1, ()), (0, ("R-301",))])
def test_a_death_in_a_turn_is_no_success(play: Any, exit_code: int, failed: tuple[str, ...]) -> None:
    """R-301."""

    async def script(puppet: Any) -> None:
        (await started(puppet)).cancel()

    assert play("misbehaviour/dies-in-a-turn", script, exit_code=exit_code).failed_rules == failed
