"""From the rounds' raw figures to medians, ratios and a Markdown table.

It owns the names, units, order and goals of the figures. Deliberately absent: how they are measured. Pure: numbers in,
text out.
"""

from __future__ import annotations

import statistics
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_BOB = tomllib.loads(Path(__file__).with_name("bench.toml").read_text(encoding="utf-8"))
_OUTBOX_MIB = _BOB["limits"]["maxOutboxBytes"] / 2**20
BASE = "python-sdk"
"""Ratios are to this contestant."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table.

    Goals for our agent: at_most and at_least as ratios to BASE, limit in the figure's own unit.
    """

    key: str
    label: str
    unit: str
    at_most: float | None = None
    at_least: float | None = None
    limit: float | None = None
    ratio: bool = True

    def goal(self) -> str:
        """The goal in words; empty without one."""
        if self.at_most is not None:
            return f"≤ {self.at_most:g}×"
        if self.at_least is not None:
            return f"≥ {self.at_least:g}×"
        return f"≤ {self.limit:g} {self.unit}" if self.limit is not None else ""

    def reached(self, value: float | None, ratio: float | None) -> bool | None:
        """Whether a median, or its ratio, reaches the goal; None without a goal or without the figure."""
        if self.limit is not None:
            return None if value is None else value <= self.limit
        if ratio is None:
            return None
        if self.at_most is not None:
            return ratio <= self.at_most
        return ratio >= self.at_least if self.at_least is not None else None


ROWS = (
    Row("start_ms", "spawn to `initialize` response", "ms"),
    Row("start_cpu_ms", "CPU until the `initialize` response", "ms", at_most=0.2),
    Row("first_turn_ms", "spawn to the first turn's answer", "ms"),
    Row("first_turn_cpu_ms", "CPU until the first turn's answer", "ms"),
    Row("life_cpu_ms", "CPU of a whole life: start, one turn, exit", "ms"),
    Row("exit_ms", "exit after end of file", "ms", limit=2000),
    Row("echo_p50_us", "echo round trip p50, one core", "µs", at_most=0.6),
    Row("echo_p99_us", "echo round trip p99, one core", "µs"),
    Row("echo_cpu_us", "CPU an echo turn", "µs"),
    Row("stream_per_s", "streamed updates a second", "1/s", at_least=10),
    Row("stream_cpu_us", "CPU a streamed update", "µs"),
    Row("tools_per_s", "tool and permission cycles a second, one core", "1/s", at_least=2.6),
    Row("tools_cpu_us", "CPU a tool and permission cycle", "µs"),
    Row("big_answer_ms", "one big message from the agent", "ms", at_most=0.5),
    Row("big_answer_cpu_ms", "CPU of that", "ms"),
    Row("big_prompt_ms", "one big prompt to the agent", "ms"),
    Row("big_prompt_cpu_ms", "CPU of that", "ms"),
    Row("idle_rss_mib", "peak RSS idle, with a session", "MiB", at_most=0.75),
    Row("stream_rss_mib", "peak RSS after the stream", "MiB"),
    Row("big_answer_rss_mib", "peak RSS after the big message", "MiB"),
    Row("big_prompt_rss_mib", "peak RSS after the big prompt", "MiB"),
    Row(
        "stall_growth_mib", "RSS growth while the client reads nothing", "MiB", limit=_OUTBOX_MIB, ratio=False
    ),
    Row("stall_updates", "updates already under way when it reads again", "", ratio=False),
    Row("stall_cancel_ms", "cancel to the prompt's answer, then", "ms", limit=2000, ratio=False),
)

Samples = Mapping[str, Mapping[str, Sequence[float]]]
"""By contestant, then by figure: one value a round."""


def medians(samples: Samples) -> dict[str, dict[str, float]]:
    """By contestant, then by figure: the median over the rounds that gave it."""
    return {
        name: {key: statistics.median(values) for key, values in figures.items() if values}
        for name, figures in samples.items()
    }


def ratios(middle: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """By contestant, then by figure: its median as a multiple of BASE's, where both are there."""
    base = middle.get(BASE, {})
    return {
        name: {
            row.key: figures[row.key] / base[row.key]
            for row in ROWS
            if row.ratio and row.key in figures and base.get(row.key)
        }
        for name, figures in middle.items()
    }


def spread(values: Sequence[float]) -> float:
    """Half the distance between the quartiles, as a part of the median: how far a typical round strays."""
    if len(values) < 3:
        return 0.0
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / 2 / middle if middle else 0.0


def markdown(samples: Samples, ours: str) -> str:
    """The table: a row a figure, a column a contestant, each cell the median and its ratio to BASE.

    ours: the contestant the goals are for. A figure nobody gave has no row; one that somebody lacks shows a dash.
    """
    names = list(samples)
    middle = medians(samples)
    against_base = ratios(middle)
    lines = [
        "| | unit | goal | " + " | ".join(names) + " | spread |",
        "|---|---|---|" + "---:|" * (len(names) + 1),
    ]
    for row in ROWS:
        if not any(row.key in middle[name] for name in names):
            continue
        cells = [cell(row, middle[name], against_base[name]) for name in names]
        goal = row.goal()
        verdict = row.reached(middle.get(ours, {}).get(row.key), against_base.get(ours, {}).get(row.key))
        if verdict is not None:
            goal += " reached" if verdict else " missed"
        widest = max(spread(samples[name].get(row.key, ())) for name in names)
        lines.append(f"| {row.label} | {row.unit} | {goal} | {' | '.join(cells)} | ±{widest:.0%} |")
    return "\n".join(lines)


def cell(row: Row, figures: Mapping[str, float], against_base: Mapping[str, float]) -> str:
    """A median with its ratio in brackets, or a dash."""
    if row.key not in figures:
        return "–"
    text = number(figures[row.key])
    return f"{text} ({number(against_base[row.key])}×)" if row.key in against_base else text


def number(value: float) -> str:
    """Three significant digits, no exponent, thousands apart."""
    if value == 0:
        return "0"
    size = abs(value)
    digits = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 0.1 else 3
    return f"{value:,.{digits}f}".replace(",", "\u202f")
