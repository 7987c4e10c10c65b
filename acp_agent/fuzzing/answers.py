"""What the answers of an agent mean: whether a legal request was served, an impossible one refused, a list complete.

The core knows whether an answer is well formed and legal in its state; here is what can be seen only by keeping what
was asked beside what was answered. Deliberately absent: time (exchange.py), envelopes and states (judge.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from acp_agent.fuzzing.invariants import Finding, Invariant, found
from acp_agent.jsonrpc.errors import ErrorCode
from acp_agent.jsonrpc.messages import RequestId
from acp_agent.protocol.conversation import Conversation
from acp_agent.protocol.events import RequestReceived, ResponseReceived
from acp_agent.protocol.methods import METHODS, Side
from acp_agent.protocol.paths import is_absolute
from acp_agent.protocol.sessions import Cancel, Turn

_LONG_BYTES: Final = 60 * 1024
_BASELINE: Final = frozenset({"initialize", "session/new", "session/prompt"})
_REFUSALS: Final = frozenset(
    {ErrorCode.PARSE_ERROR, ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_PARAMS, ErrorCode.INTERNAL_ERROR}
)
_PLAIN_BLOCKS: Final = frozenset({"text", "resource_link"})
_VERSION: Final = 1


@dataclass(slots=True)
class _Asked:
    """A request as it was sent. refused: the slug of what is illegal about it.

    cancelled: the turns that were cancelled and not answered when it was sent. doubtful: an agent may refuse it, as it
    may a prompt to a session whose turn is open. past: turns that a load has to replay.
    """

    method: str
    params: dict[str, Any]
    refused: str | None
    line_bytes: int
    cancelled: tuple[Turn, ...]
    doubtful: bool = False
    past: int = 0


@dataclass(slots=True)
class _Past:
    """What is remembered of a session. prompts: turns that ended well. replayed: messages seen since a load."""

    prompts: int = 0
    replayed: int = 0


@dataclass
class Answers:
    """Keeps requests until they are answered, and what earlier answers have said."""

    conversation: Conversation
    _open: dict[RequestId, _Asked] = field(default_factory=dict)
    _pasts: dict[str, _Past] = field(default_factory=dict)
    _cursors: set[str] = field(default_factory=set)
    _deleted: set[str] = field(default_factory=set)

    def asked(self, request: RequestReceived, line_bytes: int, *, doubtful: bool = False) -> None:
        """The client has sent a request, legal or not, and the core has registered it.

        doubtful: an agent may read it as illegal.
        """
        call = self.conversation.open[Side.CLIENT].get(request.id)
        params = request.params if isinstance(request.params, dict) else {}
        cancelled = tuple(
            turn
            for session in self.conversation.sessions.values()
            for turn in session.turns
            if Cancel.SESSION_CANCEL in turn.cancel
        )
        asked = _Asked(
            request.method, params, call.refused if call else None, line_bytes, cancelled, doubtful
        )
        session = self.conversation.sessions.get(_text(params.get("sessionId")))
        if request.method == "session/prompt":
            asked.doubtful |= session is not None and len(session.turns) > 1
        if request.method == "session/load":
            past = self._pasts.setdefault(_text(params.get("sessionId")), _Past())
            asked.past, past.replayed = past.prompts, 0
        self._open[request.id] = asked

    def doubt(self, id_: RequestId) -> None:
        """An answer of this id may be meant for another request: it is not judged by this one."""
        self._open.pop(id_, None)

    def updated(self, params: Any) -> None:
        """The agent has sent a `session/update`."""
        past = self._pasts.get(_text(params.get("sessionId"))) if isinstance(params, dict) else None
        update = params.get("update") if past is not None else None
        kind = update.get("sessionUpdate") if isinstance(update, dict) else None
        if past is not None and kind in {"user_message_chunk", "agent_message_chunk"}:
            past.replayed += 1

    def cancelled_before(self, id_: RequestId) -> tuple[Turn, ...]:
        """The turns whose cancel was sent before this request, which an answer to it proves to have been read."""
        asked = self._open.get(id_)
        return asked.cancelled if asked is not None and asked.method != "session/prompt" else ()

    def answered(self, response: ResponseReceived, at: int, *, cancelled: bool = False) -> list[Finding]:
        """The agent has answered; what is wrong with that, beside what the core says.

        at: the message's number. cancelled: it is the answer to a prompt that was cancelled: the core judges its error.
        """
        asked = self._open.pop(response.id, None)
        if asked is None:
            return []
        if response.error is not None:
            return [] if cancelled else list(self._judge_error(asked, response.error.code, at))
        result = response.result if isinstance(response.result, dict) else {}
        if asked.refused is not None:
            return list(self._judge_served(asked, at))
        return list(self._judge_result(asked, result, at))

    def _judge_error(self, asked: _Asked, code: int, at: int) -> Iterator[Finding]:
        method = asked.method
        if asked.refused is not None:
            if asked.refused == "method_unknown" and code != ErrorCode.METHOD_NOT_FOUND:
                yield found(Invariant.UNKNOWN_METHOD, f"an unknown method was answered with {code}", at)
        elif method == "initialize" and asked.params.get("protocolVersion") != _VERSION:
            yield found(Invariant.VERSION_OFFERED, f"another version was answered with the error {code}", at)
        elif method.startswith("_"):
            if code != ErrorCode.METHOD_NOT_FOUND:
                yield found(Invariant.UNKNOWN_METHOD, f"a method of our own was answered with {code}", at)
        elif code == ErrorCode.METHOD_NOT_FOUND:
            which = Invariant.BASELINE if method in _BASELINE else Invariant.ADVERTISED
            yield found(which, f"{method} is unknown to the agent", at, method)
        elif method == "session/delete":
            yield found(Invariant.DELETED_TWICE, f"session/delete was answered with {code}", at)
        elif code in _REFUSALS and method in METHODS and not self._may_be_refused(asked):
            yield self._refused(asked, code, at)

    def _may_be_refused(self, asked: _Asked) -> bool:
        """Whether the answer depends on what only the agent knows."""
        if asked.method in {"session/list", "session/load", "session/resume", "authenticate"}:
            return True  # an old cursor, a session that was never stored, a login that failed
        relative = asked.params.get("cwd")
        return asked.doubtful or (isinstance(relative, str) and not is_absolute(relative))

    def _refused(self, asked: _Asked, code: int, at: int) -> Finding:
        saw = f"a legal {asked.method} was answered with {code}"
        if asked.line_bytes >= _LONG_BYTES:
            return found(
                Invariant.ALIVE_AFTER_LONG_LINE, f"{saw}, {asked.line_bytes} bytes long", at, "refused"
            )
        if (
            asked.method == "session/new"
            and asked.params.get("mcpServers")
            and code == ErrorCode.INVALID_PARAMS
        ):
            return found(Invariant.SERVERS_ACCEPTED, saw, at)
        if asked.method == "session/prompt" and code == ErrorCode.INVALID_PARAMS:
            kinds = {block.get("type") for block in asked.params.get("prompt", ())}
            which = Invariant.CONTENT_ACCEPTED if kinds <= _PLAIN_BLOCKS else Invariant.ADVERTISED
            return found(which, saw, at, ",".join(sorted(kinds)))
        return found(Invariant.ACCEPTED, saw, at, f"{asked.method}:{code}")

    def _judge_served(self, asked: _Asked, at: int) -> Iterator[Finding]:
        """A request that should have been refused has a result."""
        if asked.refused == "session_unknown":
            yield found(
                Invariant.UNKNOWN_SESSION, f"{asked.method} worked in a session that is not", at, asked.method
            )
        elif asked.refused == "method_unknown":
            yield found(Invariant.UNKNOWN_METHOD, "a request of an unknown method has a result", at)
        elif asked.refused == "params_invalid" and asked.method in {
            "session/new",
            "session/load",
            "session/resume",
        }:
            cwd = asked.params.get("cwd")
            if isinstance(cwd, str) and not is_absolute(cwd):
                yield found(
                    Invariant.RELATIVE_PATH, f"{asked.method} took a relative directory", at, asked.method
                )

    def _judge_result(self, asked: _Asked, result: dict[str, Any], at: int) -> Iterator[Finding]:
        params = asked.params
        match asked.method:
            case "initialize":
                yield from _judge_initialize(params, result, at)
            case "session/new" | "session/resume" | "session/set_config_option":
                yield from _judge_options(result, at)
                if asked.method == "session/set_config_option":
                    given = {option.get("id") for option in result.get("configOptions") or ()}
                    if params.get("configId") not in given:
                        yield found(Invariant.ALL_OPTIONS, "the option that was set is not in the answer", at)
            case "session/load":
                yield from _judge_options(result, at)
                if asked.past and not self._pasts[_text(params.get("sessionId"))].replayed:
                    yield found(Invariant.REPLAYED, "a session with a past was loaded without a replay", at)
            case "session/prompt":
                past = self._pasts.setdefault(_text(params.get("sessionId")), _Past())
                past.prompts += result.get("stopReason") == "end_turn"
            case "session/delete":
                self._deleted.add(_text(params.get("sessionId")))
            case "session/list":
                yield from self._judge_list(params, result, at)

    def _judge_list(self, params: dict[str, Any], result: dict[str, Any], at: int) -> Iterator[Finding]:
        sessions = [one for one in result.get("sessions") or () if isinstance(one, dict)]
        cwd, cursor = params.get("cwd"), params.get("cursor")
        if isinstance(cursor, str) and cursor not in self._cursors:
            yield found(Invariant.CURSOR_REFUSED, "a cursor that was never given was taken", at)
        if isinstance(cwd, str) and any(one.get("cwd") != cwd for one in sessions):
            yield found(Invariant.LISTED_BY_DIRECTORY, "a list for one directory names another", at)
        if any(one.get("sessionId") in self._deleted for one in sessions):
            yield found(Invariant.DELETED, "a deleted session is listed", at)
        if isinstance(result.get("nextCursor"), str):
            self._cursors.add(result["nextCursor"])


def _judge_initialize(params: dict[str, Any], result: dict[str, Any], at: int) -> Iterator[Finding]:
    if params.get("protocolVersion") == _VERSION != result.get("protocolVersion"):
        yield found(
            Invariant.VERSION_KEPT, f"version 1 was answered with {result.get('protocolVersion')}", at
        )
    capabilities = params.get("clientCapabilities") or {}
    auth = capabilities.get("auth") or {}
    terminal = [one for one in result.get("authMethods") or () if one.get("type") == "terminal"]
    if terminal and auth.get("terminal") is not True:
        yield found(
            Invariant.TERMINAL_LOGIN, "a terminal login is offered to a client without auth.terminal", at
        )


def _judge_options(result: dict[str, Any], at: int) -> Iterator[Finding]:
    for option in result.get("configOptions") or ():
        if option.get("type") != "select":
            continue
        values: list[Any] = []
        for item in option.get("options") or ():
            values += (
                [one.get("value") for one in item["options"]] if "group" in item else [item.get("value")]
            )
        if option.get("currentValue") not in values:
            yield found(Invariant.CURRENT_VALUE, "the current value of an option is not on offer", at)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
