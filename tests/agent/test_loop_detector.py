"""The loop detector: what counts as the same call, when a repetition is warned of, and when it ends the turn."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_agent.agent.loop_detector import LONGEST_CYCLE, LoopAction, LoopDetector, LoopVerdict

OK, WARN, STOP = LoopAction.OK, LoopAction.WARN, LoopAction.STOP


def actions(calls: str, **limits: int) -> list[LoopAction]:
    """Judge a turn in which each letter is a call of `bash` with arguments of its own."""
    detector = LoopDetector(**limits)
    return [detector.observe("bash", json.dumps({"command": letter})).action for letter in calls]


def test_the_third_identical_call_is_warned_of_and_the_fifth_ends_the_turn() -> None:
    """The limits as delivered: from the third in a row a warning, at the fifth a failure."""
    assert actions("AAAAA") == [OK, OK, WARN, WARN, STOP]


def test_the_end_says_which_tool_and_how_often() -> None:
    """The sentence is exact, so that a person can search for it."""
    detector = LoopDetector()
    verdicts = [detector.observe("read_file", '{"path": "a"}') for _ in range(5)]
    assert verdicts[4] == LoopVerdict(STOP, "loop detected: read_file called 5 times with the same arguments")
    assert verdicts[2].text == (
        "[warning: read_file called 3 times with the same arguments. Calling it again will not help: "
        "try something else, or say what is in the way. At 5 times the turn ends.]\n"
    )
    assert verdicts[0] == LoopVerdict(OK, "")


def test_another_call_in_between_begins_anew() -> None:
    """Only identical calls in a row count."""
    assert actions("AABAABCAAD") == [OK] * 10


@pytest.mark.parametrize(
    ("calls", "first_warning", "stop"),
    [("ABABABABAB", 6, 10), ("ABCABCABCABCABC", 9, 15), ("XYABABABABAB", 8, 12), ("AABAABAABAABAAB", 9, 15)],
)
def test_short_cycles_count_when_they_are_complete(calls: str, first_warning: int, stop: int) -> None:
    """Three copies of a cycle of two or three calls are warned of, the last call of the fifth copy ends the turn."""
    verdicts = actions(calls)
    assert verdicts.index(WARN) + 1 == first_warning
    assert set(verdicts[first_warning - 1 : stop - 1]) == {WARN}
    assert verdicts.index(STOP) + 1 == stop


def test_a_cycle_is_named_as_one() -> None:
    """The tool at which it was noticed was called that often, but not in a row."""
    detector = LoopDetector()
    for _ in range(4):
        detector.observe("bash", "{}")
        detector.observe("read_file", "{}")
    detector.observe("bash", "{}")
    assert detector.observe("read_file", "{}").text == (
        "loop detected: read_file called 5 times with the same arguments, in a cycle of 2 calls"
    )


def test_a_longer_cycle_is_work() -> None:
    """Edit, test, read, edit again is how work looks; nothing longer than three calls is judged."""
    assert set(actions("ABCD" * 10)) == {OK}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a": 1, "b": [1, 2]}', '{"b":[1,2],"a":1}'),
        ('{"a": {"x": 1, "y": 2}}', ' {"a":{"y":2,"x":1}}\n'),
        ('{"a": 3.0}', '{"a": 3}'),
        ('{"a": 1e2}', '{"a": 100}'),
        ('{"a": "\\u00e9\\/"}', '{"a": "é/"}'),
        ("", "{}"),
        (" {broken", "{broken "),
    ],
)
def test_spelling_makes_no_difference(one: str, other: str) -> None:
    """Key order, spacing, escapes and the form of a number are not the value; text that is no JSON is itself."""
    detector = LoopDetector()
    verdicts = [detector.observe("t", text).action for text in (one, other, one, other, one)]
    assert verdicts == [OK, OK, WARN, WARN, STOP]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a": 1}', '{"a": true}'),
        ('{"a": 0}', '{"a": false}'),
        ('{"a": "1"}', '{"a": 1}'),
        ('{"a": [1, 2]}', '{"a": [2, 1]}'),
        ('{"a": null}', "{}"),
        ('{"a": 1.5}', '{"a": 1}'),
        ('{"a": 9007199254740993}', '{"a": 9007199254740992}'),
        ("{broken", "{}"),
    ],
)
def test_other_values_are_other_calls(one: str, other: str) -> None:
    """Nothing is compared more loosely than JSON does."""
    detector = LoopDetector(warn_at=2, stop_at=0)
    assert [detector.observe("t", text).action for text in (one, other, other)] == [OK, OK, WARN]


def test_another_tool_is_another_call() -> None:
    """The name counts as much as the arguments."""
    detector = LoopDetector(warn_at=2)
    assert [detector.observe(name, "{}").action for name in ("a", "b", "b")] == [OK, OK, WARN]


def test_limits_are_chosen_and_0_is_off() -> None:
    """Somebody whose model polls may raise or switch off either limit."""
    assert actions("AAAAAAA", warn_at=0) == [OK] * 4 + [STOP] * 3
    assert actions("AAAAAAA", stop_at=0) == [OK] * 2 + [WARN] * 5
    assert actions("AAAAAAA", warn_at=0, stop_at=0) == [OK] * 7
    assert actions("AAA", warn_at=3, stop_at=2) == [OK, STOP, STOP]
    detector = LoopDetector(warn_at=2, stop_at=0)
    detector.observe("t", "")
    assert detector.observe("t", "").text.endswith("what is in the way.]\n")


def test_a_limit_of_one_means_any_call() -> None:
    """Of no use, but what it says."""
    assert LoopDetector(warn_at=1, stop_at=0).observe("bash", "{}").action is LoopAction.WARN
    assert LoopDetector(warn_at=0, stop_at=1).observe("bash", "{}").action is LoopAction.STOP


def copies_at_the_end(calls: list[Any]) -> int:
    """The definition, written down naively: the most copies of a cycle that the newest calls consist of."""
    best = 1
    for length in range(1, LONGEST_CYCLE + 1):
        cycle = calls[-length:]
        copies = 1
        while calls[: -length * copies][-length:] == cycle and len(calls) >= length * (copies + 1):
            copies += 1
        best = max(best, copies)
    return best


@given(
    st.lists(st.sampled_from("ABC"), max_size=12).map(lambda head: head * 3)
    | st.lists(st.sampled_from("ABC")),
    st.sampled_from([0, 2, 3, 4]),
    st.sampled_from([0, 2, 3, 5]),
)
def test_every_turn_is_judged_as_the_definition_says(calls: list[str], warn_at: int, stop_at: int) -> None:
    """The detector keeps three calls and three counters; the definition looks at all of them."""
    expected = []
    for end in range(1, len(calls) + 1):
        copies = copies_at_the_end(calls[:end])
        if stop_at and copies >= stop_at:
            expected.append(STOP)
        else:
            expected.append(WARN if warn_at and copies >= warn_at else OK)
    assert actions("".join(calls), warn_at=warn_at, stop_at=stop_at) == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def shuffled(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: shuffled(value[key]) for key in reversed(value)}
    return [shuffled(one) for one in value] if isinstance(value, list) else value


@given(JSON)
def test_any_value_equals_itself_in_another_spelling(value: Any) -> None:
    """Order and spacing never matter, however deep."""
    detector = LoopDetector(warn_at=2)
    detector.observe("t", json.dumps(value))
    spelled = json.dumps(shuffled(value), indent=1, ensure_ascii=False)
    assert detector.observe("t", spelled).action is WARN


@given(st.text(st.characters(exclude_categories=())) | st.just("[" * 5_000) | st.just("[" * 250 + "]" * 250))
def test_whatever_a_model_sends_is_judged(arguments: str) -> None:
    """Broken, deep or half a surrogate pair: never an exception, and always equal to itself."""
    detector = LoopDetector(warn_at=2)
    assert detector.observe("t", arguments).action is OK
    assert detector.observe("t", arguments).action is WARN
