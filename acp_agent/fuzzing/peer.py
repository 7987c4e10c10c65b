"""The agent under test as a process: raw bytes both ways, standard error, and what it takes of the machine.

One `select` serves all three pipes, so that neither side can block the other: what the agent does not read waits
here, and what it writes is read whenever anybody waits for anything. Only a client that has stopped reading (a stall
of the plan) does not. Deliberately absent: lines, messages, and any opinion on them (exchange.py, judge.py).
"""

from __future__ import annotations

import asyncio
import os
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from acp_agent.client.errors import CannotStartAgent
from acp_agent.process.sessions import end_session, session_is_alive

_READ_BYTES: Final = 256 * 1024
_STDERR_KEPT_BYTES: Final = 256 * 1024
_KILL_WAIT_S: Final = 5.0
_PIPES_S: Final = 0.1


class Peer:
    """A running agent, in a process session of its own. Whoever made it must see it through to `close`.

    stderr: what it wrote to standard error, at most the last 256 KiB of it.
    Raises CannotStartAgent.
    """

    def __init__(self, command: Sequence[str], cwd: Path, env: Mapping[str, str] | None = None) -> None:
        try:
            self._process = subprocess.Popen(
                command,
                cwd=cwd,
                env=env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise CannotStartAgent(f"{command[0]!r} cannot be started: {reason}") from error
        self.pid: Final = self._process.pid
        self.stderr = bytearray()
        self.output_ended = False
        self._waiting = bytearray()
        self._input, self._output, self._errors = (
            _descriptor(pipe) for pipe in (self._process.stdin, self._process.stdout, self._process.stderr)
        )
        for descriptor in (self._input, self._output, self._errors):
            os.set_blocking(descriptor, False)
        self._input_open = True
        self._errors_open = True

    # -- bytes

    def write(self, data: bytes) -> None:
        """Hand over bytes; they go out as the agent reads them. After the end of the input they are dropped."""
        if self._input_open:
            self._waiting += data
            self._push()

    def end_input(self) -> None:
        """The agent reads the end of its input after what it was given; unread bytes are dropped."""
        if self._input_open:
            self._input_open = False
            self._waiting.clear()
            if self._process.stdin is not None:
                self._process.stdin.close()

    @property
    def unwritten_bytes(self) -> int:
        """What the agent has not taken yet."""
        return len(self._waiting)

    def turn(self, within_s: float, *, reading: bool = True) -> bytes | None:
        """Serve the pipes once, waiting at most within_s for something to do.

        Returns a slice of the agent's output, b"" once at its end, None if there was none of it.
        reading: False for a client that has stopped to read its standard input; standard error is always read.
        """
        readers = [self._output] if reading and not self.output_ended else []
        if self._errors_open:
            readers.append(self._errors)
        writers = [self._input] if self._waiting and self._input_open else []
        if not readers and not writers:
            time.sleep(min(within_s, _PIPES_S))
            return None
        ready, writable, _ = select.select(readers, writers, [], max(0.0, within_s))
        if writable:
            self._push()
        if self._errors in ready:
            self._read_errors()
        if self._output not in ready:
            return None
        data = _read(self._output)
        self.output_ended = not data
        return data

    def _push(self) -> None:
        try:
            while self._waiting:
                written = os.write(self._input, self._waiting[:_READ_BYTES])
                del self._waiting[:written]
        except BlockingIOError:
            return
        except OSError:  # it reads no more: whatever that means is seen at its output
            self._waiting.clear()

    def _read_errors(self) -> None:
        data = _read(self._errors)
        self._errors_open = bool(data)
        self.stderr += data
        del self.stderr[:-_STDERR_KEPT_BYTES]

    # -- the process

    @property
    def exit_code(self) -> int | None:
        """None while it runs; minus the number of the signal that ended it."""
        return self._process.poll()

    def wait(self, within_s: float) -> int | None:
        """Wait for the exit, with the pipes served; its output is dropped. Returns the exit code, None if it stays."""
        deadline = time.monotonic() + within_s
        while self._process.poll() is None and (left := deadline - time.monotonic()) > 0:
            self.turn(min(left, 0.02))
        self._drain_errors()
        return self._process.poll()

    def leaves_behind(self) -> bool:
        """Whether, with the agent gone, a process that it started runs in its session."""
        return session_is_alive(self.pid, leader_reaped=self._process.poll() is not None)

    def rss_bytes(self) -> int | None:
        """The memory it holds now; None where the system does not tell."""
        try:
            fields = Path(f"/proc/{self.pid}/statm").read_bytes().split()
            return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError):
            return None

    def cpu_s(self) -> float | None:
        """The processor time it has used; None where the system does not tell."""
        try:
            text = Path(f"/proc/{self.pid}/stat").read_bytes()
        except OSError:
            return None
        # The name in parentheses may hold spaces; utime and stime are the 12th and 13th field after it.
        fields = text[text.rfind(b")") + 2 :].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End it and all that it has started, now; close the pipes. A second call does nothing."""
        self.end_input()
        if self._process.stdout is None or self._process.stdout.closed:
            return
        reaped = self._process.poll() is not None
        # What exits by itself may have left children; what runs is not asked twice.
        asyncio.run(end_session(self.pid, leader_reaped=reaped, grace_s=0.0 if reaped else 0.2))
        try:
            self._process.wait(_KILL_WAIT_S)
        finally:
            self._drain_errors()
            for pipe in (self._process.stdout, self._process.stderr):
                if pipe is not None:
                    pipe.close()

    def _drain_errors(self) -> None:
        """What it wrote to standard error before it ended."""
        while self._errors_open and select.select([self._errors], [], [], 0)[0]:
            self._read_errors()


def _descriptor(pipe: object) -> int:
    number: int = pipe.fileno()  # type: ignore[attr-defined]  # a pipe: Popen was asked for one
    return number


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _READ_BYTES)
    except BlockingIOError:
        return b""
    except OSError:
        return b""
