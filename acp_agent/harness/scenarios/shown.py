"""Looks at the display record that several areas share: which updates a user saw, and what stood on the screen then.

A client need not show everything: what it shows nowhere is not held against it, only what it shows at one time and
loses at another. Deliberately absent: the text of a turn, which the aftermath judges by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from acp_agent.harness.aftermath import Aftermath
from acp_agent.harness.display import Display

_CALL_KINDS = ("tool_call", "tool_call_update")


def updates_shown(display: Display, kind: str) -> list[dict[str, Any]]:
    """The updates of a kind in the order they were shown, as they came from the agent."""
    return [record["update"] for record in display.of(kind) if isinstance(record.get("update"), dict)]


def display_of(after: Aftermath, rule: str, turn: int = 1) -> Display | None:
    """The record, if there is one and the turn has ended; without either the reason is put down.

    Of a client that left in the middle nobody can tell what it would have shown.
    """
    said = after.notes.get("said") or []
    if len(said) < turn or not said[turn - 1]["ended"]:
        after.not_exercised(rule, f"turn {turn} did not come to its end")
        return None
    return after.display(rule)


def check_shown_like(
    after: Aftermath, rule: str, kind: str, wanted: dict[str, Any], control: dict[str, Any]
) -> None:
    """An update must have been shown, provided that another of its kind was: the control, sent in a quiet moment."""
    display = display_of(after, rule)
    if display is None:
        return
    shown = updates_shown(display, kind)
    if not any(_holds(update, control) for update in shown):
        after.not_exercised(rule, f"the display record has nothing of {kind}")
        return
    found = any(_holds(update, wanted) for update in shown)
    after.check(
        rule, found, f"{kind} {_in_words(wanted)} is shown", "it is" if found else f"{len(shown)} others"
    )


def check_text_before_end(after: Aftermath, rule: str, turn: int = 1) -> None:
    """All text of a turn must stand in the record before the turn's end."""
    display = display_of(after, rule, turn)
    if display is None:
        return
    kinds = [(record["kind"], record.get("turn")) for record in display.records]
    if ("end", turn) not in kinds:
        after.not_exercised(rule, f"the display record has no end of turn {turn}")
        return
    end = kinds.index(("end", turn))
    late = sum(kind == "message" and of in {turn, None} for kind, of in kinds[end:])
    after.check(rule, not late, "no text of a turn after its end", f"{late} pieces after it")


def call_states(display: Display, call_id: str) -> Iterator[dict[str, Any]]:
    """How a tool call stood on the screen, each time that something of it was shown."""
    for record in display.records:
        update, call = record.get("update"), record.get("call")
        of_call = isinstance(update, dict) and update.get("toolCallId") == call_id
        if record["kind"] in _CALL_KINDS and of_call and isinstance(call, dict):
            yield call


def last_call_state(after: Aftermath, rule: str, call_id: str) -> dict[str, Any] | None:
    """How a tool call stood on the screen in the end; None, with the reason put down, if the record does not tell."""
    display = display_of(after, rule)
    if display is None:
        return None
    states = list(call_states(display, call_id))
    if not states:
        after.not_exercised(rule, "the display record does not tell how a tool call stands")
    return states[-1] if states else None


def text_of(blocks: Any) -> str:
    """The text in the content of a tool call."""
    parts = []
    for block in blocks if isinstance(blocks, list) else ():
        content = block.get("content") if isinstance(block, dict) else None
        text = content.get("text") if isinstance(content, dict) else None
        parts.append(text if isinstance(text, str) else "")
    return "".join(parts)


def _holds(update: dict[str, Any], wanted: dict[str, Any]) -> bool:
    return all(update.get(name) == value for name, value in wanted.items())


def _in_words(wanted: dict[str, Any]) -> str:
    return ", ".join(f"with {name} {str(value)[:80]}" for name, value in wanted.items())
