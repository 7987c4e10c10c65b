"""The server around the parts: dispatch, what breaks inside it, the start and the end."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from acp_agent.agent import server as server_module
from acp_agent.agent.handlers import Handlers
from acp_agent.agent.server import Server, run
from acp_agent.config import LogLevel, ModelSettings, Provider, Settings
from acp_agent.llm.errors import ModelError
from acp_agent.transport.stdio import Descriptors


class Client:
    """The other end of the pipes of a server in this process."""

    def __init__(self, writer: int, reader: int) -> None:
        self._writer = writer
        self._reader = reader
        self._held = b""
        self.messages: list[dict[str, Any]] = []
        os.set_blocking(reader, False)

    def send(self, *messages: object) -> None:
        os.write(self._writer, b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def request(self, id_: object, method: str, params: object) -> None:
        self.send({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})

    async def answer(self, id_: object) -> dict[str, Any]:
        while True:
            for message in self.messages:
                if "method" not in message and message["id"] == id_:
                    return message
            await asyncio.sleep(0)
            try:
                self._held += os.read(self._reader, 1 << 16)
            except BlockingIOError:
                continue
            *lines, self._held = self._held.split(b"\n")
            self.messages += [json.loads(line) for line in lines]

    async def call(self, id_: object, method: str, params: object) -> dict[str, Any]:
        self.request(id_, method, params)
        return await self.answer(id_)

    def end(self) -> None:
        os.close(self._writer)


@asynccontextmanager
async def serving(kit: Any, make_engine: Callable[[], Any]) -> AsyncIterator[tuple[Client, Any]]:
    """A server on pipes, initialised; ended by the end of its input, with exit code 0."""
    child_in, writer = os.pipe()
    reader, child_out = os.pipe()
    log = kit.Said()
    server = Server(Settings(), make_engine, Descriptors(child_in, child_out), log)
    task = asyncio.ensure_future(server.run())
    client = Client(writer, reader)
    try:
        assert "result" in await client.call("init", "initialize", {"protocolVersion": 1})
        yield client, log
    finally:
        client.end()
        assert await task == 0
        os.close(reader)


def test_a_handler_that_breaks_is_answered_and_the_next_line_is_served(
    kit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request is answered whatever happens, and the error says nothing of the inside."""

    def broken(self: Handlers, params: object) -> dict[str, Any]:
        raise KeyError("/home/secret")

    async def scenario() -> None:
        monkeypatch.setattr(Handlers, "session_new", broken)
        async with serving(kit, lambda: None) as (client, log):
            client.request(1, "session/new", {"cwd": "/", "mcpServers": []})
            client.request(2, "authenticate", {"methodId": "x"})
            error = (await client.answer(1))["error"]
            assert error["code"] == -32603
            assert "/home/secret" not in json.dumps(error)
            assert (await client.answer(2))["result"] == {}
            assert any("KeyError" in line for line in log.lines)
            assert len(log.traced) == 1

    kit.run(scenario())


def test_an_engine_that_cannot_be_built_is_the_prompts_failure(kit: Any, tmp_path: Path) -> None:
    """What is needed with the first prompt only may fail only then: each prompt is answered."""

    def broken() -> Any:
        raise OSError("no tools here")

    async def scenario() -> None:
        async with serving(kit, broken) as (client, _):
            new = await client.call(1, "session/new", {"cwd": str(tmp_path), "mcpServers": []})
            params = {"sessionId": new["result"]["sessionId"], "prompt": []}
            for id_ in (2, 3):
                answer = await client.call(id_, "session/prompt", params)
                assert answer["error"]["code"] == -32603
            assert (await client.call(4, "authenticate", {"methodId": "x"}))["result"] == {}

    kit.run(scenario())


def test_a_line_that_cannot_be_taken_in_costs_no_other(kit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """No descriptor left for a schema, no memory: a request has its answer, and only one; the next line is served."""

    def failing(*_: object) -> bool:
        raise OSError(24, "Too many open files")

    async def scenario() -> None:
        async with serving(kit, lambda: None) as (client, log):
            with monkeypatch.context() as broken:
                broken.setattr("acp_agent.protocol.schema.is_valid", failing)
                client.send({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "x"}})
                client.request(1, "authenticate", {"methodId": "x"})
                error = (await client.answer(1))["error"]
            assert (error["code"], error["data"]) == (-32603, {"reason": "internal"})
            assert sum("Too many open files" in line for line in log.lines) == 2
            assert (await client.call(2, "authenticate", {"methodId": "x"}))["result"] == {}

    kit.run(scenario())


def test_cancels_before_the_first_prompt_are_ignored(kit: Any) -> None:
    """There is no queue yet."""

    async def scenario() -> None:
        async with serving(kit, lambda: None) as (client, _):
            client.send(
                {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "x"}},
                {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}},
            )
            assert (await client.call(4, "authenticate", {"methodId": "x"}))["result"] == {}

    kit.run(scenario())


def test_a_violation_is_logged_with_its_reason_and_place(kit: Any) -> None:
    """`[acp] client: <slug>: <sentence>`, with method and pointer, never the value."""

    async def scenario() -> None:
        async with serving(kit, lambda: None) as (client, log):
            await client.call(1, "session/new", {"cwd": 7, "mcpServers": []})
            line = next(line for line in log.lines if "params_invalid" in line)
            assert "session/new" in line
            assert "/cwd" in line

    kit.run(scenario())


def test_a_start_imports_nothing_that_only_a_prompt_needs() -> None:
    """The start-up path stays lean: an editor starts an agent long before somebody asks it something."""
    code = (
        "import sys, acp_agent.agent.server\n"
        "heavy = {'httpx', 'jsonschema', 'statemachine', 'acp_agent.tools', 'acp_agent.process',"
        " 'acp_agent.agent.turn', 'concurrent.futures.thread'}\n"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "model",
    [
        ModelSettings(provider=Provider.SCRIPTED, script=Path("/no/such.model")),
        ModelSettings(provider=Provider.OPENAI, base_url="nonsense", name="m"),
    ],
)
def test_a_model_that_cannot_be_set_up_is_refused_before_anything_is_touched(model: ModelSettings) -> None:
    """ModelError before anything is read or written: descriptors 0 and 1 are still what they were."""
    before = [os.fstat(descriptor) for descriptor in (0, 1)]
    with pytest.raises(ModelError):
        run(Settings(model=model, log_level=LogLevel.DEBUG), {})
    assert [os.fstat(descriptor)[:3] for descriptor in (0, 1)] == [one[:3] for one in before]


def test_the_deadlines_of_the_end_are_together_within_the_promise() -> None:
    """After the end of the input an agent is gone within 2 s: turns, saves, writes, and Python itself."""
    deadlines_s = server_module._END_TURNS_S + server_module._SAVE_S + server_module._FLUSH_S
    assert deadlines_s <= 1.8
