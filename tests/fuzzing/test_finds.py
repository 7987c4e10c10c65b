"""One find for each rule and shape, the shortest and surest; what several workers know is put together."""

from __future__ import annotations

from acp_agent.fuzzing.finds import Find, Results, merged
from acp_agent.fuzzing.invariants import Finding
from acp_agent.fuzzing.program import Level

LATE = Finding("R-135", "update_late:agent_message_chunk", "too late", 9)


def find(messages: int, *, example: int = 5, confirmed: bool = True, finding: Finding = LATE) -> Find:
    return Find(finding, (), messages, example, confirmed)


def results(*finds: Find) -> Results:
    known = Results(Level.VALID, 1)
    for one in finds:
        known.note(one)
    return known


def test_the_shorter_exchange_is_kept_with_the_number_of_the_first_example() -> None:
    """In whichever order they come."""
    for order in ((find(20, example=3), find(9, example=7)), (find(9, example=7), find(20, example=3))):
        [kept] = results(*order).finds.values()
        assert (kept.messages, kept.example) == (9, 3)


def test_one_that_stands_alone_is_better_than_a_shorter_one_that_does_not() -> None:
    """Whoever plays it again has only this exchange."""
    [kept] = results(find(20), find(9, confirmed=False)).finds.values()
    assert kept.confirmed


def test_other_shapes_of_a_rule_are_other_finds_and_musts_come_first() -> None:
    """R-135 is advice, R-016 is not."""
    other = find(9, finding=LATE._replace(shape="update_late:plan"))
    must = find(9, finding=Finding("R-016", "response_duplicate", "twice", 9))
    assert [one.rule.id for one in results(find(9), other, must).sorted_finds()] == [
        "R-016",
        "R-135",
        "R-135",
    ]


def test_workers_are_added_up() -> None:
    """Numbers are summed, sets joined, finds compared."""
    first, second = results(find(20)), results(find(9))
    first.examples, second.examples = 10, 5
    first.rules, second.rules = {"R-016"}, {"R-016", "R-019"}
    both = merged([first, second])
    assert both.examples == 15
    assert both.rules == {"R-016", "R-019"}
    assert [one.messages for one in both.finds.values()] == [9]


def test_a_name_fits_a_file_system() -> None:
    """Letters, digits and hyphens, and the rule first."""
    finding = Finding("R-019", "params_invalid:session/update:/update/content/*/type", "x", 1)
    assert find(1, finding=finding).name == "R-019-params-invalid-session-update-update-content-type"
