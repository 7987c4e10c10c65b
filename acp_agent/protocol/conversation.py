"""The state of one ACP conversation, and what each message means in it.

Knows no role: it is told which side sends a message, and judges by the same tables whether that side is ours, the
peer, or one of two that are only watched. Judging changes nothing; a message without a finding that forbids it is
then applied. Owns the connection's state, capabilities, sessions and open calls of both directions.
Deliberately absent: bytes and envelopes (connection.py), the inside of a turn (turns.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from acp_agent.jsonrpc.messages import Notification, Request, RequestId, Response
from acp_agent.jsonrpc.pending import OpenCall, OpenCalls
from acp_agent.protocol import resources, turns
from acp_agent.protocol.machines.connection import ConnectionEvent, ConnectionFacts, ConnectionState
from acp_agent.protocol.machines.step import CONNECTION, step
from acp_agent.protocol.machines.turn import TurnState
from acp_agent.protocol.methods import METHODS, Method, Side, gate_is_open
from acp_agent.protocol.paths import is_absolute
from acp_agent.protocol.policy import Policy
from acp_agent.protocol.sessions import Cancel, Permission, Session, SessionStatus, Turn
from acp_agent.protocol.verdicts import Severity, Verdict, inferred, violation

_FORBIDDING: Final = frozenset({Severity.VIOLATION, Severity.INFERRED})
_CONTENT_GATES: Final = {"image": "image", "audio": "audio", "resource": "embeddedContext"}
_PATHS: Final = ("cwd", "path")
# Requests that name the session they are about to open, and so are not checked against the open ones.
_OPENING: Final = frozenset({"session/load", "session/resume"})
_TERMINAL_USES: Final = frozenset(
    {"terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"}
)


def forbids(verdicts: Iterable[Verdict]) -> bool:
    """Whether one of the findings means that the message must not be sent, or not be acted on."""
    return any(verdict.severity in _FORBIDDING for verdict in verdicts)


def other(side: Side) -> Side:
    """The side across the connection."""
    return Side.CLIENT if side is Side.AGENT else Side.AGENT


class Conversation:
    """Everything both sides can know of one connection.

    own: the side we are, None for an observer. policy: the choices ACP leaves open.
    """

    def __init__(self, policy: Policy, own: Side | None) -> None:
        self.policy = policy
        self.own = own
        self.state: ConnectionState = CONNECTION.initial
        self.client_info: dict[str, Any] | None = None
        self.agent_info: dict[str, Any] | None = None
        self.auth_methods: list[dict[str, Any]] = []
        self.sessions: dict[str, Session] = {}
        self.open: dict[Side, OpenCalls] = {Side.AGENT: OpenCalls(), Side.CLIENT: OpenCalls()}
        self._capabilities: dict[str, dict[str, Any]] = {"clientCapabilities": {}, "agentCapabilities": {}}
        self._turns: dict[RequestId, Turn] = {}
        self._permissions: dict[RequestId, Permission] = {}
        self._elicitations: set[str] = set()

    @property
    def client_capabilities(self) -> dict[str, Any]:
        """What the client advertised; {} before `initialize`."""
        return self._capabilities["clientCapabilities"]

    @property
    def agent_capabilities(self) -> dict[str, Any]:
        """What the agent advertised; {} before the answer to `initialize`."""
        return self._capabilities["agentCapabilities"]

    def turn_of(self, request_id: RequestId) -> Turn | None:
        """The unanswered turn that a `session/prompt` request owns."""
        return self._turns.get(request_id)

    # -- requests

    def judge_envelope(self, sender: Side, request: Request) -> Iterator[Verdict]:
        """Findings that need no look at the params, in the order of their precedence."""
        name = request.method
        if request.id in self.open[sender]:
            yield violation("duplicate_id", "a request with this id has no response yet")
        elif self.state is ConnectionState.CLOSING:
            yield violation("closing", "the connection is closing", method=name)
        elif self.state is ConnectionState.UNINITIALISED and not self._may_initialise(sender, name):
            yield violation("not_initialised", "initialize comes first", method=name)
        elif self.state is ConnectionState.READY and name == "initialize":
            yield violation("already_initialised", "initialize is sent once", method=name)
        else:
            yield from self._judge_method(sender, name)

    def _may_initialise(self, sender: Side, name: str) -> bool:
        return sender is Side.CLIENT and name == "initialize" and not self.open[sender]

    def _judge_method(self, sender: Side, name: str) -> Iterator[Verdict]:
        method = METHODS.get(name)
        served = self.policy.served
        if self.own is not sender and served is not None and name not in served and name != "initialize":
            yield violation("method_unknown", "this method is not served", method=name)
        elif method is None:
            if not name.startswith("_"):
                yield violation("method_unknown", "no such method", method=name)
        elif not method.is_request:
            sentence = "this method is a notification"
            yield violation("notification_as_request", sentence, method=name)
        elif not method.sent_by(sender):
            yield violation("method_unknown", f"the {method.handled_by} handles this method", method=name)
        elif not self._gate_is_open(method):
            yield violation("capability_missing", "the capability was not advertised", method=name)

    def _gate_is_open(self, method: Method) -> bool:
        # Modes and config options are opened by a session's setup result, not by a capability.
        if method.name == "session/set_mode":
            return any(session.has_modes for session in self.sessions.values())
        if method.name == "session/set_config_option":
            return any(session.has_config_options for session in self.sessions.values())
        return gate_is_open(method, self._capabilities)

    def judge_request(self, sender: Side, request: Request) -> Iterator[Verdict]:
        """Findings on a request of the table whose envelope and params are valid."""
        name, params = request.method, request.params
        yield from self._judge_paths(name, params)
        if name == "authenticate":
            yield from self._judge_authenticate(params)
        elif name in {"session/new", "session/load", "session/resume"}:
            yield from self._judge_setup(name, params)
        elif name == "elicitation/create":
            capabilities = self.client_capabilities
            yield from resources.judge_elicitation(params, capabilities, self._elicitations)
        session_id = params.get("sessionId")
        if session_id is not None and name not in _OPENING and name not in {"session/delete"}:
            yield from self._judge_session(sender, name, params, session_id)

    def _judge_paths(self, name: str, params: dict[str, Any]) -> Iterator[Verdict]:
        for member in _PATHS:
            path = params.get(member)
            if path is not None and not is_absolute(path):
                yield violation(
                    "params_invalid", f"{member} is an absolute path", method=name, path=f"/{member}"
                )
        for index, path in enumerate(params.get("additionalDirectories") or ()):
            if not is_absolute(path):
                pointer = f"/additionalDirectories/{index}"
                yield violation("params_invalid", "a path is absolute", method=name, path=pointer)

    def _judge_authenticate(self, params: dict[str, Any]) -> Iterator[Verdict]:
        agent_handled = {item["id"] for item in self.auth_methods if item.get("type") != "terminal"}
        if not self.policy.any_authenticate and params["methodId"] not in agent_handled:
            sentence = "the agent has not advertised this method id"
            yield violation("params_invalid", sentence, method="authenticate", path="/methodId")

    def _judge_setup(self, name: str, params: dict[str, Any]) -> Iterator[Verdict]:
        agent = self.agent_capabilities
        for index, server in enumerate(params.get("mcpServers") or ()):
            kind = server.get("type", "stdio")
            gated = kind in {"http", "sse"} and not resources.declares(agent, ("mcpCapabilities", kind))
            if gated and not self.policy.lax_mcp_servers:
                sentence = f"the agent has not advertised mcpCapabilities.{kind}"
                yield violation("content_not_supported", sentence, method=name, path=f"/mcpServers/{index}")
        directories = ("sessionCapabilities", "additionalDirectories")
        if params.get("additionalDirectories") and not resources.declares(agent, directories):
            sentence = "the agent has not advertised sessionCapabilities.additionalDirectories"
            yield violation("params_invalid", sentence, method=name, path="/additionalDirectories")
        session = self.sessions.get(params.get("sessionId", ""))
        if session is None or session.status is SessionStatus.CLOSED:
            return
        idle_reload = name == "session/load" and self.policy.reload_open_session and not session.turns
        if session.status is SessionStatus.OPENING:
            yield violation("session_busy_opening", "the session is being opened", sessionId=session.id)
        elif not idle_reload:
            yield violation("session_already_open", "the session is open already", sessionId=session.id)

    def _judge_session(
        self, sender: Side, name: str, params: dict[str, Any], session_id: str
    ) -> Iterator[Verdict]:
        session = self.sessions.get(session_id)
        if session is None or session.status is SessionStatus.CLOSED:
            code = self.policy.unknown_session_code
            sentence = "no such session"
            yield violation("session_unknown", sentence, code=code, sessionId=session_id)
        elif session.status is SessionStatus.OPENING:
            yield violation("session_busy_opening", "the session is being opened", sessionId=session_id)
        elif name == "session/prompt":
            yield from self._judge_prompt(session, params)
        elif name == "session/request_permission":
            yield from turns.judge_permission_request(session, params, own=sender is self.own)
        elif name in _TERMINAL_USES:
            yield from resources.judge_terminal_use(session, params)

    def _judge_prompt(self, session: Session, params: dict[str, Any]) -> Iterator[Verdict]:
        if session.status is SessionStatus.CLOSING:
            yield violation("session_closing", "the session is being closed", sessionId=session.id)
        if session.turns and not self.policy.queue_prompts:
            sentence = "a prompt turn is already active in this session"
            yield inferred("turn_active", sentence, sessionId=session.id, state=str(session.turns[0].state))
        for index, block in enumerate(params["prompt"]):
            gate = _CONTENT_GATES.get(block["type"])
            path = ("promptCapabilities", gate or "")
            if gate and not self.policy.lax_content and not resources.declares(self.agent_capabilities, path):
                sentence = f"the agent has not advertised promptCapabilities.{gate}"
                yield violation(
                    "content_not_supported", sentence, sessionId=session.id, path=f"/prompt/{index}"
                )

    def apply_request(self, sender: Side, request: Request, *, refused: bool = False) -> None:
        """Register a request as open, before anything else is read. refused: watched, and bound to fail."""
        params = request.params if isinstance(request.params, dict) else {}
        session_id = params.get("sessionId")
        call = OpenCall(request, session_id if isinstance(session_id, str) else None, refused=refused)
        self.open[sender].add(call)
        if refused:
            return
        name = request.method
        if name == "initialize":
            self._capabilities["clientCapabilities"] = params.get("clientCapabilities") or {}
            self.client_info = params.get("clientInfo")
        elif name == "session/prompt":
            turn = Turn(request.id, params["sessionId"])
            self.sessions[turn.session_id].turns.append(turn)
            self._turns[request.id] = turn
        elif name == "session/request_permission":
            session = self.sessions[params["sessionId"]]
            self._permissions[request.id] = turns.apply_permission_request(session, params)
        elif name in _OPENING:
            self.sessions[params["sessionId"]] = Session(
                params["sessionId"], SessionStatus.OPENING, params["cwd"]
            )
        elif name == "session/close":
            session = self.sessions[params["sessionId"]]
            session.status = SessionStatus.CLOSING
            self._cancel_turns(session, Cancel.CLOSE)
        elif name == "terminal/release":
            self.sessions[params["sessionId"]].terminals[params["terminalId"]] = False
        elif name == "elicitation/create" and "elicitationId" in params:
            self._elicitations.add(params["elicitationId"])

    # -- notifications

    def judge_update(self, params: dict[str, Any]) -> Iterator[Verdict]:
        """Findings on a `session/update` with valid params. The chunk path: see update_is_plain."""
        session = self.sessions.get(params["sessionId"])
        if session is None or session.status is SessionStatus.CLOSED:
            sentence = "an update names a session that was opened"
            yield violation("update_session_unknown", sentence, sessionId=params["sessionId"])
        elif params["update"]["sessionUpdate"] in turns.TURN_KINDS:
            yield from turns.judge_update(session, params["update"])
        else:
            yield from resources.judge_idle_update(session, params["update"], self.client_capabilities)

    def update_is_plain(self, params: dict[str, Any]) -> bool:
        """Whether an update is one more chunk of a turn that streams: nothing to judge and nothing to change."""
        session = self.sessions.get(params["sessionId"])
        if session is None or not session.turns:
            return False
        state = session.turns[0].state
        return state is not TurnState.PENDING and params["update"]["sessionUpdate"] in turns.CHUNK_KINDS

    def apply_update(self, params: dict[str, Any]) -> None:
        """Take in a `session/update`; one for an unknown session changes nothing."""
        session = self.sessions.get(params["sessionId"])
        if session is None:
            return
        if params["update"]["sessionUpdate"] in turns.TURN_KINDS:
            turns.apply_update(session, params["update"])
        else:
            resources.apply_idle_update(session, params["update"])

    def judge_notification(self, sender: Side, notification: Notification) -> Iterator[Verdict]:
        """Findings on a notification other than `session/update`, before its params are looked at."""
        method = METHODS.get(notification.method)
        if method is None:
            return
        if method.is_request:
            sentence = "this method is a request and needs an id"
            yield violation("request_as_notification", sentence, method=method.name)
        elif not method.sent_by(sender):
            yield violation(
                "method_unknown", f"the {method.handled_by} handles this method", method=method.name
            )
        elif not self._gate_is_open(method):
            yield violation("capability_missing", "the capability was not advertised", method=method.name)
        elif self.state is ConnectionState.UNINITIALISED and method.handled_by is not Side.BOTH:
            yield violation("not_initialised", "initialize comes first", method=method.name)

    def apply_notification(self, sender: Side, notification: Notification) -> None:
        """Take in a cancel; other notifications change nothing here. Unknown sessions and ids are ignored (R-160)."""
        params = notification.params
        if notification.method == "session/cancel":
            session = self.sessions.get(params["sessionId"])
            if session is not None:
                self._cancel_turns(session, Cancel.SESSION_CANCEL)
        elif notification.method == "$/cancel_request":
            self._cancel_call(sender, params["requestId"])
        elif notification.method == "elicitation/complete":
            self._elicitations.discard(params["elicitationId"])

    def _cancel_turns(self, session: Session, how: Cancel) -> None:
        for turn in session.turns:
            turn.cancel.add(how)
            turns.note_cancel(turn)

    def _cancel_call(self, sender: Side, id_: RequestId) -> None:
        call = self.open[sender].get(id_)
        if call is None:
            return
        call.cancel_asked = True
        if call.method == "session/prompt" and id_ in self._turns:
            self._turns[id_].cancel.add(Cancel.REQUEST)
            turns.note_cancel(self._turns[id_])
        elif call.method == "session/request_permission" and id_ in self._permissions:
            turns.withdraw_permission(self._permissions[id_])

    # -- responses

    def judge_response(self, sender: Side, response: Response, call: OpenCall) -> Iterator[Verdict]:
        """Findings on the answer to an open call. Its result is valid for the method."""
        own = sender is self.own
        if call.method == "session/prompt" and response.id in self._turns:
            turn = self._turns[response.id]
            if response.error is not None:
                yield from turns.judge_prompt_error(turn, response.error, own=own)
            else:
                yield from turns.judge_prompt_result(turn, response.result, own=own)
        elif call.method == "session/request_permission" and response.id in self._permissions:
            permission = self._permissions[response.id]
            result = None if response.error is not None else response.result
            yield from turns.judge_permission_answer(
                permission, call.session_id or "", result, response.error
            )
        elif response.error is None and isinstance(response.result, dict):
            options = response.result.get("configOptions")
            if isinstance(options, list):
                yield from resources.judge_options(options, self.client_capabilities, call.session_id or "")

    def apply_response(self, sender: Side, response: Response) -> None:
        """The call is answered: settle it and draw the consequences."""
        call = self.open[other(sender)].settle(response.id)
        if call is None or call.refused:
            return
        succeeded = response.error is None
        if call.method == "initialize":
            self._end_initialize(response)
        elif call.method == "session/prompt":
            turn = self._turns.pop(response.id, None)
            if turn is not None:
                session = self.sessions[turn.session_id]
                turns.end_turn(session, turn, response.result if succeeded else None, response.error)
        elif call.method == "session/request_permission":
            permission = self._permissions.pop(response.id, None)
            if permission is not None:
                turns.apply_permission_answer(permission, response.result if succeeded else None)
        elif call.method == "session/new" and succeeded:
            session_id = response.result["sessionId"]
            session = Session(session_id, SessionStatus.OPEN, call.params["cwd"])
            self.sessions[session_id] = session
            _note_setup(session, response.result)
        elif call.method in _OPENING:
            self._end_opening(call, response)
        elif call.method == "session/close":
            session = self.sessions[call.params["sessionId"]]
            session.status = SessionStatus.CLOSED if succeeded else SessionStatus.OPEN
        elif call.method == "terminal/create" and succeeded:
            session = self.sessions[call.params["sessionId"]]
            session.terminals[response.result["terminalId"]] = True

    def reject_response(self, sender: Side, id_: RequestId) -> OpenCall | None:
        """A response that can't be read as one still uses up its id (T16)."""
        call = self.open[other(sender)].settle(id_)
        if call is None or call.refused:
            return call
        turn = self._turns.pop(id_, None)
        if turn is not None:
            turns.end_turn(self.sessions[turn.session_id], turn, None, None)
        permission = self._permissions.pop(id_, None)
        if permission is not None:
            turns.apply_permission_answer(permission, None)
        if call.method in _OPENING:
            self.sessions.pop(call.params["sessionId"], None)
        elif call.method == "session/close":
            self.sessions[call.params["sessionId"]].status = SessionStatus.OPEN
        return call

    def _end_initialize(self, response: Response) -> None:
        if response.error is not None:
            self._step(ConnectionEvent.FAIL_INITIALIZE)
            return
        spoken = response.result["protocolVersion"] in self.policy.versions
        self._step(ConnectionEvent.AGREE_VERSION if spoken else ConnectionEvent.REFUSE_VERSION, spoken)
        self._capabilities["agentCapabilities"] = response.result.get("agentCapabilities") or {}
        self.agent_info = response.result.get("agentInfo")
        self.auth_methods = response.result.get("authMethods") or []

    def _end_opening(self, call: OpenCall, response: Response) -> None:
        session = self.sessions.get(call.params["sessionId"])
        if session is None:
            return
        if response.error is not None:
            del self.sessions[session.id]
        else:
            session.status = SessionStatus.OPEN
            _note_setup(session, response.result)

    # -- the end

    def end_stream(self) -> None:
        """A direction has ended or became unreadable: active turns fail, nothing more is expected (K8, K9)."""
        self._step(ConnectionEvent.END_STREAM)
        for session in self.sessions.values():
            turns.disconnect(session)
        self._turns.clear()
        self._permissions.clear()

    def _step(self, event: ConnectionEvent, version_spoken: bool = False) -> None:
        moved = step(CONNECTION, self.state, event, ConnectionFacts(version_spoken=version_spoken))
        if moved.after is not None:
            self.state = moved.after


def _note_setup(session: Session, result: dict[str, Any]) -> None:
    session.has_modes = bool(result.get("modes"))
    session.has_config_options = bool(result.get("configOptions"))
