"""What can end a script before its last line, as exceptions; what each of them means is for play.py to say."""

from __future__ import annotations


class NotExercised(Exception):
    """The situation did not come about, through nobody's fault; the text says why."""


class NotApplicable(Exception):
    """The client does not offer what this is about; the text says what."""


class ClientGone(Exception):
    """The client has ended the connection while something was awaited of it."""


class Died(Exception):
    """The script has ended the agent. exit_code: what the process leaves with."""

    def __init__(self, exit_code: int) -> None:
        super().__init__(f"the agent exits with {exit_code}")
        self.exit_code = exit_code
