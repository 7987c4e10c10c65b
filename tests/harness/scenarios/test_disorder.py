"""Disorder: a client may end an unclear turn as it likes, and may report broken lines with an error of no id."""

from __future__ import annotations

from typing import Any

import pytest

from acp_agent.harness.scenarios import disorder
from acp_agent.harness.verdict import Verdict
from acp_agent.jsonrpc import codec

BROKEN = {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}}
STRANGE = ["unknown-stop-reason", "no-stop-reason", "null-result"]


def test_every_line_of_garbage_may_be_answered_with_an_error_of_no_id(play: Any) -> None:
    """A parse error may be answered so; it is not a client's answer to a notification (R-015)."""

    async def script(puppet: Any) -> None:
        hear = puppet._hear

        def complaining(line: bytes) -> None:
            try:
                usable = isinstance(codec.decode(line), dict) and b"jsonrpc" in line
            except codec.DecodeError:
                usable = False
            if line and (not usable or line == b'{"jsonrpc":"2.0"}'):
                puppet.send(BROKEN)
            elif line:
                hear(line)

        puppet._hear = complaining
        await puppet.hello()
        await puppet.open()
        await puppet.prompt()

    result = play("misbehaviour/garbage-lines", script, records=True)
    assert [outcome.rule for outcome in result.outcomes if outcome.verdict is not Verdict.PASS] == []


@pytest.mark.parametrize("name", STRANGE)
@pytest.mark.parametrize("again", [True, False], ids=["goes on", "leaves"])
def test_an_answer_without_sense_ends_the_turn_somehow(play: Any, name: str, again: bool) -> None:
    """Another prompt is a pass; leaving, with whatever exit code, proves nothing."""

    async def script(puppet: Any) -> None:
        await puppet.hello()
        await puppet.open()
        await puppet.call("session/prompt", {"sessionId": puppet.session, "prompt": []})
        if again:
            await puppet.prompt()

    result = play(f"misbehaviour/{name}", script)
    assert result.verdict is (Verdict.PASS if again else Verdict.NOT_EXERCISED)
    assert result.failed_rules == ()


@pytest.mark.parametrize(
    "answer", [{"result": {"outcome": {"outcome": "cancelled"}}}, None], ids=["cancelled", "-32601"]
)
def test_a_late_question_may_get_any_answer(play: Any, answer: Any) -> None:
    """R-016: the agent was wrong to ask."""

    async def script(puppet: Any) -> None:
        puppet.answers["session/request_permission"] = answer or {
            "error": {"code": -32600, "message": "no turn"}
        }
        await puppet.hello()
        await puppet.open()
        await puppet.prompt()
        await puppet.until(lambda: puppet.asked)
        await puppet.prompt()

    assert play("misbehaviour/permission-out-of-turn", script).verdict is Verdict.PASS


def test_the_garbage_is_garbage() -> None:
    """None of the lines can be taken for a message of the protocol."""
    for line in disorder._GARBAGE:
        try:
            message = codec.decode(line)
        except codec.DecodeError:
            continue
        assert not isinstance(message, dict) or "method" not in message
