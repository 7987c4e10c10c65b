"""One tool call from the model's wish to its result: announced, allowed, run, reported.

Owns the order of its updates and the ids `call_1`, `call_2`, ... of the process.
Deliberately absent: what a tool does (tools/), and how a permission is got (permissions.py).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypedDict

from acp_agent.agent.log import Log
from acp_agent.agent.peer import Peer
from acp_agent.agent.permissions import Permission
from acp_agent.agent.session import Session
from acp_agent.agent.updates import Status, diff_content, text_content, tool_call, tool_call_update
from acp_agent.llm.model import ToolCallReady
from acp_agent.tools.base import Arguments, Counted, Tool, ToolError, ToolResult
from acp_agent.tools.registry import ToolRegistry

REJECTED: Final = "[command rejected by the user]"
CANCELLED: Final = "[cancelled by the user]"

# Numbered for the whole process and never reset, so that no two sessions of it share an id.
_numbers = itertools.count(1)


@dataclass(slots=True)
class Tally:
    """What a turn has done, for its last log line."""

    commands: int = 0
    file_operations: int = 0
    skills: int = 0

    def count(self, what: Counted) -> None:
        """Count one tool that ran, or one skill that was read."""
        match what:
            case "command":
                self.commands += 1
            case "file operation":
                self.file_operations += 1
            case "skill":
                self.skills += 1

    def __str__(self) -> str:
        return f"{self.commands} command(s) · {self.file_operations} file op(s) · {self.skills} skill(s)"


class Described(TypedDict):
    """What a call is announced with, live and in a replay."""

    title: str
    kind: str
    raw_input: object
    paths: Sequence[str]
    name: str


def describe(tool: Tool, arguments: Arguments, cwd: Path) -> Described:
    """A call that can be carried out."""
    return {
        "title": tool.title(arguments),
        "kind": tool.kind,
        "raw_input": arguments,
        "paths": tool.locations(arguments, cwd),
        "name": tool.name,
    }


def describe_unreadable(name: str, arguments_json: str) -> Described:
    """A call of a tool that does not exist, or with arguments that are none."""
    return {
        "title": name,
        "kind": "other",
        "raw_input": {"arguments": arguments_json},
        "paths": (),
        "name": name,
    }


class ToolCalls:
    """Runs the tool calls of one turn, one after the other."""

    def __init__(self, peer: Peer, session: Session, tools: ToolRegistry, log: Log) -> None:
        self.tally = Tally()
        self._peer = peer
        self._session = session
        self._tools = tools
        self._log = log
        self._permission = Permission(peer, session)
        self._open: str | None = None

    async def run(self, wish: ToolCallReady) -> ToolResult:
        """Carry out one call; its output is what the model is to be told.

        A tool that fails, in whatever way, is a result. Cancelled: the call stays open until `close`.
        """
        call_id = self._open = self._new_id(wish.id)
        try:
            tool, arguments = self._tools.parse(wish.name, wish.arguments)
        except ToolError as error:
            announced = tool_call(call_id, **describe_unreadable(wish.name, wish.arguments))
            self._peer.update(self._session.id, announced)
            return self._end(call_id, ToolResult(str(error), failed=True))
        announced = tool_call(call_id, **describe(tool, arguments, self._session.cwd))
        self._peer.update(self._session.id, announced)
        if tool.needs_permission and not await self._permission.ask(tool.name, announced):
            return self._end(call_id, ToolResult(REJECTED, failed=True))
        self._report(call_id, "in_progress")
        if tool.counts_as != "skill":  # it counts although it may fail or be cut short: something was done
            self.tally.count(tool.counts_as)
        result = await self._run_tool(tool, arguments)
        if tool.counts_as == "skill" and not result.failed:
            self.tally.count(tool.counts_as)
        return self._end(call_id, result)

    async def close(self, wait_s: float) -> None:
        """The turn ends: settle an open permission within wait_s, give an open call its final status."""
        await self._permission.settle(wait_s)
        if self._open is not None and self._peer.is_open:
            self._end(self._open, ToolResult(CANCELLED, failed=True))

    async def _run_tool(self, tool: Tool, arguments: dict[str, Any]) -> ToolResult:
        try:
            return await tool.run(arguments, self._session.cwd)
        except ToolError as error:
            return ToolResult(str(error), failed=True)
        except Exception as error:  # noqa: BLE001 - a tool's bug is the tool's result, not the end of the turn
            self._log.say(f"tool {tool.name} failed unexpectedly: {type(error).__name__}: {error}")
            self._log.trace(error)
            return ToolResult(f"{tool.name} failed: {type(error).__name__}: {error}", failed=True)

    def _new_id(self, given: str) -> str:
        """The next id that this session's client has not seen in a replay."""
        session = self._session
        call_id = next(id_ for number in _numbers if (id_ := f"call_{number}") not in session.replayed_ids)
        session.live_ids[call_id] = given
        return call_id

    def _end(self, call_id: str, result: ToolResult) -> ToolResult:
        if result.diff is not None:
            content = diff_content(result.diff.path, result.diff.old_text, result.diff.new_text)
        else:
            content = text_content(result.output)
        self._open = None
        status: Status = "failed" if result.failed else "completed"
        self._report(call_id, status, [content], result.output)
        return result

    def _report(
        self,
        call_id: str,
        status: Status,
        content: list[dict[str, Any]] | None = None,
        output: str | None = None,
    ) -> None:
        update = tool_call_update(call_id, status, content=content, output=output)
        self._peer.update(self._session.id, update)
