"""Running targets: finds kept from before first, then new cases until the time or the number of examples is over.

Owns how long a target runs, when a case counts as hanging, and what is kept between runs in a directory: Hypothesis's
example database (`examples/<target>/`), the finds (`finds/<target>.jsonl`) and how long each target has run
(`spent.json`). Killed at any instant, it goes on from there the next time.

Hypothesis runs in batches: a batch that has ended gives its memory back, and each has a seed of its own.
Deliberately absent: what targets are (catalogue.py), arguments and what is printed (run.py).
"""

from __future__ import annotations

import json
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import hypothesis
from case import from_line, to_line
from catalogue import REGRESSIONS, Target, regressions
from hypothesis.database import DirectoryBasedExampleDatabase, ExampleDatabase

HANGS_AFTER_S: Final = 20.0
"""CPU time, not what a clock on the wall says: a machine that does something else too makes nothing hang."""

_FIRST_BATCH: Final = 20
_LARGEST_BATCH: Final = 2_000
_BATCH_S: Final = 10.0


class HangError(AssertionError):
    """A case that is still being worked on after HANGS_AFTER_S seconds of CPU time."""


class _TimeIsOver(BaseException):
    """Ends a batch; whatever Hypothesis does with an Exception, it lets this one through."""


class Find(NamedTuple):
    """A case for which the invariant does not hold.

    kept: the place of the line in regressions/, "" for a new one. where: file, line and text of what was raised.
    """

    target: str
    case: Any
    error: BaseException
    where: str
    kept: str = ""

    @property
    def line(self) -> str:
        """The case, as it goes into regressions/."""
        return to_line(self.case)


class Outcome(NamedTuple):
    """What became of one run of a target."""

    target: str
    examples: int
    seconds: float
    find: Find | None


class Budget(NamedTuple):
    """How long one run of a target may take: by the clock, or in examples."""

    seconds: float | None = None
    examples: int | None = None


class Campaign:
    """Runs targets one after the other. directory: what is kept between runs; None keeps nothing."""

    def __init__(
        self,
        directory: Path | None,
        seed: int,
        *,
        clock: Callable[[], float] = time.monotonic,
        kept_finds: Path = REGRESSIONS,
    ) -> None:
        self._directory = directory
        self._seed = seed
        self._clock = clock
        self._kept_finds = kept_finds
        self._batches = 0

    def run(self, target: Target, budget: Budget) -> Outcome:
        """Replay what is kept, then look for something new; ends with the first find."""
        start = self._clock()
        find = self._replay(target)
        examples = size = 0
        while find is None:
            left = Budget(
                None if budget.seconds is None else budget.seconds - (self._clock() - start),
                None if budget.examples is None else budget.examples - examples,
            )
            size = _batch_size(left, examples, self._clock() - start, size)
            if size <= 0:
                break
            ran, find = self._batch(
                target, size, None if left.seconds is None else self._clock() + left.seconds
            )
            examples += ran
        outcome = Outcome(target.name, examples, self._clock() - start, find)
        self._keep(outcome)
        return outcome

    def spent(self) -> dict[str, float]:
        """How many seconds each target has run in all runs that kept something in this directory."""
        with suppress(OSError, ValueError):
            if self._directory is not None:
                found: dict[str, float] = json.loads((self._directory / "spent.json").read_text("ascii"))
                return found
        return {}

    def _replay(self, target: Target) -> Find | None:
        """A find that is kept in regressions/, or by an earlier run, and is one still."""
        places: list[tuple[str, Iterable[tuple[int, Any]]]] = [
            ("regressions", regressions(target.name, self._kept_finds))
        ]
        if self._directory is not None:
            places.append(("finds", regressions(target.name, self._directory / "finds")))
        for name, cases in places:
            for number, case in cases:
                error = failure(target, case)
                if error is not None:
                    return Find(
                        target.name, case, error, place_of(error), f"{name}/{target.name}.jsonl:{number}"
                    )
        return None

    def _batch(self, target: Target, size: int, end: float | None) -> tuple[int, Find | None]:
        """One run of Hypothesis; how many cases were tried, and the simplest that failed.

        end: the moment at which nothing new is begun; what has failed by then is still made simpler.
        """
        self._batches += 1
        tried = 0
        failed: tuple[Any, BaseException] | None = None

        def check(case: Any) -> None:
            nonlocal tried, failed
            if tried and failed is None and end is not None and self._clock() >= end:
                raise _TimeIsOver
            tried += 1
            # What is checked is what its line says, so that the line is the whole of the find.
            case = from_line(to_line(case))
            error = failure(target, case)
            if error is not None:
                failed = case, error  # the last one is the simplest
                raise error

        run = hypothesis.given(target.cases)(check)
        run = hypothesis.seed(self._seed + self._batches)(run)
        run = hypothesis.settings(
            max_examples=size,
            database=self._examples(target.name),
            deadline=None,
            derandomize=False,
            report_multiple_bugs=False,
            suppress_health_check=list(hypothesis.HealthCheck),
            verbosity=hypothesis.Verbosity.quiet,
        )(run)
        try:
            run()
        except _TimeIsOver:
            pass
        except Exception as error:
            if failed is None:
                raise  # of a strategy: a mistake in the fuzzer
            # A failure that does not come again is one all the same.
            if failed[1] is not error and not isinstance(error, hypothesis.errors.HypothesisException):
                failed = failed[0], error
        if failed is None:
            return tried, None
        return tried, Find(target.name, *failed, place_of(failed[1]))

    def _examples(self, name: str) -> ExampleDatabase | None:
        if self._directory is None:
            return None
        return DirectoryBasedExampleDatabase(self._directory / "examples" / name)

    def _keep(self, outcome: Outcome) -> None:
        if self._directory is None:
            return
        self._directory.mkdir(parents=True, exist_ok=True)
        spent = self.spent()
        spent[outcome.target] = round(spent.get(outcome.target, 0.0) + outcome.seconds, 3)
        replace(self._directory / "spent.json", json.dumps(spent, indent=1, sort_keys=True) + "\n")
        if outcome.find is not None and not outcome.find.kept:
            keep_find(self._directory, outcome.find)


def keep_find(directory: Path, find: Find) -> None:
    """Put a find behind those of its target that are kept in a directory."""
    path = directory / "finds" / f"{find.target}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    before = path.read_text(encoding="ascii") if path.exists() else ""
    # Whole, or as before: half a line would be no case, and end every later run.
    replace(path, f"{before}{find.line}\n")


def failure(target: Target, case: Any) -> BaseException | None:
    """What the target raises for a case, None if the invariant holds."""
    try:
        with _hang_is_a_find():
            target.check(case)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it is, it is the find
        return error
    return None


def place_of(error: BaseException) -> str:
    """Where it was raised, and what: `file.py:12 in name: AssertionError: text`."""
    frames = traceback.extract_tb(error.__traceback__)
    # A helper of a library says less than the line of ours that called it.
    ours = [frame for frame in frames if "site-packages" not in frame.filename]
    last = (ours or list(frames))[-1] if frames else None
    text = str(error)
    where = f"{Path(last.filename).name}:{last.lineno} in {last.name}: " if last is not None else ""
    return f"{where}{type(error).__name__}{': ' if text else ''}{text[:500]}"


def least_first(targets: Iterable[str], spent: Mapping[str, float]) -> list[str]:
    """Those that have run least so far first."""
    return sorted(targets, key=lambda name: (spent.get(name, 0.0), name))


def replace(path: Path, text: str) -> None:
    """Put a file in its place at one instant."""
    unfinished = path.with_suffix(".tmp")
    unfinished.write_text(text, encoding="ascii")
    unfinished.replace(path)


def _batch_size(left: Budget, examples: int, seconds: float, last: int) -> int:
    """As many cases as fit into what is left, a batch's time at most, by what one has taken so far.

    At most four times the last batch: the first cases are the smallest and say little of how long others take.
    """
    if left.seconds is None:
        return min(_LARGEST_BATCH, left.examples or 0)
    if left.seconds <= 0:
        return 0
    if not examples or seconds <= 0:
        return _FIRST_BATCH
    return min(max(1, int(min(_BATCH_S, left.seconds) * examples / seconds)), 4 * last, _LARGEST_BATCH)


@contextmanager
def _hang_is_a_find() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # signals come to the main thread only
        return

    def ring(number: int, frame: object) -> None:
        raise HangError(f"not done after {HANGS_AFTER_S:g} s of CPU time")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, HANGS_AFTER_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
