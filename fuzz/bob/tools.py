"""Tools that do what a case has written down, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from acp_agent.tools.base import FileDiff, ToolError, ToolResult


class PlainTool:
    """`what` says what it does: done, failed, error, bug, diff, wait, odd. ran: tells whoever wants to know of it."""

    description = "for the fuzzer"
    kind: Any = "execute"
    counts_as: Any = "command"

    def __init__(
        self, name: str, *, needs_permission: bool, ran: Callable[[str], None] = lambda _: None
    ) -> None:
        self.name = name
        self.needs_permission = needs_permission
        self.parameters: dict[str, object] = {"type": "object", "properties": {"what": {"type": "string"}}}
        self._ran = ran

    def title(self, arguments: dict[str, object]) -> str:
        return f"{self.name}: {arguments.get('what', '')}"

    def locations(self, arguments: dict[str, object], cwd: Path) -> list[str]:
        return [str(cwd / "f")] if arguments.get("what") == "diff" else []

    async def run(self, arguments: dict[str, object], cwd: Path) -> ToolResult:
        self._ran(self.name)
        match arguments.get("what", "done"):
            case "failed":
                return ToolResult("it failed", failed=True)
            case "error":
                raise ToolError("it cannot be done.")
            case "bug":
                raise KeyError("a bug of a tool")
            case "diff":
                return ToolResult("changed", diff=FileDiff(str(cwd / "f"), None, "new"))
            case "wait":
                await asyncio.sleep(3600.0)
            case "odd":
                return ToolResult("\0\x1b[31m\u2028é\n" * 50)
        return ToolResult("done")
