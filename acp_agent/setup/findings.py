"""What a check found: one line, and whether there is something to do.

Owns the line's form. Absent: the checks (checks.py, model_checks.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from acp_agent.printable import printable


class State(StrEnum):
    """How a check ended; the values are what its line begins with."""

    OK = "ok"
    TO_DO = "to do"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line. subject: what was looked at. text: what is so; after TO_DO also what to do, after SKIPPED why."""

    state: State
    subject: str
    text: str

    def __str__(self) -> str:
        # What servers and files say may be in it: still one line, and nothing a terminal would obey.
        return f"{self.state:<8} {self.subject:<14} {printable(' '.join(self.text.split()))}"


def exit_code(findings: Iterable[Finding]) -> int:
    """0 if nothing is to do, else 1."""
    return int(any(finding.state is State.TO_DO for finding in findings))
