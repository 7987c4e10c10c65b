"""Looks at the display record: what is shown nowhere is not judged, what gets lost is."""

from __future__ import annotations

from typing import Any

import pytest

from acp_agent.harness.aftermath import Aftermath
from acp_agent.harness.display import Display
from acp_agent.harness.scenarios import shown

RULE = "R-308"
WANTED, CONTROL = {"title": "wanted"}, {"title": "control"}


def look_back(*records: dict[str, Any], ended: bool = True) -> Aftermath:
    notes = {"said": [{"bytes": 0, "sha256": "", "ended": ended}]}
    display = Display(records) if records else None
    return Aftermath((RULE,), notes=notes, exit_code=0, hung=False, display=display, lives=1)


def info(**members: Any) -> dict[str, Any]:
    return {
        "kind": "session_info_update",
        "turn": 1,
        "update": {"sessionUpdate": "session_info_update", **members},
    }


@pytest.mark.parametrize(
    ("records", "found"),
    [
        ([], None),
        ([info(title="other")], None),
        ([info(title="control")], False),
        ([info(title="control"), info(title="wanted", updatedAt="now")], True),
        ([{"kind": "session_info_update"}, {"kind": "session_info_update", "update": 7}], None),
    ],
)
def test_an_update_is_missed_only_if_another_of_its_kind_is_shown(
    records: list[dict[str, Any]], found: bool | None
) -> None:
    """No record, or none of the kind: a reason instead of a verdict."""
    after = look_back(*records)
    shown.check_shown_like(after, RULE, "session_info_update", WANTED, CONTROL)
    assert [check.ok for check in after.checks] == ([] if found is None else [found])
    assert (RULE in after.reasons) is (found is None)


def test_nothing_is_judged_of_a_turn_that_did_not_end() -> None:
    """A client that has died shows nothing more, which is no second fault."""
    after = look_back(info(title="control"), ended=False)
    shown.check_shown_like(after, RULE, "session_info_update", WANTED, CONTROL)
    shown.check_text_before_end(after, RULE)
    assert shown.last_call_state(after, RULE, "x") is None
    assert after.checks == []
    assert after.reasons[RULE] == "turn 1 did not come to its end"


@pytest.mark.parametrize(
    ("kinds", "ok"),
    [
        ([("message", 1), ("end", 1)], True),
        ([("message", 1), ("end", 1), ("user", 2), ("message", 2)], True),
        ([("end", 1), ("message", 1)], False),
        ([("end", 1), ("message", None)], False),
        ([("message", 1)], None),
    ],
)
def test_text_belongs_before_the_end_of_its_turn(
    kinds: list[tuple[str, int | None]], ok: bool | None
) -> None:
    """Also text that claims to belong to no turn."""
    after = look_back(*({"kind": kind, "turn": turn, "text": "x"} for kind, turn in kinds))
    shown.check_text_before_end(after, RULE)
    assert [check.ok for check in after.checks] == ([] if ok is None else [ok])


def test_the_state_of_a_call_is_the_last_that_was_shown() -> None:
    """Of that call, and only where the record tells it."""
    calls = [
        ("a", {"status": "pending"}),
        ("b", {"status": "failed"}),
        ("a", {"status": "completed"}),
        ("a", None),
    ]
    records = [
        {
            "kind": "tool_call_update",
            "update": {"toolCallId": id_},
            **({} if call is None else {"call": call}),
        }
        for id_, call in calls
    ]
    after = look_back(*records)
    assert shown.last_call_state(after, RULE, "a") == {"status": "completed"}
    assert shown.last_call_state(after, RULE, "c") is None
    assert after.reasons[RULE] == "the display record does not tell how a tool call stands"


@pytest.mark.parametrize("blocks", [None, 7, [], [7], [{"content": 7}], [{"content": {"text": 7}}]])
def test_odd_content_has_no_text(blocks: Any) -> None:
    """A record holds what a client writes."""
    assert shown.text_of(blocks) == ""
