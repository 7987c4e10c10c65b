"""The client role of ACP: one agent process, its sessions and turns, permissions, cancel, and an orderly end.

    async with await Client.start(["acp-agent", "serve"], cwd=project, on_event=show) as client:
        await client.initialize()
        session_id = await client.new_session(project)
        result = await client.prompt(session_id, "hello")

Everything the agent sends is handled in the order of its arrival, in one place and without awaiting: events are given
before whatever is awaited goes on, so every update before the answer to a prompt has been seen when `prompt` returns.
Advertises no file system and no terminal: requests for them, and unknown ones, get -32601 from the core.
Deliberately absent: the process and its pipes (spawn.py), open permission requests (questions.py), the rules of the
protocol (protocol/), any display.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from acp_agent import __version__
from acp_agent.client import permissions
from acp_agent.client.early_updates import EarlyUpdates
from acp_agent.client.errors import (
    AgentGone,
    AgentSilent,
    CancelIgnored,
    TurnRunning,
    UnsupportedVersion,
)
from acp_agent.client.events import (
    AgentEnded,
    AgentMisbehaved,
    ClientEvent,
    SessionOpened,
    UpdateReceived,
)
from acp_agent.client.permissions import Decide
from acp_agent.client.questions import Questions
from acp_agent.client.spawn import EXIT_GRACE_S, AgentProcess, spawn
from acp_agent.jsonrpc.errors import ErrorCode, RpcError
from acp_agent.jsonrpc.framing import LineTooLong
from acp_agent.jsonrpc.messages import Notification, RequestId
from acp_agent.protocol.connection import Connection, Role
from acp_agent.protocol.errors import AcpErrorCode, LocalProtocolError
from acp_agent.protocol.events import (
    Event,
    NotificationReceived,
    ProtocolViolation,
    RequestReceived,
    ResponseReceived,
)
from acp_agent.protocol.methods import Side
from acp_agent.protocol.policy import Policy

PROTOCOL_VERSION: Final = 1

# A prompt may follow one whose cancel was ignored, which the core takes for a queue; `prompt` guards the rest.
_POLICY: Final = Policy(served=frozenset({"session/request_permission"}), queue_prompts=True)


@dataclass(frozen=True, slots=True)
class Limits:
    """How long to wait. answer_s: for every call but a prompt, which takes as long as it takes (None: for ever).

    cancel_s: from a cancel to the end of its turn. exit_grace_s: from the end of the agent's input to SIGTERM.
    """

    answer_s: float | None = 60.0
    cancel_s: float = 10.0
    exit_grace_s: float = EXIT_GRACE_S


@dataclass(frozen=True, slots=True)
class PromptResult:
    """How a turn ended. stop_reason: end_turn, max_tokens, max_turn_requests, refusal or cancelled. turn: from 1."""

    stop_reason: str
    turn: int


@dataclass(slots=True)
class _Turn:
    """A prompt without an answer. given_up: nobody waits for it any more, and another prompt may follow."""

    number: int
    session_id: str
    future: asyncio.Future[PromptResult]
    cancelled: bool = False
    given_up: bool = False
    deadline: asyncio.TimerHandle | None = None


class Client:
    """One agent, on the running event loop. Made by `start`.

    on_event is called for each ClientEvent, in order, and must not block. If it raises, the client is broken: every
    waiting call raises that exception. permission decides; see permissions.py.
    """

    def __init__(self, on_event: Callable[[ClientEvent], None], permission: Decide, limits: Limits) -> None:
        self._on_event = on_event
        self._limits = limits
        self._connection = Connection(Role.CLIENT, _POLICY)
        self._agent: AgentProcess | None = None
        self._calls: dict[RequestId, asyncio.Future[Any]] = {}
        self._turns: dict[RequestId, _Turn] = {}
        self._turns_started: dict[str, int] = {}
        self._early = EarlyUpdates()
        self._questions = Questions(self._connection, permission, self._post, self._emit, self._fail)
        self._failure: Exception | None = None

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        on_event: Callable[[ClientEvent], None] = lambda event: None,
        on_stderr: Callable[[bytes], None] | None = None,
        permission: Decide = permissions.reject,
        limits: Limits | None = None,
    ) -> Self:
        """Start the agent in `cwd`. Raises CannotStartAgent. `close` it, or use it as a context manager."""
        client = cls(on_event, permission, limits or Limits())
        client._agent = await spawn(
            command,
            cwd=cwd,
            env=env,
            on_bytes=client._receive,
            on_ended=client._end,
            on_stderr=on_stderr,
        )
        return client

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # -- what is known

    @property
    def agent_info(self) -> dict[str, Any] | None:
        """What the agent calls itself: `name`, `version`, maybe `title`; None if it does not say."""
        return self._connection.conversation.agent_info

    @property
    def agent_capabilities(self) -> dict[str, Any]:
        """What the agent advertised; what is absent is not supported."""
        return self._connection.conversation.agent_capabilities

    @property
    def auth_methods(self) -> list[dict[str, Any]]:
        """The ways to log in that the agent advertised."""
        return self._connection.conversation.auth_methods

    @property
    def stderr_tail(self) -> str:
        """The end of the agent's standard error."""
        return self._process().stderr_tail

    @property
    def pid(self) -> int:
        """The agent's process id."""
        return self._process().pid

    def turn_is_running(self, session_id: str) -> bool:
        """Whether a prompt of this session waits for its end."""
        return any(not turn.given_up for turn in self._turns_of(session_id))

    def turn_is_cancelled(self, session_id: str) -> bool:
        """Whether that prompt was asked to stop."""
        return any(turn.cancelled and not turn.given_up for turn in self._turns_of(session_id))

    def _turns_of(self, session_id: str) -> list[_Turn]:
        return [turn for turn in self._turns.values() if turn.session_id == session_id]

    # -- calls

    async def initialize(self) -> dict[str, Any]:
        """Shake hands; return the InitializeResponse. Raises UnsupportedVersion, and what `call` raises."""
        result: dict[str, Any] = await self.call(
            "initialize",
            {
                "protocolVersion": PROTOCOL_VERSION,
                "clientCapabilities": {
                    "fs": {"readTextFile": False, "writeTextFile": False},
                    "terminal": False,
                },
                "clientInfo": {"name": "acp-agent", "title": "acp-agent client", "version": __version__},
            },
        )
        if result["protocolVersion"] not in _POLICY.versions:
            raise UnsupportedVersion(result["protocolVersion"])
        return result

    async def new_session(self, cwd: Path) -> str:
        """Open a session that works in `cwd`, an absolute path; return its id. Raises what `call` raises."""
        result = await self.call("session/new", {"cwd": str(cwd), "mcpServers": []})
        return str(result["sessionId"])

    async def call(self, method: str, params: dict[str, Any]) -> Any:
        """Send a request other than `session/prompt` and return its result, valid for the method.

        Raises RpcError for an error response, AgentSilent after the time limit, AgentGone, and LocalProtocolError if
        the request would be illegal (nothing is sent then). Never asks again by itself.
        """
        id_ = self._request(method, params)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._calls[id_] = future
        try:
            async with asyncio.timeout(self._limits.answer_s):
                return await future
        except TimeoutError:
            raise AgentSilent(method, self._limits.answer_s or 0) from None
        finally:
            self._calls.pop(id_, None)

    async def prompt(self, session_id: str, prompt: str | Sequence[dict[str, Any]]) -> PromptResult:
        """Run one turn: a text or content blocks; updates come as events meanwhile. Returns how it ended.

        Raises TurnRunning, CancelIgnored, RpcError, AgentGone, and LocalProtocolError for an unknown session or for
        blocks the agent did not advertise. If the awaiting task is cancelled, so is the turn.
        """
        if self.turn_is_running(session_id):
            raise TurnRunning(session_id)
        blocks = [{"type": "text", "text": prompt}] if isinstance(prompt, str) else list(prompt)
        id_ = self._request("session/prompt", {"sessionId": session_id, "prompt": blocks})
        number = self._turns_started.get(session_id, 0) + 1
        self._turns_started[session_id] = number
        turn = _Turn(number, session_id, asyncio.get_running_loop().create_future())
        self._turns[id_] = turn
        try:
            return await turn.future
        except asyncio.CancelledError:
            self.cancel(session_id)
            raise
        finally:
            turn.given_up = True

    def cancel(self, session_id: str) -> None:
        """Ask the session's turn to stop; `prompt` then returns `cancelled`, or raises CancelIgnored after a while.

        Open permission requests of the session are answered `cancelled` at once, later ones when they come (R-154).
        Does nothing if no turn runs, or if it was asked before.
        """
        running = [turn for turn in self._turns_of(session_id) if not (turn.given_up or turn.cancelled)]
        if not running or self._failure is not None:
            return
        self._post(self._connection.notify("session/cancel", {"sessionId": session_id}))
        loop = asyncio.get_running_loop()
        for turn in running:
            turn.cancelled = True
            turn.deadline = loop.call_later(self._limits.cancel_s, self._give_up, turn)
        self._questions.cancel_session(session_id)

    async def close(self) -> int | None:
        """Cancel what runs, end the agent's input, and the agent with all it started; see AgentProcess.close.

        Returns its exit code. Calls that still wait raise AgentGone.
        """
        for session_id in {turn.session_id for turn in self._turns.values()}:
            self.cancel(session_id)
        code = await self._process().close(self._limits.exit_grace_s)
        self._fail(AgentGone("the connection to the agent was closed", code, self.stderr_tail))
        return code

    # -- sending

    def _request(self, method: str, params: dict[str, Any]) -> RequestId:
        if self._failure is not None:
            raise self._failure
        if not self._process().can_write:
            sentence = "the agent has closed its input"
            raise AgentGone(sentence, self._process().exit_code, self.stderr_tail)
        id_, line = self._connection.request(method, params)
        self._post(line)
        return id_

    def _post(self, line: bytes) -> None:
        self._process().write(line)

    def _process(self) -> AgentProcess:
        if self._agent is None:
            raise RuntimeError("a Client is made by Client.start")
        return self._agent

    # -- receiving

    def _receive(self, data: bytes) -> None:
        try:
            for line in self._connection.lines(data):
                if self._failure is None:
                    self._receive_line(line)
        except Exception as error:  # noqa: BLE001 - of a decision, or a fault of ours: told to whoever waits
            self._fail(error)

    def _receive_line(self, line: bytes | LineTooLong) -> None:
        for event in self._connection.receive_line(line):
            if isinstance(event, ProtocolViolation) and self._hold(event, line):
                continue
            self._handle(event)

    def _handle(self, event: Event) -> None:
        match event:
            case ResponseReceived():
                self._handle_response(event)
            case NotificationReceived("session/update", params):
                turn = self._active_turn(params["sessionId"])
                self._emit(
                    UpdateReceived(params["sessionId"], params["update"], turn.number if turn else None)
                )
            case NotificationReceived("$/cancel_request", params):
                self._questions.withdraw(params["requestId"])
            case RequestReceived():
                self._handle_request(event)
            case ProtocolViolation():
                self._handle_violation(event)
            case _:
                pass  # notifications nobody here knows

    def _handle_response(self, event: ResponseReceived) -> None:
        turn = self._turns.pop(event.id, None)
        if turn is not None:
            self._end_turn(event, turn)
            return
        opened = event.method == "session/new" and event.error is None
        if opened:
            self._emit(SessionOpened(event.result["sessionId"], event.result))
        future = self._calls.get(event.id)
        if future is not None and not future.done():
            if event.error is None:
                future.set_result(event.result)
            else:
                future.set_exception(event.error)
        if event.method == "session/new":
            self._release(event.result["sessionId"] if opened else None)

    def _end_turn(self, event: ResponseReceived, turn: _Turn) -> None:
        self._questions.end_turn(event.id)
        if turn.deadline is not None:
            turn.deadline.cancel()
        if turn.future.done():
            return
        if event.error is None:
            turn.future.set_result(PromptResult(event.result["stopReason"], turn.number))
        elif turn.cancelled and event.error.code == AcpErrorCode.REQUEST_CANCELLED:
            turn.future.set_result(PromptResult("cancelled", turn.number))
        else:
            turn.future.set_exception(event.error)

    def _give_up(self, turn: _Turn) -> None:
        turn.given_up = True
        if not turn.future.done():
            turn.future.set_exception(CancelIgnored(turn.session_id, self._limits.cancel_s))

    def _handle_request(self, event: RequestReceived) -> None:
        if event.method == "session/request_permission":
            self._questions.ask(event)
            return
        error = RpcError(ErrorCode.METHOD_NOT_FOUND, "Method not found", {"method": event.method})
        self._post(self._connection.respond_error(event.id, error))

    def _handle_violation(self, event: ProtocolViolation) -> None:
        if event.reply is not None:
            self._post(event.reply)
        if event.verdict.where.get("path") == "/update/sessionUpdate":
            return  # a kind from a later version of the protocol is no fault
        if event.verdict.reason == "method_unknown" and event.verdict.where.get("method", "").startswith("_"):
            return  # an extension that we do not have is answered so, and is no fault of the agent
        self._emit(AgentMisbehaved(event.verdict))
        if event.verdict.reason == "update_late" and isinstance(event.message, Notification):
            params = event.message.params
            self._emit(UpdateReceived(params["sessionId"], params["update"], None))

    def _active_turn(self, session_id: str) -> _Turn | None:
        session = self._connection.conversation.sessions.get(session_id)
        if session is None or session.turn is None:
            return None
        return self._turns.get(session.turn.request_id)

    # -- updates that came before their session was known

    def _hold(self, event: ProtocolViolation, line: bytes | LineTooLong) -> bool:
        if event.verdict.reason != "update_session_unknown" or isinstance(line, LineTooLong):
            return False
        return self._is_opening() and self._early.hold(event.verdict.where["sessionId"], line, event)

    def _release(self, session_id: str | None) -> None:
        """Hand on what was held for this session; when no other can become known, report the rest."""
        for line in self._early.take(session_id) if session_id is not None else ():
            self._receive_line(line)
        if not self._is_opening():
            for event in self._early.take_rest():
                self._handle_violation(event)

    def _is_opening(self) -> bool:
        return any(call.method == "session/new" for call in self._connection.conversation.open[Side.CLIENT])

    # -- the end

    def _end(self) -> None:
        """The agent's output is over: whoever waits for it hears so (R-301)."""
        agent = self._process()
        self._receive(b"")
        self._connection.end_of_stream()
        self._emit(AgentEnded(agent.ending()))
        self._fail(AgentGone(agent.ending(), agent.exit_code, agent.stderr_tail))

    def _fail(self, error: Exception) -> None:
        if self._failure is not None:
            return
        self._failure = error
        self._questions.drop()
        waiting: list[asyncio.Future[Any]] = list(self._calls.values())
        for turn in self._turns.values():
            waiting.append(turn.future)
            if turn.deadline is not None:
                turn.deadline.cancel()
        self._turns.clear()
        for future in waiting:
            if not future.done():
                future.set_exception(error)

    def _emit(self, event: ClientEvent) -> None:
        if self._failure is not None:
            return
        try:
            self._on_event(event)
        except Exception as error:  # noqa: BLE001 - whatever it is, who awaits must hear of it instead of waiting
            self._fail(error)


__all__ = ["PROTOCOL_VERSION", "Client", "Limits", "LocalProtocolError", "PromptResult"]
