"""The agent's process: started in a session of its own, its three pipes served, its end noticed and made certain.

Owns the process and its pipes. Slices of up to 256 KiB come as they arrive, so no line is too long here. Standard
error is always read, and only its end is kept. Deliberately absent: lines and messages (client.py), and who asks for
the end.

asyncio's subprocess transports serve the pipes; the protocol class below is all there is between them and us, since
asyncio's stream readers would stop at 64 KiB a line.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from acp_agent.client.errors import CannotStartAgent
from acp_agent.process import end_session

STDERR_KEPT_BYTES: Final = 64 * 1024
EXIT_GRACE_S: Final = 3.0
"""From the end of the agent's input to SIGTERM: Bob has 2 s to leave in order (state machines, K8)."""

_UNREAD_LIMIT_BYTES: Final = 16 * 1024 * 1024
_EXIT_NOTICE_S: Final = 0.5
"""From the end of its output to its exit, when both are one event."""
_QUIET_S: Final = 0.2
"""After its exit others may hold the pipe open; output counts as over when none came for so long."""


class AgentProcess:
    """A running agent. Made by `spawn`; whoever made it must see it through to `close`.

    on_bytes gets each slice of its output in order; on_ended is called once, after the last slice, when the output is
    over or the process has exited, whichever tells first.
    """

    def __init__(
        self,
        command: Sequence[str],
        on_bytes: Callable[[bytes], None],
        on_ended: Callable[[], None],
        on_stderr: Callable[[bytes], None] | None,
    ) -> None:
        self.command = tuple(command)
        self._on_bytes = on_bytes
        self._on_ended = on_ended
        self._on_stderr = on_stderr
        self._stderr = bytearray()
        self._transport: asyncio.SubprocessTransport | None = None
        self._exited = asyncio.Event()
        self._output_over = asyncio.Event()
        self._stderr_over = asyncio.Event()
        self._first_sign = asyncio.Event()  # of the end
        self._bytes_seen = 0
        self._largest_write = 0
        self._reading_paused = False
        self._ended = False
        self._watch: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[int | None] | None = None
        self.can_write = True

    # -- what it is

    @property
    def pid(self) -> int:
        """The process id, which is also the id of its session and process group."""
        pid = self._running().get_pid()
        if pid is None:
            raise RuntimeError("the agent was not started")
        return pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs; minus the number of the signal that ended it."""
        return self._transport.get_returncode() if self._transport is not None else None

    @property
    def stderr_tail(self) -> str:
        """The end of what it wrote to standard error, at most STDERR_KEPT_BYTES of it."""
        return self._stderr.decode(errors="replace")

    def ending(self) -> str:
        """How it ended, as a sentence; for the case that it runs, what it is doing to us."""
        name = Path(self.command[0]).name
        code = self.exit_code
        if code is None:
            return f"the agent ({name}) has closed its output"
        if code >= 0:
            return f"the agent ({name}) has ended with exit code {code}"
        try:
            named = signal.Signals(-code).name
        except ValueError:
            named = f"signal {-code}"
        return f"the agent ({name}) was ended by {named}"

    # -- talking to it

    def write(self, data: bytes) -> None:
        """Hand over bytes, in order, without waiting; once it reads no more they are dropped."""
        if not self.can_write:
            return
        self._input().write(data)
        self._largest_write = max(self._largest_write, len(data))
        # It asks and asks and does not read our answers: stop listening until it does. Our own largest message does
        # not count, or a long prompt would make us deaf to an agent that streams before it reads on.
        if self._input().get_write_buffer_size() - self._largest_write > _UNREAD_LIMIT_BYTES:
            self._pause_reading()

    async def close(self, grace_s: float = EXIT_GRACE_S) -> int | None:
        """End it in order: its input ends, it gets grace_s to leave, then SIGTERM and SIGKILL to its whole session.

        What it started and left behind ends with it. Returns the exit code, None if it can't be ended. Bounded; a
        second call waits for the first one. Cancelled, the ending goes on.
        """
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(grace_s))
        return await asyncio.shield(self._closing)

    async def _close(self, grace_s: float) -> int | None:
        transport = self._running()
        self.can_write = False
        self._input().close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace_s):
                await self._exited.wait()
        await end_session(self.pid, leader_reaped=self._exited.is_set())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_EXIT_NOTICE_S):
                await self._exited.wait()
        try:
            if self._watch is not None:
                await self._watch
        finally:
            code = self.exit_code
            transport.close()
            await asyncio.sleep(0)  # the transports say good-bye on the next pass of the loop
        return code

    # -- what the pipes say

    def started(self, transport: asyncio.SubprocessTransport) -> None:
        self._transport = transport
        self._watch = asyncio.get_running_loop().create_task(self._watch_end())

    def received(self, descriptor: int, data: bytes) -> None:
        if descriptor == 2:
            self._stderr += data
            del self._stderr[:-STDERR_KEPT_BYTES]
            if self._on_stderr is not None:
                self._on_stderr(data)
        elif not self._ended:
            self._bytes_seen += len(data)
            self._on_bytes(data)

    def pipe_lost(self, descriptor: int) -> None:
        if descriptor == 0:
            self.can_write = False
        elif descriptor == 1:
            self._output_over.set()
            self._first_sign.set()
        else:
            self._stderr_over.set()

    def exited(self) -> None:
        self._exited.set()
        self._first_sign.set()

    def room_to_write(self) -> None:
        self._largest_write = 0
        if self._reading_paused:
            self._reading_paused = False
            self._output().resume_reading()

    async def _watch_end(self) -> None:
        """See the end of the output or of the process, let the other one follow, then tell."""
        await self._first_sign.wait()
        if self._exited.is_set():
            while not self._output_over.is_set():
                seen = self._bytes_seen
                await _wait(self._output_over, _QUIET_S)
                if self._bytes_seen == seen:
                    break
        else:
            await _wait(self._exited, _EXIT_NOTICE_S)
        if self._exited.is_set():
            await _wait(self._stderr_over, _QUIET_S)
        self._ended = True
        self._on_ended()

    def _pause_reading(self) -> None:
        if not self._reading_paused and not self._output_over.is_set():
            self._reading_paused = True
            self._output().pause_reading()

    def _running(self) -> asyncio.SubprocessTransport:
        if self._transport is None:
            raise RuntimeError("the agent was not started")
        return self._transport

    def _input(self) -> asyncio.WriteTransport:
        pipe = self._running().get_pipe_transport(0)
        if not isinstance(pipe, asyncio.WriteTransport):
            raise TypeError("the agent has no standard input")
        return pipe

    def _output(self) -> asyncio.ReadTransport:
        pipe = self._running().get_pipe_transport(1)
        if not isinstance(pipe, asyncio.ReadTransport):
            raise TypeError("the agent has no standard output")
        return pipe


async def spawn(
    command: Sequence[str],
    *,
    cwd: Path,
    on_bytes: Callable[[bytes], None],
    on_ended: Callable[[], None],
    env: Mapping[str, str] | None = None,
    on_stderr: Callable[[bytes], None] | None = None,
) -> AgentProcess:
    """Start `command` word for word (no shell) in `cwd`, in a session of its own, so that Ctrl-C does not reach it.

    env: None for ours. Raises CannotStartAgent.
    """
    if not command:
        raise CannotStartAgent("the agent's command is empty")
    agent = AgentProcess(command, on_bytes, on_ended, on_stderr)
    loop = asyncio.get_running_loop()
    try:
        await loop.subprocess_exec(
            lambda: _Pipes(agent), *command, cwd=cwd, env=env, start_new_session=True, restore_signals=True
        )
    except OSError as error:
        raise CannotStartAgent(_why(command[0], cwd, error)) from error
    except ValueError as error:  # NUL in an argument, or a lone surrogate
        sentence = f"the arguments of {command[0]!r} hold a character no program can be given"
        raise CannotStartAgent(sentence) from error
    return agent


class _Pipes(asyncio.SubprocessProtocol):
    """asyncio's words for what the pipes do, in ours."""

    def __init__(self, agent: AgentProcess) -> None:
        self._agent = agent

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.SubprocessTransport):
            self._agent.started(transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._agent.received(fd, data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._agent.pipe_lost(fd)

    def process_exited(self) -> None:
        self._agent.exited()

    def resume_writing(self) -> None:
        self._agent.room_to_write()


async def _wait(event: asyncio.Event, timeout_s: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            await event.wait()


def _why(program: str, cwd: Path, error: OSError) -> str:
    if not cwd.is_dir():
        return f"the working directory {cwd} does not exist or is not a directory"
    if error.errno == errno.ENOENT:
        return f"the agent's program {program!r} was not found"
    return f"the agent's program {program!r} cannot be started: {error.strerror}"
