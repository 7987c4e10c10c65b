"""Bytes to events and messages to bytes: the one way through, for an agent, a client, or an observer of both.

Sans-IO: no clock, no tasks, no descriptors. In: line, JSON, envelope, schema, state machines, event. Out: state
machines, schema, JSON, line. What a peer does wrong is an event with its reply; what we do wrong raises
LocalProtocolError before anything has changed.

    connection = Connection(Role.AGENT)
    for line in connection.lines(data):             # whoever answers does so before the next line is judged
        for event in connection.receive_line(line):
            ...
            outbox.post(connection.respond(event.id, result))

Deliberately absent: who handles an event (agent/, client/) and what a message means (conversation.py).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Final

from acp_agent.jsonrpc import codec
from acp_agent.jsonrpc.errors import ErrorCode, RpcError
from acp_agent.jsonrpc.framing import DEFAULT_MAX_LINE_BYTES, LineBuffer, LineTooLong
from acp_agent.jsonrpc.messages import Malformed, Notification, Request, RequestId, Response, classify
from acp_agent.jsonrpc.pending import OpenCall
from acp_agent.protocol import admission, payloads, schema
from acp_agent.protocol.conversation import Conversation, forbids, other
from acp_agent.protocol.errors import LocalProtocolError
from acp_agent.protocol.events import (
    Event,
    NotificationReceived,
    ProtocolViolation,
    RequestReceived,
    ResponseReceived,
    StreamEnded,
)
from acp_agent.protocol.machines.connection import ConnectionState
from acp_agent.protocol.methods import METHODS, Side
from acp_agent.protocol.policy import Policy
from acp_agent.protocol.verdicts import Verdict, violation, warning

_NO_POLICY: Final = Policy()
_UPDATE: Final = "session/update"
_NULL_ID: Final = "a request has an id that is not null"
_SHOWN: Final = "/toolCall/"
_REMEMBERED: Final = 1024
_ENVELOPE: Final = frozenset({"jsonrpc", "id", "method", "params", "result", "error"})
# Findings after which a received update can't be attributed to anything its reader should show.
_DROPPED_UPDATES: Final = frozenset(
    {"update_session_unknown", "update_late", "update_ungated", "update_kind_not_allowed"}
)


class Role(StrEnum):
    """Whose conduct is enforced: ours on one side, or nobody's."""

    AGENT = "agent"
    CLIENT = "client"
    OBSERVER = "observer"


_SIDES: Final[dict[Role, Side]] = {Role.AGENT: Side.AGENT, Role.CLIENT: Side.CLIENT}


class Connection:
    """One ACP connection as one side sees it, or as an observer sees both.

    role: AGENT and CLIENT use `receive` for the peer's bytes and the sending methods for their own messages;
    OBSERVER uses `observe` for both. policy: see Policy. max_line_bytes: the longest line that is read.
    """

    def __init__(
        self, role: Role, policy: Policy = _NO_POLICY, max_line_bytes: int = DEFAULT_MAX_LINE_BYTES
    ) -> None:
        self.role = role
        self.conversation = Conversation(policy, _SIDES.get(role))
        self._own = _SIDES.get(role, Side.AGENT)
        self._buffers = {side: LineBuffer(max_line_bytes) for side in (Side.AGENT, Side.CLIENT)}
        self._ended: set[Side] = set()
        # Observer: the ids under which lines of each side that are no message may be answered with an error.
        self._nobodys: dict[Side, deque[RequestId]] = {
            side: deque(maxlen=_REMEMBERED) for side in (Side.AGENT, Side.CLIENT)
        }
        self._next_id = 0

    @property
    def state(self) -> ConnectionState:
        """The connection machine's state."""
        return self.conversation.state

    # -- reading

    def lines(self, data: bytes) -> list[bytes | LineTooLong]:
        """Cut the peer's bytes into whole lines; b"" is the end of the stream and gives a last unended line."""
        return self._cut(other(self._own), data)

    def receive_line(self, line: bytes | LineTooLong) -> list[Event]:
        """What one line of the peer means, judged by the state as it is now."""
        return self._read(other(self._own), line)

    def give_up(self, line: bytes | LineTooLong) -> bytes | None:
        """The answer to a line that `receive_line` or its caller could not take in for a reason of ours.

        An internal error where the line is a request that has no answer yet, registered or not; None otherwise.
        """
        try:
            request = classify(codec.decode(line)) if isinstance(line, bytes) else None
        except codec.DecodeError:
            return None
        if not isinstance(request, Request):
            return None
        error = RpcError(ErrorCode.INTERNAL_ERROR, "Internal error", {"reason": "internal"})
        calls = self.conversation.open[other(self._own)]
        if request.id in calls:
            return self.respond_error(request.id, error)
        return None if calls.was_answered(request.id) else _error_line(request.id, error)

    def end_of_stream(self) -> list[Event]:
        """The peer will send nothing more. Active turns have failed; nothing new can be asked.

        Gives one StreamEnded, after the findings on what the peer left behind (a terminal it did not release).
        """
        return self._end(other(self._own))

    def receive(self, data: bytes) -> list[Event]:
        """Take bytes from the peer; return what they mean, oldest first.

        data: any slice of the stream; b"" is its end. A line over max_line_bytes is a violation, not memory.
        All lines are judged by the state at their turn, with nothing of ours answered in between; whoever must
        answer one line before the next is judged (an agent) uses `lines` and `receive_line`.
        Raises LocalProtocolError once the stream has ended; anything else is a bug.
        """
        events: list[Event] = []
        for line in self.lines(data):
            events += self.receive_line(line)
        if not data:
            events += self.end_of_stream()
        return events

    def observe(self, sender: Side, data: bytes) -> list[Event]:
        """Observer: take bytes that `sender` wrote; return the messages in them and every finding.

        A message with findings is given too, after them. No reply is ever made.
        """
        events: list[Event] = []
        for line in self._cut(sender, data):
            events += self._read(sender, line)
        if not data:
            events += self._end(sender)
        return events

    def _end(self, sender: Side) -> list[Event]:
        unanswered = tuple(call.id for call in self.conversation.open[other(sender)])
        found = self.conversation.end_stream(sender)
        return [*(ProtocolViolation(verdict) for verdict in found), StreamEnded(unanswered)]

    def _cut(self, sender: Side, data: bytes) -> list[bytes | LineTooLong]:
        if sender in self._ended:
            raise LocalProtocolError(violation("closing", "this stream has ended"))
        if data:
            return self._buffers[sender].feed(data)
        self._ended.add(sender)
        return self._buffers[sender].end()

    def _read(self, sender: Side, line: bytes | LineTooLong) -> list[Event]:
        if isinstance(line, LineTooLong):
            sentence = f"the line is longer than {line.limit} bytes"
            return [self._unreadable(sender, "line_too_long", sentence, ErrorCode.PARSE_ERROR)]
        try:
            value = codec.decode(line)
        except codec.DecodeError as error:
            return [self._unreadable(sender, "parse_error", str(error), ErrorCode.PARSE_ERROR)]
        message = classify(value)
        if isinstance(message, Malformed):
            return self._read_malformed(sender, message)
        events: list[Event] = []
        if self.conversation.policy.strict and not value.keys() <= _ENVELOPE:
            unknown = violation("unknown_member", "a message has no such member")
            events.append(ProtocolViolation(unknown, None, message))
        if isinstance(message, Request):
            return events + self._read_request(sender, message)
        if isinstance(message, Notification):
            return events + self._read_notification(sender, message)
        return events + self._read_response(sender, message)

    def _unreadable(
        self, sender: Side, reason: str, sentence: str, code: ErrorCode, id_: RequestId = None
    ) -> Event:
        """A line that is no message. Only an agent answers one that has no usable id: a client just reports it."""
        self._nobodys[sender].append(id_)
        verdict = violation(reason, sentence, code=code)
        answers = self.role is Role.AGENT or (self.role is Role.CLIENT and id_ is not None)
        return ProtocolViolation(verdict, _error_line(id_, verdict.to_error()) if answers else None)

    def _read_malformed(self, sender: Side, message: Malformed) -> list[Event]:
        if message.answer is not None:
            return [self._unreadable(sender, message.reason, message.sentence, message.answer, message.id)]
        events: list[Event] = [ProtocolViolation(violation(message.reason, message.sentence))]
        if message.has_id:
            events += self._fail_call(sender, message.id, message.sentence)
        return events

    def _read_request(self, sender: Side, request: Request) -> list[Event]:
        if request.id is None and self.conversation.policy.strict:
            return [self._unreadable(sender, "bad_id", _NULL_ID, ErrorCode.INVALID_REQUEST)]
        notes = [warning("bad_id", _NULL_ID)] if request.id is None else []
        verdicts = list(admission.judge_envelope(self.conversation, sender, request))
        method = METHODS.get(request.method)
        if not forbids(verdicts) and method is not None:
            params, problem, more = payloads.read(
                method.params, request.params, method.name, strict=self.conversation.policy.strict
            )
            request = Request(request.id, request.method, params)
            notes += more
            if problem is not None:
                verdicts.append(problem)
            for verdict in () if problem else admission.judge_request(self.conversation, sender, request):
                # What is wrong with what is only shown is told; the question beside it has an answer all the same.
                (notes if verdict.where.get("path", "").startswith(_SHOWN) else verdicts).append(verdict)
        refusal = next((verdict for verdict in verdicts if forbids([verdict])), None)
        events: list[Event] = [ProtocolViolation(verdict, None, request) for verdict in notes]
        if refusal is not None and self.role is not Role.OBSERVER:
            return [*events, ProtocolViolation(refusal, _error_line(request.id, refusal.to_error()), request)]
        events += [ProtocolViolation(verdict, None, request) for verdict in verdicts]
        self._register(sender, request, refusal)
        events.append(RequestReceived(request.id, request.method, request.params))
        return events

    def _register(self, sender: Side, request: Request, refusal: Verdict | None) -> None:
        if request.id in self.conversation.open[sender]:
            return  # observed twice: the first keeps the id
        reason = refusal.reason if refusal is not None else None
        if self.state is ConnectionState.CLOSING:
            reason = "closing"
        elif reason == "content_not_supported" and request.method == "session/prompt":
            reason = None  # a lax agent runs such a turn, a strict one ends it with an error: follow both
        self.conversation.apply_request(sender, request, reason)

    def _read_notification(self, sender: Side, notification: Notification) -> list[Event]:
        verdicts = list(self.conversation.judge_notification(sender, notification))
        method = METHODS.get(notification.method)
        readable = not forbids(verdicts)
        if readable and method is not None:
            params, problem, notes = payloads.read(
                method.params, notification.params, method.name, strict=self.conversation.policy.strict
            )
            notification = Notification(notification.method, params)
            verdicts += notes
            if problem is not None:
                verdicts.append(problem)
                readable = False
        if readable and notification.method == _UPDATE:
            return self._read_update(notification, verdicts)
        events: list[Event] = [ProtocolViolation(verdict, None, notification) for verdict in verdicts]
        if readable and method is not None:
            self.conversation.apply_notification(sender, notification)
        if readable or self.role is Role.OBSERVER:
            events.append(NotificationReceived(notification.method, notification.params))
        return events

    def _read_update(self, notification: Notification, verdicts: list[Verdict]) -> list[Event]:
        params = notification.params
        received = NotificationReceived(_UPDATE, params)
        if not verdicts and self.conversation.update_is_plain(params):
            return [received]
        verdicts += self.conversation.judge_update(params)
        events: list[Event] = [ProtocolViolation(verdict, None, notification) for verdict in verdicts]
        dropped = any(verdict.reason in _DROPPED_UPDATES and forbids([verdict]) for verdict in verdicts)
        if self.role is Role.OBSERVER or not dropped:
            self.conversation.apply_update(params)
            events.append(received)
        return events

    def _read_response(self, sender: Side, response: Response) -> list[Event]:
        calls = self.conversation.open[other(sender)]
        call = calls.get(response.id)
        if call is None:
            if response.error is not None and response.id in self._nobodys[other(sender)]:
                self._nobodys[other(sender)].remove(response.id)
                return []
            again = calls.was_answered(response.id)
            reason = "response_duplicate" if again else "response_unknown_id"
            sentence = "this request was answered before" if again else "no request of this id is open"
            return [ProtocolViolation(violation(reason, sentence), None, response)]
        verdicts: list[Verdict] = []
        method = METHODS.get(call.method)
        if response.error is not None:
            if not schema.is_valid("Error", response.error.to_object()):
                verdicts.append(violation("response_malformed", "an error code is a 32-bit integer"))
        elif method is not None and method.result is not None:
            result, problem, notes = payloads.read(
                method.result,
                response.result,
                call.method,
                strict=self.conversation.policy.strict,
                reason="result_invalid",
            )
            if problem is not None:
                broken: Event = ProtocolViolation(problem, None, response)
                return [broken, *self._fail_call(sender, response.id, problem.sentence)]
            verdicts += notes
            response = Response(response.id, result)
        verdicts += self.conversation.judge_response(sender, response, call)
        self.conversation.apply_response(sender, response)
        return [
            *(ProtocolViolation(verdict, None, response) for verdict in verdicts),
            ResponseReceived(response.id, call.method, response.result, response.error),
        ]

    def _fail_call(self, sender: Side, id_: RequestId, sentence: str) -> list[Event]:
        """A broken response settles its call as a failure: waiting on for a better one would be for ever."""
        call = self.conversation.reject_response(sender, id_)
        if call is None:
            return []
        error = RpcError(ErrorCode.INTERNAL_ERROR, f"the answer to {call.method} is malformed: {sentence}")
        return [ResponseReceived(id_, call.method, None, error)]

    # -- sending

    def request(self, method: str, params: dict[str, Any]) -> tuple[RequestId, bytes]:
        """A request of ours: its new id and its line. Ids count up from 0.

        Raises LocalProtocolError, with nothing changed, if it would be illegal now.
        """
        request = Request(self._next_id, method, params)
        self._refuse(admission.judge_envelope(self.conversation, self._own, request))
        known = METHODS.get(method)
        if known is not None:
            self._check_own(known.params, params, method)
            self._refuse(admission.judge_request(self.conversation, self._own, request))
        line = _encode({"jsonrpc": "2.0", "id": request.id, "method": method, "params": params})
        self._next_id += 1
        self.conversation.apply_request(self._own, request)
        return request.id, line

    def notify(self, method: str, params: dict[str, Any]) -> bytes:
        """A notification of ours, as a line. Raises LocalProtocolError, with nothing changed, if illegal now."""
        if method == _UPDATE:
            return self._send_update(params)
        notification = Notification(method, params)
        self._refuse(self.conversation.judge_notification(self._own, notification))
        known = METHODS.get(method)
        if known is not None:
            self._check_own(known.params, params, method)
        line = _encode({"jsonrpc": "2.0", "method": method, "params": params})
        if known is not None:
            self.conversation.apply_notification(self._own, notification)
        return line

    def _send_update(self, params: dict[str, Any]) -> bytes:
        if self._own is Side.CLIENT:
            raise LocalProtocolError(violation("method_unknown", "updates are sent by the agent"))
        self._check_own("SessionNotification", params, _UPDATE)
        line = _encode({"jsonrpc": "2.0", "method": _UPDATE, "params": params})
        # The chunk path: no step, nothing to look up twice.
        if not self.conversation.update_is_plain(params):
            self._refuse(self.conversation.judge_update(params))
            self.conversation.apply_update(params)
        return line

    def respond(self, id_: RequestId, result: dict[str, Any]) -> bytes:
        """The success response to a request of the peer, as a line. Raises LocalProtocolError as above."""
        call = self._open_call(id_)
        known = METHODS.get(call.method)
        if known is not None and known.result is not None:
            self._check_own(known.result, result, call.method)
        response = Response(call.id, result)
        self._refuse(self.conversation.judge_response(self._own, response, call))
        line = _encode({"jsonrpc": "2.0", "id": call.id, "result": result})
        self.conversation.apply_response(self._own, response)
        return line

    def respond_error(self, id_: RequestId, error: RpcError) -> bytes:
        """The error response to a request of the peer, as a line. Raises LocalProtocolError as above."""
        call = self._open_call(id_)
        response = Response(call.id, None, error)
        self._check_own("Error", error.to_object(), call.method)
        self._refuse(self.conversation.judge_response(self._own, response, call))
        line = _error_line(call.id, error)
        self.conversation.apply_response(self._own, response)
        return line

    def _open_call(self, id_: RequestId) -> OpenCall:
        call = self.conversation.open[other(self._own)].get(id_)
        if call is None:
            raise LocalProtocolError(violation("response_unknown_id", "no request of this id is open"))
        return call

    def _check_own(self, definition: str, value: Any, method: str) -> None:
        payloads.refuse_invalid(definition, value, method, strict=self.conversation.policy.strict)

    def _refuse(self, verdicts: Iterable[Verdict]) -> None:
        for verdict in verdicts:
            if forbids([verdict]):
                raise LocalProtocolError(verdict)


def _encode(message: dict[str, Any]) -> bytes:
    try:
        return codec.encode(message)
    except ValueError as error:
        raise LocalProtocolError(violation("internal", str(error))) from None


def _error_line(id_: RequestId, error: RpcError) -> bytes:
    return _encode({"jsonrpc": "2.0", "id": id_, "error": error.to_object()})
