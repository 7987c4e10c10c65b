"""A model that goes round in circles is warned, then stopped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from kept_sessions import log_lines, model_config, next_call, said, talk, work
from model_server import ModelServer
from raw_client import Agent, Message

Wish = tuple[str, object]
A: Wish = ("read_file", {"path": "a.txt"})
B: Wish = ("read_file", {"path": "b.txt"})
C: Wish = ("bash", {"command": "cat a.txt"})


@pytest.fixture
def session(bob: Agent, model: ModelServer, tmp_path: Path) -> str:
    """A session in which nobody is asked any more."""
    return permitted(bob, model, tmp_path)


def permitted(bob: Agent, model: ModelServer, cwd: Path) -> str:
    for name in "ab":
        (cwd / f"{name}.txt").write_text(f"{name}\n")
    session = bob.new_session(cwd)
    for number, (name, arguments) in enumerate((A, C)):
        work(bob, model, session, name, arguments, f"p{number}", permit="allow_always")
    return session


def turn(
    bob: Agent, model: ModelServer, session: str, wishes: list[Wish], *, stopped: bool
) -> tuple[list[str], Message]:
    """A turn of one call after the other: what the model was told of each, and the answer of the prompt.

    stopped: the last one is not to run; else the model says that it is done."""
    prompt = bob.prompt(session, "go")
    call = next_call(model)
    told = []
    for number, (name, arguments) in enumerate(wishes):
        call.tool(name, arguments, f"t{number}").finish("tool_calls")
        if stopped and number == len(wishes) - 1:
            return told, bob.answer(prompt)
        call = next_call(model)
        told.append(call.messages[-1]["content"])
    call.text("done").finish()
    return told, bob.answer(prompt)


def is_warned(text: str, times: int) -> bool:
    return text.startswith("[warning: ") and f"called {times} times with the same arguments" in text


def test_the_third_is_warned_and_the_fifth_ends_the_turn(
    bob: Agent, model: ModelServer, session: str
) -> None:
    """The model gets the result behind the warning, the user the result alone; the failure is word for word; the
    fifth call does not run and the next request is valid."""
    since = len(bob.messages)
    told, answer = turn(bob, model, session, [A] * 5, stopped=True)
    result = told[0]
    assert told[1] == result
    assert is_warned(told[2], 3)
    assert is_warned(told[3], 4)
    assert all(text.endswith(f"\n{result}") for text in told[2:])
    message = "error: loop detected: read_file called 5 times with the same arguments"
    assert answer["error"]["code"] == -32603
    assert answer["error"]["message"] == message
    outputs = [one["rawOutput"]["output"] for one in bob.updates(session, since) if "rawOutput" in one]
    assert outputs == [result] * 4
    assert message in log_lines(bob, session)
    after = talk(bob, model, session, "on")
    assert [one["role"] for one in after.messages].count("tool") == 2 + 5


def test_the_spelling_of_arguments_does_not_matter(bob: Agent, model: ModelServer, session: str) -> None:
    """Equal values are the same arguments, in whatever order and with whatever white space."""
    spellings: list[Wish] = [
        ("bash", '{"command": "true", "timeout": 5}'),
        ("bash", '{"timeout":5,"command":"true"}'),
        ("bash", '{ "timeout" : 5.0, "command" : "tr\\u0075e" }'),
    ]
    told, answer = turn(bob, model, session, spellings, stopped=False)
    assert [text.startswith("[warning: ") for text in told] == [False, False, True]
    assert answer["result"] == {"stopReason": "end_turn"}


@pytest.mark.parametrize(
    "wishes",
    [
        [A, A, B, A, A],
        [("bash", {"command": f"echo {number}"}) for number in range(8)],
        [A, ("bash", {"path": "a.txt"}), A, B],
    ],
    ids=["with another between", "other arguments", "another tool"],
)
def test_what_only_looks_alike_is_no_loop(
    bob: Agent, model: ModelServer, session: str, wishes: list[Wish]
) -> None:
    """Name and arguments both count, and only calls in a row."""
    told, answer = turn(bob, model, session, wishes, stopped=False)
    assert not any(text.startswith("[warning: ") for text in told)
    assert answer["result"] == {"stopReason": "end_turn"}


@pytest.mark.parametrize("cycle", [[A, B], [A, C], [A, B, C]], ids=["A B", "A C", "A B C"])
def test_short_cycles_count_too(bob: Agent, model: ModelServer, session: str, cycle: list[Wish]) -> None:
    """A B A B A B: from the third time on a warning, at the fifth the end, which names the tool."""
    told, answer = turn(bob, model, session, cycle * 5, stopped=True)
    first_warned = 3 * len(cycle) - 1
    assert not any(text.startswith("[warning: ") for text in told[:first_warned])
    assert all(text.startswith("[warning: ") for text in told[first_warned:])
    assert len(told) == 5 * len(cycle) - 1
    name = cycle[-1][0]
    assert answer["error"]["message"].startswith(
        f"error: loop detected: {name} called 5 times with the same arguments"
    )


def test_calls_of_one_answer_count_in_their_order(bob: Agent, model: ModelServer, session: str) -> None:
    """Five at once: four run, the turn fails, each has its result."""
    prompt = bob.prompt(session, "go")
    call = next_call(model)
    for number in range(6):
        call.tool(*A, f"t{number}", number)
    call.finish("tool_calls")
    error = bob.answer(prompt)["error"]
    assert error["message"] == "error: loop detected: read_file called 5 times with the same arguments"
    after = talk(bob, model, session, "on")
    results = [one["content"] for one in after.messages if one["role"] == "tool"][2:]
    assert [text.startswith("[not run") for text in results] == [False, False, False, False, True, True]


def test_each_turn_is_counted_by_itself(bob: Agent, model: ModelServer, session: str) -> None:
    """What a person asks for again may be done again."""
    for _ in range(3):
        told, answer = turn(bob, model, session, [A, A], stopped=False)
        assert not any(text.startswith("[warning: ") for text in told)
        assert answer["result"] == {"stopReason": "end_turn"}


def test_calls_that_cannot_run_count_too(bob: Agent, model: ModelServer, session: str) -> None:
    """Malformed arguments and unknown tools are what models repeat most."""
    for wish in (("bash", "{nonsense"), ("nonsense", {})):
        told, answer = turn(bob, model, session, [wish] * 5, stopped=True)
        assert [text.startswith("[warning: ") for text in told] == [False, False, True, True]
        assert answer["error"]["message"] == (
            f"error: loop detected: {wish[0]} called 5 times with the same arguments"
        )


@pytest.mark.parametrize(
    ("limits", "warned", "ran"),
    [
        ("loopWarnAt = 2\nloopStopAt = 3", [2], 2),
        ("loopWarnAt = 1000\nloopStopAt = 4", [], 3),
        ("loopStopAt = 1000", [3, 4, 5, 6, 7], None),
        ("loopWarnAt = 0\nloopStopAt = 0", [], None),
    ],
)
def test_the_limits_are_settings(
    start: Callable[..., Agent],
    own_model: ModelServer,
    tmp_path: Path,
    limits: str,
    warned: list[int],
    ran: int | None,
) -> None:
    """Either may be so far away that it is off."""
    bob = start(model_config(own_model, f"[limits]\n{limits}\n"))
    bob.initialize()
    session = permitted(bob, own_model, tmp_path)
    count = 7 if ran is None else ran + 1
    told, answer = turn(bob, own_model, session, [A] * count, stopped=ran is not None)
    assert [number for number, text in enumerate(told, 1) if text.startswith("[warning: ")] == warned
    assert ("error" in answer) == (ran is not None)


def test_what_is_remembered_holds_the_warning(bob: Agent, model: ModelServer, session: str) -> None:
    """The next turn's request has what the model was told, not something else."""
    told, _ = turn(bob, model, session, [A] * 3, stopped=False)
    after = talk(bob, model, session, "on")
    assert told[2] in [text for _, text in said(after)]
