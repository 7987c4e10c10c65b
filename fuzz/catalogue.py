"""The targets there are, and the cases that once were finds.

A target is a module of targets/. Its docstring begins with the invariant; `cases` is a Hypothesis strategy of plain
cases (case.py); `check(case)` raises where the invariant does not hold, and only then.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from case import from_line
from hypothesis.strategies import SearchStrategy

HERE: Final = Path(__file__).resolve().parent
REGRESSIONS: Final = HERE / "regressions"


class Target(NamedTuple):
    """One boundary. invariant: one sentence."""

    name: str
    invariant: str
    cases: SearchStrategy[Any]
    check: Callable[[Any], None]


def names() -> tuple[str, ...]:
    """The names of all targets, sorted."""
    return tuple(sorted(path.stem for path in (HERE / "targets").glob("[!_]*.py")))


def load(name: str) -> Target:
    """A target by its name. Raises KeyError if there is none."""
    if name not in names():
        raise KeyError(name)
    module = importlib.import_module(f"targets.{name}")
    return Target(name, (module.__doc__ or "").partition("\n")[0], module.cases, module.check)


def regressions(name: str, directory: Path = REGRESSIONS) -> Iterator[tuple[int, Any]]:
    """The finds of a target that have been kept, with the number of their line. A line that begins with # is a note.

    Raises ValueError for a line that is no case.
    """
    path = directory / f"{name}.jsonl"
    lines = path.read_text(encoding="ascii").splitlines() if path.exists() else []
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.startswith("#"):
            yield number, from_line(line)
