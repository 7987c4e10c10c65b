"""The user of the adapters does what a plan says, and writes a display record that the harness reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from user import DISPLAY, PLAN, Step, User

from acp_agent.harness.display import Display, read_display
from acp_agent.harness.plan import DISPLAY_VARIABLE, PLAN_VARIABLE

OPTIONS = [
    ("first", "allow_once"),
    ("second", "allow_once"),
    ("always", "allow_always"),
    ("no", "reject_once"),
]


def user_with(monkeypatch: pytest.MonkeyPatch, *steps: Step) -> User:
    monkeypatch.setenv(PLAN, json.dumps(steps))
    monkeypatch.delenv(DISPLAY, raising=False)
    return User()


def shown(monkeypatch: pytest.MonkeyPatch, path: Path, *kinds_and_texts: tuple[str, str]) -> Display:
    """What the harness reads of a turn in which these updates came."""
    monkeypatch.setenv(DISPLAY, str(path))
    user = User()
    user.session = "s"
    user.begin_turn("Hello.")
    for kind, text in kinds_and_texts:
        user.see_text(kind, text, "s")
    user.end_turn("end_turn")
    display = read_display(path)
    assert display is not None
    return display


def test_the_variables_are_those_of_the_harness() -> None:
    """An adapter cannot import them: it runs in the environment of its peer."""
    assert (PLAN, DISPLAY) == (PLAN_VARIABLE, DISPLAY_VARIABLE)


def test_without_a_plan_permissions_are_allowed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the kind; the order of the options says nothing."""
    user = user_with(monkeypatch)
    assert user.choose(user.take("permission"), OPTIONS[::-1]) == "second"


@pytest.mark.parametrize(
    ("choice", "chosen"), [("allow_always", "always"), ("second", "second"), ("reject_always", "no")]
)
def test_a_choice_is_by_kind_or_by_id_and_stays(
    monkeypatch: pytest.MonkeyPatch, choice: str, chosen: str
) -> None:
    """What is not on offer is refused."""
    user = user_with(monkeypatch, {"on": "permission", "choose": choice})
    assert user.choose(user.take("permission"), OPTIONS) == chosen
    assert user.choose(user.take("permission"), OPTIONS) == chosen


def test_nothing_can_be_chosen_where_nothing_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    user = user_with(monkeypatch)
    assert user.choose(None, []) is None


def test_steps_of_a_moment_are_taken_in_their_order_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of other moments stay."""
    ends = [{"on": "end", "do": "new"}, {"on": "end", "do": "wait"}]
    user = user_with(monkeypatch, ends[0], {"on": "ready", "do": "set_mode", "mode": "m"}, ends[1])
    assert [user.take("end"), user.take("end"), user.take("end")] == [*ends, None]
    assert user.take("ready") is not None


def test_a_stop_waits_for_its_number_of_updates_in_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Updates outside a turn do not count, and one stop is used once."""
    user = user_with(monkeypatch, {"after": "chunk:2", "do": "cancel"})
    user.count("agent_message_chunk")
    user.begin_turn("Hello.")
    user.count("agent_message_chunk")
    user.count("agent_thought_chunk")
    assert not user.stops_now()
    user.count("agent_message_chunk")
    assert user.stops_now()
    assert not user.stops_now()


def test_a_stop_by_the_clock_is_due_in_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    user = user_with(monkeypatch, {"after": "ms:0", "do": "cancel"})
    assert user.stop_times_s() == [0.0]
    assert not user.stops_now()
    user.begin_turn("Hello.")
    assert user.stops_now()


def test_the_record_has_the_turn_as_it_was_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Messages make the text of the turn, thoughts do not; no text is lost to an encoding."""
    display = shown(
        monkeypatch,
        tmp_path / "display.jsonl",
        ("agent_message_chunk", "Grüße "),
        ("agent_thought_chunk", "hm"),
        ("agent_message_chunk", "\U0001f600"),
    )
    assert display.turn_text(1) == "Grüße \U0001f600"
    assert display.text("thought", 1) == "hm"
    assert display.stop_reason(1) == "end_turn"
    assert display.of("user", 1)[0]["text"] == "Hello."


def test_a_turn_that_ended_early_or_failed_shows_in_the_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """3 and 1, and the first of them stays."""
    user = user_with(monkeypatch)
    user.begin_turn("Hello.")
    user.end_turn("refusal")
    assert user.exit_code == 3
    user.begin_turn("Again.")
    user.fail_turn("the agent has ended")
    assert user.exit_code == 3
    failed = user_with(monkeypatch)
    failed.fail_turn("the agent has ended")
    assert failed.exit_code == 1


def test_what_comes_while_a_session_is_opened_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its id is not known yet; another session's updates are not shown in the one that is open."""
    user = user_with(monkeypatch)
    user.opening = True
    assert user.watches("new")
    user.opening, user.session = False, "new"
    assert user.watches("new")
    assert not user.watches("other")
