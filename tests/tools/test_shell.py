"""The bash tool: how a result reads, through real commands."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from acp_agent import process
from acp_agent.tools.base import ToolError, ToolResult
from acp_agent.tools.shell import BashTool


def bash(
    command: str, *, cwd: Path = Path("/"), limit: int = 1000, timeout_s: float = 60, **more: object
) -> ToolResult:
    tool = BashTool(timeout_s=timeout_s, max_output_bytes=limit, environ={"PATH": os.environ["PATH"]})

    async def work() -> ToolResult:
        try:
            return await tool.run({"command": command, **more}, cwd)
        finally:
            await process.end_all()

    return asyncio.run(work())


@pytest.mark.parametrize(
    ("command", "output", "failed"),
    [
        ("echo hello", "hello\n", False),
        ("printf hello", "hello", False),
        ("true", "(no output)", False),
        ("false", "[exit code 1]", True),
        ("printf hello; exit 3", "hello\n[exit code 3]", True),
        ("echo hello >&2; exit 3", "hello\n[exit code 3]", True),
        ("kill -KILL $$", "[ended by SIGKILL]", True),
        (
            "no-such-command-here",
            "bash: line 1: no-such-command-here: command not found\n[exit code 127]",
            True,
        ),
        ("echo 'a <b' && cat", "a <b\n", False),
        ("printf 'a\\0b'", "a\0b", False),
    ],
)
def test_the_result_is_the_output_and_how_it_ended(command: str, output: str, failed: bool) -> None:
    """Exit code told, non-zero is failed; B302, B309."""
    assert bash(command) == ToolResult(output, failed=failed)


def test_a_timeout_is_told_after_the_output() -> None:
    """The call's timeout goes before the configured one, and may be longer too."""
    assert bash("echo begun; sleep 600", timeout=1.5) == ToolResult(
        "begun\n[ended after 1.5 s: timeout]", failed=True
    )
    assert bash("sleep 600", timeout_s=0.2).output == "[ended after 0.2 s: timeout]"
    assert bash("echo x", timeout_s=0.0001, timeout=1e300).output == "x\n"


def test_processes_left_in_the_background_are_told() -> None:
    """B304: returns with "done"; the model learns what becomes of the rest."""
    result = bash("sleep 600 & echo done")
    assert result == ToolResult("done\n[processes still run in the background; they end with this turn]")


def test_long_and_binary_output_stays_short_and_valid() -> None:
    """B307, B309: under the cap with head, tail and a note; valid JSON comes out."""
    for command in ("yes | head -c 3M", "head -c 100000 /dev/urandom"):
        output = bash(command).output
        assert len(output.encode()) < 1100
        assert "bytes left out ...]\n" in output
        assert json.loads(json.dumps(output)) == output


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("a\0b", "NUL character"),
        ("a\ud800b", "a character no program can be given"),
        ("true #" + "x" * 200_000, "longer than the system allows"),
    ],
)
def test_a_command_that_cannot_be_given_is_one_sentence(command: str, sentence: str) -> None:
    """B309: U+0000 and a lone surrogate in the command are tool errors."""
    with pytest.raises(ToolError, match=sentence):
        bash(command)


def test_a_missing_directory_is_one_sentence(tmp_path: Path) -> None:
    """The session's directory may have been removed."""
    with pytest.raises(ToolError, match=r"The command was not run: the working directory .* does not exist"):
        bash("true", cwd=tmp_path / "absent")


def test_the_call_is_described_for_people_and_the_model() -> None:
    """Title, kind, and what the schema promises."""
    tool = BashTool(timeout_s=7, max_output_bytes=99, environ={})
    assert tool.title({"command": "ls -l"}) == "bash: ls -l"
    assert (tool.name, tool.kind, tool.locations({"command": "ls"}, Path("/"))) == ("bash", "execute", [])
    assert "99 bytes" in tool.description
    assert "7 if absent" in json.dumps(tool.parameters)
