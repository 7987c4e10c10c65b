"""Terminals: what a right client may answer, as values; the real ones are in the matrix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from acp_agent.harness.asked import NO_ANSWER, Answer
from acp_agent.harness.scenarios import terminals
from acp_agent.harness.verdict import Verdict

NAMES = [
    "exit-code",
    "while-it-runs",
    "kill",
    "release",
    "released-while-waiting",
    "death-by-signal",
    "word-for-word",
    "truncation",
    "not-truncated",
    "several-at-once",
    "cannot-start",
    "after-the-turn",
]


def answer(result: Any) -> Answer:
    return Answer({"jsonrpc": "2.0", "id": 1, "result": result})


@pytest.mark.parametrize(
    ("result", "exit_status"),
    [
        ({"exitCode": 3, "signal": None}, (3, None)),
        ({"exitCode": 3}, (3, None)),
        ({"signal": "SIGKILL"}, (None, "SIGKILL")),
        ({"output": "", "truncated": False, "exitStatus": {"exitCode": 0}}, (0, None)),
        ({"output": "", "truncated": False}, (None, None)),
        ({"output": "", "truncated": False, "exitStatus": None}, (None, None)),
    ],
)
def test_an_exit_status_is_read_from_waits_and_outputs(result: Any, exit_status: tuple[Any, Any]) -> None:
    """A missing member is null."""
    assert terminals._exit(answer(result)) == exit_status


def test_no_answer_has_no_text_and_no_exit() -> None:
    """Nothing is made up for a client that says nothing."""
    assert terminals._text(NO_ANSWER) == ""
    assert terminals._exit(NO_ANSWER) == (None, None)
    assert terminals._told(NO_ANSWER) == [None] * 4


@pytest.mark.parametrize("name", NAMES)
def test_who_offers_no_terminals_is_not_asked(play: Any, name: str) -> None:
    """R-213: then the scenario does not apply."""

    async def script(puppet: Any) -> None:
        await puppet.hello(terminal=False)
        await puppet.open()
        await puppet.prompt()
        assert puppet.asked == []

    assert play(f"terminal/{name}", script).verdict is Verdict.NOT_APPLICABLE


@pytest.mark.parametrize("name", NAMES[:-2])
def test_who_starts_no_command_breaks_one_rule(play: Any, name: str, tmp_path: Path) -> None:
    """R-215: the rest is not exercised."""

    async def script(puppet: Any) -> None:
        puppet.answers["terminal/create"] = {"error": {"code": -32603, "message": "not today"}}
        await puppet.hello(terminal=True)
        await puppet.open(str(tmp_path))
        await puppet.prompt()

    assert play(f"terminal/{name}", script).failed_rules == ("R-215",)


@pytest.mark.parametrize(
    ("limit", "kept", "right"),
    [
        (0, "", True),
        (5, "€", True),
        (6, "€€", True),
        (6, "€", True),
        (7, "", False),
        (3, "€€", False),
        (4, "x", False),
    ],
)
def test_a_cut_keeps_whole_characters_of_the_end(play: Any, limit: int, kept: str, right: bool) -> None:
    """R-216: a little less is right, more is not, and neither is something else."""

    async def script(puppet: Any) -> None:
        outputs: dict[str, tuple[str, int]] = {}

        def create(params: Any) -> Any:
            id_ = f"t{len(outputs)}"
            outputs[id_] = (params["args"][-1], params["outputByteLimit"])
            return {"result": {"terminalId": id_}}

        def output(params: Any) -> Any:
            text, wanted = outputs[params["terminalId"]]
            fits = text.encode()[len(text.encode()) - wanted :] if wanted else b""
            given = kept if wanted == limit else fits.decode("utf-8", "ignore")
            return {"result": {"output": given, "truncated": True}}

        puppet.answers |= {
            "terminal/create": create,
            "terminal/output": output,
            "terminal/wait_for_exit": {"result": {"exitCode": 0}},
            "terminal/release": {"result": {}},
        }
        await puppet.hello(terminal=True)
        await puppet.open()
        await puppet.prompt()

    assert play("terminal/truncation", script).failed_rules == (() if right else ("R-216",))


@pytest.mark.parametrize("again", [{"result": {}}, {"error": {"code": -32002, "message": "no terminal"}}])
@pytest.mark.parametrize(("method", "broken"), [(None, ()), ("terminal/kill", ("R-222",))])
def test_a_second_release_may_succeed_and_nothing_else_after_it(
    play: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    again: Any,
    method: str | None,
    broken: tuple[str, ...],
) -> None:
    """R-222: the id is invalid for the other methods of a terminal. method: one that a wrong client still serves."""
    released: list[str] = []

    async def beats(*_: Any) -> bool:
        return not released

    monkeypatch.setattr(terminals, "_beats", beats)
    monkeypatch.setattr(terminals, "_still_beats", beats)

    def serve(name: str, before: Any) -> Any:
        def answer(params: Any) -> Any:
            after = (
                {"result": {}} if name == method else {"error": {"code": -32002, "message": "no terminal"}}
            )
            return after if released else before

        return answer

    def release(params: Any) -> Any:
        released.append(params["terminalId"])
        return again if len(released) > 1 else {"result": {}}

    async def script(puppet: Any) -> None:
        puppet.answers["terminal/create"] = {"result": {"terminalId": "t"}}
        for name in ("terminal/output", "terminal/wait_for_exit", "terminal/kill"):
            puppet.answers[name] = serve(name, {"result": {}})
        puppet.answers["terminal/release"] = release
        await puppet.hello(terminal=True)
        await puppet.open(str(tmp_path))
        await puppet.prompt()

    result = play("terminal/release", script)
    assert (result.verdict, result.failed_rules) == (Verdict.FAIL if broken else Verdict.PASS, broken)
