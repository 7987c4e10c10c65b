"""Scenarios in this process: a client gets streams, and whatever it does is judged as a process would be."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest

from acp_agent.harness import Seat, UnknownScenario, Verdict, explain, play_scenario
from acp_agent.harness.result import NEVER_STARTED, ScenarioResult
from acp_agent.harness.seat import RunningAgent


class Caller:
    """As little of a client as passes: it calls, refuses what it does not know, and allows what it is asked."""

    def __init__(self, agent: RunningAgent) -> None:
        self._agent = agent
        self._next_id = 0

    def send(self, message: dict[str, Any]) -> None:
        line = orjson.dumps({"jsonrpc": "2.0", **message}, option=orjson.OPT_APPEND_NEWLINE)
        self._agent.writer.write(line)

    async def call(self, method: str, params: dict[str, Any]) -> Any:
        self._next_id += 1
        own = self._next_id
        self.send({"id": own, "method": method, "params": params})
        while line := await self._agent.reader.readline():
            message = orjson.loads(line)
            if "method" in message and "id" in message:
                self.answer(message)
            elif message.get("id") == own:
                return message["result"]
        raise EOFError("the agent has ended")

    def answer(self, message: dict[str, Any]) -> None:
        if message["method"] == "session/request_permission":
            option = message["params"]["options"][0]["optionId"]
            self.send(
                {"id": message["id"], "result": {"outcome": {"outcome": "selected", "optionId": option}}}
            )
        else:
            self.send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})


async def client(seat: Seat) -> None:
    """One turn."""
    caller = Caller(await seat.start_agent())
    await caller.call("initialize", {"protocolVersion": 1, "clientInfo": {"name": "seated", "version": "1"}})
    session = await caller.call("session/new", {"cwd": str(seat.cwd), "mcpServers": []})
    prompt = [{"type": "text", "text": seat.prompt}]
    await caller.call("session/prompt", {"sessionId": session["sessionId"], "prompt": prompt})


def played(scenario: str, who: Any = client, **options: Any) -> ScenarioResult:
    return asyncio.run(play_scenario(scenario, who, **options))


@pytest.mark.parametrize("scenario", ["handshake/first-turn", "forward/unknown-request", "ids-strings"])
def test_a_client_in_this_process_passes(scenario: str) -> None:
    """By the scenario's id, or by the name of its command."""
    result = played(scenario)
    assert (result.verdict, result.errors) == (Verdict.PASS, ()), explain(result)
    assert result.client == {"name": "seated", "version": "1"}


def test_what_it_does_wrong_is_explained() -> None:
    """In lines that a test can print."""
    text = explain(played("permission/reject"))
    assert text.startswith("permission/reject: fail")
    assert "R-175 MUST:" in text
    assert "expected: the option that rejects" in text


def test_an_exception_is_an_exit_code_and_is_told() -> None:
    """A client that breaks down has not ended well; what broke is in its output."""

    async def broken(seat: Seat) -> None:
        await client(seat)
        raise RuntimeError("a bug of the client")

    result = played("misbehaviour/late-update", broken)
    assert (result.exit.exit_code, "a bug of the client" in result.exit.output) == (1, True)


def test_a_client_that_hangs_is_cancelled() -> None:
    """And has broken R-301 only if its agent was there and is gone."""

    async def hanging(seat: Seat) -> None:
        await client(seat)
        await asyncio.sleep(3600)

    result = played("forward/unknown-update", hanging, timeout_s=2.0)
    assert (result.exit.hung, result.exit.exit_code) == (True, None)


def test_a_client_that_never_starts_the_agent_proves_nothing() -> None:
    """As with a command."""

    async def idle(seat: Seat) -> int:
        return 3

    result = played("forward/unknown-update", idle)
    assert (result.verdict, result.reason) == (Verdict.NOT_EXERCISED, NEVER_STARTED)
    assert result.exit.exit_code == 3


def test_each_start_is_a_process_of_its_own() -> None:
    """A client may look at the agent first, and use it later."""

    async def careful(seat: Seat) -> None:
        first = await seat.start_agent()
        first.writer.close()
        assert await first.wait() == 0
        await client(seat)

    result = played("forward/unknown-request", careful)
    assert (result.verdict, len(result.parts)) == (Verdict.PASS, 2), explain(result)


def test_what_is_shown_is_judged() -> None:
    """The display record, without a file of one's own."""

    async def showing(seat: Seat) -> None:
        await client(seat)
        seat.show("end", "s", 1, stopReason="end_turn", text="something else")

    result = played("handshake/first-turn", showing)
    assert result.failed_rules == ("R-308",)


def test_the_record_is_kept_where_it_is_wanted(tmp_path: Path) -> None:
    """Parts and raw records, as a driver leaves them."""
    played("ids/strings", directory=tmp_path)
    names = {path.name for path in (tmp_path / "ids-strings").iterdir()}
    assert names == {"part-1.json", "trace-1.jsonl"}


@pytest.mark.parametrize("name", ["no/such", "permission"])
def test_one_scenario_is_played_at_a_time(name: str) -> None:
    """A group is a loop of the caller's."""
    with pytest.raises(UnknownScenario):
        played(name)
