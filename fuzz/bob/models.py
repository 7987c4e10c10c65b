"""Models that say what a case has written down."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from reference.chat import assert_valid

from acp_agent.llm.errors import ContextOverflow, ModelError, ModelTimeout
from acp_agent.llm.model import (
    Finished,
    FinishReason,
    Message,
    ModelEvent,
    ReasoningDelta,
    TextDelta,
    ToolCallReady,
    ToolSpec,
    Usage,
)

_ERRORS: dict[str, type[ModelError]] = {"timeout": ModelTimeout, "overflow": ContextOverflow}


class PlainModel:
    """Plays one list of steps a call, then only says `ok`. Every conversation that it is sent has to be valid.

    A step is ["text", t], ["thought", t], ["call", name, arguments], ["finish", reason, input tokens],
    ["error", kind], ["wait", seconds], ["bug"] or ["swallow"], which waits and swallows a cancel.
    """

    label = "a model of the fuzzer"

    def __init__(self, replies: Sequence[Sequence[Any]]) -> None:
        self._replies = [list(reply) for reply in replies]
        self._calls = 0
        self.asked = 0

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec]
    ) -> AsyncGenerator[ModelEvent, None]:
        """Play the next reply."""
        assert_valid(messages)
        self.asked += 1
        said = False
        for step in self._replies.pop(0) if self._replies else [["text", "ok"], ["finish", "stop", 0]]:
            match step:
                case ["text", text]:
                    yield TextDelta(text)
                case ["thought", text]:
                    yield ReasoningDelta(text)
                case ["call", name, arguments]:
                    self._calls += 1
                    said = True
                    yield ToolCallReady(f"c{self._calls}", name, arguments)
                case ["finish", reason, tokens]:
                    yield Finished(FinishReason(reason), Usage(tokens, 1))
                    return
                case ["error", kind]:
                    raise _ERRORS[kind](f"the model: {kind}")
                case ["wait", seconds]:
                    await asyncio.sleep(seconds)
                case ["bug"]:
                    raise ZeroDivisionError("a bug of a library")
                case ["swallow"]:
                    with contextlib.suppress(asyncio.CancelledError):
                        await asyncio.sleep(60.0)
        yield Finished(FinishReason.TOOL_CALLS if said else FinishReason.STOP, None)

    async def aclose(self) -> None:
        """Nothing is open."""
