"""A client that is nothing but pipes and lines: it sees the agent as an editor would, and believes nothing.

Owns the process of an agent under test, every line both ways in the order this side wrote and read them, and the
judgement of each line the agent writes: strict UTF-8 and JSON, the envelope, the schema, unknown members, and the
state machines, through an observing Connection that may have nothing to say about the agent.
Deliberately absent: threads. Standard output is read only while a test waits for something, so a test that does not
read is a client that has stopped reading.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from acp_agent.jsonrpc.framing import LineBuffer
from acp_agent.protocol import schema, validation
from acp_agent.protocol.connection import Connection, Role
from acp_agent.protocol.events import ProtocolViolation
from acp_agent.protocol.methods import METHODS, Side
from acp_agent.protocol.policy import Policy
from acp_agent.protocol.verdicts import Severity

WAIT_S = 30.0
"""The longest wait for anything; reached only when something is broken."""

PROMISED_S = 2.0
"""What the agent promises: the end after EOF or a signal, the answer after a cancel."""

_SPARE_S = 4.0
"""On top of a promise, for a machine that has other work. One that has none gets nothing."""

Message = dict[str, Any]

WHAT_BOB_CHOSE = Policy(
    queue_prompts=True,
    unknown_session_code=-32602,
    any_authenticate=True,
    lax_content=True,
    lax_mcp_servers=True,
)
"""Where the protocol is silent, the surface that Bob promises."""


def promised_s() -> float:
    """How long to wait for what the agent promises within 2 s: not longer, unless the machine is busy."""
    is_idle = os.getloadavg()[0] < (os.cpu_count() or 1) / 2
    return PROMISED_S if is_idle else PROMISED_S + _SPARE_S


class Silence(AssertionError):
    """What a test waited for did not come."""


def agent_command(config: Path | None) -> list[str]:
    """How a person starts the agent."""
    # -P: what lies in the working directory must not stand in for the agent.
    return [
        *(sys.executable, "-P", "-m", "acp_agent", "serve"),
        *(["--config", str(config)] if config else []),
    ]


def strict_json(line: bytes) -> Any:
    """One JSON value with nothing a strict reader would have to forgive."""

    def once(pairs: list[tuple[str, Any]]) -> Message:
        found = dict(pairs)
        assert len(found) == len(pairs), "a member is there twice"
        return found

    def refuse(name: str) -> Any:
        raise AssertionError(f"{name} is not JSON")

    return json.loads(line.decode("utf-8"), object_pairs_hook=once, parse_constant=refuse)


@dataclasses.dataclass
class Line:
    """One line of the record. sender: "agent" or "client"; message: None if the line is no JSON object."""

    sender: str
    raw: bytes
    message: Message | None


class Judge:
    """Reads both directions in order and keeps every finding about the agent."""

    def __init__(self) -> None:
        self.findings: list[str] = []
        self.connection = Connection(Role.OBSERVER, WHAT_BOB_CHOSE)

    def client_wrote(self, line: bytes) -> None:
        self.connection.observe(Side.CLIENT, line + b"\n")

    def agent_wrote(self, line: bytes) -> Message:
        message = strict_json(line)
        assert isinstance(message, dict), f"not an object: {line[:200]!r}"
        assert message.get("jsonrpc") == "2.0", line[:200]
        self._check_members(message)
        for event in self.connection.observe(Side.AGENT, line + b"\n"):
            if isinstance(event, ProtocolViolation):
                if event.verdict.severity is Severity.SUSPECT:
                    continue  # it may have crossed what the client sent; the tests of cancels look closer
                self.findings.append(f"{event.verdict.reason}: {event.verdict.sentence}: {line[:300]!r}")
        return message

    @property
    def open_requests(self) -> list[Any]:
        return [call.id for call in self.connection.conversation.open[Side.CLIENT]]

    def _check_members(self, message: Message) -> None:
        if "method" in message:
            members = {"jsonrpc", "method", "params"} | ({"id"} if "id" in message else set())
            definition = METHODS[message["method"]].params
            payload = message["params"]
        elif "error" in message:
            members, definition, payload = {"jsonrpc", "id", "error"}, "Error", message["error"]
        else:
            members = {"jsonrpc", "id", "result"}
            call = self.connection.conversation.open[Side.CLIENT].get(message.get("id"))
            method = METHODS.get(call.method) if call else None
            definition, payload = (method.result or "" if method else ""), message.get("result")
        if set(message) != members:
            self.findings.append(f"members {sorted(message)}")
        if definition:
            if not schema.is_valid(definition, payload):
                problem = validation.check(definition, payload)
                self.findings.append(f"{definition}: {problem}")
            unknown = validation.unknown_members(definition, payload)
            if unknown:
                self.findings.append(f"{definition} has unknown members {unknown}")


class Agent:
    """One process of the agent and the conversation with it."""

    def __init__(
        self,
        config: Path | None = None,
        *,
        cwd: Path | None = None,
        environ: Mapping[str, str] | None = None,
        command: Sequence[str] | None = None,
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: Path | int | None = None,
        judged: bool = True,
        **popen: Any,
    ) -> None:
        """stdin, stdout: descriptors the process gets instead of pipes, as (child's end) with `attach` for ours."""
        self.record: list[Line] = []
        self.messages: list[Message] = []
        self.judge = Judge() if judged else None
        self.stderr_path = stderr if isinstance(stderr, Path) else None
        self._next_id = 0
        self._cursor = 0
        self._buffer = LineBuffer(1 << 30)
        self._at_end = False
        environment = dict(os.environ if environ is None else environ)
        environment["PYTHONFAULTHANDLER"] = "1"
        with contextlib.ExitStack() as stack:
            target: Any = stderr
            if isinstance(stderr, Path):
                target = stack.enter_context(stderr.open("ab"))
            self.process = subprocess.Popen(
                list(command or agent_command(config)),
                stdin=subprocess.PIPE if stdin is None else stdin,
                stdout=subprocess.PIPE if stdout is None else stdout,
                stderr=target,
                cwd=cwd,
                env=environment,
                start_new_session=True,
                **popen,
            )
        self.stdin = self.process.stdin.fileno() if self.process.stdin else -1
        self.stdout = self.process.stdout.fileno() if self.process.stdout else -1
        for descriptor in (self.stdin, self.stdout):
            if descriptor >= 0:
                os.set_blocking(descriptor, False)

    def attach(self, *, stdin: int, stdout: int) -> None:
        """Use our ends of descriptors that were given to the process."""
        self.stdin, self.stdout = stdin, stdout
        for descriptor in (stdin, stdout):
            os.set_blocking(descriptor, False)

    # -- bytes

    def write(self, data: bytes, *, while_reading: bool = True) -> None:
        """Give all of it to the agent; meanwhile take what it says, unless this client does not read."""
        left = memoryview(data)
        deadline = time.monotonic() + WAIT_S
        while left:
            readers = [self.stdout] if while_reading and not self._at_end else []
            ready, room, _ = select.select(readers, [self.stdin], [], deadline - time.monotonic())
            if not ready and not room:
                raise Silence(f"the agent does not read; {len(left)} bytes are left; {self.stderr_text()}")
            if ready:
                self._read()
            if room:
                with contextlib.suppress(BlockingIOError):
                    left = left[os.write(self.stdin, left) :]

    def _read(self) -> None:
        try:
            data = os.read(self.stdout, 1 << 20)
        except BlockingIOError:
            return
        except OSError as error:
            if error.errno != errno.EIO:  # how a pseudo-terminal says that the other end is gone
                raise
            data = b""
        if not data:
            self._at_end = True
            assert not self._buffer.end(), "the last line has no end"
            return
        assert b"\n\n" not in data, "a blank line"
        for line in self._buffer.feed(data):
            assert isinstance(line, bytes)
            message = self.judge.agent_wrote(line) if self.judge else json.loads(line)
            self.record.append(Line("agent", line, message))
            self.messages.append(message)

    def read_some(self, within_s: float) -> bool:
        """Take what is there, waiting for it at most within_s; whether anything came."""
        if self._at_end:
            return False
        if not select.select([self.stdout], [], [], max(0.0, within_s))[0]:
            return False
        self._read()
        return True

    # -- messages out

    def send_line(self, line: bytes, **how: Any) -> None:
        """Write one line as it is, without its LF."""
        if self.judge is not None:
            self.judge.client_wrote(line)
        message = None
        with contextlib.suppress(ValueError, RecursionError):
            message = json.loads(line)
        self.record.append(Line("client", line, message if isinstance(message, dict) else None))
        self.write(line + b"\n", **how)

    def send(self, message: Message, **how: Any) -> None:
        self.send_line(json.dumps(message, separators=(",", ":")).encode(), **how)

    def request(self, method: str, params: Any = None, *, id_: Any = None, **how: Any) -> Any:
        """Send a request; return its id."""
        if id_ is None:
            self._next_id += 1
            id_ = self._next_id
        message: Message = {"jsonrpc": "2.0", "id": id_, "method": method}
        if params is not None:
            message["params"] = params
        self.send(message, **how)
        return id_

    def notify(self, method: str, params: Any = None, **how: Any) -> None:
        message: Message = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self.send(message, **how)

    def respond(self, request: Message, result: Any, **how: Any) -> None:
        self.send({"jsonrpc": "2.0", "id": request["id"], "result": result}, **how)

    # -- messages in

    def until(self, wanted: Callable[[Message], bool], within_s: float = WAIT_S) -> Message:
        """The next message that fits, after those that `until` has passed already."""
        deadline = time.monotonic() + within_s
        while True:
            while self._cursor < len(self.messages):
                message = self.messages[self._cursor]
                self._cursor += 1
                if wanted(message):
                    return message
            self._more(deadline)

    def answers(self, id_: Any) -> list[Message]:
        """Every response to an id so far; the id's type counts too."""
        key = (type(id_), id_)
        return [
            message
            for message in self.messages
            if "method" not in message and (type(message["id"]), message["id"]) == key
        ]

    def answer(self, id_: Any, within_s: float = WAIT_S) -> Message:
        """Wait for the response to a request."""
        deadline = time.monotonic() + within_s
        seen = 0
        key = (type(id_), id_)
        while True:
            while seen < len(self.messages):
                message = self.messages[seen]
                seen += 1
                if "method" not in message and (type(message["id"]), message["id"]) == key:
                    return message
            self._more(deadline)

    def call(self, method: str, params: Any = None, *, id_: Any = None) -> Message:
        """Send a request and wait for its response."""
        return self.answer(self.request(method, params, id_=id_))

    def _more(self, deadline: float) -> None:
        if not self.read_some(deadline - time.monotonic()):
            last = [line.raw[:200] for line in self.record[-6:]]
            how = "the agent's output has ended" if self._at_end else "nothing comes"
            raise Silence(f"{how}; the last lines: {last}; {self.stderr_text()}")

    def barrier(self) -> None:
        """Make sure that everything the agent wrote about what came before has been read."""
        answer = self.call("_barrier/now")
        assert answer["error"]["code"] == -32601
        self._cursor = len(self.messages)

    # -- what clients do

    def initialize(self, **params: Any) -> Message:
        answer = self.call("initialize", {"protocolVersion": 1, **params})
        return answer["result"]

    def new_session(self, cwd: Path, servers: Sequence[Message] = ()) -> str:
        answer = self.call("session/new", {"cwd": str(cwd), "mcpServers": list(servers)})
        session: str = answer["result"]["sessionId"]
        # Said right behind the answer; a test that waits for an update means one of a turn.
        self.until(lambda message: message.get("params", {}).get("sessionId") == session)
        return session

    def prompt(self, session: str, text: str | list[Message], **how: Any) -> Any:
        """Send a prompt; return its id."""
        blocks = [{"type": "text", "text": text}] if isinstance(text, str) else text
        return self.request("session/prompt", {"sessionId": session, "prompt": blocks}, **how)

    def cancel(self, session: str) -> None:
        self.notify("session/cancel", {"sessionId": session})

    def permission(self) -> Message:
        """The next permission request."""
        return self.until(lambda message: message.get("method") == "session/request_permission")

    def choose(self, request: Message, option: str = "allow") -> None:
        """Answer a permission request with an option; "cancelled" is that outcome."""
        outcome: Message = {"outcome": "selected", "optionId": option}
        self.respond(request, {"outcome": {"outcome": "cancelled"} if option == "cancelled" else outcome})

    def turn(self, session: str, text: str | list[Message], permit: str = "allow") -> Message:
        """A whole turn: prompt, answer every permission alike, wait for the response."""
        id_ = self.prompt(session, text)
        start = len(self.messages)
        deadline = time.monotonic() + WAIT_S
        while True:
            while start < len(self.messages):
                message = self.messages[start]
                start += 1
                if message.get("method") == "session/request_permission":
                    self.choose(message, permit)
                elif "method" not in message and message["id"] == id_:
                    return message
            self._more(deadline)

    def updates(self, session: str, since: int = 0) -> list[Message]:
        """The updates of a session's turns, in order."""
        return [
            message["params"]["update"]
            for message in self.messages[since:]
            if message.get("method") == "session/update"
            and message["params"]["sessionId"] == session
            and message["params"]["update"]["sessionUpdate"] != "available_commands_update"
        ]

    def text_of(self, session: str, since: int = 0) -> str:
        """The text streamed in a session."""
        return "".join(
            update["content"]["text"]
            for update in self.updates(session, since)
            if update["sessionUpdate"] == "agent_message_chunk"
        )

    # -- the process

    def stderr_text(self) -> str:
        return self.stderr_path.read_text("utf-8", "replace") if self.stderr_path else ""

    def until_stderr(self, wanted: Callable[[str], bool]) -> str:
        """Wait until standard error says something."""
        text = ""
        for _ in waiting():
            text = self.stderr_text()
            if wanted(text):
                return text
        raise Silence(f"standard error does not say it: {text}")

    def close_stdin(self) -> None:
        if self.process.stdin:
            self.process.stdin.close()

    def exit_code(self) -> int:
        """Read to the end and wait for the exit, as long as is promised."""
        deadline = time.monotonic() + promised_s()
        while not self._at_end and self.stdout >= 0:
            if not self.read_some(deadline - time.monotonic()) and not self._at_end:
                raise Silence(f"the agent does not end: {self.stderr_text()}")
        try:
            return self.process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise Silence(f"the agent does not exit: {self.stderr_text()}") from None

    def end(self) -> int:
        """Close the input and see it out."""
        self.close_stdin()
        return self.exit_code()

    def kill(self) -> None:
        """Make sure that nothing is left of it, however the test went."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream:
                with contextlib.suppress(OSError):
                    stream.close()

    @property
    def rss_kib(self) -> int:
        """Resident memory, as the kernel counts it."""
        return self._memory("VmRSS:")

    @property
    def peak_rss_kib(self) -> int:
        """The most of it there ever was."""
        return self._memory("VmHWM:")

    def _memory(self, name: str) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line.split()[1] for line in status.splitlines() if line.startswith(name)))

    def assert_clean(self) -> None:
        """Nothing of what the agent wrote was wrong."""
        assert self.judge is not None
        assert self.judge.findings == []


def waiting(within_s: float = WAIT_S) -> Iterator[None]:
    """Ask again and again, with a pause, until the time is over: for what can only be looked at."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        yield
        time.sleep(0.005)


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat[stat.rfind(")") + 2] not in "ZXx"


def wait_gone(pid: int) -> None:
    """Wait until a process is no more."""
    for _ in waiting(promised_s()):
        if not is_alive(pid):
            return
    raise Silence(f"process {pid} is still there")


def pid_in(path: Path) -> int:
    """The pid that a command under test writes into a file, once it has."""
    for _ in waiting():
        with contextlib.suppress(FileNotFoundError, ValueError):
            text = path.read_text()
            if text.endswith("\n"):
                return int(text)
    raise Silence(f"no pid in {path}")
