"""One child: started in its own session, its output read into a clip, its exit noticed.

Owns the pipe, the exit status and the one ending of a child. Absent on purpose: when a child is to be
ended, which `run` decides, and asyncio's own subprocesses: their watchers differ from one Python to the
next, and starting one can be cancelled half way, with a shell already running.

    ChildError
      CannotStart    the program, the directory or the arguments are not usable
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from acp_agent.process.clip import OutputClip
from acp_agent.process.sessions import end_session, session_is_alive

_READ_BYTES = 65536
"""One read a wake-up, so that a child that writes without end still leaves turns to everybody else."""

_DRAIN_S = 0.1
"""How long after the exit to wait for the end of the output, e.g. of a process substitution."""

_DRAIN_READS = 16
"""Reads after that: 1 MiB, the largest pipe, so nothing the child itself wrote is lost on a busy loop."""

_NOTICE_S = 0.3
"""From the end of a child to our hearing of it."""


class ChildError(Exception):
    """What goes wrong with a child; the text is one sentence."""


class CannotStart(ChildError):
    """The child was not started."""


def child_environment(environ: Mapping[str, str], secrets: Iterable[str]) -> dict[str, str]:
    """Copy `environ` without the variables named in `secrets`, for a child that must not know them."""
    hidden = set(secrets)
    return {name: value for name, value in environ.items() if name not in hidden}


class Child:
    """A running child. Made on a running loop; stdin is /dev/null, stdout and stderr are one pipe.

    returncode is None while it runs, then the exit code, or minus the number of the signal that ended it.
    Whoever made it must see it through to `finish` or `end`, and then `close` it.
    """

    def __init__(
        self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], max_output_bytes: int
    ) -> None:
        """Start it. Raises CannotStart."""
        self._loop = asyncio.get_running_loop()
        self._clip: OutputClip | None = OutputClip(max_output_bytes)
        self._exited = asyncio.Event()
        self._end_of_output = asyncio.Event()
        self._ending: asyncio.Task[None] | None = None
        self.returncode: int | None = None
        try:
            read_end, write_end = os.pipe()
        except OSError as error:
            raise CannotStart(f"{argv[0]} cannot be started: {error.strerror}") from error
        try:
            self._process = _start(argv, cwd, env, write_end)
        except BaseException:
            os.close(read_end)
            raise
        finally:
            os.close(write_end)
        self._pipe: int | None = read_end
        os.set_blocking(read_end, False)
        self._loop.add_reader(read_end, self._read_once)
        self._watch_exit()

    @property
    def pid(self) -> int:
        return self._process.pid

    async def wait(self) -> None:
        """Wait until the child itself has exited; others may still hold its pipe."""
        await self._exited.wait()

    async def finish(self) -> tuple[str, int]:
        """After the exit: read what is left, give the text and the number of bytes left out of it.

        Whoever still holds the pipe is not waited for; what it writes from now on is read and dropped,
        so that it neither blocks nor dies of SIGPIPE before its time.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_S):
                await self._end_of_output.wait()
        for _ in range(_DRAIN_READS):
            if not self._read_once():
                break
        clip, self._clip = self._clip, None
        if clip is None:
            raise RuntimeError("a child is finished once")
        return clip.finish()

    def leaves_behind(self) -> bool:
        """Whether, with the child gone, a process of its session still runs."""
        return session_is_alive(self.pid, leader_reaped=self.returncode is not None)

    @property
    def is_heard(self) -> bool:
        """Whether somebody still holds the other end of the pipe."""
        return self._pipe is not None

    def end(self) -> asyncio.Task[None]:
        """End the session and reap the child: one task, however often it is asked for.

        The task is bounded (see sessions) and never fails. Await it through asyncio.shield.
        """
        if self._ending is None:
            self._ending = self._loop.create_task(self._end())
        return self._ending

    def close(self) -> None:
        """Stop listening; a process that still writes to the pipe will get SIGPIPE."""
        if self._pipe is not None:
            self._loop.remove_reader(self._pipe)
            os.close(self._pipe)
            self._pipe = None
            self._end_of_output.set()

    async def _end(self) -> None:
        try:
            ended = await end_session(self.pid, leader_reaped=self.returncode is not None)
            if ended:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_NOTICE_S):
                        await self._exited.wait()
        finally:
            if self.returncode is None:
                self._reap()

    def _reap(self) -> None:
        """Take the status now: the loop is closing, or the child hangs in the kernel."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.1)
            self._on_exit()

    def _read_once(self) -> bool:
        """Read what is there, at most one buffer; return whether there was any."""
        if self._pipe is None:
            return False
        try:
            piece = os.read(self._pipe, _READ_BYTES)
        except BlockingIOError:
            return False
        if not piece:
            self.close()
            return False
        if self._clip is not None:
            self._clip.feed(piece)
        return True

    def _watch_exit(self) -> None:
        if sys.platform == "linux":
            # Refused by some sandboxes, and unknown to old kernels; the thread works everywhere.
            with contextlib.suppress(OSError):
                descriptor = os.pidfd_open(self.pid)
                self._loop.add_reader(descriptor, self._on_pidfd, descriptor)
                return
        threading.Thread(target=self._wait_in_thread, name=f"child {self.pid}", daemon=True).start()

    def _on_pidfd(self, descriptor: int) -> None:
        self._loop.remove_reader(descriptor)
        os.close(descriptor)
        self._process.wait()  # the descriptor is readable, so the status is there
        self._on_exit()

    def _wait_in_thread(self) -> None:
        self._process.wait()
        with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile: nobody waits
            self._loop.call_soon_threadsafe(self._on_exit)

    def _on_exit(self) -> None:
        self.returncode = self._process.returncode
        self._exited.set()


def _start(argv: Sequence[str], cwd: Path, env: Mapping[str, str], output: int) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            argv,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            close_fds=True,
            start_new_session=True,
        )
    except OSError as error:
        if not cwd.is_dir():
            raise CannotStart(f"the working directory {cwd} does not exist or is not a directory") from error
        if error.errno == errno.E2BIG:
            raise CannotStart(f"the arguments of {argv[0]} are longer than the system allows") from error
        if error.errno == errno.ENOENT:
            raise CannotStart(f"{argv[0]} was not found on the PATH") from error
        raise CannotStart(f"{argv[0]} cannot be started: {error.strerror}") from error
    except ValueError as error:  # NUL in an argument, or a lone surrogate (UnicodeError)
        raise CannotStart(f"the arguments of {argv[0]} hold a character no program can be given") from error
