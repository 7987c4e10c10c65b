"""The agent's process: its command line, its end, and that nothing of it stays behind."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from acp_agent.client.client import Limits
from acp_agent.client.errors import CannotStartAgent
from acp_agent.client.spawn import AgentProcess, spawn

if TYPE_CHECKING:
    from conftest import Talk

Until = Callable[[Callable[[], bool]], Awaitable[None]]

PRINT_ARGUMENTS = "import os,sys,json; print(json.dumps([sys.argv[1:], os.getcwd(), os.environ['ODD']]))"


def output_of(
    command: Sequence[str], cwd: Path, env: dict[str, str] | None = None
) -> tuple[bytes, AgentProcess]:
    """Run a command to its own end."""
    received = bytearray()

    async def scenario() -> AgentProcess:
        ended = asyncio.Event()
        async with asyncio.timeout(20):
            agent = await spawn(command, cwd=cwd, env=env, on_bytes=received.extend, on_ended=ended.set)
            await ended.wait()
            await agent.close()
        return agent

    agent = asyncio.run(scenario())
    return bytes(received), agent


def is_alive(pid: int) -> bool:
    """Whether the process runs; a zombie that nobody reaped yet does not."""
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout
    return state.strip()[:1] not in {"", "Z"}


def test_the_command_is_passed_on_word_for_word(tmp_path: Path) -> None:
    """R-310, B079: spaces, quotes, dollars and line ends in arguments and environment; the directory is the project."""
    words = ["a b", "'\"", "$HOME", "*", "", "x\ny"]
    env = {**os.environ, "ODD": "a\nb"}
    output, agent = output_of([sys.executable, "-c", PRINT_ARGUMENTS, *words], tmp_path, env)
    assert json.loads(output) == [words, str(tmp_path.resolve()), "a\nb"]
    assert agent.exit_code == 0
    assert "exit code 0" in agent.ending()


@pytest.mark.parametrize(
    ("command", "cwd", "sentence"),
    [
        (["no-such-program-at-all"], ".", "was not found"),
        ([], ".", "is empty"),
        ([sys.executable], "missing", "does not exist or is not a directory"),
        (["/"], ".", "cannot be started: Permission denied"),
        ([sys.executable, "a\0b"], ".", "hold a character no program can be given"),
    ],
)
def test_what_cannot_be_started_is_told_in_a_sentence(
    tmp_path: Path, command: list[str], cwd: str, sentence: str
) -> None:
    with pytest.raises(CannotStartAgent, match=sentence):
        output_of(command, tmp_path / cwd)


def test_output_after_the_exit_of_the_agent_is_still_read(tmp_path: Path) -> None:
    """All that it wrote comes before its end is told, also when a child holds the pipe open."""
    command = ["sh", "-c", "sleep 60 & head -c 3000000 /dev/zero"]
    output, agent = output_of(command, tmp_path)
    assert len(output) == 3_000_000
    assert agent.exit_code == 0


def test_a_shell_around_the_agent_and_its_children_all_end(tmp_path: Path, until: Until) -> None:
    """R-307, B076: the whole group, in order: input, grace, SIGTERM, SIGKILL."""
    pids: list[int] = []

    async def scenario() -> int | None:
        found = bytearray()
        async with asyncio.timeout(20):
            agent = await spawn(
                ["sh", "-c", "trap '' TERM; sleep 600 & echo $!; exec cat"],
                cwd=tmp_path,
                on_bytes=found.extend,
                on_ended=lambda: None,
            )
            await until(lambda: found.endswith(b"\n"))
            pids.extend([int(found), agent.pid])
            code = await agent.close()
            assert await agent.close() == code
            return code

    assert asyncio.run(scenario()) == 0
    assert not any(is_alive(pid) for pid in pids)


def test_an_agent_that_does_not_go_is_killed_with_its_children(talk: Talk) -> None:
    """R-307: it ignores the end of its input and SIGTERM."""
    pids: list[int] = []

    async def scenario() -> None:
        limits = Limits(exit_grace_s=0.2)
        async with talk.session("with_child", limits=limits) as (client, session_id):
            await client.prompt(session_id, "go")
            pids.extend([int(talk.text()), client.pid])
            assert await client.close() == -9

    talk.run(scenario)
    assert not any(is_alive(pid) for pid in pids)


def test_two_agents_at_once_both_end(talk: Talk) -> None:
    """B076."""
    pids: list[int] = []

    async def scenario() -> None:
        async with talk.session("plain") as (one, _), talk.session("plain") as (two, _):
            pids.extend([one.pid, two.pid])
            assert all(is_alive(pid) for pid in pids)

    talk.run(scenario)
    assert not any(is_alive(pid) for pid in pids)


def test_a_cancelled_close_still_ends_the_agent(talk: Talk) -> None:
    async def scenario() -> None:
        async with talk.session("plain") as (client, _):
            closing = asyncio.ensure_future(client.close())
            await asyncio.sleep(0)
            closing.cancel()
            await asyncio.wait([closing])
            assert closing.cancelled()
            assert await client.close() == 0

    talk.run(scenario)
