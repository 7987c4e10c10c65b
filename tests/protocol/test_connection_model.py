"""A model of a conversation against the real thing: two ends, messages in flight both ways, an observer between.

Each rule tries one message. A second, simpler bookkeeping (View) says whether it is legal for who sends it: then it
must get out and be taken by the other end without a finding, however the two directions cross; if not, it must raise
and leave everything as it was.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, precondition, rule

from acp_agent.jsonrpc.errors import RpcError
from acp_agent.jsonrpc.messages import RequestId
from acp_agent.protocol.connection import Connection, Role
from acp_agent.protocol.errors import LocalProtocolError
from acp_agent.protocol.events import Event, ProtocolViolation, RequestReceived, ResponseReceived
from acp_agent.protocol.methods import Side
from acp_agent.protocol.policy import Policy
from acp_agent.protocol.sessions import Turn

AGENT, CLIENT = Side.AGENT, Side.CLIENT
TEXT = {"type": "text", "text": "x"}
OPTIONS = [
    {"optionId": "yes", "name": "Y", "kind": "allow_once"},
    {"optionId": "no", "name": "N", "kind": "reject_once"},
]
FINAL = {"done", "cancelled", "failed"}
RUNNING, ENDED = {"in_progress", "completed"}, {"completed", "failed"}


@dataclass
class SessionView:
    """One session as one party knows it: who owns what, and nothing that could be derived."""

    status: str = "open"
    prompt: RequestId = None
    active: bool = False
    seen: bool = False
    cancels: set[str] = field(default_factory=set)
    calls: dict[str, str] = field(default_factory=dict)
    asked: dict[RequestId, str] = field(default_factory=dict)  # open questions that count
    denied: set[str] = field(default_factory=set)
    left: set[str] = field(default_factory=set)

    @property
    def open_calls(self) -> set[str]:
        return {call for call, status in self.calls.items() if status not in ENDED and call not in self.left}

    @property
    def state(self) -> str | None:
        if not self.active:
            return None
        if self.asked:
            return "awaiting_permission"
        if any(self.calls[call] == "in_progress" for call in self.open_calls):
            return "running_tool"
        return "streaming" if self.seen else "pending"


@dataclass
class View:
    """What one party knows: the agent and the client each from sending and reading, the observer from reading."""

    sessions: dict[str, SessionView] = field(default_factory=dict)
    open: dict[Side, dict[RequestId, str]] = field(default_factory=lambda: {AGENT: {}, CLIENT: {}})
    closes: dict[RequestId, str] = field(default_factory=dict)
    whose: dict[RequestId, tuple[str, set[str]]] = field(
        default_factory=dict
    )  # question -> session, its turn's cancels

    def take(self, kind: str, id_: RequestId, name: str, value: Any) -> None:
        """A message was sent by, or has reached, this party."""
        session = self.sessions.get(name)
        if kind == "new":
            self.open[CLIENT][id_] = kind
        elif kind == "opened":
            del self.open[CLIENT][id_]
            self.sessions[name] = SessionView()
        elif session is not None:
            getattr(self, kind)(session, id_, value, name)

    def prompt(self, session: SessionView, id_: RequestId, value: Any, name: str) -> None:
        self.open[CLIENT][id_] = "prompt"
        session.prompt, session.active, session.seen, session.cancels = id_, True, False, set()

    def chunk(self, session: SessionView, id_: RequestId, value: Any, name: str) -> None:
        session.seen = True

    def call(self, session: SessionView, id_: RequestId, value: Any, name: str) -> None:
        session.seen = True
        call, status = value
        session.calls[call] = status or session.calls.get(call, "pending")

    def ask(self, session: SessionView, id_: RequestId, value: Any, name: str) -> None:
        session.seen = True
        session.calls.setdefault(value, "pending")
        session.asked[id_] = value
        self.open[AGENT][id_] = "ask"
        self.whose[id_] = (name, session.cancels)

    def answer(self, session: SessionView, id_: RequestId, value: Any, name: str) -> None:
        del self.open[AGENT][id_]
        call = session.asked.pop(id_, None)
        if call is not None:
            (session.denied.discard if value == "yes" else session.denied.add)(call)

    def withdraw(self, session: SessionView, id_: RequestId, value: Any, name: str) -> None:
        call = session.asked.pop(id_, None) if id_ in self.open[AGENT] else None
        if call is not None:
            session.denied.add(call)

    def cancel(self, session: SessionView, id_: RequestId, value: Any, name: str) -> None:
        if session.active:
            session.cancels.add("turn")

    def cancel_prompt(self, session: SessionView, id_: RequestId, value: Any, name: str) -> None:
        if session.active and session.prompt == id_:
            session.cancels.add("request")

    def close(self, session: SessionView, id_: RequestId, value: Any, name: str) -> None:
        self.open[CLIENT][id_] = "close"
        self.closes[id_] = name
        session.status = "closing"
        self.cancel(session, id_, value, name)

    def closed(self, session: SessionView, id_: RequestId, value: Any, name: str) -> None:
        del self.open[CLIENT][id_]
        del self.closes[id_]
        if value:
            session.status = "closed"
            session.calls = {}
        elif session.status == "closing" and name not in self.closes.values():
            session.status = "open"

    def end(self, session: SessionView, id_: RequestId, value: Any, name: str) -> None:
        del self.open[CLIENT][id_]
        session.left |= session.open_calls
        session.asked = {}
        session.active = False


def findings(events: list[Event]) -> list[tuple[str, str]]:
    """Severity and slug of every finding, in order."""
    return [(e.verdict.severity, e.verdict.reason) for e in events if isinstance(e, ProtocolViolation)]


def may_cross(found: tuple[str, str]) -> bool:
    """Whether an end and an observer may differ in a finding, each of them rightly."""
    return found[0] == "suspect" or found == ("warning", "permission_not_cancelled")


class Conversation(RuleBasedStateMachine):
    """Rules that try messages. The bundles hold names of sessions and ids of questions, also stale ones."""

    sessions = Bundle("sessions")
    questions = Bundle("questions")

    def __init__(self) -> None:
        super().__init__()
        strict = Policy(strict=True)
        self.ends = {AGENT: Connection(Role.AGENT, strict), CLIENT: Connection(Role.CLIENT, strict)}
        self.observer = Connection(Role.OBSERVER, strict)
        self.views = {AGENT: View(), CLIENT: View()}
        self.seen_view = View()
        self.flying: dict[Side, deque[tuple[bytes, tuple[Any, ...]]]] = {AGENT: deque(), CLIENT: deque()}
        self.log: list[tuple[Side, bytes]] = []
        self.findings: list[tuple[str, str]] = []
        self.observed: list[tuple[str, str]] = []
        self.over: list[tuple[Turn, str]] = []
        self.answered: set[tuple[Side, RequestId]] = set()
        self.count = 0
        client, agent = self.ends[CLIENT], self.ends[AGENT]
        id_, line = client.request("initialize", {"protocolVersion": 1})
        agent.receive(line)
        capabilities = {"sessionCapabilities": {"close": {}}}
        answer = agent.respond(id_, {"protocolVersion": 1, "agentCapabilities": capabilities})
        client.receive(answer)
        self.log += [(CLIENT, line), (AGENT, answer)]
        for side, data in self.log:
            self.observer.observe(side, data)

    @initialize(target=sessions)
    def first_session(self) -> str:
        self.new()
        self.deliver_all()
        name = self.open_session()
        self.deliver_all()
        return name

    # -- sending and arriving

    def send(self, side: Side, legal: bool, kind: str, name: str, value: Any, make: Any) -> RequestId | None:
        """Try one message; make() gives its line, or its id and line."""
        before = self.state_of(side)
        try:
            made = make()
        except LocalProtocolError:
            assert not legal, f"{kind} was refused"
            assert self.state_of(side) == before
            return None
        assert legal, f"{kind} got out"
        id_, line = (
            made if isinstance(made, tuple) else (value[0] if isinstance(value, tuple) else None, made)
        )
        what = value[1] if isinstance(value, tuple) and not isinstance(made, tuple) else value
        self.views[side].take(kind, id_, name, what)
        self.flying[side].append((line, (kind, id_, name, what)))
        return id_

    @rule()
    def deliver_all(self) -> None:
        """Nothing crosses here."""
        while any(self.flying.values()):
            for side in (CLIENT, AGENT):
                while self.flying[side]:
                    self.arrive(side)

    @precondition(lambda self: self.flying[CLIENT])
    @rule()
    def deliver_to_agent(self) -> None:
        self.arrive(CLIENT)

    @precondition(lambda self: self.flying[AGENT])
    @rule()
    def deliver_to_client(self) -> None:
        self.arrive(AGENT)

    def arrive(self, side: Side) -> None:
        """The oldest line in flight arrives: at the observer, and at the other end."""
        line, message = self.flying[side].popleft()
        receiver = CLIENT if side is AGENT else AGENT
        self.log.append((side, line))
        before = [call.subject for call in self.ends[receiver].conversation.open[receiver]]
        seen, events = self.observer.observe(side, line), self.ends[receiver].receive(line)
        self.views[receiver].take(*message)
        self.seen_view.take(*message)
        told, told_observer = findings(events), findings(seen)
        # What is sent and not yet seen makes a difference, but only to what may have crossed: a cancel of the turn, and
        # a question that the agent has withdrawn when its answer `cancelled` comes.
        assert [found for found in told if not may_cross(found)] == [
            found for found in told_observer if not may_cross(found)
        ]
        self.findings += told
        self.observed += told_observer
        assert not isinstance(events[-1], ProtocolViolation)
        for event in events:
            if isinstance(event, ResponseReceived):
                assert (receiver, event.id) not in self.answered, "one answer a request"
                self.answered.add((receiver, event.id))
            elif isinstance(event, RequestReceived):
                assert event.id in self.ends[receiver].conversation.open[side]
        self.over += [(turn, turn.state) for turn in before if isinstance(turn, Turn) and turn.state in FINAL]

    def state_of(self, side: Side) -> Any:
        conversation = self.ends[side].conversation
        return (
            {
                name: (
                    session.status,
                    [
                        (turn.request_id, turn.state, sorted(turn.cancel), sorted(turn.open_calls))
                        for turn in session.turns
                    ],
                    {
                        call.id: (call.state, call.permission_open, call.denied, call.left_open)
                        for call in session.calls.values()
                    },
                )
                for name, session in conversation.sessions.items()
            },
            {s: [(call.id, call.cancel_asked) for call in conversation.open[s]] for s in (AGENT, CLIENT)},
            self.ends[side]._next_id,
        )

    def is_active(self, side: Side, everywhere: bool = False) -> bool:
        """Whether that side knows of an active turn, in some session or in all of them."""
        active = [session.active for session in self.views[side].sessions.values()]
        return all(active) if everywhere else any(active)

    def of(self, side: Side, name: str) -> SessionView:
        """The session as that side knows it; a closed one when it does not."""
        return self.views[side].sessions.get(name) or SessionView(status="unknown")

    # -- the client's messages

    @precondition(lambda self: self.count < 3 and "new" not in self.views[CLIENT].open[CLIENT].values())
    @rule()
    def new(self) -> None:
        self.send(
            CLIENT,
            True,
            "new",
            "",
            None,
            partial(self.ends[CLIENT].request, "session/new", {"cwd": "/w", "mcpServers": []}),
        )

    @precondition(lambda self: not self.is_active(CLIENT, everywhere=True))
    @rule(name=sessions)
    def prompt(self, name: str) -> None:
        session = self.of(CLIENT, name)
        params = {"sessionId": name, "prompt": [TEXT]}
        legal = session.status == "open" and not session.active
        self.send(
            CLIENT, legal, "prompt", name, None, partial(self.ends[CLIENT].request, "session/prompt", params)
        )

    @precondition(lambda self: self.is_active(CLIENT))
    @rule(name=sessions, way=st.sampled_from(["cancel", "cancel_prompt", "close"]))
    def stop(self, name: str, way: str) -> None:
        if way == "cancel":
            self.cancel(name)
        elif way == "cancel_prompt":
            self.cancel_prompt(name)
        elif self.count > 1:
            self.close(name)

    def cancel(self, name: str) -> None:
        if self.aborted(name):
            return
        self.send(
            CLIENT,
            True,
            "cancel",
            name,
            None,
            partial(self.ends[CLIENT].notify, "session/cancel", {"sessionId": name}),
        )

    def cancel_prompt(self, name: str) -> None:
        id_ = self.of(CLIENT, name).prompt
        make = partial(self.ends[CLIENT].notify, "$/cancel_request", {"requestId": id_})
        self.send(CLIENT, True, "cancel_prompt", name, (id_, None), make)

    def close(self, name: str) -> None:
        status = self.of(CLIENT, name).status
        if self.aborted(name):
            return
        if status == "closing":
            return  # a second close is legal too, but the first may have been answered when it arrives
        legal = status == "open"
        self.send(
            CLIENT,
            legal,
            "close",
            name,
            None,
            partial(self.ends[CLIENT].request, "session/close", {"sessionId": name}),
        )

    @rule(question=questions, choice=st.sampled_from(["yes", "no", "cancelled", "error", "withdrawn"]))
    def settle_question(self, question: RequestId, choice: str) -> None:
        if choice == "withdrawn":
            self.withdraw(question)
        else:
            self.answer(question, choice)

    def answer(self, question: RequestId, choice: str) -> None:
        view, client = self.views[CLIENT], self.ends[CLIENT]
        name, cancels = view.whose.get(question, ("", set()))
        legal = question in view.open[AGENT] and ("turn" not in cancels or choice == "cancelled")
        outcome = (
            {"outcome": "cancelled"} if choice == "cancelled" else {"outcome": "selected", "optionId": choice}
        )

        def make() -> bytes:
            if choice == "error":
                return client.respond_error(question, RpcError(-32603, "m"))
            return client.respond(question, {"outcome": outcome})

        self.send(CLIENT, legal, "answer", name, (question, choice), make)

    # -- the agent's messages

    @precondition(lambda self: "new" in self.views[AGENT].open[CLIENT].values())
    @rule(target=sessions)
    def open_session(self) -> str:
        self.count += 1
        id_ = next(id_ for id_, kind in self.views[AGENT].open[CLIENT].items() if kind == "new")
        name = f"s{self.count}"
        self.send(
            AGENT,
            True,
            "opened",
            name,
            (id_, None),
            partial(self.ends[AGENT].respond, id_, {"sessionId": name}),
        )
        return name

    def update(self, name: str, **members: Any) -> bytes:
        return self.ends[AGENT].notify("session/update", {"sessionId": name, "update": members})

    def chunk(self, name: str) -> None:
        session = self.of(AGENT, name)
        make = partial(self.update, name, sessionUpdate="agent_message_chunk", content=TEXT)
        self.send(AGENT, session.active and session.status != "closed", "chunk", name, None, make)

    @precondition(lambda self: self.is_active(AGENT))
    @rule(
        name=sessions,
        call=st.sampled_from(["a", "b", "b", None]),
        status=st.sampled_from([None, "pending", *sorted(RUNNING), "failed"]),
    )
    def show(self, name: str, call: str | None, status: str | None) -> None:
        if call is None:
            self.chunk(name)
        else:
            self.call(name, call, status)

    def call(self, name: str, call: str, status: str | None) -> None:
        session = self.of(AGENT, name)
        known = session.calls.get(call)
        legal = session.active and session.status != "closed"
        members: dict[str, Any] = {"sessionUpdate": "tool_call_update", "toolCallId": call, "status": status}
        if known is None:
            members = {
                "sessionUpdate": "tool_call",
                "toolCallId": call,
                "title": "t",
                "status": status or "pending",
            }
        else:
            blocked = call in session.asked.values() or call in session.denied
            moves = status not in {None, known}
            legal = legal and call not in session.left
            legal = (
                legal
                and not (known in ENDED and moves)
                and not (known == "in_progress" and status == "pending")
            )
            legal = legal and not (moves and status in RUNNING and blocked)
        self.send(AGENT, legal, "call", name, (call, status), lambda: (None, self.update(name, **members)))

    @precondition(lambda self: self.is_active(AGENT))
    @rule(target=questions, name=sessions, call=st.sampled_from("abbb"))
    def ask(self, name: str, call: str) -> RequestId:
        session = self.of(AGENT, name)
        legal = session.active and session.status != "closed" and "turn" not in session.cancels
        legal = legal and call not in session.asked.values() and call not in session.left
        legal = legal and session.calls.get(call) not in ENDED
        params = {"sessionId": name, "toolCall": {"toolCallId": call}, "options": OPTIONS}
        make = partial(self.ends[AGENT].request, "session/request_permission", params)
        return self.send(AGENT, legal, "ask", name, call, make)

    def withdraw(self, question: RequestId) -> None:
        name, _ = self.views[AGENT].whose.get(question, ("", set()))
        make = partial(self.ends[AGENT].notify, "$/cancel_request", {"requestId": question})
        self.send(AGENT, True, "withdraw", name, (question, None), make)

    @precondition(lambda self: self.is_active(AGENT))
    @rule(name=sessions, ending=st.sampled_from(["end_turn", "max_tokens", "cancelled", -32800, -32603]))
    def end(self, name: str, ending: str | int) -> None:
        session = self.of(AGENT, name)
        id_, agent = session.prompt, self.ends[AGENT]
        legal = session.active
        if isinstance(ending, int):
            legal = legal and "turn" not in session.cancels
            # a cancel of the request alone leaves -32800, and no other error.
            legal = legal and (ending == -32800 or not session.cancels)
        else:
            legal = legal and not session.asked and (ending == "cancelled") == bool(session.cancels)
            legal = legal and (ending == "max_tokens" or not session.open_calls)
        if ending == -32800 and self.of(CLIENT, name).cancels != session.cancels:
            return  # see aborted

        def make() -> bytes:
            if isinstance(ending, int):
                return agent.respond_error(id_, RpcError(ending, "m"))
            return agent.respond(id_, {"stopReason": ending})

        self.send(AGENT, legal, "end", name, (id_, ending), make)

    def aborted(self, name: str) -> bool:
        """Whether -32800 is on its way to the client.

        A cancel that it crosses makes it look like a fault of the agent: the one finding that order does not excuse.
        """
        return any(
            message == ("end", self.of(CLIENT, name).prompt, name, -32800)
            for _, message in self.flying[AGENT]
        )

    @precondition(lambda self: self.views[AGENT].closes)
    @rule(succeeds=st.booleans())
    def answer_close(self, succeeds: bool) -> None:
        """Decision R9: the prompt is answered first."""
        view, agent = self.views[AGENT], self.ends[AGENT]
        id_, name = next(iter(view.closes.items()))
        if view.sessions[name].active:
            return

        def make() -> bytes:
            return agent.respond(id_, {}) if succeeds else agent.respond_error(id_, RpcError(-32603, "m"))

        self.send(AGENT, True, "closed", name, (id_, succeeds), make)

    # -- what always holds

    @invariant()
    def everybody_is_where_the_model_says(self) -> None:
        """Model state = machine state, at both ends and in between."""
        pairs = [
            (self.ends[AGENT], self.views[AGENT]),
            (self.ends[CLIENT], self.views[CLIENT]),
            (self.observer, self.seen_view),
        ]
        for connection, view in pairs:
            conversation = connection.conversation
            known = {
                name: (session.status.value, session.turn.state.value if session.turn else None)
                for name, session in conversation.sessions.items()
            }
            assert known == {name: (session.status, session.state) for name, session in view.sessions.items()}
            for side in (AGENT, CLIENT):
                assert {call.id for call in conversation.open[side]} == set(view.open[side])

    @invariant()
    def an_ended_turn_stays_ended(self) -> None:
        """It never becomes active, or ends a second time."""
        assert all(turn.state == state for turn, state in self.over)

    @invariant()
    def two_conforming_ends_never_accuse_each_other(self) -> None:
        """What crosses is suspect at most; a `cancelled` without a cancel is a warning."""
        allowed = {
            ("suspect", "stop_reason_not_cancelled"),
            ("suspect", "cancel_as_error"),
            ("warning", "permission_not_cancelled"),
            ("warning", "tool_status_backwards"),
        }
        assert {*self.findings, *self.observed} <= allowed

    def teardown(self) -> None:
        """A clean end: everything arrives and is answered, and then nothing is open; a second observer agrees."""
        for _ in range(4):
            self.settle()
        for connection in (*self.ends.values(), self.observer):
            assert [len(connection.conversation.open[side]) for side in (AGENT, CLIENT)] == [0, 0]
        again = Connection(Role.OBSERVER, Policy(strict=True))
        told = [found for side, line in self.log for found in findings(again.observe(side, line))]
        assert told == self.observed

    def settle(self) -> None:
        self.deliver_all()
        for question in list(self.views[CLIENT].open[AGENT]):
            self.answer(question, "cancelled")
        self.deliver_all()
        while "new" in self.views[AGENT].open[CLIENT].values():
            self.open_session()
        for name, session in list(self.views[AGENT].sessions.items()):
            if session.active:
                for call in sorted(session.open_calls):
                    self.call(name, call, "failed")
                self.end(name, "cancelled" if session.cancels else "end_turn")
        while self.views[AGENT].closes:
            self.answer_close(True)


TestConversation = Conversation.TestCase
TestConversation.settings = settings(stateful_step_count=60)
