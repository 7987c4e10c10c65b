"""The floor: an ACP agent by hand on asyncio streams, with no validation, no state and no library but orjson.

It owns the least work that can answer the bench prompts over stdio: split lines, parse, build a dict, dump, write.
Deliberately absent: schemas, state machines, a model, error replies, limits, logging. It is what checking costs are
compared with, not an agent anyone should use.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import orjson

OPTIONS = [
    {"optionId": "allow", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "allow_always", "name": "Always allow", "kind": "allow_always"},
    {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
]
NOTE = "/home/somebody/project/notes/note.txt"
PIECE = "a piece of a streamed answer, 40 letters "
KIB = "0123456789abcdef" * 64


class FloorAgent:
    """One connection; a task a prompt, so that a cancel is read while the prompt runs."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._cancelled = False
        self._calls = 0
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}

    async def serve(self) -> None:
        """Read messages until end of file."""
        prompts: set[asyncio.Task[None]] = set()
        while line := await self._reader.readline():
            message = orjson.loads(line)
            method = message.get("method")
            if method is None:
                self._answers.pop(message["id"]).set_result(message["result"])
            elif method == "session/prompt":
                task = asyncio.create_task(self._prompt(message["id"], message["params"]))
                prompts.add(task)
                task.add_done_callback(prompts.discard)
            elif method == "session/cancel":
                self._cancelled = True
            elif method == "session/new":
                await self._answer(message["id"], {"sessionId": "floor-1"})
            elif method == "initialize":
                await self._answer(
                    message["id"],
                    {
                        "protocolVersion": 1,
                        "agentInfo": {"name": "floor", "version": "1"},
                        "agentCapabilities": {},
                        "authMethods": [],
                    },
                )
        for task in prompts:
            task.cancel()

    async def _send(self, message: dict[str, Any]) -> None:
        self._writer.write(orjson.dumps(message) + b"\n")
        await self._writer.drain()

    async def _answer(self, request_id: object, result: dict[str, Any]) -> None:
        await self._send({"jsonrpc": "2.0", "id": request_id, "result": result})

    async def _update(self, session_id: str, update: dict[str, Any]) -> None:
        await self._send(
            {
                "jsonrpc": "2.0",
                "method": "session/update",
                "params": {"sessionId": session_id, "update": update},
            }
        )

    async def _chunk(self, session_id: str, text: str) -> None:
        content = {"type": "text", "text": text}
        await self._update(session_id, {"sessionUpdate": "agent_message_chunk", "content": content})

    async def _prompt(self, request_id: object, params: dict[str, Any]) -> None:
        self._cancelled = False
        session_id = params["sessionId"]
        words = "".join(block["text"] for block in params["prompt"]).split(None, 1)
        count = int(words[1]) if words[0] != "echo" else 1
        match words[0]:
            case "stream":
                for _ in range(count):
                    if self._cancelled:
                        break
                    await self._chunk(session_id, PIECE)
            case "tools":
                for _ in range(count):
                    if self._cancelled:
                        break
                    await self._tool(session_id)
            case "big":
                await self._chunk(session_id, KIB * count)
            case _:
                await self._chunk(session_id, "echo")
        reason = "cancelled" if self._cancelled else "end_turn"
        await self._answer(request_id, {"stopReason": reason})

    async def _tool(self, session_id: str) -> None:
        self._calls += 1
        call_id = f"call_{self._calls}"
        call = {
            "toolCallId": call_id,
            "title": f"read_file: {NOTE}",
            "kind": "read",
            "status": "pending",
            "rawInput": {"path": NOTE, "limit": 1},
            "locations": [{"path": NOTE}],
        }
        await self._update(session_id, {"sessionUpdate": "tool_call", **call})
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._answers[self._calls] = answer
        await self._send(
            {
                "jsonrpc": "2.0",
                "id": self._calls,
                "method": "session/request_permission",
                "params": {"sessionId": session_id, "toolCall": call, "options": OPTIONS},
            }
        )
        outcome = (await answer)["outcome"]
        allowed = outcome.get("optionId") in ("allow", "allow_always")
        if allowed:
            await self._update(
                session_id,
                {"sessionUpdate": "tool_call_update", "toolCallId": call_id, "status": "in_progress"},
            )
        await self._update(
            session_id,
            {
                "sessionUpdate": "tool_call_update",
                "toolCallId": call_id,
                "status": "completed" if allowed else "failed",
                "content": [{"type": "content", "content": {"type": "text", "text": "done"}}],
                "rawOutput": {"output": "done"},
            },
        )


async def main() -> None:
    """Serve one client on standard input and output."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=64 * 1024 * 1024)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, sys.stdout)
    await FloorAgent(reader, asyncio.StreamWriter(transport, protocol, None, loop)).serve()


if __name__ == "__main__":
    asyncio.run(main())
