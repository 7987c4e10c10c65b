"""What a session offers to be set: its modes and its config options, from its setup result and later updates.

Deliberately absent: the session itself (sessions.py), and which value is current, since nothing is judged by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from acp_agent.protocol.methods import declares
from acp_agent.protocol.sessions import Session
from acp_agent.protocol.verdicts import Verdict, suspect, violation

_BOOLEAN_OPTIONS: Final = ("session", "configOptions", "boolean")


def judge_options(options: Any, client: dict[str, Any], session_id: str) -> Iterator[Verdict]:
    """R-113: boolean config options are for clients that know them. client: the client's capabilities."""
    kinds = [option["type"] for option in options or ()]
    if "boolean" in kinds and not declares(client, _BOOLEAN_OPTIONS):
        sentence = "the client has not advertised session.configOptions.boolean"
        yield violation("update_ungated", sentence, sessionId=session_id)


def note_setup(session: Session, result: dict[str, Any]) -> None:
    """Remember what the result of `session/new`, `/load` or `/resume` offers."""
    modes = result.get("modes")
    session.modes = frozenset(mode["id"] for mode in modes["availableModes"]) if modes else None
    session.options = None
    note_options(session, result.get("configOptions") or ())


def note_options(session: Session, options: Iterable[dict[str, Any]]) -> None:
    """Take over a complete list of config options (R-124, R-125)."""
    offered = {option["id"]: _values(option) for option in options}
    if offered or session.options is not None:
        session.options = offered


def judge_set_mode(session: Session, params: dict[str, Any]) -> Iterator[Verdict]:
    """Findings on `session/set_mode`: R-106, R-108."""
    if session.modes is None:
        yield violation("capability_missing", "this session offers no modes", sessionId=session.id)
    elif params["modeId"] not in session.modes:
        sentence = "the session does not offer this mode"
        yield violation("params_invalid", sentence, sessionId=session.id, path="/modeId")


def judge_set_option(session: Session, params: dict[str, Any], *, certain: bool) -> Iterator[Verdict]:
    """Findings on `session/set_config_option`: R-123.

    certain: the list of options is the one its sender saw; for an observer a newer one may have crossed.
    """
    if session.options is None:
        yield violation("capability_missing", "this session offers no config options", sessionId=session.id)
        return
    make = violation if certain else suspect
    if params["configId"] not in session.options:
        sentence = "the session does not offer this option"
        yield make("params_invalid", sentence, sessionId=session.id, path="/configId")
        return
    values = session.options[params["configId"]]
    value = params["value"]
    as_boolean = isinstance(value, bool) or params.get("type") == "boolean"
    fits = isinstance(value, bool) if values is None else not as_boolean and value in values
    if not fits:
        sentence = "the option does not offer this value"
        yield make("params_invalid", sentence, sessionId=session.id, path="/value")


def _values(option: dict[str, Any]) -> frozenset[str] | None:
    if option["type"] == "boolean":
        return None
    flat: list[str] = []
    for item in option["options"]:
        flat += [inner["value"] for inner in item["options"]] if "group" in item else [item["value"]]
    return frozenset(flat)
