"""Bob on standard input and output: reads lines and hands out what they mean, until the end of the program.

Owns the start (descriptors, model, banner) and the end. A cancel is acted on where it is read, never behind a queue.
What only a prompt needs (tools, turns, children) is imported with the first prompt: an editor starts an agent long
before somebody asks it something. Deliberately absent: what a turn does (turn.py) and when (turn_queue.py), what the
messages mean (protocol/).
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from acp_agent.agent.handlers import AGENT_INFO, Handlers
from acp_agent.agent.log import Log
from acp_agent.agent.peer import Peer
from acp_agent.agent.prompt import flatten
from acp_agent.agent.session import Session
from acp_agent.agent.signals import EXIT_CODES
from acp_agent.config import LogLevel, ModelSettings, Settings
from acp_agent.jsonrpc.errors import ErrorCode, RpcError
from acp_agent.jsonrpc.messages import RequestId
from acp_agent.llm.model import Message, Model
from acp_agent.llm.providers import create_model
from acp_agent.protocol.connection import Connection, Role
from acp_agent.protocol.events import (
    Event,
    NotificationReceived,
    ProtocolViolation,
    RequestReceived,
    ResponseReceived,
    StreamEnded,
)
from acp_agent.protocol.policy import Policy
from acp_agent.transport.outbox import Outbox
from acp_agent.transport.stdio import Descriptors, StdioTransport, take_over

if TYPE_CHECKING:
    from acp_agent.agent.engine import Engine
    from acp_agent.agent.keeper import Keeper
    from acp_agent.agent.turn_queue import TurnQueue

# What the protocol leaves open, and Bob's answer to it.
POLICY: Final = Policy(
    queue_prompts=True,
    unknown_session_code=ErrorCode.INVALID_PARAMS,
    any_authenticate=True,
    lax_content=True,
    lax_mcp_servers=True,
    reload_open_session=True,
    served=frozenset({"initialize", "authenticate", "session/new", "session/load", "session/prompt"}),
)

# One part in so many of the outbox's limit is left for what unread updates cost beside themselves (what the turn keeps
# of them, what the allocator adds): a client that stalls then costs the process no more than the limit says.
_OVERHEAD: Final = 8
# Together under the 2 s in which an agent is gone after the end of its input.
_END_TURNS_S: Final = 1.3
_SAVE_S: Final = 0.3
_FLUSH_S: Final = 0.2


class Server:
    """One connection of Bob, from the first byte to the exit code."""

    def __init__(
        self, settings: Settings, make_engine: Callable[[Keeper], Engine], descriptors: Descriptors, log: Log
    ) -> None:
        self._make_engine = make_engine
        self._log = log
        self._connection = Connection(Role.AGENT, POLICY, settings.limits.max_line_bytes)
        self._outbox = Outbox(
            settings.limits.max_outbox_bytes - settings.limits.max_outbox_bytes // _OVERHEAD
        )
        self._peer = Peer(self._connection, self._outbox)
        self._handlers = Handlers(settings, log)
        self._transport = StdioTransport(descriptors, self._outbox, self._on_bytes, self._on_write_closed)
        self._engine: Engine | None = None
        self._turns: TurnQueue | None = None
        self._loads: set[asyncio.Task[None]] = set()
        self._ended = asyncio.Event()
        self._exit_code = 0
        self._handle: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "initialize": self._handlers.initialize,
            "authenticate": self._handlers.authenticate,
            "session/new": self._handlers.session_new,
        }

    async def run(self) -> int:
        """Serve until the input ends, the output is closed or a signal comes; return the exit code."""
        loop = asyncio.get_running_loop()
        for number, exit_code in EXIT_CODES.items():
            loop.add_signal_handler(number, self._end, exit_code)
        self._transport.start()
        await self._ended.wait()
        for load in self._loads:
            load.cancel()
        if self._turns is not None:
            await self._turns.end(_END_TURNS_S)
        if self._handlers.sessions:
            await self._handlers.keeper.end(_SAVE_S)
        await self._transport.finish(_FLUSH_S)
        return self._exit_code

    # -- reading

    def _on_bytes(self, data: bytes) -> None:
        # Line by line: the answer to one may decide whether the next is legal (session/new behind initialize).
        for line in self._connection.lines(data):
            try:
                for event in self._connection.receive_line(line):
                    self._dispatch(event)
            except Exception as error:  # noqa: BLE001 - one line that can't be taken in must not cost the others
                self._log.say(f"a message could not be read: {type(error).__name__}: {error}")
                self._log.trace(error)
                self._peer.apologise(line)
        if not data:
            for event in self._connection.end_of_stream():
                self._dispatch(event)

    def _dispatch(self, event: Event) -> None:
        match event:
            case ResponseReceived():
                self._peer.settle(event)
            case NotificationReceived():
                self._on_notification(event)
            case RequestReceived():
                self._on_request(event)
            case ProtocolViolation():
                self._on_violation(event)
            case StreamEnded():
                self._end(0)

    def _on_request(self, request: RequestReceived) -> None:
        try:
            if request.method == "session/prompt":
                session = self._handlers.sessions[request.params["sessionId"]]
                self._turn_queue().add(request.id, session, flatten(request.params["prompt"]))
                return
            if request.method == "session/load":
                self._start_load(request.id, request.params)
                return
            result = self._handle[request.method](request.params)
        except RpcError as error:
            self._peer.respond_error(request.id, error)
        except Exception as error:  # noqa: BLE001 - a request is answered whatever happens
            self._fail(request.id, request.method, error)
        else:
            self._peer.respond(request.id, result)
            if request.method == "session/new":
                # Never before the answer, which is what tells the client of the session.
                session = self._handlers.sessions[result["sessionId"]]
                self._peer.update(session.id, self._handlers.commands_of(session))

    def _fail(self, request_id: RequestId, method: str, error: Exception) -> None:
        self._log.say(f"{method} failed unexpectedly: {type(error).__name__}: {error}")
        self._log.trace(error)
        sentence = f"Internal error: {type(error).__name__} in {method}"
        self._peer.respond_error(
            request_id, RpcError(ErrorCode.INTERNAL_ERROR, sentence, {"reason": "internal"})
        )

    def _start_load(self, request_id: RequestId, params: dict[str, Any]) -> None:
        load = asyncio.ensure_future(self._load(request_id, params))
        self._loads.add(load)
        load.add_done_callback(self._loads.discard)

    async def _load(self, request_id: RequestId, params: dict[str, Any]) -> None:
        try:
            self._get_engine()  # and with it the threads that the end does not wait for
            session, records = await self._handlers.session_load(params)
            await self._replay(request_id, session, records)
        except RpcError as error:
            if self._peer.is_open:  # the client may have gone meanwhile
                self._peer.respond_error(request_id, error)
        except Exception as error:  # noqa: BLE001 - a request is answered whatever happens
            if self._peer.is_open:
                self._fail(request_id, "session/load", error)

    async def _replay(self, request_id: RequestId, session: Session, records: list[Message]) -> None:
        """Show a stored session again, at the pace of the client, and answer its `session/load`."""
        from acp_agent.agent.replay import replay  # not needed at a start, see above

        tools = self._get_engine().tools_ever_of(session)
        for update in replay(records, session.cwd, tools, session.ids_of_other_calls()):
            if not self._peer.is_open:
                return
            if "toolCallId" in update:
                session.replayed_ids.add(update["toolCallId"])
            self._peer.update(session.id, update)
            if self._peer.crowded:
                await self._peer.breathe()
        if not self._peer.is_open:
            return
        self._handlers.sessions[session.id] = session
        self._peer.update(session.id, self._handlers.commands_of(session))
        self._peer.respond(request_id, {})
        where = self._handlers.keeper.directory(session.cwd)
        replayed = sum(record["role"] != "system" for record in records)
        self._log.say(f"session {session.id} loaded from {where}: {replayed} message(s) replayed")

    def _on_notification(self, event: NotificationReceived) -> None:
        if self._turns is None:
            return
        if event.method == "session/cancel":
            session_id = event.params["sessionId"]
            self._turns.cancel(lambda turn: turn.session.id == session_id)
        elif event.method == "$/cancel_request":
            request_id = event.params["requestId"]
            self._turns.cancel(lambda turn: turn.request_id == request_id)

    def _on_violation(self, event: ProtocolViolation) -> None:
        verdict = event.verdict
        where = "".join(
            f", {name} {text}" for name, text in verdict.where.items() if name in {"method", "path"}
        )
        self._log.say(f"client: {verdict.reason}: {verdict.sentence}{where}")
        if event.reply is not None:
            self._peer.post(event.reply)

    def _turn_queue(self) -> TurnQueue:
        if self._turns is None:
            from acp_agent.agent.turn_queue import TurnQueue  # with the first prompt, see above

            self._turns = TurnQueue(self._peer, self._get_engine())
        return self._turns

    def _get_engine(self) -> Engine:
        if self._engine is None:
            from acp_agent.agent.threads import UnawaitedThreads

            asyncio.get_running_loop().set_default_executor(UnawaitedThreads())
            self._engine = self._make_engine(self._handlers.keeper)
        return self._engine

    # -- the end

    def _on_write_closed(self) -> None:
        self._log.say("standard output is closed: nobody reads the answers")
        self._end(0)

    def _end(self, exit_code: int) -> None:
        if self._ended.is_set():
            return
        self._exit_code = exit_code
        self._ended.set()
        self._transport.pause_reading()
        if self._turns is not None:
            self._turns.stop()  # at once: after the end of the input nothing more may be sent


def run(settings: Settings, environ: Mapping[str, str]) -> int:
    """Serve ACP on this process's standard input and output; return the exit code.

    Raises ModelError, before anything is read or written, if the model can't be set up as configured, and
    NoStandardOutputError.
    """
    log = Log(debug=settings.log_level is LogLevel.DEBUG)
    key = environ.get(settings.model.api_key_env) if settings.model.api_key_env else None
    model = _create_model(settings.model, key, log)
    # From here on nothing that is printed, by us, by a library or by a child, can touch the wire.
    descriptors = take_over()
    log.banner(f"{AGENT_INFO['title']} {AGENT_INFO['version']}")
    log.banner(f"model: {model.label}")
    log.banner(f"configuration: {settings.source or 'none found, built-in defaults'}")
    if settings.model.api_key_env and not key:
        log.banner(
            f"warning: the environment variable {settings.model.api_key_env} for the API key is not set"
        )

    def make_engine(keeper: Keeper) -> Engine:
        return _make_engine(settings, environ, model, keeper, log)

    async def serve() -> int:
        try:
            return await Server(settings, make_engine, descriptors, log).run()
        finally:
            await model.aclose()
            _ignore_signals()

    return asyncio.run(serve())


def _ignore_signals() -> None:
    """Editors close the input and then send SIGTERM: while Python takes itself apart it must count no more."""
    # Blocked meanwhile: the loop gives SIGINT back to Python before it can be ignored.
    signal.pthread_sigmask(signal.SIG_BLOCK, EXIT_CODES)
    for number in EXIT_CODES:
        asyncio.get_running_loop().remove_signal_handler(number)
        signal.signal(number, signal.SIG_IGN)


def _create_model(settings: ModelSettings, key: str | None, log: Log) -> Model:
    return create_model(
        provider=settings.provider,
        base_url=settings.base_url,
        name=settings.name,
        api_key=key,
        api_key_variable=settings.api_key_env,
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
        connect_timeout_s=settings.connect_timeout_s,
        idle_timeout_s=settings.idle_timeout_s,
        retries=settings.retries,
        script=settings.script,
        on_retry=log.say,
    )


def _make_engine(
    settings: Settings, environ: Mapping[str, str], model: Model, keeper: Keeper, log: Log
) -> Engine:
    from acp_agent.agent.engine import Engine, specs  # with the first prompt, see above
    from acp_agent.tools.builtin import default_tools

    tools = default_tools(
        environ=environ,
        secrets=[settings.model.api_key_env] if settings.model.api_key_env else [],
        bash_timeout_s=settings.bash.timeout_s,
        bash_max_output_bytes=settings.bash.max_output_bytes,
    )
    return Engine(model, tools, specs(tools), settings.limits, settings.context, keeper, log)
