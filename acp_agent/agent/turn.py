"""One prompt turn: the model is asked, its text streams, its tools run, until the turn has an answer.

Owns the turn's conversation and its end: whatever happens inside, the prompt is answered exactly once and the history
stays valid. The outer part (`run`) never raises; the inner task (`_generate`) may be cancelled at any await.
Deliberately absent: the queue of turns (server.py), the wire (peer.py), single tool calls (tool_calls.py).
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Final, Literal, NamedTuple

from acp_agent.agent.history import History
from acp_agent.agent.log import Log
from acp_agent.agent.peer import Peer
from acp_agent.agent.session import Session
from acp_agent.agent.tool_calls import CANCELLED, ToolCalls
from acp_agent.agent.updates import message_chunk, thought_chunk
from acp_agent.jsonrpc.errors import ErrorCode, RpcError
from acp_agent.jsonrpc.messages import RequestId
from acp_agent.llm.errors import ModelError
from acp_agent.llm.model import FinishReason, Model, ReasoningDelta, TextDelta, ToolCallReady, ToolSpec
from acp_agent.protocol.errors import AcpErrorCode
from acp_agent.tools.registry import ToolRegistry

StopReason = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]

_ENDINGS: Final[dict[FinishReason, StopReason]] = {
    FinishReason.STOP: "end_turn",
    FinishReason.LENGTH: "max_tokens",
    FinishReason.CONTENT_FILTER: "refusal",
}
# After session/cancel a client answers an open permission at once; longer than this nobody waits for it.
_LATE_ANSWER_S: Final = 1.0


class Engine(NamedTuple):
    """What every turn works with. max_steps: model calls in a turn."""

    model: Model
    tools: ToolRegistry
    specs: tuple[ToolSpec, ...]
    max_steps: int
    log: Log


class PromptTurn:
    """The turn of one `session/prompt` request, from its place in the queue to its answer."""

    def __init__(
        self, request_id: RequestId, session: Session, text: str, peer: Peer, engine: Engine
    ) -> None:
        self.request_id = request_id
        self.session = session
        self._text = text
        self._peer = peer
        self._engine = engine
        self._calls = ToolCalls(peer, session, engine.tools, engine.log)
        self._inner: asyncio.Task[None] | None = None
        self._mark = 0
        self._cancelled = False
        self._stopped = False

    def cancel(self) -> None:
        """The client cancels: stop at once what the turn waits for; `run` then answers `cancelled`."""
        self._cancelled = True
        self._interrupt()

    def stop(self) -> None:
        """The program ends: stop likewise; the client has not asked, so the answer is an error (R-139, R-171)."""
        self._stopped = True
        self._interrupt()

    def _interrupt(self) -> None:
        # Once: a second cancel would cut short how the first one cleans up, and leave a model request or a child.
        if self._inner is not None and not self._inner.cancelling():
            self._inner.cancel()

    async def run(self) -> None:
        """Carry out the turn and answer its prompt. Only a cancelled task gets out of here with an exception."""
        self._mark = self.session.history.mark()
        self.session.history.add_question(self._text)
        self._inner = asyncio.ensure_future(self._converse())
        try:
            await self._inner
        except asyncio.CancelledError:
            if self._cancelled or self._stopped:
                await self._break_off("cancelled")
            elif self._inner.cancelled():
                # A library that cancels its caller is a failure like any other, and not our end.
                await self._break_off(_failure("internal error: the model call stopped by itself"))
            else:
                self._inner.cancel()
                raise
        except ModelError as error:
            self._engine.log.trace(error)
            await self._break_off(_failure(str(error)))
        except Exception as error:  # noqa: BLE001 - the one place where a bug inside a turn ends up
            self._engine.log.trace(error)
            what = str(error).partition("\n")[0]
            await self._break_off(_failure(f"internal error: {type(error).__name__}: {what}"))
        self._engine.log.say(f"turn done: {self._calls.tally}")

    async def _converse(self) -> None:
        stop_reason = await self._generate(self.session.history)
        # Answered here and not in `run`, so that the last words and the answer leave in one write.
        self._finish(stop_reason)

    async def _break_off(self, result: StopReason | RpcError) -> None:
        await self._calls.close(0 if self._stopped else _LATE_ANSWER_S)
        self._finish(result)

    def _finish(self, result: StopReason | RpcError) -> None:
        history = self.session.history
        history.close(self._mark, CANCELLED)
        if result == "refusal":
            history.cut(self._mark)  # what was refused is not part of the next prompt's context
        self.answer(result)

    def answer(self, result: StopReason | RpcError = "cancelled") -> None:
        """Answer the prompt. A cancel that was read before wins over everything that came of the turn."""
        if not self._peer.is_open:
            return
        if self._cancelled:
            result = "cancelled"
        elif self._stopped:
            result = RpcError(AcpErrorCode.REQUEST_CANCELLED, "Request cancelled: the agent is ending")
        if isinstance(result, RpcError):
            self._engine.log.say(f"session {self.session.id}: {result.message}")
            self._peer.respond_error(self.request_id, result)
        else:
            self._peer.respond(self.request_id, {"stopReason": result})

    async def _generate(self, history: History) -> StopReason:
        for _ in range(self._engine.max_steps):
            self._halt_if_interrupted()
            reason, wishes = await self._ask_model(history)
            if not wishes:
                return _ENDINGS.get(reason, "end_turn")
            for wish in wishes:
                self._halt_if_interrupted()
                output = await self._calls.run(wish)
                history.add_result(wish.id, output)
                if self._peer.crowded:
                    await self._peer.breathe()
        return "max_turn_requests"

    def _halt_if_interrupted(self) -> None:
        # A library or a tool may have swallowed the cancel; nothing new begins after it.
        if self._cancelled or self._stopped:
            raise asyncio.CancelledError

    async def _ask_model(self, history: History) -> tuple[FinishReason, list[ToolCallReady]]:
        """One call to the model. What it said is kept, also when it is cut short."""
        peer, session_id = self._peer, self.session.id
        text: list[str] = []
        wishes: list[ToolCallReady] = []
        reason = FinishReason.STOP
        kept: list[ToolCallReady] = []
        try:
            async with aclosing(self._engine.model.stream(history.messages(), self._engine.specs)) as events:
                async for event in events:
                    if isinstance(event, TextDelta):
                        text.append(event.text)
                        peer.update(session_id, message_chunk(event.text))
                    elif isinstance(event, ReasoningDelta):
                        peer.update(session_id, thought_chunk(event.text))
                    elif isinstance(event, ToolCallReady):
                        wishes.append(event)
                    else:
                        reason = event.reason
                    if peer.crowded:
                        await peer.breathe()
            kept = wishes
        finally:
            # Wishes of an answer that broke off are not run, so they are not kept either.
            history.add_answer("".join(text), kept)
        return reason, wishes


def _failure(explanation: str) -> RpcError:
    return RpcError(ErrorCode.INTERNAL_ERROR, f"error: {explanation}", {"reason": "internal"})
