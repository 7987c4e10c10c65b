"""The bench agent on the Python SDK (`agent-client-protocol`), written on its public API alone.

It owns the answers to the bench prompts (`echo`, `stream N`, `tools N`, `big K`). Deliberately absent: anything the
SDK's own examples do not do. `run_agent` serves standard input and output, updates are the SDK's models and helpers,
every send is awaited (that is the SDK's backpressure).
"""

from __future__ import annotations

import asyncio
from typing import Any

from acp import (
    Agent,
    Client,
    InitializeResponse,
    NewSessionResponse,
    PromptResponse,
    run_agent,
    start_tool_call,
    text_block,
    tool_content,
    update_agent_message_text,
    update_tool_call,
)
from acp.schema import (
    AgentCapabilities,
    AllowedOutcome,
    Implementation,
    PermissionOption,
    ToolCallLocation,
    ToolCallUpdate,
)

OPTIONS = [
    PermissionOption(option_id="allow", name="Allow once", kind="allow_once"),
    PermissionOption(option_id="allow_always", name="Always allow", kind="allow_always"),
    PermissionOption(option_id="reject", name="Reject", kind="reject_once"),
]
NOTE = "/home/somebody/project/notes/note.txt"
PIECE = "a piece of a streamed answer, 40 letters "
KIB = "0123456789abcdef" * 64


class BenchAgent(Agent):
    """Answers the bench prompts; one session is enough."""

    def __init__(self) -> None:
        self._client: Client
        self._cancelled = False
        self._calls = 0

    def on_connect(self, conn: Client) -> None:
        self._client = conn

    async def initialize(self, protocol_version: int, **kwargs: Any) -> InitializeResponse:
        return InitializeResponse(
            protocol_version=1,
            agent_info=Implementation(name="python-sdk", version="1"),
            agent_capabilities=AgentCapabilities(),
            auth_methods=[],
        )

    async def new_session(self, cwd: str, **kwargs: Any) -> NewSessionResponse:
        return NewSessionResponse(session_id="python-sdk-1")

    async def cancel(self, session_id: str, **kwargs: Any) -> None:
        self._cancelled = True

    async def prompt(self, session_id: str, prompt: list[Any], **kwargs: Any) -> PromptResponse:
        self._cancelled = False
        words = "".join(block.text for block in prompt).split(None, 1)
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
        return PromptResponse(stop_reason="cancelled" if self._cancelled else "end_turn")

    async def _chunk(self, session_id: str, text: str) -> None:
        await self._client.session_update(session_id=session_id, update=update_agent_message_text(text))

    async def _tool(self, session_id: str) -> None:
        self._calls += 1
        call_id = f"call_{self._calls}"
        title = f"read_file: {NOTE}"
        arguments = {"path": NOTE, "limit": 1}
        places = [ToolCallLocation(path=NOTE)]
        call = start_tool_call(
            call_id, title, kind="read", status="pending", locations=places, raw_input=arguments
        )
        await self._client.session_update(session_id=session_id, update=call)
        answer = await self._client.request_permission(
            session_id=session_id,
            tool_call=ToolCallUpdate(
                tool_call_id=call_id,
                title=title,
                kind="read",
                status="pending",
                locations=places,
                raw_input=arguments,
            ),
            options=OPTIONS,
        )
        outcome = answer.outcome
        allowed = isinstance(outcome, AllowedOutcome) and outcome.option_id in ("allow", "allow_always")
        if allowed:
            await self._client.session_update(
                session_id=session_id, update=update_tool_call(call_id, status="in_progress")
            )
        await self._client.session_update(
            session_id=session_id,
            update=update_tool_call(
                call_id,
                status="completed" if allowed else "failed",
                content=[tool_content(text_block("done"))],
                raw_output={"output": "done"},
            ),
        )


if __name__ == "__main__":
    asyncio.run(run_agent(BenchAgent()))
