"""One scenario as the process of an agent: who plays, what is left in the directory, and when it ends by itself."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from pathlib import Path
from typing import Any

import orjson
import pytest

from acp_agent.harness import serve
from acp_agent.harness.catalogue import select
from acp_agent.harness.part import PartFile, agent_runs, read_parts
from acp_agent.harness.scenario import Scenario
from acp_agent.transport.stdio import Descriptors

WAIT_S = 30.0


class Run:
    """The agent on one end of a pair of sockets, a client on the other."""

    def __init__(self, scenario: Scenario, directory: Path) -> None:
        self.scenario = scenario
        self.directory = directory
        self.stop = asyncio.Event()

    async def __aenter__(self) -> Run:
        ours, theirs = socket.socketpair()
        descriptors = Descriptors(ours.fileno(), socket.dup(ours.fileno()))
        ours.detach()
        self.reader, self.writer = await asyncio.open_connection(sock=theirs)
        self.agent = asyncio.create_task(
            serve.serve(self.scenario, self.directory, descriptors, self.stop, driven=True)
        )
        return self

    async def __aexit__(self, *problem: object) -> None:
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()
        async with asyncio.timeout(WAIT_S):
            await self.agent

    async def call(self, id_: int, method: str, params: dict[str, Any]) -> Any:
        self.writer.write(
            orjson.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}) + b"\n"
        )
        async with asyncio.timeout(WAIT_S):
            while line := await self.reader.readline():
                message = orjson.loads(line)
                if message.get("id") == id_ and "method" not in message:
                    return message.get("result", message.get("error"))
                if "method" in message and "id" in message:
                    error = {"code": -32601, "message": "Method not found"}
                    self.writer.write(
                        orjson.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}) + b"\n"
                    )
        raise EOFError

    async def one_turn(self) -> None:
        await self.call(0, "initialize", {"protocolVersion": 1})
        session = await self.call(1, "session/new", {"cwd": "/project", "mcpServers": []})
        prompt = [{"type": "text", "text": "Hello."}]
        await self.call(2, "session/prompt", {"sessionId": session["sessionId"], "prompt": prompt})


def scenario(id_: str = "forward/unknown-request") -> Scenario:
    (found,) = select([id_])
    return found


def test_a_client_that_leaves_ends_it_and_what_was_seen_is_written(tmp_path: Path) -> None:
    """A part, a raw record, and no lock."""

    async def play() -> int:
        async with Run(scenario(), tmp_path) as run:
            await run.one_turn()
            assert agent_runs(tmp_path)
        return await run.agent

    assert asyncio.run(play()) == 0
    (part,) = read_parts(tmp_path)
    assert (part.begun, part.over, part.trace) == (True, True, "trace-1.jsonl")
    assert {check.rule for check in part.checks} == {"R-251", "R-252"}
    assert not agent_runs(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"part-1.json", "trace-1.jsonl"}


def test_a_client_that_stays_is_left_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driven client whose user has nothing more to do would stay for ever."""
    monkeypatch.setattr(serve, "SETTLE_S", 0.1)

    async def play() -> bytes:
        async with Run(scenario(), tmp_path) as run:
            await run.one_turn()
            async with asyncio.timeout(WAIT_S):
                return await run.reader.read()

    assert asyncio.run(play()) == b""
    assert read_parts(tmp_path)[0].over


def test_a_signal_ends_it_in_the_middle_with_what_there_is(tmp_path: Path) -> None:
    """A client may end its agent at any moment."""

    async def play() -> int:
        async with Run(scenario("permission/default-policy"), tmp_path) as run:
            await run.call(0, "initialize", {"protocolVersion": 1})
            run.stop.set()
            async with asyncio.timeout(WAIT_S):
                return await run.agent

    assert asyncio.run(play()) == 0
    (part,) = read_parts(tmp_path)
    assert (part.begun, part.checks) == (False, [])


def test_a_script_that_dies_gives_the_process_its_exit_code(tmp_path: Path) -> None:
    """And the connection is gone at once."""

    async def play() -> int:
        async with Run(scenario("misbehaviour/dies-in-a-turn"), tmp_path) as run:
            with pytest.raises(EOFError):
                await run.one_turn()
            return await run.agent

    assert asyncio.run(play()) == 1
    assert read_parts(tmp_path)[0].died


def test_a_script_is_played_in_as_many_lives_as_it_has(tmp_path: Path) -> None:
    """A life that has not begun does not count; what comes after the last is left to the stand-in."""

    async def play() -> None:
        for life in (1, 2, 3):
            async with Run(scenario(), tmp_path) as run:
                await run.call(0, "initialize", {"protocolVersion": 1})
                if life > 1:
                    await run.call(1, "session/new", {"cwd": "/project", "mcpServers": []})
                    prompt = [{"type": "text", "text": "Hello."}]
                    await run.call(2, "session/prompt", {"sessionId": "session-1", "prompt": prompt})

    asyncio.run(play())
    looked, used, late = read_parts(tmp_path)
    assert (looked.begun, used.begun, late.begun) == (False, True, False)
    assert (len(used.checks), late.checks) == (4, [])
    assert late.reason == "the scenario was played in an earlier connection"


def test_a_life_is_claimed_by_one_process(tmp_path: Path) -> None:
    """Whether it plays depends on what the earlier ones have done."""
    file, plays = serve.claim_life(scenario(), tmp_path / "new")
    assert (file.life, plays) == (1, True)
    again, plays_too = serve.claim_life(scenario(), tmp_path / "new")
    assert (again.life, plays_too, isinstance(again, PartFile)) == (2, True, True)
    file.close()
    again.close()
