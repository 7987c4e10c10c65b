"""A scenario in front of a person: what is said in its turns, and a turn that stays open until the verdict is said.

An agent has a voice only in a turn. So the answer to a prompt, which ends the turn, is held back until the script
does anything else or is over; then the verdict is the last thing said in it. Owns also that scenarios that follow
each other on one connection have different ids for their tool calls and elicitations.
Deliberately absent: the words (chat.py), and which scenario is next (menu.py).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from acp_agent.harness.wire import IllegalMove, Wire
from acp_agent.jsonrpc.messages import RequestId

PATIENCE: Final = 4.0
"""A person reads, looks for the button and presses it: waits for people are longer by this factor."""

_IDS: Final = ("toolCallId", "elicitationId")


class HeldAnswer(NamedTuple):
    """The answer to a prompt that has not been sent yet."""

    session_id: str
    prompt_id: RequestId
    message: dict[str, Any]
    on_purpose: bool

    @property
    def ends_well(self) -> bool:
        """Whether nothing but the end of the turn would be lost with it."""
        result = self.message.get("result")
        return isinstance(result, dict) and result == {"stopReason": "end_turn"}


class Narration:
    """Of one scenario. greeting: what is said when its first turn begins. number: the how manieth on the connection."""

    def __init__(self, wire: Wire, greeting: str = "", number: int = 1) -> None:
        self.greeting = greeting
        self.held: HeldAnswer | None = None
        self._wire = wire
        self._suffix = "" if number == 1 else f"-{number}"

    def say(self, session_id: str, text: str) -> None:
        """A message chunk in an open turn."""
        content = {"type": "text", "text": text}
        update = {"sessionUpdate": "agent_message_chunk", "content": content}
        params = {"sessionId": session_id, "update": update}
        self._wire.send({"jsonrpc": "2.0", "method": "session/update", "params": params}, on_purpose=True)

    def hold(self, answer: HeldAnswer) -> int:
        """Keep an answer back; returns the number that it would have had."""
        self.release()
        self.held = answer
        return self._wire.transcript.next_number

    def release(self) -> None:
        """Send what is held. Raises IllegalMove as Wire.send does."""
        held, self.held = self.held, None
        if held is not None:
            self._wire.send(held.message, on_purpose=held.on_purpose)

    def release_anyway(self) -> None:
        """The same when the script is over, and nobody is left to be told of an illegal move."""
        held = self.held
        try:
            self.release()
        except IllegalMove:
            if held is not None:
                self._wire.send(held.message, on_purpose=True)

    def renamed(self, value: Any) -> Any:
        """A message with ids of its own wherever the scripts have fixed ones."""
        if not self._suffix:
            return value
        if isinstance(value, dict):
            return {
                key: f"{item}{self._suffix}" if key in _IDS and isinstance(item, str) else self.renamed(item)
                for key, item in value.items()
            }
        return [self.renamed(item) for item in value] if isinstance(value, list) else value
