"""One agent process spoken to in raw JSON lines, with its clocks and its memory.

It owns the pipes, the deadlines and the reading of CPU time and memory from the kernel. It knows JSON-RPC's envelope
and no more of ACP than the handshake and a prompt, and it imports nothing of `acp_agent`: whoever is measured is
measured from outside, by its bytes. Deliberately absent: what is measured (measures.py) and any judgement of it.

Linux only: it needs /proc and the CPU clock of another process.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson

READ_BYTES = 1 << 16
"""What a pipe holds: one read takes all there is, and a buffer of this size costs no page faults."""

ANSWER_BYTES = 4096
"""No line that ends a turn is longer: a stop reason, or one error."""

Message = dict[str, Any]


class AgentFailed(Exception):
    """The agent ended, kept silent past the deadline or answered an error; the text says which."""


def _lists_commands(message: Message) -> bool:
    update = (message.get("params") or {}).get("update") or {}
    return bool(update.get("sessionUpdate") == "available_commands_update")


@dataclass(frozen=True, slots=True)
class Turn:
    """What one prompt gave, timed but not yet read.

    seconds and cpu_s run from the moment before the prompt was written to the moment its answer had arrived; cpu_s is
    the agent's. raw is every byte that came, the answer's line last.
    """

    seconds: float
    cpu_s: float
    raw: bytes

    def messages(self) -> list[Message]:
        """The messages of the turn in order, the answer to the prompt last.

        An agent may list its commands at any time after a session is opened; that belongs to no turn.
        """
        messages = (orjson.loads(line) for line in self.raw.splitlines())
        return [message for message in messages if not _lists_commands(message)]


@dataclass(frozen=True, slots=True)
class Exit:
    """How the process ended: seconds since the end of file on its input, and the CPU seconds of its whole life."""

    seconds: float
    cpu_s: float
    code: int


@contextmanager
def one_core(core: int | None) -> Iterator[None]:
    """Pin this process, and every child it starts meanwhile, to one core; None leaves it as it is."""
    before = os.sched_getaffinity(0)
    if core is not None:
        os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class AgentProcess:
    """An agent command, running. Use as a context manager; leaving it ends the process, by force if need be.

    command: the program and its arguments. cwd: an existing directory, also the session's.
    timeout_s: how long any single wait for bytes may take before AgentFailed.
    """

    def __init__(self, command: Sequence[str], cwd: Path, timeout_s: float = 60.0) -> None:
        self._timeout_s = timeout_s
        self._cwd = cwd
        self._next_id = 0
        self._buffer = bytearray()
        self._code: int | None = None
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self.started_at = time.perf_counter()
        try:
            self._child = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                cwd=cwd,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            self._stderr.close()
            raise AgentFailed(f"cannot start {command[0]}: {error.strerror}") from error
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._stdin = self._child.stdin
        self._stdout = self._child.stdout
        self._in = self._stdin.fileno()
        self._out = self._stdout.fileno()
        # A message larger than the pipe must not block us while the agent wants to be read.
        os.set_blocking(self._in, False)
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        # The kernel's number for "CPU time of the process with this pid", threads included, in nanoseconds;
        # /proc/<pid>/stat would give hundredths of a second.
        self._cpu_clock = (~self._child.pid << 3) | 2

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    # ── clocks and memory ────────────────────────────────────────────────────────────────────────────────────────

    def cpu_s(self) -> float:
        """CPU seconds of the process so far, all its threads, user and system, without its children."""
        try:
            return time.clock_gettime(self._cpu_clock)
        except OSError as error:
            raise AgentFailed(self._why("the process ended")) from error

    def rss_bytes(self) -> int:
        """Resident memory now."""
        return self._status("VmRSS:")

    def peak_rss_bytes(self) -> int:
        """The most resident memory so far."""
        return self._status("VmHWM:")

    def _status(self, key: str) -> int:
        with suppress(OSError):
            for line in Path(f"/proc/{self._child.pid}/status").read_text().splitlines():
                if line.startswith(key):
                    return int(line.split()[1]) * 1024
        raise AgentFailed(self._why("the process ended"))

    # ── bytes ────────────────────────────────────────────────────────────────────────────────────────────────────

    def write(self, message: Message) -> None:
        """Send one message, whole; reads meanwhile if the agent insists on being read first."""
        view = memoryview(orjson.dumps(message) + b"\n")
        while view:
            try:
                view = view[os.write(self._in, view) :]
            except BlockingIOError:
                self._wait_writable()
            except BrokenPipeError as error:
                raise AgentFailed(self._why("it closed its input")) from error

    def _wait_writable(self) -> None:
        readable, writable, _ = select.select([self._out], [self._in], [], self._timeout_s)
        if readable:
            self._buffer += self._read()
        elif not writable:
            raise AgentFailed(self._why(f"it read nothing for {self._timeout_s:g} s"))

    def _read(self) -> bytes:
        """Whatever there is, at least one byte."""
        if not self._poll.poll(self._timeout_s * 1000):
            raise AgentFailed(self._why(f"it sent nothing for {self._timeout_s:g} s"))
        data = os.read(self._out, READ_BYTES)
        if not data:
            raise AgentFailed(self._why("it closed its output"))
        return data

    def read_line(self) -> bytes:
        """The next line, its end cut off."""
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            self._buffer += self._read()
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    def read_to_answer(self, request_id: int) -> bytes:
        """All bytes up to and with the line that answers the request, without looking into any line before it.

        An agent sends nothing of a turn after its answer, so it is enough to look at the end of what has arrived:
        the reading costs next to nothing for each message and the agent, not the driver, sets the pace.
        """
        pieces = [bytes(self._buffer)]
        self._buffer.clear()
        tail = pieces[0][-ANSWER_BYTES:]
        while not (tail.endswith(b"\n") and _is_answer(tail, request_id)):
            piece = self._read()
            pieces.append(piece)
            tail = (tail + piece)[-ANSWER_BYTES:] if len(piece) < ANSWER_BYTES else piece[-ANSWER_BYTES:]
        return b"".join(pieces)

    # ── ACP, as little as it takes ───────────────────────────────────────────────────────────────────────────────

    def request(self, method: str, params: Message) -> int:
        """Send a request; return its id."""
        self._next_id += 1
        self.write({"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params})
        return self._next_id

    def call(self, method: str, params: Message) -> Message:
        """Send a request and wait for its result; notifications meanwhile are passed over."""
        request_id = self.request(method, params)
        while True:
            message = orjson.loads(self.read_line())
            if "method" not in message and message.get("id") == request_id:
                return result_of(message, method)

    def initialize(self) -> None:
        """The handshake, as an editor sends it."""
        self.call(
            "initialize",
            {
                "protocolVersion": 1,
                "clientCapabilities": {
                    "fs": {"readTextFile": False, "writeTextFile": False},
                    "terminal": False,
                },
                "clientInfo": {"name": "bench", "version": "1"},
            },
        )

    def new_session(self) -> str:
        """Open a session in the process's own directory; return its id."""
        session_id = self.call("session/new", {"cwd": str(self._cwd), "mcpServers": []})["sessionId"]
        assert isinstance(session_id, str)
        return session_id

    def send_prompt(self, session_id: str, text: str) -> int:
        """Send a prompt of one text block; return the request's id."""
        blocks = [{"type": "text", "text": text}]
        return self.request("session/prompt", {"sessionId": session_id, "prompt": blocks})

    def cancel(self, session_id: str) -> None:
        """Send `session/cancel`."""
        self.write({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session_id}})

    def prompt(self, session_id: str, text: str) -> Turn:
        """Prompt and time the turn to its answer. For turns in which the agent asks nothing back."""
        cpu_s = self.cpu_s()
        started_at = time.perf_counter()
        raw = self.read_to_answer(self.send_prompt(session_id, text))
        seconds = time.perf_counter() - started_at
        return Turn(seconds, self.cpu_s() - cpu_s, raw)

    # ── the end ──────────────────────────────────────────────────────────────────────────────────────────────────

    def end(self, timeout_s: float = 10.0) -> Exit:
        """Close the agent's input and wait for the process to go; its output is read away meanwhile.

        Raises AgentFailed if it stays longer than timeout_s, or was ended before.
        """
        if self._code is not None:
            raise AgentFailed("it has ended already")
        closed_at = time.perf_counter()
        self._stdin.close()
        deadline = closed_at + timeout_s
        pidfd = os.pidfd_open(self._child.pid)
        try:
            watched = [pidfd, self._out]
            while pidfd not in (
                ready := select.select(watched, [], [], max(0, deadline - time.perf_counter()))[0]
            ):
                if not ready:
                    raise AgentFailed(f"it was still running {timeout_s:g} s after the end of its input")
                if not os.read(self._out, READ_BYTES):
                    watched.remove(self._out)
        finally:
            os.close(pidfd)
        seconds = time.perf_counter() - closed_at
        _, status, usage = os.wait4(self._child.pid, 0)
        self._code = self._child.returncode = os.waitstatus_to_exitcode(status)
        return Exit(seconds, usage.ru_utime + usage.ru_stime, self._code)

    def kill(self) -> None:
        """End the process and its group now, if it still runs; free the pipes."""
        if self._code is None:
            with suppress(ProcessLookupError):
                os.killpg(self._child.pid, signal.SIGKILL)
            self._code = self._child.wait()
        for stream in (self._stdin, self._stdout, self._stderr):
            with suppress(OSError):
                stream.close()

    def _why(self, what: str) -> str:
        """The failure with the last thing the agent said on stderr, if it said anything."""
        self._stderr.seek(0)
        lines = self._stderr.read().decode("utf-8", "replace").split("\n")
        said = [line.strip() for line in lines if line.strip()]
        return f"{what}; its last words: {said[-1][:200]}" if said else what


def result_of(message: Message, what: str) -> Message:
    """The result of a response, or AgentFailed with the error it carries."""
    if "error" in message:
        raise AgentFailed(f"{what} was answered with an error: {message['error'].get('message')}")
    result: Message = message["result"]
    return result


def _is_answer(tail: bytes, request_id: int) -> bool:
    """Whether the last line in tail (which ends with a line end) answers the request. A longer line never does."""
    start = tail.rfind(b"\n", 0, -1)
    if start < 0 and len(tail) >= ANSWER_BYTES:
        return False
    try:
        message = orjson.loads(tail[start + 1 :])
    except orjson.JSONDecodeError:
        return False
    return isinstance(message, dict) and "method" not in message and message.get("id") == request_id
