"""The user of a driven client: does what ACP_HARNESS_PLAN says, puts down what they see in ACP_HARNESS_DISPLAY.

Both are described in docs/harness.md. Shared by the adapters in Python, each of which runs in the environment of its
peer: the standard library alone. Deliberately absent: the protocol, which is the peer's business.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PLAN = "ACP_HARNESS_PLAN"
DISPLAY = "ACP_HARNESS_DISPLAY"
KINDS = ("allow_once", "allow_always", "reject_once", "reject_always")
SHOWN_AS = {"agent_message_chunk": "message", "agent_thought_chunk": "thought", "user_message_chunk": "user"}
"""Updates whose text is shown -> the kind of the display record."""
_COUNTED = {"agent_message_chunk": "chunk", "agent_thought_chunk": "thought", "tool_call": "tool_call"}

Step = dict[str, Any]


class User:
    """One run of a client. session, turn (from 1), in_turn, replaying: where it stands; exit_code: what it will be.

    opening: a session is being opened whose id is not known yet.
    """

    def __init__(self) -> None:
        self._steps: list[Step] = json.loads(os.environ.get(PLAN, "[]"))
        self._choice = "allow_once"
        self._counts: dict[str, int] = {}
        self._text: list[str] = []
        self._turn_started = self._started = time.monotonic()
        display = os.environ.get(DISPLAY)
        self._display = Path(display) if display else None
        self.session: str | None = None
        self.turn = 0
        self.in_turn = False
        self.replaying = False
        self.opening = False
        self.exit_code = 0

    # -- what they do

    def take(self, on: str) -> Step | None:
        """The next unused step of a moment."""
        for step in self._steps:
            if step.get("on") == on:
                self._steps.remove(step)
                return step
        return None

    def stops_now(self) -> bool:
        """Whether a cancel that waits for a number of updates, or for milliseconds, is due: it is used then."""
        counts = {**self._counts, "ms": int((time.monotonic() - self._turn_started) * 1000)}
        for step in self._steps:
            what, _, number = step.get("after", "").partition(":")
            if self.in_turn and number and counts.get(what, 0) >= int(number):
                self._steps.remove(step)
                return True
        return False

    def stop_times_s(self) -> list[float]:
        """After how many seconds of the turn that begins `stops_now` is to be asked."""
        steps = (step.get("after", "").partition(":") for step in self._steps)
        return [int(number) / 1000 for what, _, number in steps if what == "ms"]

    def choose(self, step: Step | None, options: Sequence[tuple[str, str]]) -> str | None:
        """The id among options (id, kind): the plan's choice, else one that refuses, else any; None: there is none."""
        if step is not None:
            self._choice = step["choose"]
        by_kind = self._choice in KINDS
        chosen = [id_ for id_, kind in options if self._choice == (kind if by_kind else id_)]
        refusing = [id_ for id_, kind in options if kind.startswith("reject")]
        return next((id_ for id_ in (*chosen, *refusing, *(id_ for id_, _ in options))), None)

    # -- what they see

    def begin_turn(self, text: str) -> None:
        """A prompt is sent."""
        self.turn += 1
        self.in_turn = True
        self._counts, self._text = {}, []
        self._turn_started = time.monotonic()
        self.show("user", text=text)

    def end_turn(self, stop_reason: str) -> None:
        """The answer to the prompt is there; what ended early makes for an exit code of 3."""
        self.show("end", stopReason=stop_reason, text="".join(self._text))
        self.in_turn = False
        if stop_reason not in {"end_turn", "cancelled"}:
            self.exit_code = self.exit_code or 3

    def fail_turn(self, sentence: str) -> None:
        """The prompt got an error, or none of it came to an end: an exit code of 1."""
        self.fail(sentence)
        self.in_turn = False
        self.exit_code = self.exit_code or 1

    def fail(self, sentence: str) -> None:
        """They are told of a failure."""
        self.show("error", text=sentence)

    def watches(self, session_id: str) -> bool:
        """Whether what comes for a session is shown: it is the one that is open, or may be the one that will be."""
        return self.opening or session_id == self.session

    def see_text(self, kind: str, text: str, session_id: str) -> None:
        """A piece of text of an update of this kind."""
        shown = SHOWN_AS[kind]
        if shown == "message" and self.in_turn:
            self._text.append(text)
        self.show(shown, session=session_id, text=text)

    def count(self, kind: str) -> None:
        """An update of this kind has come, for the steps that wait for a number of them."""
        if self.in_turn:
            for name in ("update", _COUNTED.get(kind)):
                if name is not None:
                    self._counts[name] = self._counts.get(name, 0) + 1

    def show(self, kind: str, **members: Any) -> None:
        """A line of the display record."""
        if self._display is None:
            return
        record: dict[str, Any] = {"t": round(time.monotonic() - self._started, 4), "kind": kind}
        record |= {"session": self.session, "turn": self.turn if self.in_turn else None}
        if self.replaying:
            record["replay"] = True
        with self._display.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(record | members)}\n")
