"""Agent, client and observer take any bytes: they never raise, reply with valid lines only, and cuts do not matter.

Documented: LocalProtocolError for a message of ours that would be illegal, and then nothing has changed.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from reference.snapshot import snapshot
from strategies.slices import CUTS, byte_by_byte, cut
from strategies.traffic import SIDES, conversations, opened, take, well_formed

from acp_agent.jsonrpc.codec import decode
from acp_agent.jsonrpc.errors import RpcError
from acp_agent.jsonrpc.messages import Malformed, classify
from acp_agent.protocol.connection import Connection, Role
from acp_agent.protocol.errors import LocalProtocolError
from acp_agent.protocol.events import Event, RequestReceived, ResponseReceived, StreamEnded
from acp_agent.protocol.methods import Side
from acp_agent.protocol.policy import Policy

_NOISE = st.lists(st.binary(max_size=60), max_size=6).map(
    lambda pieces: [["receive", "client", piece] for piece in pieces if piece]
)
_NOISES = st.fixed_dictionaries(
    {"role": st.sampled_from(list(Role)), "flags": st.just({}), "initialised": st.booleans(), "steps": _NOISE}
)

cases = st.fixed_dictionaries(
    {"conversation": st.one_of([conversations(role) for role in Role]) | _NOISES, "cuts": CUTS}
)


def check(case: Any) -> None:
    """Lead the conversation twice, the second time with other reads; look at all that comes of it."""
    conversation = case["conversation"]
    role = Role(conversation["role"])
    connections = [Connection(role, Policy(**conversation["flags"])) for _ in range(2)]
    for connection in connections:
        opened(connection, conversation["initialised"])
    whole, in_pieces = connections
    answered = _Answers(whole)
    for step in conversation["steps"]:
        if step[0] == "receive":
            events = take(whole, step)
            well_formed(events, role)
            answered.read(step[1], events)
            data = step[2]
            pieces = byte_by_byte(data) if len(data) < 40 else cut(data, case["cuts"])
            again = [event for piece in pieces for event in take(in_pieces, [*step[:2], piece])]
            assert plain(again) == plain(events)
        else:
            before = snapshot(whole)
            try:
                line = take(whole, step)
            except LocalProtocolError:
                assert snapshot(whole) == before
                continue
            assert take(in_pieces, step) == line
            assert line.endswith(b"\n")
            assert line.count(b"\n") == 1
            assert not isinstance(classify(decode(line)), Malformed)
            answered.sent(step, decode(line))
    _end(whole, role, answered)


def plain(events: list[Event]) -> list[Any]:
    """Events as values that can be compared: an error is its members."""
    found = []
    for event in events:
        members = [one.to_object() if isinstance(one, RpcError) else one for one in event]
        message = getattr(event, "message", None)
        if message is not None:
            members = [repr(one) for one in members]
        found.append((type(event).__name__, members))
    return found


class _Answers:
    """Which requests are open each way, counted from outside."""

    def __init__(self, connection: Connection) -> None:
        self._role = connection.role
        self.asked: set[str] = set()
        self._open: set[str] = set()
        if self._role is not Role.OBSERVER:
            own, peer = SIDES[self._role]
            self.asked = {repr(call.id) for call in connection.conversation.open[own]}
            self._open = {repr(call.id) for call in connection.conversation.open[peer]}

    def read(self, side: str, events: list[Event]) -> None:
        if self._role is Role.OBSERVER:
            return
        for event in events:
            if isinstance(event, RequestReceived):
                assert repr(event.id) not in self._open, "two requests of one id"
                self._open.add(repr(event.id))
            elif isinstance(event, ResponseReceived):
                assert repr(event.id) in self.asked, "two answers to one request"
                self.asked.remove(repr(event.id))

    def sent(self, step: list[Any], message: dict[str, Any]) -> None:
        if step[0] == "request":
            self.asked.add(repr(message["id"]))
        elif step[0] != "notify":
            assert repr(message["id"]) in self._open
            self._open.remove(repr(message["id"]))


def _end(connection: Connection, role: Role, answered: _Answers) -> None:
    if role is Role.OBSERVER:
        for side in (Side.AGENT, Side.CLIENT):
            events = connection.observe(side, b"")
            well_formed(events, role)
            assert isinstance(events[-1], StreamEnded)
        return
    events = connection.receive(b"")
    well_formed(events, role)
    for event in events:
        if isinstance(event, ResponseReceived):
            answered.read("", [event])
    assert isinstance(events[-1], StreamEnded)
    assert {repr(id_) for id_ in events[-1].unanswered} == answered.asked
