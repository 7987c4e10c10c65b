"""`python fuzz/guided.py TARGET`: the same target, led by which lines of acp_agent a case reaches.

Owns the way between atheris (libFuzzer) and a target: bytes become a case by Hypothesis, a find becomes a line in the
directory that `run.py --keep` reads, so that it is replayed there first. Deliberately absent: shrinking, and running
several targets; libFuzzer owns the process and ends it. `tox -e guided -- TARGET` brings atheris along.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import atheris
import hypothesis
from campaign import Find, failure, keep_find, place_of
from case import from_line, to_line
from catalogue import Target, load, names


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser(
        prog="fuzz/guided.py", description="Fuzz one target, led by the lines that it reaches."
    )
    result.add_argument("target", choices=names(), metavar="TARGET", help="the name of a target")
    result.add_argument("--time", type=int, default=600, metavar="SECONDS", help="how long (default 600)")
    result.add_argument(
        "--keep",
        type=Path,
        default=Path(".fuzz"),
        metavar="DIR",
        help="where inputs that reach something new, and finds, are kept (default .fuzz)",
    )
    return result


def main(arguments: list[str]) -> None:
    """Run until the time is over; the exit code is 0 without a find, 1 with one. Never returns."""
    options = parser().parse_args(arguments)
    with atheris.instrument_imports(include=["acp_agent"]):
        target = load(options.target)
    corpus = options.keep / "corpus" / target.name
    corpus.mkdir(parents=True, exist_ok=True)
    # What hangs is a find of ours, by CPU time; libFuzzer's own limit would end the process without a line.
    flags = [f"-max_total_time={options.time}", "-max_len=8192", "-timeout=86400", str(corpus)]
    atheris.Setup([sys.argv[0], *flags], _one_input(target, options.keep))
    atheris.Fuzz()


def _one_input(target: Target, directory: Path) -> Any:
    """What libFuzzer calls with its bytes."""

    @hypothesis.settings(database=None, deadline=None, suppress_health_check=list(hypothesis.HealthCheck))
    @hypothesis.given(target.cases)
    def check(case: Any) -> None:
        case = from_line(to_line(case))
        error = failure(target, case)
        if error is not None:
            find = Find(target.name, case, error, place_of(error))
            keep_find(directory, find)
            print(f"{target.name}  FOUND\n    {find.where}\n    {find.line}", flush=True)
            os._exit(1)  # libFuzzer would go on to print its own state

    return check.hypothesis.fuzz_one_input  # type: ignore[attr-defined]


if __name__ == "__main__":
    main(sys.argv[1:])
