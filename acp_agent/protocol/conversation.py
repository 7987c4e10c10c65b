"""The state of one ACP conversation, and what each message means in it.

Knows no role: it is told which side sends a message, and judges by the same tables whether that side is ours, the
peer, or one of two that are only watched. Judging changes nothing; a message without a finding that forbids it is
then applied. Owns the connection's state, capabilities, sessions and open calls of both directions.
Deliberately absent: bytes and envelopes (connection.py), whether a request is legal now (admission.py), the inside of
a turn (turns.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from acp_agent.jsonrpc.errors import RpcError
from acp_agent.jsonrpc.messages import Notification, Request, RequestId, Response
from acp_agent.jsonrpc.pending import OpenCall, OpenCalls
from acp_agent.protocol import offers, resources, turns
from acp_agent.protocol.errors import AcpErrorCode
from acp_agent.protocol.machines.connection import ConnectionEvent, ConnectionFacts, ConnectionState
from acp_agent.protocol.machines.step import CONNECTION, TURN, step
from acp_agent.protocol.machines.turn import TurnState
from acp_agent.protocol.methods import METHODS, Side, gate_is_open
from acp_agent.protocol.paths import is_absolute
from acp_agent.protocol.policy import Policy
from acp_agent.protocol.sessions import (
    OPENING_REQUESTS,
    REQUESTS_IN_SESSION,
    SETUP_REQUESTS,
    Cancel,
    Permission,
    Session,
    SessionStatus,
    Turn,
)
from acp_agent.protocol.verdicts import Severity, Verdict, inferred, violation

_FORBIDDING: Final = frozenset({Severity.VIOLATION, Severity.INFERRED})


def forbids(verdicts: Iterable[Verdict]) -> bool:
    """Whether one of the findings means that the message must not be sent, or not be acted on."""
    return any(verdict.severity in _FORBIDDING for verdict in verdicts)


def other(side: Side) -> Side:
    """The side across the connection."""
    return Side.CLIENT if side is Side.AGENT else Side.AGENT


class Conversation:
    """Everything both sides can know of one connection.

    own: the side we are, None for an observer. policy: the choices ACP leaves open.
    capabilities: of both sides, by the names `initialize` gives them. elicitations: the ids of those in URL mode
    that are not over.
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
        self.capabilities: dict[str, dict[str, Any]] = {"clientCapabilities": {}, "agentCapabilities": {}}
        self.elicitations: set[str] = set()

    @property
    def client_capabilities(self) -> dict[str, Any]:
        """What the client advertised; {} before `initialize`."""
        return self.capabilities["clientCapabilities"]

    @property
    def agent_capabilities(self) -> dict[str, Any]:
        """What the agent advertised; {} before the answer to `initialize`."""
        return self.capabilities["agentCapabilities"]

    def turn_of(self, request_id: RequestId) -> Turn | None:
        """The active turn that a `session/prompt` request owns."""
        call = self.open[Side.CLIENT].get(request_id)
        return _active_turn(call) if call is not None else None

    def begin_turn(self, request_id: RequestId) -> None:
        """Agent: the turn of this prompt is no longer behind others; from now on updates are its own."""
        turn = self.turn_of(request_id)
        if turn is not None:
            turn.waiting = False

    # -- requests

    def apply_request(self, sender: Side, request: Request, refusal: str | None = None) -> None:
        """Register a request as open, before anything else is read.

        refusal: the slug of what forbids a request that is only watched; its answer is expected to be an error.
        """
        params = request.params if isinstance(request.params, dict) else {}
        session_id = params.get("sessionId")
        call = OpenCall(request, session_id if isinstance(session_id, str) else None, refused=refusal)
        self.open[sender].add(call)
        if refusal is not None:
            return
        name = request.method
        if name == "initialize":
            self.capabilities["clientCapabilities"] = params.get("clientCapabilities") or {}
            self.client_info = params.get("clientInfo")
        elif name in OPENING_REQUESTS:
            before = self.sessions.get(params["sessionId"])
            session = Session(params["sessionId"], SessionStatus.OPENING, params["cwd"], opening=name)
            session.replaced = before if before is not None and before.is_known else None
            call.subject = self.sessions[session.id] = session
        elif name == "elicitation/create":
            if params["mode"] == "url":
                self.elicitations.add(params["elicitationId"])
        elif name in REQUESTS_IN_SESSION:
            self._apply_in_session(call, self.sessions[params["sessionId"]])

    def _apply_in_session(self, call: OpenCall, session: Session) -> None:
        call.subject = session
        if call.method == "session/prompt":
            waiting = self.own is Side.AGENT and bool(session.turns)
            call.subject = Turn(call.id, session, waiting=waiting)
            session.turns.append(call.subject)
        elif call.method == "session/request_permission":
            call.subject = turns.apply_permission_request(session, call.params)
        elif call.method == "session/close":
            session.status = SessionStatus.CLOSING
            self._cancel_turns(session, Cancel.CLOSE)
        elif call.method == "terminal/release":
            session.terminals[call.params["terminalId"]] = False

    # -- notifications

    def judge_update(self, params: dict[str, Any]) -> Iterator[Verdict]:
        """Findings on a `session/update` with valid params. The chunk path: see update_is_plain."""
        session = self.sessions.get(params["sessionId"])
        update = params["update"]
        if session is None or not session.is_known:
            sentence = "an update names a session that was opened"
            yield violation("update_session_unknown", sentence, sessionId=params["sessionId"])
        elif update["sessionUpdate"] in turns.TURN_KINDS:
            flushing = self.state is ConnectionState.CLOSING
            yield from turns.judge_update(session, update, flushing=flushing)
        else:
            if update["sessionUpdate"] == "config_option_update":
                yield from offers.judge_options(update["configOptions"], self.client_capabilities, session.id)
            yield from resources.judge_idle_update(session, update, self.client_capabilities)

    def update_is_plain(self, params: dict[str, Any]) -> bool:
        """Whether an update is one more chunk of a turn that streams: nothing to judge and nothing to change."""
        session = self.sessions.get(params["sessionId"])
        if session is None or not session.turns or not session.is_known:
            return False
        state = session.turns[0].state
        return state is not TurnState.PENDING and params["update"]["sessionUpdate"] in turns.CHUNK_KINDS

    def apply_update(self, params: dict[str, Any]) -> None:
        """Take in a `session/update`; one for an unknown session changes nothing."""
        session = self.sessions.get(params["sessionId"])
        if session is None or not session.is_known:
            return
        update = params["update"]
        if update["sessionUpdate"] in turns.TURN_KINDS:
            turns.apply_update(session, update)
        elif update["sessionUpdate"] == "config_option_update":
            offers.note_options(session, update["configOptions"])
        else:
            resources.apply_idle_update(session, update)

    def judge_notification(self, sender: Side, notification: Notification) -> Iterator[Verdict]:
        """Findings on a notification other than `session/update`, before its params are looked at."""
        method = METHODS.get(notification.method)
        if method is None:
            # Whoever receives one of these ignores it without a word; only the sender is at fault.
            if self.own in {None, sender} and not notification.method.startswith(("_", "$/")):
                yield violation("method_unknown", "no such method", method=notification.method)
        elif method.is_request:
            sentence = "this method is a request and needs an id"
            yield violation("request_as_notification", sentence, method=method.name)
        elif not method.sent_by(sender):
            yield violation(
                "method_unknown", f"the {method.handled_by} handles this method", method=method.name
            )
        elif self.state is ConnectionState.UNINITIALISED and method.handled_by is not Side.BOTH:
            yield violation("not_initialised", "initialize comes first", method=method.name)
        elif not gate_is_open(method, self.capabilities):
            yield violation("capability_missing", "the capability was not advertised", method=method.name)

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
            self.elicitations.discard(params["elicitationId"])

    def _cancel_turns(self, session: Session, how: Cancel) -> None:
        for turn in session.turns:
            turn.cancel.add(how)
            turns.note_cancel(turn)

    def _cancel_call(self, sender: Side, id_: RequestId) -> None:
        call = self.open[sender].get(id_)
        if call is None:
            return
        call.cancel_asked = True
        turn = _active_turn(call)
        if turn is not None:
            turn.cancel.add(Cancel.REQUEST)
            turns.note_cancel(turn)
        elif isinstance(call.subject, Permission):
            turns.withdraw_permission(call.subject)

    # -- responses

    def judge_response(self, sender: Side, response: Response, call: OpenCall) -> Iterator[Verdict]:
        """Findings on the answer to an open call. Its result is valid for the method."""
        if call.refused is not None:
            if call.refused == "turn_active" and call.method == "session/prompt" and response.error is None:
                sentence = "a second prompt is refused while a turn is active"
                yield inferred("turn_active", sentence, sessionId=call.session_id or "")
            return
        own = sender is self.own
        turn = _active_turn(call)
        if turn is not None and response.error is not None:
            yield from turns.judge_prompt_error(turn, response.error, own=own)
        elif turn is not None:
            yield from turns.judge_prompt_result(turn, response.result, own=own)
        elif isinstance(call.subject, Permission):
            result = None if response.error is not None else response.result
            yield from turns.judge_permission_answer(
                call.subject, call.session_id or "", result, response.error
            )
        elif response.error is None:
            yield from self._judge_result(call, response.result)

    def _judge_result(self, call: OpenCall, result: Any) -> Iterator[Verdict]:
        if call.method == "session/new" and result["sessionId"] in self.sessions:
            sentence = "the id of a new session is new"
            yield violation("result_invalid", sentence, method=call.method, path="/sessionId")
        if call.method in SETUP_REQUESTS or call.method == "session/set_config_option":
            options = result.get("configOptions")
            yield from offers.judge_options(options, self.client_capabilities, call.session_id or "")
        elif call.method == "session/list":
            for index, listed in enumerate(result["sessions"]):
                if not is_absolute(listed["cwd"]):
                    pointer = f"/sessions/{index}/cwd"
                    yield violation("result_invalid", "a path is absolute", method=call.method, path=pointer)
        elif call.method == "session/close" and isinstance(call.subject, Session):
            yield from resources.judge_released(call.subject)

    def apply_response(self, sender: Side, response: Response) -> None:
        """The call is answered: settle it and draw the consequences."""
        call = self.open[other(sender)].settle(response.id)
        if call is None:
            return
        if response.error is not None:
            self._end_call(call, response.error)
        elif call.refused is None:
            self._apply_result(call, response.result)
        else:
            self._follow_result(call, response.result)

    def reject_response(self, sender: Side, id_: RequestId) -> OpenCall | None:
        """A response that can't be read as one still uses up its id (T16)."""
        call = self.open[other(sender)].settle(id_)
        if call is not None:
            self._end_call(call, None)
        return call

    def _apply_result(self, call: OpenCall, result: Any) -> None:
        turn = _active_turn(call)
        if turn is not None:
            turns.end_turn(turn, result, None)
        elif isinstance(call.subject, Permission):
            turns.apply_permission_answer(call.subject, result)
        elif call.method == "initialize":
            self._end_initialize(result)
        elif call.method == "session/new":
            self._open_session(result["sessionId"], call, result)
        elif call.method == "elicitation/create":
            if result["action"] != "accept":
                self._end_elicitation(call)
        elif isinstance(call.subject, Session):
            self._apply_in_session_result(call, call.subject, result)

    def _apply_in_session_result(self, call: OpenCall, session: Session, result: Any) -> None:
        if call.method in OPENING_REQUESTS:
            session.replaced = None
            # A close that crossed is not undone.
            if session.status is SessionStatus.OPENING:
                session.status = SessionStatus.OPEN
            offers.note_setup(session, result)
        elif call.method == "session/close":
            session.close()
        elif call.method == "session/set_config_option":
            offers.note_options(session, result["configOptions"])
        elif call.method == "terminal/create" and session.is_known:
            session.terminals[result["terminalId"]] = True

    def _follow_result(self, call: OpenCall, result: Any) -> None:
        """Observer: a call that should have been refused was served; what it opened exists all the same."""
        params = call.params if isinstance(call.params, dict) else {}
        if call.method == "initialize" and self.state is ConnectionState.UNINITIALISED:
            capabilities = params.get("clientCapabilities")
            self.capabilities["clientCapabilities"] = capabilities if isinstance(capabilities, dict) else {}
            self._end_initialize(result)
        elif call.method == "session/new":
            self._open_session(result["sessionId"], call, result)
        elif call.method in OPENING_REQUESTS and call.session_id is not None:
            self._open_session(call.session_id, call, result)
        elif call.session_id in self.sessions:
            session = self.sessions[call.session_id]
            if call.method == "session/close":
                session.close()
            elif call.method == "terminal/create":
                session.terminals[result["terminalId"]] = True

    def _open_session(self, session_id: str, call: OpenCall, result: Any) -> None:
        known = self.sessions.get(session_id)
        if known is None or not known.is_known:
            cwd = call.params.get("cwd") if isinstance(call.params, dict) else None
            cwd = cwd if isinstance(cwd, str) else ""
            known = self.sessions[session_id] = Session(session_id, SessionStatus.OPEN, cwd)
        offers.note_setup(known, result)

    def _end_call(self, call: OpenCall, error: RpcError | None) -> None:
        """The call has failed: with an error, or with an answer that is none (error is None)."""
        turn = _active_turn(call)
        if call.refused is not None:
            return
        if turn is not None:
            turns.end_turn(turn, None, error)
        elif isinstance(call.subject, Permission):
            turns.apply_permission_answer(call.subject, None)
        elif call.method == "initialize":
            self._step(ConnectionEvent.FAIL_INITIALIZE)
        elif call.method == "elicitation/create":
            self._end_elicitation(call)
        elif isinstance(call.subject, Session) and call.method in OPENING_REQUESTS:
            self._forget(call.subject)
        elif isinstance(call.subject, Session) and call.method == "session/close":
            self._fail_close(call.subject, error)

    def _end_elicitation(self, call: OpenCall) -> None:
        if call.params["mode"] == "url":
            self.elicitations.discard(call.params["elicitationId"])

    def _fail_close(self, session: Session, error: RpcError | None) -> None:
        if error is not None and error.code == AcpErrorCode.RESOURCE_NOT_FOUND:
            self._forget(session)
            return
        again = any(
            call.method == "session/close" and call.subject is session for call in self.open[Side.CLIENT]
        )
        if session.status is SessionStatus.CLOSING and not again:
            session.status = SessionStatus.OPEN

    def _forget(self, session: Session) -> None:
        if self.sessions.get(session.id) is not session:
            return
        if session.replaced is not None:
            self.sessions[session.id] = session.replaced
        else:
            del self.sessions[session.id]

    def _end_initialize(self, result: dict[str, Any]) -> None:
        spoken = result["protocolVersion"] in self.policy.versions
        self._step(ConnectionEvent.AGREE_VERSION if spoken else ConnectionEvent.REFUSE_VERSION, spoken)
        self.capabilities["agentCapabilities"] = result.get("agentCapabilities") or {}
        self.agent_info = result.get("agentInfo")
        self.auth_methods = result.get("authMethods") or []

    # -- the end

    def end_stream(self, sender: Side) -> list[Verdict]:
        """The sender's direction has ended or became unreadable: active turns fail, nothing more is expected.

        Returns the findings on what it should have done before (K8, K9, K11).
        """
        self._step(ConnectionEvent.END_STREAM)
        found: list[Verdict] = []
        for session in self.sessions.values():
            turns.disconnect(session)
            if sender is Side.AGENT and session.is_known:
                found += resources.judge_released(session)
        return found

    def _step(self, event: ConnectionEvent, version_spoken: bool = False) -> None:
        moved = step(CONNECTION, self.state, event, ConnectionFacts(version_spoken=version_spoken))
        if moved.after is not None:
            self.state = moved.after


def _active_turn(call: OpenCall) -> Turn | None:
    turn = call.subject
    return turn if isinstance(turn, Turn) and turn.state not in TURN.final else None
