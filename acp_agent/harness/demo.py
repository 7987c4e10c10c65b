"""`make harness-demo`: a client with one fault is caught. The client is this file, and what it gets wrong is one word.

It answers a permission request of a cancelled turn with the outcome `canceled` instead of `cancelled`; that costs an
agent its answer. Deliberately absent: everything else a client needs.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from pathlib import Path
from typing import Any, Final

import orjson

SCENARIOS: Final = ("permission/cancel-while-open", "permission/three-at-once", "forward/unknown-request")
_REPORT: Final = "acp-harness-report"
_MAX_LINE_BYTES: Final = 1024 * 1024


class FaultyClient:
    """One session and one turn with an agent over its pipes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, cancels: bool) -> None:
        self._reader = reader
        self._writer = writer
        self._cancels = cancels
        self._session = ""

    async def run(self, prompt: str, cwd: str) -> None:
        """From initialize to the end of the turn."""
        await self._call(
            1, "initialize", {"protocolVersion": 1, "clientInfo": {"name": "demo", "version": "1"}}
        )
        session = await self._call(2, "session/new", {"cwd": cwd, "mcpServers": []})
        self._session = session["sessionId"]
        content = [{"type": "text", "text": prompt}]
        await self._call(3, "session/prompt", {"sessionId": self._session, "prompt": content})

    async def _call(self, id_: int, method: str, params: dict[str, Any]) -> Any:
        self._send({"id": id_, "method": method, "params": params})
        while line := await self._reader.readline():
            message = orjson.loads(line)
            if "method" in message and "id" in message:
                self._answer(message)
            elif message.get("id") == id_:
                return message.get("result")
        raise EOFError("the agent has ended")

    def _answer(self, message: dict[str, Any]) -> None:
        if message["method"] != "session/request_permission":
            self._send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
            return
        if self._cancels:
            self._send({"method": "session/cancel", "params": {"sessionId": self._session}})
            outcome = {"outcome": "canceled"}  # the fault
        else:
            outcome = {"outcome": "selected", "optionId": message["params"]["options"][0]["optionId"]}
        self._send({"id": message["id"], "result": {"outcome": outcome}})

    def _send(self, message: dict[str, Any]) -> None:
        line = orjson.dumps({"jsonrpc": "2.0", **message}, option=orjson.OPT_APPEND_NEWLINE)
        self._writer.write(line)


async def be_client(agent: str, prompt: str, cwd: str) -> None:
    """Start the agent and be the faulty client."""
    plan = orjson.loads(os.environ.get("ACP_HARNESS_PLAN", "[]"))
    cancels = any(step.get("do") == "cancel" for step in plan)
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *shlex.split(agent), stdin=pipe, stdout=pipe, limit=_MAX_LINE_BYTES
    )
    if process.stdout is None or process.stdin is None:
        raise OSError("the agent has no pipes")
    try:
        await FaultyClient(process.stdout, process.stdin, cancels).run(prompt, cwd)
    finally:
        process.stdin.close()
        await process.wait()


def main() -> int:
    """With arguments: the client. Without: the harness, testing it; 0 if it was caught."""
    if len(sys.argv) > 1:
        asyncio.run(be_client(*sys.argv[1:4]))
        return 0
    from acp_agent.harness import commands  # the client needs none of it

    client = f"{shlex.quote(sys.executable)} -P -m acp_agent.harness.demo {{agent}} {{prompt}} {{cwd}}"
    chosen = [word for scenario in SCENARIOS for word in ("--scenario", scenario)]
    print("A client that misspells one word, tested by the harness:\n", file=sys.stdout, flush=True)
    code = commands.main(["run", "--client", client, "--report", str(Path(_REPORT)), *chosen])
    caught = code == 1
    print(f"\n{'Caught, as it should be.' if caught else 'This should have been caught.'}", file=sys.stdout)
    return 0 if caught else 1


if __name__ == "__main__":
    sys.exit(main())
