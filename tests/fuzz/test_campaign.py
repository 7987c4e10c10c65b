"""A campaign finds, keeps what it finds, and goes on where it was stopped, however it was stopped."""

from __future__ import annotations

import importlib.util
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import campaign as module
import pytest
from campaign import Budget, Campaign, least_first
from catalogue import HERE, Target
from hypothesis import strategies as st

# By its path: bench/ has a run.py too, and which of them `import run` finds depends on who came first.
_SPEC = importlib.util.spec_from_file_location("fuzz_run", HERE / "run.py")
assert _SPEC is not None
assert _SPEC.loader is not None
run = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(run)
CASES = st.fixed_dictionaries({"number": st.integers(0, 1_000), "data": st.binary(max_size=3)})
TWENTY = Budget(examples=200)


def target(check: Callable[[Any], None], name: str = "mine") -> Target:
    return Target(name, "Every number is small.", CASES, check)


def small(case: Any) -> None:
    assert case["number"] < 500, "too large"


def anything(case: Any) -> None:
    """Holds."""


@pytest.fixture
def keep(tmp_path: Path) -> Path:
    return tmp_path / "kept"


def campaign(keep: Path | None, **how: Any) -> Campaign:
    how.setdefault("kept_finds", Path("nowhere"))
    return Campaign(keep, 7, **how)


def finds(keep: Path) -> list[str]:
    return (keep / "finds" / "mine.jsonl").read_text("ascii").splitlines()


def test_a_find_is_the_simplest_case_and_becomes_a_line(keep: Path) -> None:
    """One line that can go into regressions/ as it is."""
    outcome = campaign(keep).run(target(small), TWENTY)
    assert outcome.find is not None
    assert outcome.find.line == '{"number": 500, "data": {"$bytes": ""}}'
    assert outcome.find.where.endswith("in small: AssertionError: too large\nassert 500 < 500")
    assert outcome.find.kept == ""
    assert finds(keep) == [outcome.find.line]


def test_what_was_found_is_replayed_first_and_kept_once(keep: Path) -> None:
    """The next run ends with it at once, until it is fixed; then it looks for something new."""
    campaign(keep).run(target(small), TWENTY)
    again = campaign(keep).run(target(small), TWENTY)
    assert again.find is not None
    assert (again.find.kept, again.examples) == ("finds/mine.jsonl:1", 0)
    assert len(finds(keep)) == 1
    fixed = campaign(keep).run(target(anything), TWENTY)
    assert (fixed.find, fixed.examples) == (None, 200)


def test_what_is_kept_with_the_targets_comes_before_all(keep: Path, tmp_path: Path) -> None:
    """A find that was fixed and comes back is named by its place."""
    (tmp_path / "mine.jsonl").write_text('# a note\n\n{"number": 700, "data": {"$bytes": ""}}\n', "ascii")
    outcome = campaign(keep, kept_finds=tmp_path).run(target(small), TWENTY)
    assert outcome.find is not None
    assert (outcome.find.kept, outcome.find.case["number"]) == ("regressions/mine.jsonl:3", 700)


def test_a_run_that_was_killed_before_it_wrote_anything_finds_it_again_at_once(keep: Path) -> None:
    """The example database is written while it runs, the rest at the end."""
    campaign(keep).run(target(small), TWENTY)
    for name in ("finds/mine.jsonl", "spent.json"):
        (keep / name).unlink()
    again = campaign(keep).run(target(small), Budget(examples=20))
    assert again.find is not None
    assert finds(keep) == ['{"number": 500, "data": {"$bytes": ""}}']


def test_half_a_file_of_a_killed_run_stops_no_later_one(keep: Path) -> None:
    """Files are put in their place whole; what lies beside them is nobody's."""
    keep.mkdir()
    (keep / "spent.json").write_text('{"mine": 1', "ascii")
    (keep / "spent.tmp").write_text("{", "ascii")
    (keep / "finds").mkdir()
    (keep / "finds" / "mine.tmp").write_text('{"number', "ascii")
    assert campaign(keep).spent() == {}
    assert campaign(keep).run(target(small), TWENTY).find is not None
    assert len(finds(keep)) == 1


def test_the_time_of_all_runs_is_added_up(keep: Path) -> None:
    """So that the next run begins with the targets that have had least."""
    ticks = iter(float(tick) for tick in range(0, 100_000, 2))
    for _ in range(2):
        campaign(keep, clock=lambda: next(ticks)).run(target(anything), Budget(seconds=5.0))
    spent = campaign(keep).spent()
    assert spent["mine"] >= 10.0
    assert least_first(["mine", "other", "a"], spent) == ["a", "other", "mine"]
    assert campaign(None).spent() == {}


def test_a_run_ends_with_its_time_in_the_middle_of_a_batch() -> None:
    """So that a slow machine gets round to every target; the first case is looked at all the same."""
    now = [0.0]

    def slow(case: Any) -> None:
        now[0] += 3.0

    outcome = campaign(None, clock=lambda: now[0]).run(target(slow), Budget(seconds=10.0))
    assert (outcome.find, outcome.examples, outcome.seconds) == (None, 4, 12.0)


def test_every_target_has_its_turn_however_little_time_there_is(two_targets: list[str]) -> None:
    """And what one of them finds is made simple when the time is over already."""
    assert run.main(["--time", "0.000001"]) in (0, 1)
    assert two_targets == ["bad", "good"]


def test_what_hangs_is_a_find(monkeypatch: pytest.MonkeyPatch) -> None:
    """CPU time counts; a machine that is busy otherwise makes nothing hang."""
    monkeypatch.setattr(module, "HANGS_AFTER_S", 0.05)

    def hangs(case: Any) -> None:
        while True:
            pass

    outcome = campaign(None).run(Target("mine", "", st.none(), hangs), Budget(examples=1))
    assert outcome.find is not None
    assert isinstance(outcome.find.error, module.HangError)


def test_a_mistake_in_a_strategy_is_no_find() -> None:
    """It is told as what it is."""

    def broken(number: int) -> int:
        raise KeyError("a mistake")

    cases = st.integers().map(broken)
    with pytest.raises(KeyError, match="a mistake"):
        campaign(None).run(Target("mine", "", cases, anything), TWENTY)


@pytest.fixture
def two_targets(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """`good` and `bad`, and the order in which they were run."""
    order: list[str] = []

    def load(name: str) -> Target:
        order.append(name)
        return target(small if name == "bad" else anything, name)

    monkeypatch.setattr(run, "names", lambda: ("bad", "good"))
    monkeypatch.setattr(run, "load", load)
    return order


def test_the_exit_code_says_whether_there_is_a_find(
    two_targets: list[str], keep: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """0 or 1, and a line for each target; a wrong name is a wrong command line."""
    assert run.main(["good", "--examples", "5", "--keep", str(keep)]) == 0
    assert capsys.readouterr().out.endswith("nothing found\n")
    assert run.main(["--examples", "200", "--seed", "3", "--keep", str(keep)]) == 1
    said = capsys.readouterr().out
    assert said.startswith("seed 3\n")
    assert '\n    {"number": 500, "data": {"$bytes": ""}}\n' in said
    assert said.endswith("1 find(s)\n")
    assert sorted(json.loads((keep / "spent.json").read_text("ascii"))) == ["bad", "good"]
    with pytest.raises(SystemExit, match="2"):
        run.main(["nonsense"])


def test_a_later_run_begins_with_what_has_run_least(two_targets: list[str], keep: Path) -> None:
    """And a target with a find has no second turn in one run."""
    keep.mkdir()
    (keep / "spent.json").write_text('{"bad": 90.0, "good": 2.0}', "ascii")
    assert run.main(["--time", "0.6", "--keep", str(keep)]) == 1
    assert two_targets[0] == "good"
    assert two_targets.count("bad") == 1


def test_a_campaign_that_is_killed_goes_on(keep: Path) -> None:
    """The whole of it, as a process, by SIGKILL in the turn of its second target: that is where the next one begins."""
    command = [
        sys.executable,
        str(HERE / "run.py"),
        "framing",
        "loop_detector",
        "--keep",
        str(keep),
        "--time",
    ]
    with subprocess.Popen([*command, "4"], stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        assert next(first.stdout).startswith("seed ")
        assert next(first.stdout).startswith("framing ")
        first.kill()
    assert first.returncode == -signal.SIGKILL
    assert list(json.loads((keep / "spent.json").read_text("ascii"))) == ["framing"]
    done = subprocess.run([*command, "2"], capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1].startswith("loop_detector ")
    assert sorted(json.loads((keep / "spent.json").read_text("ascii"))) == ["framing", "loop_detector"]
