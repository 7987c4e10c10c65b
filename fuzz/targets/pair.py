"""What one end may send the other end and an observer take without accusing it, however it crosses.

Two connections by the same policy, each with what it knows; lines arrive late and in order. Documented:
LocalProtocolError for what an end may not send, and then nothing is on its way. Whatever crosses may look suspect.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import Any

from hypothesis import strategies as st
from strategies.traffic import INITIALIZE, INITIALIZED, NOTIFICATIONS, REQUESTS, SETUP, TEXT, mutated, session

from acp_agent.jsonrpc.errors import RpcError
from acp_agent.protocol.connection import Connection, Role
from acp_agent.protocol.errors import LocalProtocolError
from acp_agent.protocol.events import Event, ProtocolViolation, ResponseReceived
from acp_agent.protocol.methods import Side
from acp_agent.protocol.policy import Policy
from acp_agent.protocol.verdicts import Severity

_PEER = {Side.AGENT: Side.CLIENT, Side.CLIENT: Side.AGENT}


def _of(side: Side) -> st.SearchStrategy[list[Any]]:
    """A step of one end. A response names an open request by its place among them, counted round."""
    answers = [(method, result or {}) for method, _, result in REQUESTS[_PEER[side]]]
    return st.one_of(
        st.builds(
            lambda call, params: [str(side), "request", call[0], params if params is not None else call[1]],
            st.sampled_from(REQUESTS[side]),
            st.none(),
        ),
        st.builds(lambda call: [str(side), "notify", *call], st.sampled_from(NOTIFICATIONS[side])),
        st.builds(
            lambda place, answer: [str(side), "respond", place, list(answer)],
            st.integers(0, 3),
            st.sampled_from(answers),
        ),
        st.builds(
            lambda place, code: [str(side), "respond_error", place, code],
            st.integers(0, 3),
            st.sampled_from([-32603, -32800, -32000]),
        ),
        st.sampled_from(REQUESTS[side]).flatmap(
            lambda call: st.builds(lambda params: [str(side), "request", call[0], params], mutated(call[1]))
        ),
        st.sampled_from(NOTIFICATIONS[side]).flatmap(
            lambda call: st.builds(lambda params: [str(side), "notify", call[0], params], mutated(call[1]))
        ),
        st.just([str(side), "deliver"]),
        st.just([str(side), "deliver"]),
    )


cases = st.fixed_dictionaries(
    {
        "flags": st.fixed_dictionaries(
            {name: st.booleans() for name in ("queue_prompts", "reload_open_session", "strict")}
        ),
        "steps": st.lists(_of(Side.AGENT) | _of(Side.CLIENT), max_size=40),
    }
)


class Ends:
    """The two ends, what is on its way between them, and who has seen all of it."""

    def __init__(self, policy: Policy) -> None:
        self.ends = {Side.AGENT: Connection(Role.AGENT, policy), Side.CLIENT: Connection(Role.CLIENT, policy)}
        self.observer = Connection(Role.OBSERVER, policy)
        self.flying: dict[Side, deque[bytes]] = {Side.AGENT: deque(), Side.CLIENT: deque()}
        self._answered: set[tuple[Side, Any]] = set()

    def deliver(self, sender: Side) -> None:
        """The oldest line of that side arrives, if one is on its way."""
        if self.flying[sender]:
            line = self.flying[sender].popleft()
            receiver = _PEER[sender]
            self._look(receiver, line, self.ends[receiver].receive(line))
            self._look(None, line, self.observer.observe(sender, line))

    def _look(self, receiver: Side | None, line: bytes, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, ProtocolViolation):
                found = event.verdict
                assert found.severity in (Severity.SUSPECT, Severity.WARNING), (
                    f"{receiver or 'observer'}: {found.reason}: {line!r}"
                )
                assert event.reply is None
            elif receiver is not None and isinstance(event, ResponseReceived):
                assert (receiver, event.id) not in self._answered, "answered twice"
                self._answered.add((receiver, event.id))
        assert events
        assert not isinstance(events[-1], ProtocolViolation), "it was dropped"

    def send(self, side: Side, line: bytes) -> None:
        """Put a line on its way."""
        self.flying[side].append(line)

    def carry_out(self, step: list[Any]) -> None:
        """One step. Raises LocalProtocolError."""
        side, what = Side(step[0]), step[1]
        end = self.ends[side]
        if what == "deliver":
            self.deliver(side)
        elif what == "request":
            self.send(side, end.request(step[2], step[3])[1])
        elif what == "notify":
            self.send(side, end.notify(step[2], step[3]))
        else:
            calls = list(end.conversation.open[_PEER[side]])
            if not calls:
                return
            call = calls[step[2] % len(calls)]
            if what == "respond_error" and step[3] == -32800 and not call.cancel_asked:
                return  # it means that the request was cancelled
            if what == "respond_error":
                self.send(side, end.respond_error(call.id, RpcError(step[3], "m")))
                return
            method, result = step[3]
            if method != call.method:
                result = next(
                    (answer or {} for name, _, answer in REQUESTS[_PEER[side]] if name == call.method), {}
                )
            self.send(side, end.respond(call.id, result))

    def do(self, side: Side, method: str, params: Any, result: Any) -> None:
        """A request and its answer, at once."""
        id_, line = self.ends[side].request(method, params)
        self.send(side, line)
        self.deliver(side)
        other = _PEER[side]
        self.send(other, self.ends[other].respond(id_, result))
        self.deliver(other)


def check(case: Any) -> None:
    """Open a session and a turn, then do as the steps say, then let everything arrive."""
    ends = Ends(Policy(**case["flags"]))
    ends.do(Side.CLIENT, "initialize", INITIALIZE, INITIALIZED)
    ends.do(Side.CLIENT, "session/new", {"cwd": "/w", "mcpServers": []}, session(**SETUP))
    ends.carry_out(["client", "request", "session/prompt", session(prompt=[TEXT])])
    for step in case["steps"]:
        with suppress(LocalProtocolError):
            ends.carry_out(step)
    while any(ends.flying.values()):
        for side in (Side.CLIENT, Side.AGENT):
            ends.deliver(side)
