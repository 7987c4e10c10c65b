"""The client role of ACP: one agent process, its sessions and turns, permissions, cancel, and an orderly end.

    async with await Client.start(["acp-agent", "serve"], cwd=project, on_event=show) as client:
        await client.initialize()
        session_id = await client.new_session(project)
        result = await client.prompt(session_id, "hello")

Everything the agent sends is handled in the order of its arrival, in one place and without awaiting: events are given
before whatever is awaited goes on, so every update before the answer to a prompt has been seen when `prompt` returns.
Advertises no file system and no terminal: requests for them, and unknown ones, get -32601 from the core.
Deliberately absent: the process and its pipes (spawn.py), the rules of the protocol (protocol/), any display.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from acp_agent import __version__
from acp_agent.client import permissions
from acp_agent.client.errors import (
    AgentGone,
    AgentSilent,
    CancelIgnored,
    ClientError,
    TurnRunning,
    UnsupportedVersion,
)
from acp_agent.client.events import (
    AgentEnded,
    AgentMisbehaved,
    ClientEvent,
    PermissionAnswered,
    PermissionAsked,
    SessionOpened,
    UpdateReceived,
)
from acp_agent.client.permissions import Choice, Decide, PermissionRequest
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

# What is kept of updates that came before the answer which makes their session known.
_HELD_LINES: Final = 1000
_HELD_BYTES: Final = 16 * 1024 * 1024


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


@dataclass(slots=True)
class _OpenPermission:
    """A permission request without an answer. turn: the turn's request id. decision: who is still thinking."""

    id: RequestId
    request: PermissionRequest
    turn: RequestId
    decision: asyncio.Future[Choice] | None = None


class Client:
    """One agent, on the running event loop. Made by `start`.

    on_event is called for each ClientEvent, in order, and must not block. If it raises, the client is broken: every
    waiting call raises that exception. permission decides; see permissions.py.
    """

    def __init__(self, on_event: Callable[[ClientEvent], None], permission: Decide, limits: Limits) -> None:
        self._on_event = on_event
        self._permission = permission
        self._limits = limits
        self._connection = Connection(Role.CLIENT, _POLICY)
        self._agent: AgentProcess | None = None
        self._calls: dict[RequestId, asyncio.Future[Any]] = {}
        self._turns: dict[RequestId, _Turn] = {}
        self._turns_started: dict[str, int] = {}
        self._permissions: dict[RequestId, _OpenPermission] = {}
        self._held: list[tuple[str, bytes, ProtocolViolation]] = []
        self._held_bytes = 0
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
        running = [
            turn for turn in self._turns.values() if turn.session_id == session_id and not turn.given_up
        ]
        if not running or self._failure is not None:
            return
        self._post(self._connection.notify("session/cancel", {"sessionId": session_id}))
        loop = asyncio.get_running_loop()
        for turn in running:
            turn.cancelled = True
            turn.deadline = loop.call_later(self._limits.cancel_s, self._give_up, turn)
        for asked in list(self._permissions.values()):
            if asked.request.session_id == session_id:
                self._answer_cancelled(asked)

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
        if self._failure is not None:
            return
        try:
            for line in self._connection.lines(data):
                self._receive_line(line)
        except Exception as error:  # noqa: BLE001 - whatever it is, who awaits must hear of it instead of waiting
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
                asked = self._permissions.get(params["requestId"])
                if asked is not None:
                    self._answer_cancelled(asked)
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
        for asked in [asked for asked in self._permissions.values() if asked.turn == event.id]:
            self._answer_cancelled(asked)  # the agent should have waited for it; it still gets its answer
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
        if event.method != "session/request_permission":
            error = RpcError(ErrorCode.METHOD_NOT_FOUND, "Method not found", {"method": event.method})
            self._post(self._connection.respond_error(event.id, error))
            return
        request = permissions.read_request(event.params)
        session = self._connection.conversation.sessions[request.session_id]
        active = session.turn
        asked = _OpenPermission(event.id, request, active.request_id if active is not None else None)
        self._permissions[event.id] = asked
        if active is not None and active.whole_turn_cancelled:
            self._answer_cancelled(asked)  # it crossed our cancel on its way
            return
        self._emit(PermissionAsked(request))
        choice = self._permission(request)
        if choice is None or isinstance(choice, str):
            self._answer(asked, choice)
        else:
            asked.decision = asyncio.ensure_future(choice)
            asked.decision.add_done_callback(functools.partial(self._decided, asked))

    def _handle_violation(self, event: ProtocolViolation) -> None:
        if event.reply is not None:
            self._post(event.reply)
        if event.verdict.where.get("path") == "/update/sessionUpdate":
            return  # a kind from a later version of the protocol is no fault
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
        if not self._is_opening() or len(self._held) >= _HELD_LINES:
            return False
        if self._held_bytes + len(line) > _HELD_BYTES:
            return False
        self._held.append((event.verdict.where["sessionId"], line, event))
        self._held_bytes += len(line)
        return True

    def _release(self, session_id: str | None) -> None:
        """Hand on what was held for this session; when no other can become known, report the rest."""
        ours = [line for held_id, line, _ in self._held if held_id == session_id]
        self._held = [held for held in self._held if held[0] != session_id]
        self._held_bytes = sum(len(line) for _, line, _ in self._held)
        for line in ours:
            self._receive_line(line)
        if not self._is_opening():
            rest, self._held, self._held_bytes = self._held, [], 0
            for _, _, event in rest:
                self._handle_violation(event)

    def _is_opening(self) -> bool:
        return any(call.method == "session/new" for call in self._connection.conversation.open[Side.CLIENT])

    # -- permissions

    def _decided(self, asked: _OpenPermission, decision: asyncio.Future[Choice]) -> None:
        error = None if decision.cancelled() else decision.exception()
        if asked.id not in self._permissions:
            return  # answered meanwhile: the turn was cancelled or has ended
        try:
            if decision.cancelled():
                self._answer(asked, None)
            elif error is not None:
                self._answer(asked, None)
                self._fail(error if isinstance(error, Exception) else ClientError(repr(error)))
            else:
                self._answer(asked, decision.result())
        except Exception as problem:  # noqa: BLE001 - as in _receive
            self._fail(problem)

    def _answer(self, asked: _OpenPermission, option_id: Choice) -> None:
        if self._permissions.pop(asked.id, None) is None:
            return
        foreign = option_id is not None and asked.request.option(option_id) is None
        if option_id is None or foreign:
            # `cancelled` would say that the turn was cancelled; an error means "not granted" just as well.
            error = RpcError(ErrorCode.INTERNAL_ERROR, "Permission not granted, and no option refuses it")
            self._post(self._connection.respond_error(asked.id, error))
        else:
            outcome = {"outcome": "selected", "optionId": option_id}
            self._post(self._connection.respond(asked.id, {"outcome": outcome}))
        self._emit(PermissionAnswered(asked.request, None if foreign else option_id, cancelled=False))
        if foreign:
            self._fail(ClientError(f"the permission was answered with {option_id!r}, which was not on offer"))

    def _answer_cancelled(self, asked: _OpenPermission) -> None:
        if self._permissions.pop(asked.id, None) is None:
            return
        if asked.decision is not None:
            asked.decision.cancel()
        self._post(self._connection.respond(asked.id, {"outcome": {"outcome": "cancelled"}}))
        self._emit(PermissionAnswered(asked.request, None, cancelled=True))

    # -- the end

    def _end(self) -> None:
        """The agent's output is over: whoever waits for it hears so (R-301)."""
        agent = self._process()
        self._receive(b"")
        try:
            self._connection.end_of_stream()
            if self._failure is None:
                self._emit(AgentEnded(agent.ending()))
        except Exception as error:  # noqa: BLE001 - as in _receive
            self._fail(error)
        self._fail(AgentGone(agent.ending(), agent.exit_code, agent.stderr_tail))

    def _fail(self, error: Exception) -> None:
        if self._failure is not None:
            return
        self._failure = error
        thinking, self._permissions = self._permissions, {}
        for asked in thinking.values():
            if asked.decision is not None:
                asked.decision.cancel()
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
        self._on_event(event)


__all__ = ["PROTOCOL_VERSION", "Client", "Limits", "LocalProtocolError", "PromptResult"]
