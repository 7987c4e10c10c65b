"""One prompt turn: the model is asked, its text streams, its tools run, until the turn has an answer.

Owns the turn's conversation and its end: whatever happens inside, the prompt is answered exactly once and the history
stays valid. The conversation (`_converse`) may be cancelled at any await; what ends it (`_break_off`) may not.
Deliberately absent: the queue of turns (turn_queue.py), the wire (peer.py), single tool calls (tool_calls.py).
"""

from __future__ import annotations

import asyncio
import math
from contextlib import aclosing
from typing import Any, Final, Literal

from acp_agent.agent.attachments import attach
from acp_agent.agent.commands import carry_out, command_in
from acp_agent.agent.compaction import compact
from acp_agent.agent.engine import Engine
from acp_agent.agent.loop_detector import LoopAction, LoopDetector
from acp_agent.agent.peer import Peer
from acp_agent.agent.session import Session, home_directory
from acp_agent.agent.skills import resolve
from acp_agent.agent.tool_calls import CANCELLED, ToolCalls
from acp_agent.agent.updates import message_chunk, thought_chunk
from acp_agent.jsonrpc.errors import ErrorCode, RpcError
from acp_agent.jsonrpc.messages import RequestId
from acp_agent.llm.errors import ContextOverflow, ModelError
from acp_agent.llm.model import FinishReason, ReasoningDelta, TextDelta, ToolCallReady
from acp_agent.protocol.errors import AcpErrorCode

StopReason = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]

_ENDINGS: Final[dict[FinishReason, StopReason]] = {
    FinishReason.STOP: "end_turn",
    FinishReason.LENGTH: "max_tokens",
    FinishReason.CONTENT_FILTER: "refusal",
}
_NOT_RUN: Final = "[not run: the turn ended before]"
# After session/cancel a client answers an open permission at once; longer than this nobody waits for it.
_LATE_ANSWER_S: Final = 1.0
# A client that cancels has its answer within 2 s, mute and on a disk that hangs: what the permission took of this, the
# disk does not get.
_BREAK_OFF_S: Final = 1.6


class TurnFailed(Exception):
    """The turn can't go on, for a reason of ours; the text is one line for a person."""


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
        tools = engine.tools_of(session)
        self._specs = engine.specs_of(session)
        self._calls = ToolCalls(peer, session, tools, engine.log)
        # The task that converses, as long as there is something that a cancel could stop.
        self._conversing: asyncio.Task[Any] | None = None
        self._cancelled = False
        self._stopped = False
        self._interrupted = False
        self._has_compressed = False

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
        if self._conversing is not None and not self._interrupted:
            self._interrupted = True
            self._conversing.cancel()

    async def run(self) -> None:
        """Carry out the turn and answer its prompt. Only a task that somebody else cancels ends with an exception."""
        task = self._conversing = _current_task()
        self._peer.begin_turn(self.request_id)
        try:
            try:
                await self._converse()
            finally:
                self._conversing = None
                if self._interrupted:
                    task.uncancel()  # obeyed, or swallowed: what follows is the end of the turn, not of the task
        except asyncio.CancelledError:
            if self._interrupted:
                await self._break_off("cancelled")
            elif task.cancelling():
                raise
            else:
                # A library that cancels its caller is a failure like any other, and not our end.
                await self._break_off(_failure("internal error: the model call stopped by itself"))
        except (ModelError, TurnFailed) as error:
            self._engine.log.trace(error)
            way_out = "; /new begins a conversation without it" if isinstance(error, ContextOverflow) else ""
            await self._break_off(_failure(f"{error}{way_out}"))
        except Exception as error:  # noqa: BLE001 - the one place where a bug inside a turn ends up
            self._engine.log.trace(error)
            what = str(error).partition("\n")[0]
            await self._break_off(_failure(f"internal error: {type(error).__name__}: {what}"))
        self._say_done()

    def drop(self) -> None:
        """End a turn that waits, after `cancel` or `stop`, without having begun it."""
        self._answer("cancelled")
        self._say_done()

    def _say_done(self) -> None:
        self._engine.log.say(f"turn done: {self._calls.tally}")

    async def _converse(self) -> None:
        command = command_in(self._text)
        if command is not None:
            said = await carry_out(command, self.session, self._engine)
            self._peer.update(self.session.id, message_chunk(said))
            stop_reason: StopReason = "end_turn"
        else:
            stop_reason = await self._generate()
        await self._finish(stop_reason)

    async def _break_off(self, result: StopReason | RpcError) -> None:
        now = asyncio.get_running_loop().time
        deadline = now() + _BREAK_OFF_S
        await self._calls.close(0 if self._stopped else _LATE_ANSWER_S)
        await self._finish(result, max(0.0, deadline - now()))

    async def _finish(self, result: StopReason | RpcError, save_within_s: float = math.inf) -> None:
        history = self.session.history
        if result == "refusal":
            history.drop_turn()  # what was refused is not part of the next prompt's context
        else:
            history.end_turn(CANCELLED if result == "cancelled" else _NOT_RUN)
        if self._engine.keeper.keeps:
            await self._engine.keeper.keep(self.session, save_within_s)
        self._answer(result)

    def _answer(self, result: StopReason | RpcError) -> None:
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
        self._peer.flush()

    async def _generate(self) -> StopReason:
        engine, session = self._engine, self.session
        if session.input_tokens is not None and 0 < engine.context.threshold < session.input_tokens:
            await self._compress("automatic compaction", engine.context.keep_last_turns)
        session.history.begin_turn(self._question())
        loops = LoopDetector(engine.limits.loop_warn_at, engine.limits.loop_stop_at)
        for _ in range(engine.limits.max_steps):
            self._halt_if_interrupted()
            reason, wishes = await self._ask_model_with_room()
            if not wishes:
                return _ENDINGS.get(reason, "end_turn")
            for wish in wishes:
                self._halt_if_interrupted()
                verdict = loops.observe(wish.name, wish.arguments)
                if verdict.action is LoopAction.STOP:
                    raise TurnFailed(verdict.text)
                result = await self._calls.run(wish)
                session.history.add_result(wish.id, verdict.text + result.output, failed=result.failed)
                if self._peer.crowded:
                    await self._peer.breathe()
        return "max_turn_requests"

    def _halt_if_interrupted(self) -> None:
        # A library or a tool may have swallowed the cancel; nothing new begins after it.
        if self._cancelled or self._stopped:
            raise asyncio.CancelledError

    def _question(self) -> str:
        """What the user typed, with the files it names attached and a skill it calls spelled out."""
        session = self.session
        text = self._text
        if "@" in text:
            text, paths = attach(text, session.cwd, home_directory())
            for path in paths:
                self._engine.log.say(f"session {session.id}: attached {path}")
        return resolve(text, session.skills) if session.skills else text

    async def _ask_model_with_room(self) -> tuple[FinishReason, list[ToolCallReady]]:
        """One call to the model; where the context is too small for it, once more with less of it, then no more.

        Some servers notice it only in the middle of an answer. That half is not part of the conversation then, and what
        the user has seen of it is set apart from the whole one.
        """
        try:
            return await self._ask_model()
        except ContextOverflow:
            if self._has_compressed or not await self._make_room():
                raise
            if self.session.history.drop_answer():
                self._peer.update(self.session.id, message_chunk("\n\n"))
            return await self._ask_model()

    async def _make_room(self) -> bool:
        """Compress once in this turn, which is itself one of the turns that are kept."""
        self._has_compressed = True
        keep = max(1, self._engine.context.keep_last_turns)
        return await self._compress(
            "the context is too small", keep if self.session.history.older_turns(keep) else 1
        )

    async def _compress(self, why: str, keep_last_turns: int) -> bool:
        session = self.session
        compaction = await compact(
            session.history,
            self._engine.model,
            keep_last_turns=keep_last_turns,
            input_tokens=session.input_tokens,
        )
        if compaction.changed:
            session.input_tokens = None
        self._engine.log.say(f"session {session.id}: {why} — {compaction.line}")
        return compaction.changed

    async def _ask_model(self) -> tuple[FinishReason, list[ToolCallReady]]:
        """One call to the model. What it said is kept, also when it is cut short."""
        peer, session = self._peer, self.session
        text: list[str] = []
        wishes: list[ToolCallReady] = []
        kept: list[ToolCallReady] = []
        reason = FinishReason.STOP
        try:
            async with aclosing(self._engine.model.stream(session.history.messages(), self._specs)) as events:
                async for event in events:
                    if isinstance(event, TextDelta):
                        text.append(event.text)
                        peer.update(session.id, message_chunk(event.text))
                    elif isinstance(event, ReasoningDelta):
                        peer.update(session.id, thought_chunk(event.text))
                    elif isinstance(event, ToolCallReady):
                        wishes.append(event)
                    else:
                        reason = event.reason
                        session.input_tokens = (event.usage and event.usage.input_tokens) or None
                    if peer.crowded:
                        await peer.breathe()
            kept = wishes
        finally:
            # Wishes of an answer that broke off are not run, so they are not kept either.
            session.history.add_answer("".join(text), kept)
        return reason, wishes


def _current_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("a turn runs in a task")
    return task


def _failure(explanation: str) -> RpcError:
    return RpcError(ErrorCode.INTERNAL_ERROR, f"error: {explanation}", {"reason": "internal"})
