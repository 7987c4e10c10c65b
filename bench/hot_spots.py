"""`python bench/hot_spots.py MEASURE -- COMMAND ...`: where a Python agent spends its time in one measure.

It owns two views. `start` runs the agent with -X importtime and lists what its imports cost by package; every other
measure runs it under cProfile and lists the functions with the most time of their own. Deliberately absent: figures
to compare agents by. A profiler slows calls more than loops, so the shares here point, they do not measure.

COMMAND must be a Python script and its arguments, as `bench/.peers/bob/bin/acp-agent serve --config bench/bench.toml`
is; the script's own interpreter (its first line) is used.
"""

from __future__ import annotations

import argparse
import os
import pstats
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from contestants import rooted
from measures import MEASURES, Contestant, Load, Setting


def main(arguments: list[str]) -> int:
    """Profile, print, return 0."""
    parser = argparse.ArgumentParser(prog="bench/hot_spots.py", description="Where an agent spends its time.")
    parser.add_argument("measure", choices=MEASURES)
    parser.add_argument("--top", type=int, default=25, help="lines to print (default 25)")
    parser.add_argument("command", nargs="+", help="a Python script and its arguments")
    options = parser.parse_args(arguments)
    words = rooted(options.command)
    command = [interpreter_of(Path(words[0])), *words]
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        if options.measure == "start":
            lines = imports(command)
        else:
            record = Path(scratch) / "profile"
            profiled = (command[0], "-m", "cProfile", "-o", str(record), *command[1:])
            setting = Setting(Load(timeout_s=300), Path(scratch), max(os.sched_getaffinity(0)))
            MEASURES[options.measure](Contestant("profiled", profiled), setting)
            lines = functions(record)
    print("\n".join(lines[: options.top + 2]))
    return 0


def interpreter_of(script: Path) -> str:
    """The interpreter a script names in its first line; this one if it names none."""
    with script.open(encoding="utf-8") as file:
        first = file.readline().strip()
    return first[2:].strip() if first.startswith("#!/") and "env " not in first else sys.executable


def imports(command: Sequence[str]) -> list[str]:
    """Import time by top-level package, most first: the modules' own time, in milliseconds.

    Lines of -X importtime read `import time: own [us] | cumulative | name`.
    """
    ended = subprocess.run(
        [command[0], "-X", "importtime", *command[1:]], input=b"", capture_output=True, check=False
    )
    own_us: Counter[str] = Counter()
    modules: Counter[str] = Counter()
    for line in ended.stderr.decode("utf-8", "replace").splitlines():
        fields = line.removeprefix("import time:").split("|")
        if line.startswith("import time:") and len(fields) == 3 and fields[0].strip().isdigit():
            package = fields[2].strip().partition(".")[0]
            own_us[package] += int(fields[0])
            modules[package] += 1
    lines = [f"{sum(own_us.values()) / 1e3:.1f} ms in {modules.total()} modules", ""]
    return lines + [
        f"{us / 1e3:8.1f} ms  {modules[package]:4} modules  {package}" for package, us in own_us.most_common()
    ]


def functions(record: Path) -> list[str]:
    """Functions by their own time, most first: share of the whole, calls, microseconds a call, place."""
    # Not get_stats_profile(): it keeps one function of a name, and every module has its `send`.
    stats: dict[tuple[str, int, str], tuple[int, int, float, float, object]]
    stats = vars(pstats.Stats(str(record)))["stats"]
    total_s = sum(entry[2] for entry in stats.values())
    lines = [f"{total_s:.2f} s under the profiler", ""]
    for (file, line, name), (_, calls, own_s, *_) in sorted(stats.items(), key=lambda item: -item[1][2]):
        where = file
        for root in ("site-packages/", "/lib/python", f"{Path.cwd()}/"):
            where = where.rpartition(root)[2]
        place = f"{where}:{line} {name}" if line else name
        lines.append(f"{own_s / total_s:6.1%}  {calls:>9} calls  {own_s / calls * 1e6:9.2f} µs each  {place}")
    return lines


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
