"""A request of the scripted agent and the answer of the client to it.

Deliberately absent: sending it (stage.py) and judging the answer (scripts do, with `stage.check`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple

from acp_agent.harness.endings import NotExercised
from acp_agent.jsonrpc import codec
from acp_agent.jsonrpc.messages import RequestId

ANSWER_S: Final = 10.0
"""How long an answer may take that needs no person: so long that a busy machine is not taken for a faulty client."""

FOR_PEOPLE: Final = frozenset({"session/request_permission", "elicitation/create"})
"""Requests that a person answers."""

_SHOWN: Final = 300


class Answer(NamedTuple):
    """What came back. message: the response as it was, None if nothing came in time. number: in the transcript."""

    message: dict[str, Any] | None
    number: int = -1

    @property
    def arrived(self) -> bool:
        """Whether there was an answer."""
        return self.message is not None

    @property
    def result(self) -> Any:
        """The `result` member, None without one."""
        return self.message.get("result") if self.message is not None else None

    @property
    def is_result(self) -> bool:
        """Whether it is a success."""
        return self.message is not None and "result" in self.message

    @property
    def code(self) -> int | None:
        """The error's code; None for anything else."""
        error = self.message.get("error") if self.message is not None else None
        code = error.get("code") if isinstance(error, dict) else None
        return code if isinstance(code, int) else None

    def member(self, name: str) -> Any:
        """A member of the result, None if there is none."""
        return self.result.get(name) if isinstance(self.result, dict) else None

    @property
    def outcome(self) -> str | None:
        """For a permission: `selected` or `cancelled`, or whatever was sent as outcome."""
        outcome = self.member("outcome")
        value = outcome.get("outcome") if isinstance(outcome, dict) else None
        return value if isinstance(value, str) else None

    @property
    def option_id(self) -> str | None:
        """For a permission: the option that was selected."""
        outcome = self.member("outcome")
        value = outcome.get("optionId") if isinstance(outcome, dict) else None
        return value if isinstance(value, str) else None

    def __str__(self) -> str:
        """For a report: the message, cut short."""
        if self.message is None:
            return "no answer"
        text = codec.encode(self.message).decode("utf-8", "replace").strip()
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


NO_ANSWER: Final = Answer(None)


class Asked:
    """One request of the agent. number: in the transcript. answers: every response to its id, oldest first.

    patience: by which waits are longer.
    """

    def __init__(
        self,
        id_: RequestId,
        method: str,
        number: int,
        until: Callable[[Callable[[], bool], float], Awaitable[bool]],
        patience: float = 1.0,
    ) -> None:
        self.id = id_
        self.method = method
        self.number = number
        self.answers: list[Answer] = []
        self._until = until
        self._patience = patience

    @property
    def is_answered(self) -> bool:
        """Whether an answer has come."""
        return bool(self.answers)

    async def answer(self, within_s: float = ANSWER_S) -> Answer:
        """Wait for the answer; NO_ANSWER after within_s.

        Raises ClientGone if the client leaves before, and NotExercised if it is for a person to answer, who may take
        any time and breaks no rule by it.
        """
        await self._until(lambda: bool(self.answers), within_s * self._patience)
        if self.answers:
            return self.answers[0]
        if self._patience > 1:
            raise NotExercised("the question was not answered in time")
        return NO_ANSWER
