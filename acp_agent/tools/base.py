"""What a tool is: a name, a JSON Schema, and an action that gives text for the model.

Owns the values that pass between a tool and whoever runs it. Absent on purpose: permissions, updates
and everything else of the protocol, and the model's way of asking.

    ToolError    the tool did not do it, for a reason the model can act on
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple, Protocol

ToolKind = Literal["execute", "read", "edit"]
Counted = Literal["command", "file operation", "skill"]
"""What a call counts as when a turn is summed up."""

Arguments = dict[str, object]
"""The members of a call, checked against the tool's schema by ToolRegistry.parse."""


class FileDiff(NamedTuple):
    """A changed file: absolute path, whole text before (None: it is new) and after, without a BOM."""

    path: str
    old_text: str | None
    new_text: str


class ToolResult(NamedTuple):
    """What the model is told, whether it counts as a failure, and the change, if a file was changed."""

    output: str
    failed: bool = False
    diff: FileDiff | None = None


class ToolError(Exception):
    """The call failed; the text is one sentence the model can act on."""


class Tool(Protocol):
    """One tool. All but `run` is cheap and has no effect."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str:
        """For the model."""

    @property
    def kind(self) -> ToolKind: ...

    @property
    def counts_as(self) -> Counted: ...

    @property
    def needs_permission(self) -> bool:
        """False for a tool that can do no harm and shows nothing the user has not put there for it."""

    @property
    def parameters(self) -> dict[str, object]:
        """A JSON Schema of type object."""

    def title(self, arguments: Arguments) -> str:
        """For a person, such as `bash: ls`; a command of several lines is there with all of them, it is what is
        allowed or not."""

    def locations(self, arguments: Arguments, cwd: Path) -> list[str]:
        """Absolute paths of the files the call is about; [] if there are none or the path is no path."""

    async def run(self, arguments: Arguments, cwd: Path) -> ToolResult:
        """Do it. Raises ToolError; cancelled, it leaves nothing running and changes nothing any more."""


def text(arguments: Arguments, name: str) -> str:
    """Take a member that must be a string. Raises ToolError."""
    value = arguments.get(name)
    if not isinstance(value, str):
        raise ToolError(f'The argument "{name}" must be a string.')
    return value


def number(arguments: Arguments, name: str, default: float) -> float:
    """Take a number, or the default when the member is absent. Raises ToolError."""
    value = arguments.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ToolError(f'The argument "{name}" must be a number.')
    return value
