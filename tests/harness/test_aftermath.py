"""The look back: how a client ended, what it showed, and what is not known of either."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from acp_agent.harness.aftermath import NO_DISPLAY, Aftermath
from acp_agent.harness.display import Display
from acp_agent.harness.verdict import Origin

SHOWN, NOTICED = "R-308", "R-301"


def said(text: str, *, ended: bool = True) -> dict[str, Any]:
    """What a script notes of a turn."""
    data = text.encode()
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(), "ended": ended}


def look_back(
    *turns: dict[str, Any],
    records: tuple[dict[str, Any], ...] | None = (),
    exit_code: int | None = 0,
    hung: bool = False,
) -> Aftermath:
    display = None if records is None else Display(records)
    notes = {"said": list(turns)}
    return Aftermath((SHOWN, NOTICED), notes=notes, exit_code=exit_code, hung=hung, display=display, lives=1)


def end(turn: int, text: str) -> dict[str, Any]:
    return {"kind": "end", "turn": turn, "text": text}


@pytest.mark.parametrize(
    ("shown", "ok"), [("One, two. ü", True), ("One, two. ", False), ("", False), ("One, two. ü ", False)]
)
def test_a_turn_must_be_shown_to_the_byte(shown: str, ok: bool) -> None:
    """R-308: nothing is missing, nothing is added."""
    after = look_back(said("One, two. ü"), records=(end(1, shown),))
    after.check_shown_whole(SHOWN)
    assert [(check.rule, check.ok, check.origin) for check in after.checks] == [(SHOWN, ok, Origin.AFTERMATH)]


@pytest.mark.parametrize(
    ("shown", "ok"),
    [
        ("Second.", True),
        ("on, Second.", True),
        ("on, on, Second.", True),
        ("Second.on, ", False),
        ("on, ", False),
        ("on,Second.", False),
    ],
)
def test_text_that_crossed_the_prompt_may_stand_before_it(shown: str, ok: bool) -> None:
    """It was sent for the turn before; which turn it is shown in, order does not settle."""
    after = look_back(said("on, "), said("Second."), records=(end(2, shown),))
    after.check_shown_whole(SHOWN, turn=2, crossing="on, ")
    assert [check.ok for check in after.checks] == [ok]


def test_lone_surrogates_are_compared_and_not_choked_on() -> None:
    """A record may hold what no UTF-8 can."""
    after = look_back(said("x"), records=(end(1, "\ud800"),))
    after.check_shown_whole(SHOWN)
    assert [check.ok for check in after.checks] == [False]


@pytest.mark.parametrize(
    ("turns", "records", "reason"),
    [
        ((said("x"),), None, NO_DISPLAY),
        ((), (end(1, "x"),), "turn 1 did not come to its end"),
        ((said("x", ended=False),), (end(1, "y"),), "turn 1 did not come to its end"),
    ],
)
def test_without_a_record_or_an_end_nothing_is_said_of_it(
    turns: tuple[Any, ...], records: tuple[Any, ...] | None, reason: str
) -> None:
    """Not exercised, and why."""
    after = look_back(*turns, records=records)
    after.check_shown_whole(SHOWN)
    assert (after.checks, after.reasons) == ([], {SHOWN: reason})


@pytest.mark.parametrize(
    ("exit_code", "hung", "kinds", "ok"),
    [
        (1, False, (), True),
        (-9, False, (), True),
        (0, False, (), False),
        (0, False, ("error",), True),
        (0, False, ("end",), False),
        (None, True, ("error",), False),
    ],
)
def test_a_client_notices_by_its_exit_code_or_on_the_screen(
    exit_code: int | None, hung: bool, kinds: tuple[str, ...], ok: bool
) -> None:
    """R-301: no hang, no success."""
    after = look_back(records=tuple({"kind": kind} for kind in kinds), exit_code=exit_code, hung=hung)
    after.check_noticed(NOTICED, "the agent's death")
    assert [(check.rule, check.ok) for check in after.checks] == [(NOTICED, ok)]


def test_how_a_client_ended_that_nobody_watched_is_not_known() -> None:
    """An editor has no exit code for us."""
    after = look_back(exit_code=None)
    after.check_noticed(NOTICED, "the agent's death")
    assert (after.driven, after.how_it_ended, after.checks) == (False, "unknown", [])
    assert after.reasons == {NOTICED: "how the client ended is not known here"}


def test_a_rule_that_the_scenario_does_not_name_is_a_bug() -> None:
    """As in a script."""
    with pytest.raises(ValueError, match="R-001 is checked and not named"):
        look_back().check("R-001", True, "this", "that")
