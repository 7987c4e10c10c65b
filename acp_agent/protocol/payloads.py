"""Params and results against their definitions: as leniently as ACP tells a reader to be, and strictly to be sent.

Deliberately absent: what a message is (jsonrpc/messages.py), and whether it is legal now (admission.py).
"""

from __future__ import annotations

from typing import Any, Final

from acp_agent.protocol import schema
from acp_agent.protocol.errors import LocalProtocolError
from acp_agent.protocol.verdicts import Verdict, violation, warning

# So many members of one message are named that were read as their defaults; a list may hold a million.
_MOST_NOTES: Final = 20


def read(
    definition: str, value: Any, method: str, *, strict: bool, reason: str = "params_invalid"
) -> tuple[Any, Verdict | None, list[Verdict]]:
    """Check params or a result against its definition.

    strict: report unknown members too. reason: the slug of what is wrong.
    Returns the value as it reads, what makes it unusable if anything does, and remarks on it otherwise.
    """
    if schema.is_valid(definition, value):
        return value, None, unknown_members(definition, value, method) if strict else []
    from acp_agent.protocol import leniency, validation  # only for what the schema refuses

    repaired, pointers = leniency.read(definition, value)
    problem = validation.check(definition, repaired)
    if problem is not None:
        sentence = f"expected {problem.expected} at {problem.path or 'the top level'}"
        expected = problem.expected
        return value, violation(reason, sentence, method=method, path=problem.path, expected=expected), []
    notes = [
        warning(reason, "an invalid member is read as its default", method=method, path=pointer)
        for pointer in pointers[:_MOST_NOTES]
    ]
    if len(pointers) > _MOST_NOTES:
        more = f"{len(pointers) - _MOST_NOTES} more members are read as their defaults"
        notes.append(warning(reason, more, method=method))
    return repaired, None, notes + (unknown_members(definition, repaired, method) if strict else [])


def unknown_members(definition: str, value: Any, method: str) -> list[Verdict]:
    """Findings on members that specified types do not have; legal in ACP, and reported in strict mode only."""
    from acp_agent.protocol import validation  # strict mode only

    return [
        violation("unknown_member", "a specified type has no such member", method=method, path=pointer)
        for pointer in validation.unknown_members(definition, value)
    ]


def refuse_invalid(definition: str, value: Any, method: str, *, strict: bool) -> None:
    """Raise LocalProtocolError for a payload of ours that is not exactly as its definition says.

    strict: nor may it have unknown members.
    """
    if schema.is_valid(definition, value):
        unknown = unknown_members(definition, value, method) if strict else []
        if unknown:
            raise LocalProtocolError(unknown[0])
        return
    from acp_agent.protocol import validation  # only for what the schema refuses

    problem = validation.check(definition, value)
    where = f" expected {problem.expected} at {problem.path or 'the top level'}" if problem else ""
    raise LocalProtocolError(violation("params_invalid", f"{method} has an invalid payload:{where}"))
