"""A person's session is on disk: what is planned, what was found, over many processes of the agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_agent.harness.book import PENDING_S, Book
from acp_agent.harness.catalogue import select
from acp_agent.harness.part import Part
from acp_agent.harness.verdict import Check, Verdict

IDS = ["handshake/first-turn", "permission/reject", "process/new-after-death"]


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def open_book(directory: Path, clock: Clock) -> Book:
    return Book(directory, select(IDS), clock)


def play(book: Book, id_: str) -> None:
    file = book.begin(book.scenarios[id_])
    file.save(Part(id_, file.life, begun=True, over=True, checks=[Check("R-175", True, "a", "b")]))


def test_what_waits_is_found_by_the_next_process_and_taken_off_when_it_was_played(tmp_path: Path) -> None:
    """One scenario a start."""
    clock = Clock()
    book = open_book(tmp_path, clock)
    assert book.due() is None
    book.wait_for_start(list(book.scenarios.values())[:2])
    book = open_book(tmp_path, clock)
    scenario = book.due()
    assert scenario is not None
    assert scenario.id == IDS[0]
    book.has_been_played(scenario)
    assert book.due() is scenario, "nothing was played: the editor has only looked at the agent"
    play(book, scenario.id)
    book.has_been_played(scenario)
    after = open_book(tmp_path, clock).due()
    assert after is not None
    assert after.id == IDS[1]


def test_a_scenario_of_two_lives_waits_for_two_starts(tmp_path: Path) -> None:
    """The second process finds the part of the first."""
    book = open_book(tmp_path, Clock())
    scenario = book.scenarios["process/new-after-death"]
    assert scenario.lives == 2
    book.wait_for_start([scenario])
    play(book, scenario.id)
    book.has_been_played(scenario)
    assert book.due() is scenario


def test_a_choice_of_yesterday_surprises_nobody(tmp_path: Path) -> None:
    """Whoever starts the agent long after gets the menu."""
    clock = Clock()
    book = open_book(tmp_path, clock)
    book.wait_for_start([book.scenarios[IDS[0]]])
    clock.now += PENDING_S + 1
    assert open_book(tmp_path, clock).due() is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"waiting":3}',
        b'{"other":[]}',
        b'{"waiting":["no/such"],"at":"x"}',
        b"\xff",
    ],
)
def test_a_damaged_file_is_an_empty_one(content: bytes, tmp_path: Path) -> None:
    """Nothing is lost but a choice."""
    (tmp_path / "session.json").write_bytes(content)
    book = open_book(tmp_path, Clock())
    assert (book.due(), book.plans.untold) == (None, [])


def test_a_run_is_what_was_played_by_now(tmp_path: Path) -> None:
    """The last play of a scenario counts; others of the same directory stay."""
    book = open_book(tmp_path, Clock())
    assert book.run().results == ()
    play(book, "permission/reject")
    file = book.begin(book.scenarios["permission/reject"])
    file.save(Part("permission/reject", 1, begun=True, checks=[Check("R-175", False, "a", "b")]))
    run, page = open_book(tmp_path, Clock()).write_report()
    assert [(result.scenario.id, result.verdict) for result in run.results] == [
        ("permission/reject", Verdict.FAIL)
    ]
    assert page.is_file()


def test_a_directory_that_cannot_be_written_is_said_at_once(tmp_path: Path) -> None:
    """Before the person has done anything in vain."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(OSError, match="file"):
        open_book(tmp_path / "file" / "report", Clock())
