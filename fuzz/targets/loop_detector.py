"""A call is warned of or stopped exactly when the newest calls are so many copies of a cycle of one to three.

Documented: ValueError for limits that mean nothing. Equal JSON values are equal arguments, whatever their spelling; a
number beyond 64 bits is the float next to it; what is no JSON, half a character included, is compared as text.
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st
from strategies.json_values import ODD_VALUES, SPELLINGS, spelled
from strategies.text import ANY

from acp_agent.agent.loop_detector import LONGEST_CYCLE, LoopAction, LoopDetector

_ARGUMENTS = st.one_of(
    st.sampled_from(
        [
            *(
                "",
                " ",
                "{}",
                "{ }",
                "null",
                '{"a":1}',
                '{ "a" : 1.0 }',
                '{"a":true}',
                '{"a":10e-1}',
                '{"a":"1"}',
            ),
            *(
                '{"b":2,"a":1}',
                '{"a":1,"b":2}',
                '{"a":2,"a":1}',
                '"\\u00e9"',
                '"é"',
                '"\\ud83d"',
                '"\\uD83D"',
            ),
            *("[1", " [1 ", "NaN", "1e999", "-0.0", "0", "18446744073709551616", "18446744073709551617"),
            *("9007199254740993", "9007199254740992.0", "9007199254740992", "[" * 250 + "]" * 250),
        ]
    ),
    st.builds(lambda value, how: spelled(value, how).decode(), ODD_VALUES, SPELLINGS),
    ANY,
)


# The same arguments in several spellings.
_ALIKE = [
    ['{"a":1}', '{ "a" : 1.0 }', '{"a":10e-1}', '{"\\u0061":1}', '{"a":2,"a":1}'],
    ["", " ", "{}", "{ }"],
    ['{"b":2,"a":[1]}', '{"a":[1.0],"b":2}'],
    ["[1", " [1 "],
    ["18446744073709551616", "18446744073709551617"],
]


@st.composite
def rounds(draw: st.DrawFn) -> list[list[str]]:
    """Calls that go round in circles for a while, with another one between now and then."""
    spellings = st.sampled_from(_ALIKE) | _ARGUMENTS.map(lambda text: [text])
    pool = draw(
        st.lists(st.tuples(st.sampled_from(["bash", "edit_file"]), spellings), min_size=1, max_size=4)
    )
    calls: list[list[str]] = []
    for _ in range(draw(st.integers(1, 3))):
        cycle = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=4))
        for name, texts in cycle * draw(st.integers(1, 7)):
            calls.append([name, draw(st.sampled_from(texts))])
    return calls[:40]


_LIMITS = st.just(0) | st.integers(2, 6)
cases = st.fixed_dictionaries({"warn_at": _LIMITS, "stop_at": _LIMITS, "calls": rounds()})


def check(case: Any) -> None:
    """Count by hand at every call."""
    warn_at, stop_at = case["warn_at"], case["stop_at"]
    detector = LoopDetector(warn_at, stop_at)
    seen: list[tuple[str, str]] = []
    for name, arguments in case["calls"]:
        seen.append((name, plain(arguments)))
        times, cycle = repetitions(seen)
        verdict = detector.observe(name, arguments)
        if stop_at and times >= stop_at:
            assert verdict.action is LoopAction.STOP
            assert "\n" not in verdict.text
        elif warn_at and times >= warn_at:
            assert verdict.action is LoopAction.WARN
            assert verdict.text.endswith("]\n")
        else:
            assert verdict == (LoopAction.OK, "")
            continue
        assert f"{name} called {times} times" in verdict.text
        assert (f"cycle of {cycle} calls" in verdict.text) == (cycle > 1)


def repetitions(calls: list[tuple[str, str]]) -> tuple[int, int]:
    """How often the cycle that is repeated most, the shortest of them, stands at the end, and its length."""
    best = (1, 1)
    for length in range(1, LONGEST_CYCLE + 1):
        times = 1
        while calls[-length:] * (times + 1) == calls[-length * (times + 1) :]:
            times += 1
        if times > best[0]:
            best = times, length
    return best


def plain(arguments: str) -> str:
    """One spelling for equal arguments."""
    text = arguments.strip() or "{}"
    try:
        value = json.loads(text, parse_constant=_refused, parse_int=_integer, parse_float=_float)
        found = json.dumps(_normal(value), sort_keys=True, ensure_ascii=False)
        found.encode()
    except (ValueError, RecursionError):
        return f"text {text}"
    return f"value {found}"


def _normal(value: Any, depth: int = 0) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, dict | list) and depth > 200:
        raise ValueError
    if isinstance(value, dict):
        return {key: _normal(one, depth + 1) for key, one in value.items()}
    return [_normal(one, depth + 1) for one in value] if isinstance(value, list) else value


def _integer(text: str) -> int | float:
    return int(text) if -(2**63) <= int(text) < 2**64 else float(text)


def _float(text: str) -> float:
    if abs(float(text)) == float("inf"):
        raise ValueError
    return float(text)


def _refused(text: str) -> float:
    raise ValueError(text)
