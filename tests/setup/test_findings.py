"""One finding is one line, and the exit code says whether something is to do."""

from __future__ import annotations

import pytest

from acp_agent.setup.findings import Finding, State, exit_code


def test_a_line_begins_with_its_state() -> None:
    """In columns, for eyes and for grep."""
    assert str(Finding(State.OK, "model", "m")) == "ok       model          m"
    assert str(Finding(State.TO_DO, "model server", "x")) == "to do    model server   x"
    assert str(Finding(State.SKIPPED, "tool call", "x")) == "skipped  tool call      x"


def test_whatever_is_in_it_it_stays_one_line() -> None:
    """A server's words are untrusted."""
    assert (
        str(Finding(State.OK, "model", "a\n\tb \x1b[2J\u202e"))
        == "ok       model          a b \ufffd[2J\ufffd"
    )


@pytest.mark.parametrize(
    ("states", "code"),
    [([], 0), ([State.OK, State.SKIPPED], 0), ([State.OK, State.TO_DO], 1)],
)
def test_only_something_to_do_is_a_failure(states: list[State], code: int) -> None:
    """Skipped is not."""
    assert exit_code(Finding(state, "x", "y") for state in states) == code
