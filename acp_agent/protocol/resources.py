"""What the agent's requests to the client do to terminals, elicitations and compactions, and what gates updates.

Deliberately absent: the requests' schemas (checked before) and turns (turns.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from acp_agent.protocol.sessions import Session
from acp_agent.protocol.verdicts import Verdict, inferred, violation

_GATED_UPDATES: Final = {
    "notice": ("session", "notices"),
    "compaction_update": ("session", "compaction"),
    "compaction_summary_chunk": ("session", "compaction"),
}
_BOOLEAN_OPTIONS: Final = ("session", "configOptions", "boolean")


def declares(capabilities: dict[str, Any], path: tuple[str, ...]) -> bool:
    """Whether a capability is on: `true` for a boolean, present and not null for a switch object (R-036)."""
    found: Any = capabilities
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found is True or isinstance(found, dict)


def judge_idle_update(session: Session, update: dict[str, Any], client: dict[str, Any]) -> Iterator[Verdict]:
    """Findings on an update that may come outside a turn. client: the client's capabilities."""
    kind = update["sessionUpdate"]
    gate = _GATED_UPDATES.get(kind)
    if gate is not None and not declares(client, gate):
        sentence = f"the client has not advertised {'.'.join(gate)}"
        yield violation("update_ungated", sentence, sessionId=session.id)
    elif kind == "config_option_update":
        yield from judge_options(update["configOptions"], client, session.id)
    elif kind == "compaction_update":
        if session.compactions.get(update["compactionId"], "in_progress") != "in_progress":
            yield inferred("compaction_order", "a compaction has ended once", sessionId=session.id)
    elif (
        kind == "compaction_summary_chunk"
        and session.compactions.get(update["compactionId"]) != "in_progress"
    ):
        sentence = "a summary chunk belongs to a compaction in progress"
        yield inferred("compaction_order", sentence, sessionId=session.id)


def apply_idle_update(session: Session, update: dict[str, Any]) -> None:
    """Remember what later messages are judged by."""
    if update["sessionUpdate"] == "compaction_update":
        session.compactions[update["compactionId"]] = update["status"]


def judge_options(options: Any, client: dict[str, Any], session_id: str) -> Iterator[Verdict]:
    """R-113: boolean config options are for clients that know them."""
    kinds = {option.get("type") for option in options or ()}
    if "boolean" in kinds and not declares(client, _BOOLEAN_OPTIONS):
        sentence = "the client has not advertised session.configOptions.boolean"
        yield violation("update_ungated", sentence, sessionId=session_id)


def judge_terminal_use(session: Session, params: dict[str, Any]) -> Iterator[Verdict]:
    """Findings on `terminal/output`, `/wait_for_exit`, `/kill`, `/release`."""
    if not session.terminals.get(params["terminalId"], False):
        sentence = "no such terminal in this session, or it was released"
        yield violation("terminal_unknown", sentence, terminalId=params["terminalId"])


def judge_elicitation(
    params: dict[str, Any], client: dict[str, Any], open_elicitations: set[str]
) -> Iterator[Verdict]:
    """Findings on `elicitation/create`: its mode, its scope, its id."""
    mode = params["mode"]
    if mode in {"form", "url"} and not declares(client, ("elicitation", mode)):
        yield violation("mode_not_supported", f"the client has not advertised elicitation.{mode}")
    if ("sessionId" in params) == ("requestId" in params):
        yield violation("params_invalid", "an elicitation has exactly one of sessionId and requestId")
    if params.get("elicitationId") in open_elicitations:
        yield violation("elicitation_duplicate", "an elicitation of that id is open")
