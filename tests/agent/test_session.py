"""Sessions and their ids."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from acp_agent.agent.history import History
from acp_agent.agent.session import Session, home_directory, new_session_id
from acp_agent.agent.skills import Skills


def test_an_id_is_the_time_in_utc_and_eight_hex_digits() -> None:
    """`YYYYMMDD-HHMMSS-xxxxxxxx`."""
    moment = datetime(2026, 3, 4, 1, 2, 3, tzinfo=timezone(timedelta(hours=2)))
    assert re.fullmatch(r"20260303-230203-[0-9a-f]{8}", new_session_id(moment))
    assert re.fullmatch(r"\d{8}-\d{6}-[0-9a-f]{8}", new_session_id())


def test_ids_sort_by_time_and_differ() -> None:
    """Time-sortable, unique (R-059)."""
    start = datetime(2025, 12, 31, 23, 59, 50, tzinfo=UTC)
    ids = [new_session_id(start + timedelta(seconds=second)) for second in range(20)]
    assert ids == sorted(ids)
    assert len({new_session_id(start) for _ in range(100)}) == 100


def test_sessions_do_not_share_what_is_allowed() -> None:
    """An empty allow-always set for each."""
    one, two = (Session(id_, Path("/"), History("s"), Skills()) for id_ in ("a", "b"))
    one.allowed.add("bash")
    assert two.allowed == set()


def test_a_user_without_a_home_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container's user may be a number without a name, and $HOME unset: that is no reason to fail."""

    def unknown(uid: int) -> Any:
        raise KeyError(uid)

    monkeypatch.setenv("HOME", "/home/somebody")
    assert home_directory() == Path("/home/somebody")
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", unknown)
    assert not home_directory().exists()
    monkeypatch.setenv("HOME", "")
    assert home_directory().is_absolute()


def test_a_reloaded_session_knows_what_its_client_has_seen() -> None:
    """The ids of its calls; and the server's count, as long as the conversation is the one that was counted."""
    old, same, edited = (Session("a", Path("/"), History(prompt), Skills()) for prompt in ("s", "t", "s"))
    for session, text in ((old, "q"), (same, "q"), (edited, "Q")):
        session.history.begin_turn(text)
        session.history.add_answer("a")
        session.history.end_turn("")
    old.live_ids["call_1"] = "t1"
    old.replayed_ids.add("t0")
    old.input_tokens = 7
    same.follow(old)
    edited.follow(old)
    assert (same.live_ids, same.replayed_ids) == ({"call_1": "t1"}, {"t0"})
    assert (same.input_tokens, edited.input_tokens) == (7, None)


def test_an_id_of_a_live_call_is_for_that_call_alone() -> None:
    """Where the model happens to number as we do, its own id stays right until it gives it to another call."""
    session = Session("a", Path("/"), History("s"), Skills())
    session.live_ids |= {"call_1": "call_1", "call_2": "call_9", "call_3": "call_2"}
    assert session.ids_of_other_calls() == {"call_2", "call_3"}
    session.live_ids["call_4"] = "call_1"
    assert session.ids_of_other_calls() == {"call_1", "call_2", "call_3", "call_4"}
