"""Plays one plan against an agent: the client that does what the plan says, as far as it can be done.

An action that has no object (no session to close, no turn to wait for) is left out, so every part of a plan can be
taken away. In the valid level nothing illegal is written: what depends on the agent (capabilities, offers, states) is
read from the core's own conversation. Deliberately absent: judging (judge.py), processes (agent_target.py).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from acp_agent.fuzzing.exchange import Exchange
from acp_agent.fuzzing.program import (
    FULL_CAPABILITIES,
    Await,
    Boundary,
    Call,
    Cancel,
    Choose,
    EndInput,
    Extension,
    Life,
    Line,
    ListSessions,
    Open,
    Program,
    Prompt,
    Reaction,
    Release,
    Stall,
    Step,
    Stray,
)
from acp_agent.fuzzing.services import Services, nonsense
from acp_agent.fuzzing.strategies.changes import apply
from acp_agent.fuzzing.strategies.wire import PLAIN, Spelling, cut, spelled
from acp_agent.jsonrpc.messages import RequestId
from acp_agent.protocol.conversation import Conversation
from acp_agent.protocol.events import Event, NotificationReceived, RequestReceived
from acp_agent.protocol.machines.connection import ConnectionState
from acp_agent.protocol.methods import METHODS, Side, declares, gate_is_open
from acp_agent.protocol.sessions import Permission, Session, SessionStatus, Turn

PING: Final = "_acp_agent/fuzz"
_PIXEL: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
_SILENCE: Final = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
_BLOCK_GATES: Final = {"image": "image", "audio": "audio", "resource": "embeddedContext"}


class Player:
    """Plays plans on one connection. root: the directory that sessions work in.

    Ids count up from 0 through the life of the connection. closed: sessions that were closed and can be opened again.
    """

    def __init__(self, exchange: Exchange, root: Path) -> None:
        self._exchange = exchange
        exchange.on_event = self._on_event
        self._services = Services(root)
        self._root = root
        self._next_id = 0
        self._program = Program()
        self._sessions: list[str] = []
        self._closed: list[str] = []
        self._held: dict[RequestId, RequestReceived] = {}
        self._asked = 0
        self._updates = 0
        self._tool_calls = 0
        self._holding = True
        self._patient: set[str] = set()

    @property
    def _conversation(self) -> Conversation:
        return self._exchange.judge.connection.conversation

    # -- a whole plan

    def begin(self, program: Program) -> None:
        """The handshake of a plan. On a connection that others have begun it is not called."""
        self._program = program
        for step in program.early:
            self._take(step)
        capabilities = FULL_CAPABILITIES if program.capabilities is None else program.capabilities
        params = {"protocolVersion": program.version, "clientCapabilities": capabilities}
        params["clientInfo"] = {"name": "acp-agent fuzz", "version": "1"}
        self._request("initialize", params)
        self._wait_for_answers()
        self._exchange.note_memory()

    def play(self, program: Program) -> None:
        """The steps of a plan, in sessions of its own, until everything it began is over."""
        self._program = program
        self._sessions, self._closed = [], []
        self._asked = 0
        self._holding = True
        self._patient.clear()
        for step in program.steps:
            if not self._exchange.alive:
                return
            self._take(step)
            self._exchange.pump(0)
        self._wind_up()
        if program.probe and self._exchange.alive:
            self._sessions = []
            self._take(Step(Prompt(text=program.probe_text)))
            self._wind_up()

    def _wind_up(self) -> None:
        """Cancelled turns end while the agent's requests are still held; then those are served, and all must end."""
        self._exchange.wait_for_answers(
            lambda call: isinstance(call.subject, Turn) and call.subject.whole_turn_cancelled
        )
        self._holding = False
        self._release_all()
        self._exchange.wait_for_answers()
        self._release_all()
        self._exchange.settle()

    # -- actions

    def _take(self, step: Step) -> None:
        action = step.action
        match action:
            case Open():
                self._open(action, step)
            case Prompt():
                self._prompt(action, step)
            case Await():
                self._await(action.boundary)
            case Cancel():
                self._cancel(action, step)
            case Release():
                if self._held:
                    self._answer_held(list(self._held)[action.which % len(self._held)])
            case Choose():
                self._choose(action, step)
            case Life():
                self._life(action, step)
            case ListSessions():
                self._list(action, step)
            case Extension():
                self._extension(action, step)
            case Stall():
                self._exchange.stall(action.ms / 1000)
            case EndInput():
                self._exchange.end_input()
            case Line():
                self._exchange.send(cut(action.data + b"\n", step.spelling))
            case Call():
                self._call(action, step)
            case Stray():
                body: dict[str, Any] = (
                    {"error": {"code": -32603, "message": "x"}} if action.error else {"result": {}}
                )
                self._write({"id": action.id_, **body}, step)

    def _open(self, action: Open, step: Step) -> None:
        if not self._ready:
            return
        server = {"name": "none", "command": sys.executable, "args": ["-c", "pass"], "env": []}
        params = {
            "cwd": str(self._root),
            "mcpServers": [{**server, "name": f"s{n}"} for n in range(action.servers)],
        }
        before = set(self._conversation.sessions)
        self._request("session/new", params, step)
        self._wait_for_answers(but_prompts=True)
        self._sessions += [name for name in self._conversation.sessions if name not in before]

    def _prompt(self, action: Prompt, step: Step) -> None:
        session = self._session(action.session, wanted=True)
        if (
            session is None
            or (session.turns and not action.overlap)
            or session.status is not SessionStatus.OPEN
        ):
            return
        text = action.text
        if action.size:
            text = (text * (action.size // max(len(text.encode()), 1) + 1))[: action.size]
        if action.hold:
            self._patient.add(session.id)
        blocks: list[dict[str, Any]] = [{"type": "text", "text": text}]
        blocks += [block for kind in action.kinds if (block := self._block(kind)) is not None]
        self._request("session/prompt", {"sessionId": session.id, "prompt": blocks}, step)

    def _block(self, kind: str) -> dict[str, Any] | None:
        gate = _BLOCK_GATES.get(kind)
        if gate is not None and not declares(
            self._conversation.agent_capabilities, ("promptCapabilities", gate)
        ):
            return None
        uri = (self._root / "note.txt").as_uri()
        match kind:
            case "image":
                return {"type": "image", "data": _PIXEL, "mimeType": "image/png"}
            case "audio":
                return {"type": "audio", "data": _SILENCE, "mimeType": "audio/wav"}
            case "resource":
                return {
                    "type": "resource",
                    "resource": {"uri": uri, "text": "a note\n", "mimeType": "text/plain"},
                }
            case "resource_link":
                return {"type": "resource_link", "uri": uri, "name": "note.txt"}
            case _:
                return {"type": "text", "text": ""}

    def _await(self, boundary: Boundary) -> None:
        turns = [turn for name in self._sessions for turn in self._turns_of(name)]
        if boundary is Boundary.ANSWERS:
            # What the agent has asked may be what it waits for.
            self._exchange.wait_for_answers(unless=lambda: bool(self._held))
            return
        if not turns:
            return
        counted: dict[Boundary, Callable[[], int]] = {
            Boundary.UPDATE: lambda: self._updates,
            Boundary.TOOL_CALL: lambda: self._tool_calls,
            Boundary.ASKED: lambda: self._asked,
        }
        count, deadlines = counted[boundary], self._exchange.deadlines
        before, active = (
            count(),
            [call.id for call in self._exchange.open_calls() if isinstance(call.subject, Turn)],
        )
        self._exchange.wait(
            lambda: count() > before or not any(self._conversation.turn_of(id_) for id_ in active),
            min(deadlines.turn_s, deadlines.answer_s),
        )

    def _cancel(self, action: Cancel, step: Step) -> None:
        session = self._session(action.session)
        if session is None:
            return
        if action.by_request:
            if session.turn is not None:
                self._notify("$/cancel_request", {"requestId": session.turn.request_id}, step)
            return
        self._notify("session/cancel", {"sessionId": session.id}, step)
        # A client answers what it was asked in that session at once.
        for id_ in [id_ for id_ in self._held if self._is_cancelled_permission(id_)]:
            self._answer_held(id_)

    def _choose(self, action: Choose, step: Step) -> None:
        session = self._session(action.session)
        if session is None or session.status is not SessionStatus.OPEN:
            return
        if not action.option:
            modes = sorted(session.modes or ())
            if modes:
                params = {"sessionId": session.id, "modeId": modes[action.value % len(modes)]}
                self._request("session/set_mode", params, step)
        elif session.options:
            names = sorted(session.options)
            name = names[action.value % len(names)]
            values = session.options[name]
            chosen: dict[str, Any] = {"type": "boolean", "value": bool(action.value % 2)}
            if values is not None:
                if not values:
                    return
                chosen = {"value": sorted(values)[action.value // len(names) % len(values)]}
            self._request(
                "session/set_config_option", {"sessionId": session.id, "configId": name, **chosen}, step
            )
        # A list of options is judged by what came before it: nothing else is set until the answer is here.
        self._wait_for_answers(but_prompts=True)

    def _life(self, action: Life, step: Step) -> None:
        if not self._ready or not gate_is_open(METHODS[action.method], self._conversation.capabilities):
            return
        if action.method in {"session/load", "session/resume"}:
            if not self._closed:
                return
            name = self._closed[action.session % len(self._closed)]
            self._closed.remove(name)
            params = {"sessionId": name, "cwd": str(self._root), "mcpServers": []}
            self._request(action.method, params, step)
            self._wait_for_answers(but_prompts=True)
            if self._is_open(name):
                self._sessions.append(name)
            return
        known = [name for name in self._sessions if self._is_open(name)]
        if action.method == "session/delete":
            known = self._closed
        if known:
            name = known[action.session % len(known)]
            self._request(action.method, {"sessionId": name}, step)
            for id_ in [id_ for id_ in self._held if _object(self._held[id_]).get("sessionId") == name]:
                self._answer_held(id_)
            self._wait_for_answers(but_prompts=True)
            if action.method == "session/close" and not self._is_open(name):
                self._closed.append(name)

    def _list(self, action: ListSessions, step: Step) -> None:
        if not self._ready or not gate_is_open(METHODS["session/list"], self._conversation.capabilities):
            return
        params: dict[str, Any] = {"cwd": str(self._root)} if action.here else {}
        if action.cursor:
            params["cursor"] = action.cursor
        self._request("session/list", params, step)
        self._wait_for_answers(but_prompts=True)

    def _extension(self, action: Extension, step: Step) -> None:
        if not self._ready:
            return
        if action.request:
            self._request(PING, {}, step)
            self._wait_for_answers(but_prompts=True)
        else:
            self._notify(PING, {}, step)

    def _call(self, action: Call, step: Step) -> None:
        params = action.params
        session = self._session(0) if action.session and isinstance(params, dict) else None
        if session is not None:
            params = {**params, "sessionId": session.id}
        message: dict[str, Any] = {"method": action.method}
        if params is not None:
            message["params"] = params
        if not action.notify:
            message = {"id": self._fresh_id() if action.id_ == "fresh" else action.id_, **message}
        self._write(message, step)

    # -- messages

    def _request(self, method: str, params: dict[str, Any], step: Step | None = None) -> None:
        self._write({"id": self._fresh_id(), "method": method, "params": params}, step)

    def _notify(self, method: str, params: dict[str, Any], step: Step | None = None) -> None:
        self._write({"method": method, "params": params}, step)

    def _write(self, message: dict[str, Any], step: Step | None = None) -> None:
        whole: Any = {"jsonrpc": "2.0", **message}
        spelling: Spelling = PLAIN if step is None else step.spelling
        for change in step.changes if step is not None else ():
            whole = apply(whole, change)
        self._exchange.send(cut(spelled(whole, spelling), spelling))

    def _fresh_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1

    def _wait_for_answers(self, *, but_prompts: bool = False) -> None:
        self._exchange.wait_for_answers(lambda call: not (but_prompts and call.method == "session/prompt"))

    # -- what the agent sends

    def _on_event(self, event: Event) -> None:
        if isinstance(event, RequestReceived):
            self._asked += 1
            self._react(event)
        elif isinstance(event, NotificationReceived) and event.method == "session/update":
            self._updates += 1
            update = event.params.get("update") if isinstance(event.params, dict) else None
            self._tool_calls += isinstance(update, dict) and update.get("sessionUpdate") == "tool_call"

    def _react(self, request: RequestReceived) -> None:
        number = self._asked - 1
        reactions = self._program.reactions
        reaction = reactions[number] if number < len(reactions) else Reaction.SERVE
        if _object(request).get("sessionId") in self._patient:
            reaction = Reaction.HOLD
        match reaction:
            case Reaction.HOLD:
                self._hold(request)
            case Reaction.DUPLICATE:
                self._answer(request, Reaction.SERVE)
                self._answer(request, Reaction.SERVE)
            case Reaction.NONSENSE:
                self._write(nonsense(number, request.id))
            case Reaction.OTHER_ID:
                other = str(request.id) if isinstance(request.id, int) else 7
                self._write(
                    {"id": other, **self._services.answer(request.method, _object(request), Reaction.SERVE)}
                )
                self._hold(request)
            case Reaction.REFUSE:
                self._answer(request, reaction)
            case _:
                self._answer(request, Reaction.SERVE)

    def _hold(self, request: RequestReceived) -> None:
        """Keep it for later, if there is a later and no duty to answer at once."""
        if self._holding and not self._is_cancelled_permission(request.id):
            self._held[request.id] = request
        else:
            self._answer(request, Reaction.SERVE)

    def _answer(self, request: RequestReceived, reaction: Reaction) -> None:
        if self._is_cancelled_permission(request.id):
            body: dict[str, Any] = {"result": {"outcome": {"outcome": "cancelled"}}}
        else:
            body = self._services.answer(request.method, _object(request), reaction)
        self._write({"id": request.id, **body})

    def _answer_held(self, id_: RequestId) -> None:
        self._answer(self._held.pop(id_), Reaction.SERVE)

    def _release_all(self) -> None:
        while self._held and self._exchange.alive:
            self._answer_held(next(iter(self._held)))
        self._held.clear()

    def _is_cancelled_permission(self, id_: RequestId) -> bool:
        call = self._conversation.open[Side.AGENT].get(id_)
        permission = call.subject if call is not None else None
        return isinstance(permission, Permission) and bool(
            permission.turn and permission.turn.whole_turn_cancelled
        )

    # -- what there is

    @property
    def _ready(self) -> bool:
        return self._conversation.state is ConnectionState.READY

    def _session(self, which: int, *, wanted: bool = False) -> Session | None:
        known = [name for name in self._sessions if self._is_open(name)]
        if not known and wanted:
            self._open(Open(), Step(Open()))
            known = [name for name in self._sessions if self._is_open(name)]
        return self._conversation.sessions[known[which % len(known)]] if known else None

    def _is_open(self, name: str) -> bool:
        session = self._conversation.sessions.get(name)
        return session is not None and session.status is SessionStatus.OPEN

    def _turns_of(self, name: str) -> list[Turn]:
        session = self._conversation.sessions.get(name)
        return session.turns if session is not None else []


def _object(request: RequestReceived) -> dict[str, Any]:
    return request.params if isinstance(request.params, dict) else {}
