"""`python bench/run.py`: install the peers, measure all agents in turn, print a Markdown table.

It owns the arguments, the rounds and the report. In every round each measure visits every agent before the next
measure begins, so that a slow minute of the machine falls on all of them; the order changes from round to round.
Progress goes to stderr, the report alone to stdout.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import contestants
import table

if TYPE_CHECKING:
    from measures import Contestant, Load

OURS = "bob"
GIVE_UP_AFTER = 2
"""An agent that failed a measure this often is not asked again: every failure may cost a whole deadline."""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    built_in = ", ".join(contestants.INSTALLERS)
    result = argparse.ArgumentParser(prog="bench/run.py", description="Measure ACP agents side by side.")
    result.add_argument("--rounds", type=int, default=7, help="rounds; medians are over these (default 7)")
    result.add_argument("--agents", help=f"comma-separated names out of {built_in} (default all)")
    result.add_argument(
        "--agent",
        action="append",
        default=[],
        metavar="NAME=COMMAND",
        help="measure this command too; with a built-in name, instead of it. It must answer the bench prompts",
    )
    result.add_argument("--measures", help="comma-separated names (default all)")
    result.add_argument(
        "--quick", action="store_true", help="one round of little work: does it run, not how fast"
    )
    result.add_argument(
        "--json", type=Path, metavar="FILE", help="write every value of every round here as well"
    )
    return result


def main(arguments: list[str]) -> int:
    """Run; the exit code is 0 unless nothing could be measured (1) or the command line is wrong (2)."""
    if sys.platform != "linux":
        print(
            "bench/run.py reads CPU time and memory from the Linux kernel; it does not run here.",
            file=sys.stderr,
        )
        return 2
    options = parser().parse_args(arguments)
    if options.rounds < 1:
        parser().error("--rounds must be at least 1")
    commands: dict[str, str] = {}
    for entry in options.agent:
        name, _, command = entry.partition("=")
        if not (name and command):
            parser().error(f"--agent takes NAME=COMMAND, not {entry!r}")
        commands[name] = command
    names = options.agents.split(",") if options.agents else [*contestants.INSTALLERS]
    names += [name for name in commands if name not in names]
    for name in names:
        if name not in contestants.INSTALLERS and name not in commands:
            known = ", ".join(contestants.INSTALLERS)
            parser().error(f"there is no agent called {name!r}; there are {known}")

    skipped: dict[str, str] = {}
    installed: dict[str, contestants.Installed] = {}
    for name in names:
        if name in commands:
            installed[name] = contestants.Installed(contestants.rooted(shlex.split(commands[name])), {})
            continue
        say(f"setting up {name}")
        try:
            installed[name] = contestants.INSTALLERS[name]()
        except contestants.CannotInstall as error:
            skipped[name] = str(error)
    if importlib.util.find_spec("orjson") is None:
        # Run by a bare Python: the environment just made for the peers has what the driver needs.
        python = contestants.python_environment("python", contestants.PYTHON_SDK, "orjson")
        return subprocess.call([python, __file__, *arguments])

    return measure_and_report(options, installed, skipped)


def measure_and_report(
    options: argparse.Namespace, installed: dict[str, contestants.Installed], skipped: dict[str, str]
) -> int:
    """All rounds, then the report."""
    # Not at the top: it needs orjson, which may only just have been installed.
    from measures import MEASURES, QUICK, Contestant, Load

    chosen = options.measures.split(",") if options.measures else [*MEASURES]
    for name in chosen:
        if name not in MEASURES:
            parser().error(f"there is no measure called {name!r}; there are {', '.join(MEASURES)}")
    load = QUICK if options.quick else Load()
    rounds = 1 if options.quick else options.rounds
    agents = [Contestant(name, entry.command) for name, entry in installed.items()]
    load_before = os.getloadavg()[0]
    samples = measure(agents, chosen, rounds, load, skipped)

    print(table.markdown(samples, OURS))
    print()
    print(
        f"Each cell: median of {rounds} round(s), in brackets its ratio to {table.BASE}. Spread: half the distance"
    )
    print("between the quartiles, as a part of the median, of the agent where it is widest.")
    for what, reason in skipped.items():
        print(f"- not measured: {what}: {reason}")
    print()
    setting = machine() | {"load average before": f"{load_before:.2f}", "work a round": str(load)}
    for key, value in setting.items():
        print(f"- {key}: {value}")
    for name, entry in installed.items():
        if entry.versions:
            print(
                f"- {name}: "
                + ", ".join(f"{package} {version}" for package, version in entry.versions.items())
            )
    if options.json:
        middle = table.medians(samples)
        report: dict[str, Any] = {
            "machine": setting,
            "versions": {name: entry.versions for name, entry in installed.items()},
            "medians": middle,
            "ratios": table.ratios(middle),
            "samples": samples,
            "skipped": skipped,
        }
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    return 0 if any(samples.values()) else 1


def measure(
    agents: list[Contestant], chosen: list[str], rounds: int, load: Load, skipped: dict[str, str]
) -> dict[str, dict[str, list[float]]]:
    """Figures by contestant and name, a value a round. What cannot be measured is added to skipped with the reason."""
    from driver import AgentFailed
    from measures import MEASURES, Setting

    core = max(os.sched_getaffinity(0))
    samples: dict[str, dict[str, list[float]]] = {agent.name: {} for agent in agents}
    failures: dict[tuple[str, str], int] = {}
    # Round 0 only fills caches (compiled bytecode, the page cache) and is not counted.
    for number in range(rounds + 1):
        for name in chosen if number else ["start"]:
            turn = number % max(len(agents), 1)
            for agent in agents[turn:] + agents[:turn]:
                if failures.get((agent.name, name), 0) >= GIVE_UP_AFTER:
                    continue
                say(f"round {number} of {rounds}: {name}: {agent.name}")
                try:
                    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
                        figures = MEASURES[name](agent, Setting(load, Path(scratch), core))
                except (AgentFailed, LookupError, ValueError, TypeError) as error:
                    # The last three: a message of a shape that no measure expects.
                    failures[agent.name, name] = failures.get((agent.name, name), 0) + 1
                    reason = (
                        str(error) if isinstance(error, AgentFailed) else f"unexpected message ({error!r})"
                    )
                    skipped[f"{agent.name}, {name}"] = reason
                    continue
                if number:
                    for key, value in figures.items():
                        samples[agent.name].setdefault(key, []).append(value)
    return samples


def machine() -> dict[str, str]:
    """What the figures were measured on."""
    cpu = "unknown"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cpu = line.partition(":")[2].strip()
            break
    return {
        "CPU": cpu,
        "cores": str(len(os.sched_getaffinity(0))),
        "kernel": f"{platform.system()} {platform.release()}",
        "driver": f"Python {platform.python_version()}",
    }


def say(text: str) -> None:
    """Progress, for the person who waits."""
    print(f"[bench] {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
