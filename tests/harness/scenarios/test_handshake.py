"""The beginning: in which order it goes, and what a client does that cannot speak with the agent."""

from __future__ import annotations

from typing import Any

import pytest

from acp_agent.harness.verdict import Verdict

TEXT = {"type": "text", "text": "Hello."}


def prompts_with(*blocks: dict[str, Any]) -> Any:
    """A script whose prompt has these blocks."""

    async def script(puppet: Any) -> None:
        await puppet.hello()
        await puppet.open()
        await puppet.call("session/prompt", {"sessionId": puppet.session, "prompt": list(blocks)})

    return script


@pytest.mark.parametrize(
    ("blocks", "failed"),
    [
        ((TEXT,), ()),
        ((TEXT, {"type": "resource_link", "uri": "file:///a", "name": "a"}), ()),
        ((TEXT, {"type": "image", "mimeType": "image/png", "data": "AAAA"}), ("R-127", "R-205")),
    ],
    ids=["text", "a link", "an image"],
)
def test_a_prompt_has_what_every_agent_takes(play: Any, blocks: Any, failed: tuple[str, ...]) -> None:
    """R-127: this agent advertises nothing."""
    assert play("handshake/first-turn", prompts_with(*blocks)).failed_rules == failed


def test_who_opens_a_session_before_initialize_is_found(play: Any) -> None:
    """R-022."""

    async def script(puppet: Any) -> None:
        await puppet.open()
        await puppet.hello()
        await puppet.open()
        await puppet.prompt()

    assert play("handshake/first-turn", script).failed_rules == ("R-022",)


def test_who_leaves_without_a_prompt_is_found(play: Any) -> None:
    """R-304: the session was there."""

    async def script(puppet: Any) -> None:
        await puppet.hello()
        await puppet.open()

    assert play("handshake/first-turn", script).failed_rules == ("R-304",)


@pytest.mark.parametrize(
    ("goes_on", "exit_code", "failed"),
    [(False, 1, ()), (False, 0, ("R-029",)), (True, 1, ("R-029",))],
    ids=["leaves and says so", "leaves as if all were well", "goes on"],
)
def test_a_version_that_nobody_speaks(
    play: Any, goes_on: bool, exit_code: int, failed: tuple[str, ...]
) -> None:
    """R-029: the client closes the connection and tells its user."""

    async def script(puppet: Any) -> None:
        await puppet.hello()
        if goes_on:
            puppet.notify("session/cancel", {"sessionId": "none"})
            puppet.send(
                {
                    "jsonrpc": "2.0",
                    "id": 9,
                    "method": "session/new",
                    "params": {"cwd": "/p", "mcpServers": []},
                }
            )

    result = play("handshake/unknown-version", script, exit_code=exit_code)
    assert set(failed) <= set(result.failed_rules)
    assert (result.verdict is Verdict.PASS) is (failed == ())
