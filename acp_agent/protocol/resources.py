"""Terminals, elicitations and compactions: what they are judged by, and which capabilities gate them.

Deliberately absent: the requests' schemas (checked before), turns (turns.py), modes and config options (offers.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from acp_agent.jsonrpc.pending import OpenCalls
from acp_agent.protocol.methods import declares
from acp_agent.protocol.sessions import Session, SessionStatus
from acp_agent.protocol.verdicts import Verdict, inferred, violation, warning

_GATED_UPDATES: Final = {
    "notice": ("session", "notices"),
    "compaction_update": ("session", "compaction"),
    "compaction_summary_chunk": ("session", "compaction"),
}
_COMPACTIONS: Final = frozenset({"compaction_update", "compaction_summary_chunk"})


def judge_idle_update(session: Session, update: dict[str, Any], client: dict[str, Any]) -> Iterator[Verdict]:
    """Findings on an update that may come outside a turn. client: the client's capabilities."""
    kind = update["sessionUpdate"]
    gate = _GATED_UPDATES.get(kind)
    if gate is not None and not declares(client, gate):
        sentence = f"the client has not advertised {'.'.join(gate)}"
        yield violation("update_ungated", sentence, sessionId=session.id)
    if session.status is SessionStatus.OPENING:
        yield from _judge_while_opening(session, kind)
    if kind not in _COMPACTIONS:
        return
    status = session.compactions.get(update["compactionId"])
    if kind == "compaction_update" and status not in {None, "in_progress"}:
        yield inferred("compaction_order", "a compaction has ended once", sessionId=session.id)
    elif kind == "compaction_summary_chunk" and status != "in_progress":
        sentence = "a summary chunk belongs to a compaction in progress"
        yield inferred("compaction_order", sentence, sessionId=session.id)


def _judge_while_opening(session: Session, kind: str) -> Iterator[Verdict]:
    """Between the request and its answer a load replays, and a resume does not (R-067, R-148)."""
    resuming = session.opening == "session/resume"
    if (resuming and kind in _COMPACTIONS) or kind == "compaction_summary_chunk":
        sentence = f"no update of this kind comes before the answer to {session.opening}"
        yield inferred("update_kind_not_allowed", sentence, sessionId=session.id)
    elif kind == "notice" and not resuming:
        sentence = "a replay shows no notices"
        yield warning("update_kind_not_allowed", sentence, sessionId=session.id)


def apply_idle_update(session: Session, update: dict[str, Any]) -> None:
    """Remember what later messages are judged by."""
    if update["sessionUpdate"] == "compaction_update":
        session.compactions[update["compactionId"]] = update["status"]


def judge_terminal_use(session: Session, params: dict[str, Any]) -> Iterator[Verdict]:
    """Findings on `terminal/output`, `/wait_for_exit`, `/kill`, `/release`."""
    if not session.terminals.get(params["terminalId"], False):
        sentence = "no such terminal in this session, or it was released"
        yield violation("terminal_unknown", sentence, terminalId=params["terminalId"])


def judge_embedded(session: Session, call: dict[str, Any], pointer: str) -> Iterator[Verdict]:
    """R-194: a terminal shown in a tool call is one that was created; it may have been released since.

    pointer: where the call stands in its params.
    """
    for index, item in enumerate(call.get("content") or ()):
        if item["type"] == "terminal" and item["terminalId"] not in session.terminals:
            sentence = "an embedded terminal was created in this session before"
            path = f"{pointer}/content/{index}/terminalId"
            where = {"sessionId": session.id, "terminalId": item["terminalId"], "path": path}
            yield violation("terminal_unknown", sentence, **where)


def judge_released(session: Session) -> Iterator[Verdict]:
    """R-221: findings at the end of a session or of the agent's stream."""
    for terminal_id, live in session.terminals.items():
        if live:
            sentence = "the agent releases every terminal it has created"
            yield violation("terminal_not_released", sentence, sessionId=session.id, terminalId=terminal_id)


def judge_elicitation(
    params: dict[str, Any], client: dict[str, Any], open_elicitations: set[str], open_requests: OpenCalls
) -> Iterator[Verdict]:
    """Findings on `elicitation/create`: its mode, its scope, its id.

    open_requests: those of the client, one of which a request scope must name.
    """
    mode = params["mode"]
    scopes = [member for member in ("sessionId", "requestId") if member in params]
    if mode not in {"form", "url"} or not declares(client, ("elicitation", mode)):
        sentence = "the client has not advertised this elicitation mode"
        yield violation("mode_not_supported", sentence, method="elicitation/create", path="/mode")
    elif len(scopes) != 1:
        sentence = "an elicitation has exactly one of sessionId and requestId"
        yield violation("params_invalid", sentence, method="elicitation/create")
    elif scopes == ["requestId"] and params["requestId"] not in open_requests:
        sentence = "the request that an elicitation is about has no answer yet"
        yield violation("params_invalid", sentence, method="elicitation/create", path="/requestId")
    elif mode == "url" and params["elicitationId"] in open_elicitations:
        sentence = "an elicitation of that id is open"
        yield violation("elicitation_duplicate", sentence, method="elicitation/create", path="/elicitationId")
