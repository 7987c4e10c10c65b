"""`python fuzz/run.py`: look for cases that break the invariants of our own boundaries.

Owns the arguments and what is printed: a line for each target, and for a find the case as a line for regressions/.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from campaign import Budget, Campaign, Outcome, least_first
from catalogue import load, names

_SLICE_S = 60.0
"""With a directory, a target runs so long before the next one has its turn; a short run has shorter turns."""

_WORTH_S = 0.05
"""Less time than this is not worth a turn."""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = argparse.ArgumentParser(
        prog="fuzz/run.py", description="Look for cases that break the invariants of our own boundaries."
    )
    result.add_argument("targets", nargs="*", metavar="TARGET", help="names of targets (default: all)")
    limit = result.add_mutually_exclusive_group()
    limit.add_argument("--time", type=_positive, metavar="SECONDS", help="for all together (default 60)")
    limit.add_argument("--examples", type=int, metavar="N", help="for each target, instead of a time")
    result.add_argument(
        "--keep",
        type=Path,
        metavar="DIR",
        help="keep examples, finds and the time spent here; a later run replays the finds first and goes on with "
        "the targets that have run least",
    )
    result.add_argument("--seed", type=int, help="so that a run with --examples can be repeated")
    result.add_argument("--list", action="store_true", help="print the targets with their invariants and end")
    return result


def _positive(text: str) -> float:
    seconds = float(text)
    if not seconds > 0:
        raise ValueError
    return seconds


def main(arguments: list[str]) -> int:
    """Run; the exit code is 0 without a find, 1 with one, 2 for a wrong command line."""
    options = parser().parse_args(arguments)
    for name in options.targets:
        if name not in names():
            parser().error(f"there is no target {name!r}; there are {', '.join(names())}")
    wanted = options.targets or list(names())
    if options.list:
        for name in wanted:
            print(f"{name}: {load(name).invariant}")
        return 0
    seed = options.seed if options.seed is not None else random.randrange(2**32)
    campaign = Campaign(options.keep, seed)
    print(f"seed {seed}", flush=True)
    found = 0
    try:
        for outcome in _outcomes(campaign, wanted, options):
            found += outcome.find is not None
            print(_shown(outcome), flush=True)
    except KeyboardInterrupt:
        print("stopped", flush=True)
    print(f"{found} find(s)" if found else "nothing found", flush=True)
    return 1 if found else 0


def _outcomes(campaign: Campaign, wanted: list[str], options: argparse.Namespace) -> Iterator[Outcome]:
    """Run every target once by examples; by time, turn after turn until it is over or every target has a find."""
    if options.examples is not None:
        for name in wanted:
            yield campaign.run(load(name), Budget(examples=options.examples))
        return
    end = time.monotonic() + (options.time or 60.0)
    waiting = least_first(wanted, campaign.spent())
    is_first = True
    while waiting:
        done = []
        for position, name in enumerate(waiting):
            left = end - time.monotonic()
            if left <= _WORTH_S and not is_first:
                return
            # What one target does not use of its share falls to those after it; none of them is left out.
            share = max(_WORTH_S, left / (len(waiting) - position))
            outcome = campaign.run(load(name), Budget(seconds=min(_SLICE_S, share)))
            if outcome.find is not None:
                done.append(name)  # it would only be found again
            yield outcome
        waiting = [name for name in waiting if name not in done]
        is_first = False


def _shown(outcome: Outcome) -> str:
    head = f"{outcome.target:16} {outcome.examples:>8} examples {outcome.seconds:>7.1f} s"
    if outcome.find is None:
        return head
    find = outcome.find
    again = f" (kept in {find.kept})" if find.kept else ""
    return f"{head}  FOUND{again}\n    {find.where}\n    {find.line}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
