"""The read_skill tool: the model loads what a skill says, when it wants to use it.

Owns the call's form. Absent on purpose: where skills are and what they say; whoever builds the tool gives that.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from acp_agent.tools.base import Arguments, Counted, ToolKind, ToolResult, text


class ReadSkillTool:
    """A skill's text by its name. It shows only what the user has put there for it: no permission is needed."""

    name = "read_skill"
    kind: ToolKind = "read"
    needs_permission = False
    counts_as: Counted = "skill"
    description = (
        "Load the instructions of one of the skills listed in the system prompt. "
        "Call it before you do what a skill is for, and when the user names one as $name."
    )
    parameters: dict[str, object] = {  # noqa: RUF012 - the protocol of Tool is read-only
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 1, "description": "The skill's name, as it is listed."}
        },
        "required": ["name"],
    }

    def __init__(self, bodies: Callable[[str], str]) -> None:
        """bodies: from a skill's name to what the model is to read; raises ToolError for an unknown name."""
        self._bodies = bodies

    def title(self, arguments: Arguments) -> str:
        return f"read_skill: {_name(arguments)}"

    def locations(self, arguments: Arguments, cwd: Path) -> list[str]:
        return []

    async def run(self, arguments: Arguments, cwd: Path) -> ToolResult:
        """Read the skill as it is now. Raises ToolError."""
        return ToolResult(self._bodies(_name(arguments)))


def _name(arguments: Arguments) -> str:
    """The name without the sign before it, which a model may take over from the prompt."""
    name = text(arguments, "name").strip()
    return name[1:] if name.startswith(("$", "/")) else name
