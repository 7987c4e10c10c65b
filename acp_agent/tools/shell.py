"""The bash tool: one command, run to its end.

Owns the wording of the result. How a child is run, clipped and ended is `process`; who outlives the
turn is decided there, and told to the model here.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from acp_agent import process
from acp_agent.tools.base import Arguments, Counted, ToolError, ToolKind, ToolResult, number, text


class BashTool:
    """`bash -c command` in the session's directory, stdin from /dev/null, both outputs in one."""

    name = "bash"
    kind: ToolKind = "execute"
    counts_as: Counted = "command"
    needs_permission = True

    def __init__(
        self,
        *,
        timeout_s: float,
        max_output_bytes: int,
        environ: Mapping[str, str],
    ) -> None:
        """timeout_s: for calls that name none; a call may ask for any time above 0, more or less.

        environ: what commands see, whole; take secrets out first with process.child_environment.
        """
        self._timeout_s = timeout_s
        self._max_output_bytes = max_output_bytes
        self._environ = dict(environ)
        self.description = (
            "Run a command with bash in the working directory and give its output, stdout and stderr "
            "together. There is no input: a command that asks for some gets end of file. "
            f"Output longer than {max_output_bytes} bytes is cut in the middle. "
            "Processes left in the background end with the turn, unless started with setsid."
        )
        self.parameters: dict[str, object] = {
            "type": "object",
            "properties": {
                "command": {
                    "type": "string",
                    "minLength": 1,
                    "description": "The command, as bash takes it.",
                },
                "timeout": {
                    "type": "number",
                    "exclusiveMinimum": 0,
                    "description": f"Seconds until the command is ended; {timeout_s:g} if absent.",
                },
            },
            "required": ["command"],
        }

    def title(self, arguments: Arguments) -> str:
        return f"bash: {text(arguments, 'command')}"

    def locations(self, arguments: Arguments, cwd: Path) -> list[str]:
        return []

    async def run(self, arguments: Arguments, cwd: Path) -> ToolResult:
        """Run the command; failed unless it exits with 0 in time. Raises ToolError if it did not start."""
        command = text(arguments, "command")
        timeout_s = number(arguments, "timeout", self._timeout_s)
        if "\0" in command:
            raise ToolError(
                "The command holds a NUL character, which bash cannot be given; write it as $'\\0'."
            )
        try:
            outcome = await process.run(
                ["bash", "-c", command],
                cwd=cwd,
                env=self._environ,
                timeout_s=timeout_s,
                max_output_bytes=self._max_output_bytes,
            )
        except process.CannotStart as error:
            raise ToolError(f"The command was not run: {error}.") from error
        notes = []
        if outcome.timed_out:
            notes.append(f"[ended after {timeout_s:g} s: timeout]")
        elif outcome.signal_name is not None:
            notes.append(f"[ended by {outcome.signal_name}]")
        elif outcome.exit_code:
            notes.append(f"[exit code {outcome.exit_code}]")
        failed = bool(notes)
        if outcome.leaves_behind:
            notes.append("[processes still run in the background; they end with this turn]")
        output = outcome.output
        if not output and not failed:
            output = "(no output)"
        if notes and output and not output.endswith("\n"):
            output += "\n"
        return ToolResult(output + "\n".join(notes), failed=failed)
