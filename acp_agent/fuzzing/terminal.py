"""What a person sees of a campaign: a line of progress while it runs, and its finds at the end.

Deliberately absent: files (report.py), and the judgement itself.
"""

from __future__ import annotations

import json
import shlex
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, TextIO

from acp_agent.fuzzing.finds import Find, Results
from acp_agent.fuzzing.report import exchange_of, trace_name

_BAR: Final = 20
_EVERY_S: Final = 0.2
_SHOWN_LINES: Final = 6
_SHOWN_WIDTH: Final = 110


class Progress:
    """A line on a terminal, written over and over; nothing anywhere else. part: how much of the budget is used."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown = stream.isatty()
        self._last = 0.0

    def show(self, part: float, results: Results) -> None:
        """Where the campaign is."""
        now = time.monotonic()
        if not self._shown or now - self._last < _EVERY_S:
            return
        self._last = now
        filled = min(_BAR, int(_BAR * part))
        bar = "#" * filled + "-" * (_BAR - filled)
        line = f"[{bar}] {summary(results)}"
        # A line that wraps could not be taken back.
        self._stream.write(f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}")
        self._stream.flush()

    def end(self) -> None:
        """Take the line away."""
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def summary(results: Results) -> str:
    """A campaign in one line."""
    machines = ", ".join(
        f"{name} {seen.states}/{seen.states_possible} states {seen.transitions}/{seen.transitions_possible} ways"
        for name, seen in results.coverage.items()
    )
    did = f"{_many(results.examples, 'conversation')}, {_many(len(results.finds), 'find')}"
    return f"{did}, {len(results.rules)} rules tried; {machines}"


def print_results(results: Results, command: Sequence[str], directory: Path, out: TextIO) -> None:
    """The finds, each with the way to see it again, and the line of the whole."""
    for find in results.sorted_finds():
        print_find(find, out)
        again = shlex.join([str(directory / trace_name(find)), "--", *command])
        print(f"  again: acp-agent fuzz reproduce {again}\n", file=out)
    print(f"{summary(results)}; {_many(results.messages, 'message')}, seed {results.seed}", file=out)
    if not results.coverage["tool call"].states:
        print(
            "No tool call was seen. With --prompts FILE, prompts that make this agent use its tools.",
            file=out,
        )


def print_find(find: Find, out: TextIO) -> None:
    """One find with the end of its exchange."""
    rule = find.rule
    print(f"{rule.id} ({rule.tier}) {rule.sentence}", file=out)
    sure = "" if find.confirmed else "; only after what was said before on the same process"
    print(f"  saw: {find.finding.saw} ({find.finding.shape}{sure})", file=out)
    lines = exchange_of(find)
    if len(lines) > _SHOWN_LINES:
        print(f"  {_many(len(lines) - _SHOWN_LINES, 'message')} before:", file=out)
    for sender, text in lines[-_SHOWN_LINES:]:
        arrow = "C>A" if sender == "client" else "A>C"
        text = brief(text)
        shown = text if len(text) <= _SHOWN_WIDTH else f"{text[:_SHOWN_WIDTH]}…"
        printable = "".join(char if char.isprintable() else "\ufffd" for char in shown)
        print(f"  {arrow} {printable}", file=out)


def brief(line: str) -> str:
    """A message in a few words: what it is first, then its payload. A line that is none stays as it is."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return line
    if not isinstance(message, dict):
        return line
    params = message.get("params")
    update = params.get("update") if isinstance(params, dict) else None
    number = f"#{json.dumps(message['id'])} " if "id" in message else ""
    if isinstance(update, dict):
        rest = {name: value for name, value in update.items() if name != "sessionUpdate"}
        return f"{update.get('sessionUpdate')} {_compact(rest)}"
    if "method" in message:
        return f"{number}{message['method']} {_compact(params)}"
    return f"{number}{_compact(message.get('error', message.get('result')))}" if number else line


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
