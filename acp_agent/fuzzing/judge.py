"""Everything both sides write, judged in the order of the wire: the agent's conduct by the core, and its answers.

Wraps a Connection in the observer's role and strict mode, the one that the harness and the conformance tests use. It
also says whether what the client wrote was legal: a legal request must not be refused, and what a broken one leads to
is not held against the agent. Needs nothing but bytes, so a reproducer is judged as the conversation was.
Deliberately absent: time and the process (exchange.py).
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, Final

from acp_agent.fuzzing.answers import Answers
from acp_agent.fuzzing.coverage import Coverage
from acp_agent.fuzzing.invariants import Finding, Invariant, found, rule_of, shape_of
from acp_agent.fuzzing.tried import LINE, rules_tried
from acp_agent.jsonrpc import codec
from acp_agent.jsonrpc.framing import LineBuffer, LineTooLong
from acp_agent.jsonrpc.messages import RequestId, Response, read_id
from acp_agent.protocol.connection import Connection, Role
from acp_agent.protocol.events import (
    Event,
    NotificationReceived,
    ProtocolViolation,
    RequestReceived,
    ResponseReceived,
)
from acp_agent.protocol.methods import Side
from acp_agent.protocol.policy import Policy
from acp_agent.protocol.sessions import Turn
from acp_agent.protocol.verdicts import Severity

MAX_LINE_BYTES: Final = 128 * 1024 * 1024
LONG_LINE_BYTES: Final = 60 * 1024
"""From here on a line counts as long: the usual limit that programs forget is 64 KiB."""

_PROVEN: Final = frozenset({Severity.VIOLATION, Severity.INFERRED})
# What the core judges by the state of a session; pointless once a broken message of ours was about that session.
_STATEFUL: Final = frozenset(
    {
        "update_late",
        "update_kind_not_allowed",
        "update_session_unknown",
        "session_unknown",
        "session_busy_opening",
        "no_active_turn",
        "permission_not_awaited",
        "stop_reason_unasked",
        "stop_reason_not_cancelled",
        "cancel_as_error",
        "end_with_open_call",
        "end_with_open_permission",
        "tool_call_duplicate",
        "tool_call_unknown",
        "tool_status_backwards",
        "terminal_unknown",
        "terminal_not_released",
    }
)
_PAYLOADS: Final = frozenset({"params_invalid", "result_invalid"})
_ENDS_OF_CANCELLED: Final = {
    "stop_reason_not_cancelled": Invariant.CANCEL_OBEYED,
    "cancel_as_error": Invariant.CANCEL_NO_ERROR,
}
_OF_THE_CONNECTION: Final = frozenset(
    {
        "not_initialised",
        "already_initialised",
        "closing",
        "capability_missing",
        "update_ungated",
        "mode_not_supported",
    }
)


class Judge:
    """Follows one connection. `client_wrote` and `agent_wrote` are called in the order of the wire, with any slices.

    findings: what the agent did wrong. own: what the client did wrong, as slugs; a legal client has none.
    tried: every rule that something could have broken. coverage: where the machines have been.
    """

    def __init__(self) -> None:
        self.connection = Connection(Role.OBSERVER, Policy(strict=True, queue_prompts=True), MAX_LINE_BYTES)
        self.findings: list[Finding] = []
        self.own: list[str] = []
        self.messages = 0
        self.tried: set[str] = set()
        self.coverage = Coverage(self.connection.conversation)
        self.last_line_broken = False
        self.last_line_long = False
        self._answers = Answers(self.connection.conversation)
        self._lines = {side: LineBuffer(MAX_LINE_BYTES) for side in (Side.AGENT, Side.CLIENT)}
        self._asked: Counter[tuple[type, RequestId]] = Counter()
        self._nobodys_errors = 0
        self._tainted: set[str] = set()
        self._everything_tainted = False
        self._cancel_read: set[Turn] = set()
        self._cancelled_in_wait: set[Turn] = set()

    # -- the client

    def client_wrote(self, data: bytes) -> list[str]:
        """The client writes these bytes now. Returns the slugs of what is wrong with the lines that they complete."""
        wrong: list[str] = []
        for line in self._lines[Side.CLIENT].feed(data):
            wrong += self._client_line(line)
        self.own += wrong
        return wrong

    def client_ended(self) -> None:
        """The client's direction has ended."""
        for line in self._lines[Side.CLIENT].end():
            self.own += self._client_line(line)
        # Whoever is left in the middle of a turn cannot put it in order any more.
        sessions = self.connection.conversation.sessions
        self._tainted |= {name for name, session in sessions.items() if session.turns}
        self.connection.observe(Side.CLIENT, b"")
        self.coverage.look()

    def _client_line(self, line: bytes | LineTooLong) -> list[str]:
        self.messages += 1
        if isinstance(line, LineTooLong):
            return ["line_too_long"]
        message = _decode(line)
        events = self.connection.observe(Side.CLIENT, line + b"\n")
        wrong = [event.verdict for event in events if isinstance(event, ProtocolViolation)]
        slugs = [verdict.reason for verdict in wrong if verdict.severity in _PROVEN]
        self.last_line_broken = len(events) == len(wrong) and bool(wrong)
        self.last_line_long = len(line) >= LONG_LINE_BYTES
        event = next((event for event in events if not isinstance(event, ProtocolViolation)), None)
        if isinstance(event, RequestReceived) and not set(slugs) & {"duplicate_id", "bad_id"}:
            self._answers.asked(event, len(line), doubtful=bool(wrong) or _has_half_a_pair(line))
        elif event is None or isinstance(event, RequestReceived):
            self._expect_answer_to_nobody(message)
        if slugs:
            self._taint(message, slugs)
        if isinstance(event, NotificationReceived) and event.method == "session/cancel" and not slugs:
            self._note_waiting(event.params)
        self.coverage.look()
        return slugs

    def _note_waiting(self, params: dict[str, Any]) -> None:
        """A turn that waits for the client when it is cancelled does not end by itself meanwhile."""
        session = self.connection.conversation.sessions.get(params["sessionId"])
        waiting = any(
            call.session_id == params["sessionId"] for call in self.connection.conversation.open[Side.AGENT]
        )
        if session is not None and session.turn is not None and waiting:
            self._cancelled_in_wait.add(session.turn)

    def _expect_answer_to_nobody(self, message: Any) -> None:
        """The client wrote something that the core has no open request for; an agent may answer it all the same."""
        self._nobodys_errors += 1
        if isinstance(message, dict) and "id" in message:
            usable, id_ = read_id(message["id"])
            if usable:
                self._asked[type(id_), id_] += 1
                self._doubt(id_)
        elif isinstance(message, list):
            for one in message:
                self._expect_answer_to_nobody(one)

    def _doubt(self, id_: RequestId) -> None:
        """An id is used twice: which of the two an answer is meant for is not known."""
        self._answers.doubt(id_)
        call = self.connection.conversation.open[Side.CLIENT].get(id_)
        if call is not None and call.session_id is not None:
            self._tainted.add(call.session_id)

    def _taint(self, message: Any, slugs: list[str]) -> None:
        """What an agent makes of a broken message is not known: its session is judged less strictly from now on."""
        params = message.get("params") if isinstance(message, dict) else None
        named = params.get("sessionId") if isinstance(params, dict) else None
        method = message.get("method") if isinstance(message, dict) else None
        if isinstance(named, str) and slugs != ["session_unknown"]:
            self._tainted.add(named)
        elif method in {"initialize", "session/new", "session/load"} or not isinstance(message, dict):
            self._everything_tainted |= method == "initialize" or "duplicate_id" in slugs
        if not isinstance(method, str) and isinstance(message, dict):
            # An answer of ours: which session it was about is known to the agent alone.
            self._tainted |= self.connection.conversation.sessions.keys()

    # -- the agent

    def agent_wrote(self, data: bytes) -> list[Event]:
        """The agent has written these bytes. Returns the messages that they complete; findings are kept."""
        events: list[Event] = []
        for line in self._lines[Side.AGENT].feed(data):
            events += self._agent_line(line)
        return events

    def agent_ended(self) -> None:
        """The agent's output is at its end."""
        for line in self._lines[Side.AGENT].end():
            self._agent_line(line)
        for event in self.connection.observe(Side.AGENT, b""):
            if isinstance(event, ProtocolViolation):
                self._weigh(event, b"", None)
        self.coverage.look()

    def _agent_line(self, line: bytes | LineTooLong) -> list[Event]:
        self.messages += 1
        self.tried |= LINE
        if isinstance(line, LineTooLong):
            self.findings.append(
                Finding("R-312", "line_too_long", f"a line of over {line.limit} bytes", self.messages)
            )
            return []
        message = _decode(line)
        before = self._turn_answered_by(message)
        events = self.connection.observe(Side.AGENT, line + b"\n")
        given: list[Event] = []
        for event in events:
            if isinstance(event, ProtocolViolation):
                self._weigh(event, line, message, before)
            else:
                given.append(event)
        cancelled = before is not None and bool(before.cancel)
        for event in given:
            self._look_at(event, cancelled=cancelled)
            self.tried |= rules_tried(event, message, cancelled=cancelled)
        self.coverage.look()
        return given

    def _look_at(self, event: Event, *, cancelled: bool) -> None:
        if isinstance(event, ResponseReceived):
            self._note_what_was_read(event.id)
            self.findings += self._answers.answered(event, self.messages, cancelled=cancelled)
        elif isinstance(event, NotificationReceived) and event.method == "session/update":
            self._answers.updated(event.params)
            self._judge_new_call(event.params)

    def _judge_new_call(self, params: Any) -> None:
        """A cancel that has been read stops the work: no further tool call begins."""
        if not isinstance(params, dict) or not isinstance(params.get("update"), dict):
            return
        session = self.connection.conversation.sessions.get(params.get("sessionId", ""))
        if session is None or session.turn is None or session.id in self._tainted:
            return
        if session.turn in self._cancel_read and params["update"].get("sessionUpdate") == "tool_call":
            saw = "a tool call began after the cancel of its turn had been read"
            self.findings.append(found(Invariant.CANCEL_STOPS, saw, self.messages, "tool_call"))

    def _note_what_was_read(self, id_: RequestId) -> None:
        """An answer proves that all before its request was read: cancels that were not answered yet."""
        self._cancel_read.update(self._answers.cancelled_before(id_))

    def _turn_answered_by(self, message: Any) -> Turn | None:
        if not isinstance(message, dict) or "method" in message:
            return None
        usable, id_ = read_id(message.get("id"))
        return self.connection.conversation.turn_of(id_) if usable else None

    def _weigh(self, finding: ProtocolViolation, line: bytes, message: Any, turn: Turn | None = None) -> None:
        verdict = finding.verdict
        if verdict.reason in _ENDS_OF_CANCELLED and verdict.severity is Severity.SUSPECT:
            # It may have crossed, unless the turn could not have ended by itself.
            if turn is not None and self._cannot_have_crossed(turn) and not self._excuses(finding):
                self.findings.append(
                    found(_ENDS_OF_CANCELLED[verdict.reason], verdict.sentence, self.messages)
                )
            return
        # A reader is lenient with some members; whoever sends them is not excused by that (D-01 excuses a null result).
        repaired = (
            verdict.severity is Severity.WARNING and verdict.reason in _PAYLOADS and verdict.where.get("path")
        )
        if not (verdict.severity in _PROVEN or repaired) or self._excuses(finding):
            return
        rule = rule_of(finding, line, message)
        if verdict.reason == "permission_not_awaited" and self._was_refused(message):
            rule = "R-179"
        place = f" at {path}" if (path := verdict.where.get("path")) and path not in verdict.sentence else ""
        self.findings.append(
            Finding(rule, shape_of(finding, message), f"{verdict.sentence}{place}", self.messages)
        )

    def _cannot_have_crossed(self, turn: Turn) -> bool:
        """Something that was sent after the cancel was answered before, or the turn waited for the client."""
        return turn in self._cancel_read or turn in self._cancelled_in_wait

    def _was_refused(self, message: Any) -> bool:
        params = message.get("params") if isinstance(message, dict) else None
        if not isinstance(params, dict) or not isinstance(params.get("update"), dict):
            return False
        session = self.connection.conversation.sessions.get(params.get("sessionId", ""))
        call = session.calls.get(params["update"].get("toolCallId", "")) if session is not None else None
        return call is not None and call.denied and not call.permission_open

    def _excuses(self, finding: ProtocolViolation) -> bool:
        """Whether something that the client did wrong explains it."""
        reason, response = finding.verdict.reason, finding.message
        if isinstance(response, Response) and reason in {"response_unknown_id", "response_duplicate"}:
            key = type(response.id), response.id
            if self._asked[key]:
                self._asked[key] -= 1
                return True
            if response.id is None and response.error is not None and self._nobodys_errors:
                self._nobodys_errors -= 1
                return True
        if reason in _OF_THE_CONNECTION:
            return self._everything_tainted
        if reason not in _STATEFUL:
            return False
        params = getattr(response, "params", None)
        named = params.get("sessionId") if isinstance(params, dict) else None
        named = finding.verdict.where.get("sessionId", named)
        return self._everything_tainted or named in self._tainted


def _has_half_a_pair(line: bytes) -> bool:
    """Whether a text in it can't be UTF-8: one reader replaces that, another refuses it."""
    if b"\\u" not in line:
        return False
    try:
        json.dumps(json.loads(line), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _decode(line: bytes) -> Any:
    try:
        return codec.decode(line)
    except codec.DecodeError:
        return None
