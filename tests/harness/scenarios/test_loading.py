"""Loads: a client may answer a refusal by giving up, and need not show a history."""

from __future__ import annotations

from typing import Any

import pytest

from acp_agent.harness.verdict import Verdict

REFUSED = [f"load/refused-with{code}" for code in (-32002, -32601, -32602, -32603)]


async def _load(puppet: Any, id_: str = "old", method: str = "load") -> Any:
    params = {"sessionId": id_, "cwd": "/project", "mcpServers": []}
    answer = await puppet.call(f"session/{method}", params)
    if "result" in answer:
        puppet.session = id_
    return answer


@pytest.mark.parametrize("scenario", ["load/replay", "load/long-history"])
def test_a_client_that_shows_no_history_passes(play: Any, scenario: str) -> None:
    """R-308 is about what is shown."""

    async def script(puppet: Any) -> None:
        await puppet.hello()
        await _load(puppet)
        await puppet.prompt()

    result = play(scenario, script, records=True)
    assert [outcome.rule for outcome in result.outcomes if outcome.verdict is not Verdict.PASS] == []


@pytest.mark.parametrize("scenario", REFUSED)
@pytest.mark.parametrize("attempts", [1, 3])
def test_a_refused_load_may_end_the_client(play: Any, scenario: str, attempts: int) -> None:
    """To give up is right; not exercised is what would have come after it."""

    async def script(puppet: Any) -> None:
        await puppet.hello()
        for _ in range(attempts):
            await _load(puppet)

    result = play(scenario, script, exit_code=1)
    assert (result.verdict, result.failed_rules) == (Verdict.NOT_EXERCISED, ())


def test_a_resume_without_servers_is_right(play: Any) -> None:
    """R-066: mcpServers are optional there."""

    async def script(puppet: Any) -> None:
        await puppet.hello()
        await puppet.call("session/resume", {"sessionId": "old", "cwd": "/project"})
        puppet.session = "old"
        await puppet.prompt()

    assert play("resume/first-turn", script, records=True).verdict is Verdict.PASS


def test_a_client_that_never_closes_is_not_blamed(play: Any) -> None:
    """Closing is offered, not asked for."""

    async def script(puppet: Any) -> None:
        await puppet.hello()
        await puppet.open()
        await puppet.prompt()

    for name in ("after-a-turn", "already-gone"):
        result = play(f"close/{name}", script)
        assert (result.verdict, result.failed_rules) == (Verdict.NOT_EXERCISED, ())
