"""The look back at a scenario, when the client has ended: its exit, its hanging, and what its user saw.

Deliberately absent: what was said on the wire, which the script has judged already.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from acp_agent.harness.display import Display
from acp_agent.harness.verdict import Check, Origin

NO_DISPLAY = "it needs the client's display record"


class Aftermath:
    """What is known at the end. notes: what the script has noted, those of a later life over those of an earlier.

    exit_code: of the client, negative for a signal; None if it is not known (an editor) or it had to be ended (hung).
    display: None if the client keeps no record. lives: how often the client has started the agent.
    """

    def __init__(
        self,
        rules: tuple[str, ...],
        *,
        notes: Mapping[str, Any],
        exit_code: int | None,
        hung: bool,
        display: Display | None,
        lives: int,
    ) -> None:
        self.notes = notes
        self.exit_code = exit_code
        self.hung = hung
        self.lives = lives
        self.checks: list[Check] = []
        self.reasons: dict[str, str] = {}
        self._rules = rules
        self._display = display

    @property
    def driven(self) -> bool:
        """Whether the client's process was watched."""
        return self.hung or self.exit_code is not None

    @property
    def how_it_ended(self) -> str:
        """A phrase for a report."""
        if self.hung:
            return "the client did not end and had to be ended"
        return "unknown" if self.exit_code is None else f"the client exited with {self.exit_code}"

    def check(self, rule: str, ok: bool, expected: str, saw: object) -> bool:
        """As Stage.check."""
        if rule not in self._rules:
            raise ValueError(f"{rule} is checked and not named")
        self.checks.append(Check(rule, ok, expected, str(saw), origin=Origin.AFTERMATH))
        return ok

    def not_exercised(self, rule: str, reason: str) -> None:
        """As Stage.not_exercised."""
        self.reasons[rule] = reason

    def display(self, *rules: str) -> Display | None:
        """The display record; without one, these rules are not exercised for that reason."""
        if self._display is None:
            for rule in rules:
                self.not_exercised(rule, NO_DISPLAY)
        return self._display

    def check_shown_whole(self, rule: str, turn: int = 1, crossing: str = "") -> None:
        """What the user saw of a turn's message must be what the script has said, to the byte.

        crossing: text of an earlier turn that may stand before it any number of times, because it crossed the prompt.
        """
        display = self.display(rule)
        said = self.notes.get("said") or []
        if display is None:
            return
        if len(said) < turn or not said[turn - 1]["ended"]:
            self.not_exercised(rule, f"turn {turn} did not come to its end")
            return
        text = display.turn_text(turn)
        while crossing and text.startswith(crossing):
            text = text[len(crossing) :]
        shown = text.encode("utf-8", "surrogatepass")
        ok = hashlib.sha256(shown).hexdigest() == said[turn - 1]["sha256"]
        saw = "the same" if ok else f"other text, of {len(shown):,} bytes" if shown else "nothing"
        self.check(
            rule,
            ok,
            f"all {said[turn - 1]['bytes']} bytes of turn {turn} on the screen, as they were sent",
            saw,
        )

    def check_noticed(self, rule: str, what: str) -> None:
        """The client must have ended by itself, and not as if all were well: R-301's kind of check.

        An exit code of 0 is well if the display record shows an error.
        """
        if not self.driven:
            self.not_exercised(rule, "how the client ended is not known here")
            return
        shown = self._display is not None and any(
            record.get("kind") == "error" for record in self._display.records
        )
        ok = not self.hung and (self.exit_code != 0 or shown)
        self.check(rule, ok, f"the client ends and reports {what}", self.how_it_ended)
