"""One connection with the agent under test: bytes through the judge and to the process, with deadlines.

Owns the clock, the record of every slice for a trace, and what is looked at beside messages: that each request is
answered in time, that the process lives, rests, says nothing of errors on standard error, and ends when it should.
Deliberately absent: what is sent (agent_target.py, reproduce.py) and what messages mean (judge.py).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from acp_agent.fuzzing.invariants import Invariant, found
from acp_agent.fuzzing.judge import Judge
from acp_agent.fuzzing.peer import Peer
from acp_agent.fuzzing.tried import ENDING, PROCESS
from acp_agent.jsonrpc.pending import OpenCall
from acp_agent.protocol.events import Event
from acp_agent.protocol.methods import Side
from acp_agent.protocol.sessions import Turn
from acp_agent.transport.trace import Direction

GROWTH_BYTES: Final = 64 * 1024 * 1024
GROWTH_FOR_EACH_BYTE: Final = 64
"""A process may grow by so much, and so much more for each byte that went either way."""

_BUSY: Final = 0.1
"""The share of a processor above which a process counts as busy: little, since a busy machine gives it no more."""
_BUSY_LOOKS: Final = 2
_BUSY_LOOK_S: Final = 0.25
_PAUSE_S: Final = 0.003
_KEPT_BYTES: Final = 64 * 1024 * 1024

_TRACEBACKS: Final = (
    re.compile(
        rb"Traceback \(most recent call last\):.*?^(?P<what>[\w.]+)(?::|\s*$)", re.DOTALL | re.MULTILINE
    ),
    re.compile(rb"Exception in thread \"[^\"]*\" (?P<what>[\w.$]+)"),
    re.compile(rb"^(?:thread '.*' )?(?P<what>panicked) at ", re.MULTILINE),
    re.compile(rb"^(?P<what>panic|fatal error): .*goroutine \d+", re.DOTALL | re.MULTILINE),
    re.compile(rb"^(?:Uncaught )?(?P<what>\w*Error): .*\n\s+at .*[:(]", re.MULTILINE),
    re.compile(rb"(?P<what>UnhandledPromiseRejection)"),
)


class Deadlines(NamedTuple):
    """In seconds. answer_s: for any request but a prompt. turn_s: for a prompt. cancel_s: from a cancel to its answer.

    exit_s: from the end of the input to the exit. settle_s: how long the agent is listened to when all is answered.
    start_s: for the answer to `initialize`, since a program may take long to start.
    """

    answer_s: float = 10.0
    turn_s: float = 60.0
    cancel_s: float = 5.0
    exit_s: float = 5.0
    settle_s: float = 0.03
    start_s: float = 60.0


class Slice(NamedTuple):
    """Bytes of one direction, b"" for its end. t: seconds since the connection began."""

    t: float
    direction: Direction
    data: bytes


class Exchange:
    """A connection and its judge.

    on_event is called with each message of the agent, in order, as soon as it was judged; it may send.
    """

    def __init__(
        self, peer: Peer, deadlines: Deadlines, on_event: Callable[[Event], None] | None = None
    ) -> None:
        self.peer = peer
        self.judge = Judge()
        self.deadlines = deadlines
        self.on_event = on_event
        self.slices: list[Slice] = []
        self.input_ended = False
        self._start = time.monotonic()
        self._sent_at: dict[int, tuple[OpenCall, float]] = {}
        self._cancelled_at: dict[Turn, float] = {}
        self._kept_bytes = 0
        self._bytes = 0
        self._stderr_seen: set[str] = set()
        self._rss_at_first: int | None = None
        self._death_told = False
        self._overdue: set[int] = set()

    # -- bytes

    def send(self, pieces: Iterable[bytes]) -> list[str]:
        """Write bytes, each piece as a write of its own. Returns the slugs of what is illegal about them."""
        wrong: list[str] = []
        for piece in pieces:
            if piece[0] & 0xC0 == 0x80:
                # The cut is inside a character: the agent gets the time to read up to it. What it says meanwhile is
                # left in the pipe: an answer now would stand in the middle of this line.
                time.sleep(_PAUSE_S)
            self._keep(Direction.CLIENT_TO_AGENT, piece)
            wrong += self.judge.client_wrote(piece)
            self._note_times()
            self.peer.write(piece)
        return wrong

    def end_input(self) -> None:
        """The client says nothing more."""
        if not self.input_ended:
            self._write_all()
            self.input_ended = True
            self._keep(Direction.CLIENT_TO_AGENT, b"")
            self.judge.client_ended()
            self.peer.end_input()

    def pump(self, within_s: float) -> bool:
        """Read what is there, waiting at most within_s; returns whether anything came."""
        if self.peer.output_ended:
            return False
        data = self.peer.turn(within_s)
        if data is None:
            return False
        self._keep(Direction.AGENT_TO_CLIENT, data)
        if not data:
            self.judge.agent_ended()
            self._judge_death()
            return True
        for event in self.judge.agent_wrote(data):
            if self.on_event is not None:
                self.on_event(event)
        self._note_times()
        return True

    def wait(self, condition: Callable[[], bool], within_s: float) -> bool:
        """Serve the connection until something is so, the agent's output ends, or the time is over."""
        deadline = time.monotonic() + within_s
        while not condition():
            left = deadline - time.monotonic()
            if left <= 0 or self.peer.output_ended:
                return condition()
            self.pump(left)
        return True

    def stall(self, for_s: float) -> None:
        """Read nothing for a while; what is to be written is written."""
        deadline = time.monotonic() + for_s
        while (left := deadline - time.monotonic()) > 0:
            self.peer.turn(left, reading=False)

    @property
    def alive(self) -> bool:
        """Whether there is still somebody to talk to."""
        return not self.peer.output_ended and not self.input_ended

    # -- looking

    def open_calls(self) -> list[OpenCall]:
        """Requests of ours that have no answer yet and are not overdue."""
        calls = self.judge.connection.conversation.open[Side.CLIENT]
        return [call for call in calls if id(call) not in self._overdue]

    def wait_for_answers(
        self, only: Callable[[OpenCall], bool] = lambda call: True, unless: Callable[[], bool] = lambda: False
    ) -> None:
        """Wait until each open request is answered, or overdue, which is a finding.

        only: which requests. unless: stop to wait when this is so.
        """
        while self.alive and not unless() and (calls := [call for call in self.open_calls() if only(call)]):
            due, call, invariant = min((self._due(call) for call in calls), key=lambda one: one[0])
            left = due - time.monotonic()
            if left > 0:
                self.pump(left)
                continue
            self._overdue.add(id(call))
            if self.judge.last_line_long and call.method == "session/prompt":
                invariant = Invariant.ALIVE_AFTER_LONG_LINE
            self._find(invariant, f"{call.method} was not answered in time", call.method)

    def settle(self) -> None:
        """With nothing open, listen on for a moment, and look at the process."""
        deadline = time.monotonic() + self.deadlines.settle_s
        used = self.peer.cpu_s()
        while self.alive and (left := deadline - time.monotonic()) > 0:
            self.pump(left)
        if self.alive and used is not None and not self.open_calls():
            self._judge_rest(used)
        self._judge_stderr()

    def end(self) -> None:
        """End the input, if that was not done, and see the process out."""
        self.end_input()
        deadline = time.monotonic() + self.deadlines.exit_s
        while not self.peer.output_ended and (left := deadline - time.monotonic()) > 0:
            self.pump(left)
        self.judge.tried |= ENDING
        code = self.peer.wait(max(0.0, deadline - time.monotonic()))
        if code is None:
            self._find(Invariant.ENDS, "the process stays after the end of its input", "stays")
        elif self.peer.leaves_behind():
            self._find(Invariant.ENDS, "a child of the process is left behind", "child")
        self._judge_stderr()

    def _due(self, call: OpenCall) -> tuple[float, OpenCall, Invariant]:
        sent = self._sent_at.get(id(call), (call, self._start))[1]
        turn = call.subject if isinstance(call.subject, Turn) else None
        if turn is not None:
            cancelled = self._cancelled_at.get(turn)
            if cancelled is not None:
                return cancelled + self.deadlines.cancel_s, call, Invariant.CANCEL_ANSWERED
            return sent + self.deadlines.turn_s, call, Invariant.PROMPT_ANSWERED
        if call.method == "session/prompt":
            return sent + self.deadlines.turn_s, call, Invariant.PROMPT_ANSWERED
        if call.method == "session/close":
            return sent + self.deadlines.answer_s, call, Invariant.CLOSE_ANSWERED
        allowed = self.deadlines.start_s if call.method == "initialize" else self.deadlines.answer_s
        return sent + allowed, call, Invariant.ANSWERED

    def _note_times(self) -> None:
        now = time.monotonic()
        for call in self.judge.connection.conversation.open[Side.CLIENT]:
            if id(call) not in self._sent_at:
                self._sent_at[id(call)] = call, now  # the call too, so that its id() stays its own
            turn = call.subject
            if isinstance(turn, Turn) and turn.whole_turn_cancelled and turn not in self._cancelled_at:
                self._cancelled_at[turn] = now

    def _judge_death(self) -> None:
        """The output has ended. Was it asked to?"""
        if self.input_ended or self._death_told:
            return
        self._death_told = True
        code = self.peer.wait(self.deadlines.settle_s + 0.5)
        how = "has closed its output" if code is None else f"has ended with {code}"
        invariant = Invariant.ALIVE
        if self.judge.last_line_long:
            invariant = Invariant.ALIVE_AFTER_LONG_LINE
        elif self.judge.last_line_broken:
            invariant = Invariant.ALIVE_AFTER_BROKEN_LINE
        self._find(invariant, f"the process {how}", "died" if code is None else f"exit {code}")
        self._judge_stderr()

    def _judge_rest(self, used_before: float) -> None:
        now = self.peer.cpu_s()
        seems_busy = now is not None and now - used_before >= _BUSY * self.deadlines.settle_s
        if seems_busy and all(self._is_busy() for _ in range(_BUSY_LOOKS)):
            self._find(Invariant.RESTS, "the process is busy with nothing to do", "processor")
        rss = self.peer.rss_bytes()
        if rss is None:
            return
        if self._rss_at_first is None:
            self._rss_at_first = rss
        elif rss - self._rss_at_first > GROWTH_BYTES + GROWTH_FOR_EACH_BYTE * self._bytes:
            grown = (rss - self._rss_at_first) // (1024 * 1024)
            self._find(Invariant.RESTS, f"the process has grown by {grown} MiB", "memory")

    def _is_busy(self) -> bool:
        """Whether it works all through a look of its own."""
        start, used = time.monotonic(), self.peer.cpu_s()
        while self.alive and (left := start + _BUSY_LOOK_S - time.monotonic()) > 0:
            self.pump(left)
        later = self.peer.cpu_s()
        return used is not None and later is not None and later - used >= _BUSY * (time.monotonic() - start)

    def note_memory(self) -> None:
        """The process has begun: what it holds now is what its growth is measured from."""
        if self._rss_at_first is None:
            self._rss_at_first = self.peer.rss_bytes()

    def _judge_stderr(self) -> None:
        self.judge.tried |= PROCESS
        for pattern in _TRACEBACKS:
            for match in pattern.finditer(bytes(self.peer.stderr)):
                what = match["what"].decode("ascii", "replace").rpartition(".")[2]
                if what not in self._stderr_seen:
                    self._stderr_seen.add(what)
                    self._find(Invariant.STDERR, f"standard error shows a {what}", what)

    def _find(self, invariant: Invariant, saw: str, detail: str) -> None:
        self.judge.findings.append(found(invariant, saw, self.judge.messages, detail))

    def _write_all(self) -> None:
        """Bytes that were sent come before the end of the input, if the agent reads them at all."""
        deadline = time.monotonic() + self.deadlines.answer_s
        while self.peer.unwritten_bytes and self.alive and time.monotonic() < deadline:
            self.pump(0.01)

    def _keep(self, direction: Direction, data: bytes) -> None:
        self._bytes += len(data)
        self._kept_bytes += len(data)
        if self._kept_bytes <= _KEPT_BYTES:
            self.slices.append(Slice(round(time.monotonic() - self._start, 6), direction, data))
