"""A conforming agent in one piece, written from the protocol alone; no code of ours in it.

    python raw_agent.py

One loop: lines are read, turns take a step each. A turn is a generator: it yields to let others run, or yields the id
of a request to the client and goes on with its answer. What it does is in the prompt's words: `tool`, `ask`, `read`,
`write`, `terminal`, `plan`, `long`; anything else is said back. The bad agents subclass it: each method is one place
where an agent can go wrong.
"""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Generator
from typing import Any

Message = dict[str, Any]
Turn = Generator[Any, Any, str]

NOT_FOUND = -32601
INVALID_PARAMS = -32602
INVALID_REQUEST = -32600
PARSE_ERROR = -32700
NO_RESOURCE = -32002


class Refusal(Exception):
    """A request gets an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Session:
    """A session: what was said, and its turns, the first of which runs."""

    def __init__(self, id_: str, cwd: str) -> None:
        self.id = id_
        self.cwd = cwd
        self.history: list[Message] = []
        self.turns: list[RunningTurn] = []
        self.closing: list[Any] = []
        self.mode = "ask"
        self.model = "small"
        self.calls = 0


class RunningTurn:
    """A prompt that has no answer yet. waiting: the id of the request whose answer it goes on with."""

    def __init__(self, id_: Any, session: Session, steps: Turn) -> None:
        self.id = id_
        self.session = session
        self.steps = steps
        self.waiting: Any = None
        self.answer: Any = None
        self.cancelled = False
        self.asking = False
        self.creating = False
        self.call = ""
        self.terminal = ""


class RawAgent:
    """Reads standard input, writes standard output."""

    modes = ("ask", "code")
    models = ("small", "large")

    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}
        self.stored: dict[str, Session] = {}
        self.client: Message = {}
        self.initialised = False
        self.next_id = 0
        self.made = 0
        self.buffer = b""
        self.out = b""
        self.orphans: dict[int, Session] = {}

    # -- the loop

    def main(self) -> int:
        """Until the end of the input."""
        os.set_blocking(1, False)
        at_end = False
        while not at_end or self.out:
            running = [s.turns[0] for s in self.sessions.values() if s.turns]
            ready = [turn for turn in running if self.can_go_on(turn)]
            readers, writers, _ = select.select(
                [] if at_end else [0], [1] if self.out else [], [], self.pause(ready)
            )
            if writers:
                self.flush()
            if readers:
                data = os.read(0, 65536)
                at_end = not data
                self.take(data)
            for turn in ready:
                self.go_on(turn)
            self.idle()
        return self.ended()

    def pause(self, ready: list[RunningTurn]) -> float | None:
        return 0.001 if ready else None

    def idle(self) -> None:
        """Once each pass of the loop."""

    def ended(self) -> int:
        """The input is over."""
        return 0

    def flush(self) -> None:
        try:
            self.out = self.out[os.write(1, self.out) :]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self.out = b""

    def take(self, data: bytes) -> None:
        self.buffer += data
        while b"\n" in self.buffer:
            line, self.buffer = self.buffer.split(b"\n", 1)
            if line.strip():
                self.line(line)

    # -- messages

    def line(self, line: bytes) -> None:
        """One line of the client."""
        try:
            message = self.parse(line)
        except (ValueError, RecursionError):
            self.send({"id": None, "error": {"code": PARSE_ERROR, "message": "Parse error"}})
            return
        if not isinstance(message, dict):
            self.invalid(None)
            return
        if "method" not in message:
            if "id" in message:
                self.response(message)
            elif "result" not in message and "error" not in message:
                self.invalid(None)
            return
        if "id" not in message:
            if isinstance(message["method"], str) and message.get("jsonrpc") == "2.0":
                self.notification(message["method"], message.get("params"))
            return
        id_ = message["id"]
        if not self.is_id(id_):
            self.invalid(None)
            return
        if message.get("jsonrpc") != "2.0" or not isinstance(message["method"], str):
            self.invalid(id_)
            return
        self.request(id_, message["method"], message.get("params"))

    def parse(self, line: bytes) -> Any:
        def refuse(name: str) -> Any:
            raise ValueError(name)

        return json.loads(line.decode("utf-8"), parse_constant=refuse)

    def is_id(self, value: Any) -> bool:
        if isinstance(value, str):
            return not any("\ud800" <= char <= "\udfff" for char in value)
        if isinstance(value, float):
            return value.is_integer() and abs(value) < 2**53
        return value is None or (
            isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
        )

    def invalid(self, id_: Any) -> None:
        self.send({"id": id_, "error": {"code": INVALID_REQUEST, "message": "Invalid request"}})

    def request(self, id_: Any, method: str, params: Any) -> None:
        """Answer a request, now or at the end of its turn."""
        id_ = int(id_) if isinstance(id_, float) else id_
        try:
            result = self.handler(method, params)(id_, params)
        except Refusal as refusal:
            self.error(id_, refusal.code, str(refusal))
            return
        if result is not None:
            self.result(id_, result)

    def handler(self, method: str, params: Any) -> Any:
        """What answers a method."""
        handler = self.handlers().get(method)
        if handler is None:
            raise Refusal(NOT_FOUND, "Method not found")
        if method != "initialize" and not self.initialised:
            raise Refusal(INVALID_REQUEST, "initialize comes first")
        if not isinstance(params, dict):
            raise Refusal(INVALID_PARAMS, "params are an object")
        return handler

    def handlers(self) -> dict[str, Any]:
        return {
            "initialize": self.initialize,
            "session/new": self.session_new,
            "session/load": self.session_load,
            "session/resume": self.session_resume,
            "session/list": self.session_list,
            "session/close": self.session_close,
            "session/delete": self.session_delete,
            "session/set_mode": self.set_mode,
            "session/set_config_option": self.set_option,
            "session/prompt": self.prompt,
        }

    def notification(self, method: str, params: Any) -> None:
        if not isinstance(params, dict):
            return
        if method == "session/cancel" and isinstance(params.get("sessionId"), str):
            session = self.sessions.get(params["sessionId"])
            if session is not None:
                self.cancel(session)
        elif method == "$/cancel_request":
            for session in list(self.sessions.values()):
                for turn in list(session.turns):
                    if type(turn.id) is type(params.get("requestId")) and turn.id == params["requestId"]:
                        self.stop(turn)

    def response(self, message: Message) -> None:
        """The answer to a request of ours; one that is broken counts as a failure."""
        id_ = message["id"]
        if type(id_) is not int:
            return
        well_formed = message.get("jsonrpc") == "2.0" and ("result" in message) != ("error" in message)
        answer = message.get("result") if well_formed and "result" in message else None
        orphan = self.orphans.pop(id_, None)
        if orphan is not None and isinstance(answer, dict) and isinstance(answer.get("terminalId"), str):
            self.ask("terminal/release", sessionId=orphan.id, terminalId=answer["terminalId"])
        if orphan is not None:
            self.close(orphan)
        for session in [*self.sessions.values(), *self.stored.values()]:
            for turn in list(session.turns):
                if turn.waiting == id_:
                    turn.waiting, turn.answer = None, answer if isinstance(answer, dict) else {}
                    if turn.cancelled:
                        self.abort(turn)

    def send(self, message: Message) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def write(self, data: bytes) -> None:
        self.out += data
        self.flush()

    def result(self, id_: Any, result: Any) -> None:
        self.send({"id": id_, "result": result})

    def error(self, id_: Any, code: int, message: str) -> None:
        self.send({"id": id_, "error": {"code": code, "message": message}})

    def update(self, session: Session, update: str, **members: Any) -> None:
        params = {"sessionId": session.id, "update": {"sessionUpdate": update, **members}}
        self.send({"method": "session/update", "params": params})

    def ask(self, method: str, **params: Any) -> int:
        """A request of ours; returns its id, to be yielded."""
        self.next_id += 1
        self.send({"id": self.next_id, "method": method, "params": params})
        return self.next_id

    # -- methods

    def initialize(self, id_: Any, params: Message) -> Message | None:
        version = params.get("protocolVersion")
        if type(version) is not int or not 0 <= version <= 65535:
            raise Refusal(INVALID_PARAMS, "protocolVersion is a number")
        capabilities = params.get("clientCapabilities")
        self.client = capabilities if isinstance(capabilities, dict) else {}
        self.initialised = True
        return self.introduction(version)

    def introduction(self, version: int) -> Message:
        return {
            "protocolVersion": 1,
            "agentInfo": {"name": "raw", "version": "1"},
            "agentCapabilities": self.capabilities(),
            "authMethods": [],
        }

    def capabilities(self) -> Message:
        return {
            "loadSession": True,
            "promptCapabilities": {"image": True, "embeddedContext": True},
            "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}},
        }

    def text_of(self, params: Message, name: str) -> str:
        value = params.get(name)
        if not isinstance(value, str) or any("\ud800" <= char <= "\udfff" for char in value):
            raise Refusal(INVALID_PARAMS, f"{name} is a text")
        return value

    def directory(self, params: Message) -> str:
        cwd = self.text_of(params, "cwd")
        if not cwd.startswith("/"):
            raise Refusal(INVALID_PARAMS, "cwd is absolute")
        return cwd

    def known(self, params: Message) -> Session:
        session = self.sessions.get(self.text_of(params, "sessionId"))
        if session is None:
            raise Refusal(NO_RESOURCE, "no such session")
        return session

    def session_new(self, id_: Any, params: Message) -> Message | None:
        cwd = self.directory(params)
        if not isinstance(params.get("mcpServers"), list):
            raise Refusal(INVALID_PARAMS, "mcpServers is a list")
        session = Session(self.session_id(), cwd)
        self.sessions[session.id] = session
        self.result(id_, {"sessionId": session.id, **self.offers(session)})
        self.opened(session)
        return None

    def session_id(self) -> str:
        self.made += 1
        return f"s{self.made}"

    def opened(self, session: Session) -> None:
        commands = [{"name": "plan", "description": "make a plan"}]
        self.update(session, "available_commands_update", availableCommands=commands)

    def offers(self, session: Session) -> Message:
        modes = [{"id": mode, "name": mode.title()} for mode in self.modes]
        return {
            "modes": {"currentModeId": session.mode, "availableModes": modes},
            "configOptions": self.options(session),
        }

    def options(self, session: Session) -> list[Message]:
        values = [{"value": model, "name": model.title()} for model in self.models]
        options: list[Message] = [
            {
                "id": "model",
                "name": "Model",
                "type": "select",
                "currentValue": session.model,
                "options": values,
            }
        ]
        session_capabilities = self.client.get("session")
        config = session_capabilities.get("configOptions") if isinstance(session_capabilities, dict) else None
        if isinstance(config, dict) and isinstance(config.get("boolean"), dict):
            options.append({"id": "brief", "name": "Brief", "type": "boolean", "currentValue": False})
        return options

    def session_load(self, id_: Any, params: Message) -> Message | None:
        session = self.reopen(params)
        for update in session.history:
            self.send({"method": "session/update", "params": {"sessionId": session.id, "update": update}})
        return self.offers(session)

    def session_resume(self, id_: Any, params: Message) -> Message | None:
        return self.offers(self.reopen(params))

    def reopen(self, params: Message) -> Session:
        name, cwd = self.text_of(params, "sessionId"), self.directory(params)
        if name in self.sessions:
            raise Refusal(INVALID_REQUEST, "the session is open")
        session = self.stored.pop(name, None)
        if session is None:
            raise Refusal(NO_RESOURCE, "no such session")
        session.cwd = cwd
        self.sessions[name] = session
        return session

    def session_list(self, id_: Any, params: Message) -> Message | None:
        if params.get("cursor") is not None:
            raise Refusal(INVALID_PARAMS, "no such cursor")
        cwd = params.get("cwd")
        known = [*self.sessions.values(), *self.stored.values()]
        listed = [{"sessionId": one.id, "cwd": one.cwd} for one in known if cwd is None or one.cwd == cwd]
        return {"sessions": listed}

    def session_close(self, id_: Any, params: Message) -> Message | None:
        session = self.known(params)
        session.closing.append(id_)
        self.cancel(session)
        self.close(session)
        return None

    def close(self, session: Session) -> None:
        """Close a session that is to be closed, once its turns have ended and its terminals are released."""
        if session.closing and not session.turns and session not in self.orphans.values():
            self.stored[session.id] = self.sessions.pop(session.id)
            while session.closing:
                self.result(session.closing.pop(), {})

    def session_delete(self, id_: Any, params: Message) -> Message | None:
        name = self.text_of(params, "sessionId")
        if name in self.sessions:
            raise Refusal(INVALID_REQUEST, "the session is open")
        self.stored.pop(name, None)
        return {}

    def set_mode(self, id_: Any, params: Message) -> Message | None:
        session = self.known(params)
        mode = self.text_of(params, "modeId")
        if mode not in self.modes:
            raise Refusal(INVALID_PARAMS, "no such mode")
        session.mode = mode
        self.update(session, "current_mode_update", currentModeId=mode)
        return {}

    def set_option(self, id_: Any, params: Message) -> Message | None:
        session = self.known(params)
        name, value = self.text_of(params, "configId"), params.get("value")
        if name == "model" and value in self.models and params.get("type") != "boolean":
            session.model = str(value)
        elif name not in {option["id"] for option in self.options(session)} or not isinstance(value, bool):
            raise Refusal(INVALID_PARAMS, "no such option or value")
        return {"configOptions": self.options(session)}

    def prompt(self, id_: Any, params: Message) -> Message | None:
        session = self.known(params)
        blocks = params.get("prompt")
        if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
            raise Refusal(INVALID_PARAMS, "prompt is a list of blocks")
        text = self.read_blocks(blocks)
        if any(
            turn.id == id_ and type(turn.id) is type(id_) for s in self.sessions.values() for turn in s.turns
        ):
            raise Refusal(INVALID_REQUEST, "this id is in use")
        if session.turns:
            raise Refusal(INVALID_REQUEST, "a turn is running")
        turn = RunningTurn(id_, session, iter(()))  # type: ignore[arg-type]
        turn.steps = self.work(turn, text)
        session.turns.append(turn)
        session.history.append(
            {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": text}}
        )
        return None

    def read_blocks(self, blocks: list[Message]) -> str:
        texts = []
        for block in blocks:
            kind = block.get("type")
            if kind == "text":
                texts.append(self.text_of(block, "text"))
            elif kind == "resource_link":
                texts.append(self.text_of(block, "uri"))
            elif kind == "image":
                self.text_of(block, "data")
            elif kind == "resource":
                if not isinstance(block.get("resource"), dict):
                    raise Refusal(INVALID_PARAMS, "resource is an object")
            else:
                raise Refusal(INVALID_PARAMS, "this kind of content is not supported")
        return "\n".join(texts)

    # -- turns

    def can_go_on(self, turn: RunningTurn) -> bool:
        return turn.waiting is None

    def go_on(self, turn: RunningTurn) -> None:
        """One step of a turn."""
        if turn not in turn.session.turns:
            return  # it has ended meanwhile
        answer, turn.answer = turn.answer, None
        try:
            turn.waiting = turn.steps.send(answer)
        except StopIteration as ending:
            self.end_turn(turn, ending.value)

    def end_turn(self, turn: RunningTurn, reason: str) -> None:
        turn.session.turns.remove(turn)
        self.result(turn.id, {"stopReason": reason})
        self.close(turn.session)

    def cancel(self, session: Session) -> None:
        """The client wants the session's turns to end."""
        for turn in list(session.turns):
            self.stop(turn)

    def stop(self, turn: RunningTurn) -> None:
        """End a turn; a permission request that is open is answered by the client first."""
        turn.cancelled = True
        if not (turn.asking and turn.waiting is not None):
            self.abort(turn)

    def abort(self, turn: RunningTurn) -> None:
        turn.steps.close()
        if turn.creating and turn.waiting is not None:
            self.orphans[turn.waiting] = turn.session
        if turn.call:
            self.update(turn.session, "tool_call_update", toolCallId=turn.call, status="failed")
        if turn.terminal:
            self.ask("terminal/release", sessionId=turn.session.id, terminalId=turn.terminal)
        self.end_turn(turn, "cancelled")

    def work(self, turn: RunningTurn, text: str) -> Turn:
        yield
        words = set(text.split())
        if "plan" in words:
            self.plan(turn)
        if "long" in words:
            for number in range(15):
                self.say(turn, f"{number} ")
                yield
        if "tool" in words:
            yield from self.use_tool(turn)
        if "ask" in words:
            yield from self.use_tool_if_allowed(turn)
        if "read" in words or "write" in words:
            yield from self.use_file(turn, write="write" in words)
        if "terminal" in words:
            yield from self.use_terminal(turn)
        self.say(turn, "you said: ")
        yield
        self.say(turn, text)
        return "end_turn"

    def say(self, turn: RunningTurn, text: str) -> None:
        content = {"type": "text", "text": text}
        self.update(turn.session, "agent_message_chunk", content=content)
        turn.session.history.append({"sessionUpdate": "agent_message_chunk", "content": content})

    def plan(self, turn: RunningTurn) -> None:
        entries = [{"content": "think", "priority": "high", "status": "in_progress"}]
        self.update(turn.session, "plan", entries=entries)

    def call_id(self, turn: RunningTurn) -> str:
        turn.session.calls += 1
        return f"{turn.session.id}-{turn.session.calls}"

    def announce(self, turn: RunningTurn, title: str, kind: str) -> str:
        turn.call = self.call_id(turn)
        self.update(
            turn.session,
            "tool_call",
            toolCallId=turn.call,
            title=title,
            kind=kind,
            status="pending",
            rawInput={},
        )
        return turn.call

    def progress(self, turn: RunningTurn, status: str, **members: Any) -> None:
        self.update(turn.session, "tool_call_update", toolCallId=turn.call, status=status, **members)
        if status in {"completed", "failed"}:
            turn.call = ""

    def use_tool(self, turn: RunningTurn) -> Generator[Any, Any, None]:
        self.announce(turn, "Count", "think")
        yield
        yield from self.run_tool(turn)

    def run_tool(self, turn: RunningTurn) -> Generator[Any, Any, None]:
        self.progress(turn, "in_progress")
        yield
        content = [{"type": "content", "content": {"type": "text", "text": "3"}}]
        locations = [{"path": f"{turn.session.cwd.rstrip('/')}/note.txt", "line": 1}]
        self.progress(turn, "completed", content=content, locations=locations)

    def use_tool_if_allowed(self, turn: RunningTurn) -> Generator[Any, Any, None]:
        call = self.announce(turn, "Remove note.txt", "delete")
        yield
        options = [
            {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
            {"optionId": "no", "name": "Reject", "kind": "reject_once"},
        ]
        turn.asking = True
        answer = yield self.ask(
            "session/request_permission",
            sessionId=turn.session.id,
            toolCall={"toolCallId": call, "title": "Remove note.txt"},
            options=options,
        )
        turn.asking = False
        outcome = answer.get("outcome") if isinstance(answer, dict) else None
        if (
            isinstance(outcome, dict)
            and outcome.get("outcome") == "selected"
            and outcome.get("optionId") == "yes"
        ):
            yield from self.run_tool(turn)
        else:
            self.refused(turn)

    def refused(self, turn: RunningTurn) -> None:
        self.progress(turn, "failed")

    def may(self, *path: str) -> bool:
        """Whether the client advertises something."""
        found: Any = self.client
        for name in path:
            found = found.get(name) if isinstance(found, dict) else None
        return found is True

    def use_file(self, turn: RunningTurn, *, write: bool) -> Generator[Any, Any, None]:
        path = f"{turn.session.cwd.rstrip('/')}/note.txt"
        if self.may("fs", "writeTextFile" if write else "readTextFile"):
            self.announce(turn, "Use note.txt", "edit" if write else "read")
            self.progress(turn, "in_progress")
            if write:
                yield self.ask("fs/write_text_file", sessionId=turn.session.id, path=path, content="a note\n")
            else:
                yield self.ask("fs/read_text_file", sessionId=turn.session.id, path=path)
            self.progress(turn, "completed")

    def use_terminal(self, turn: RunningTurn) -> Generator[Any, Any, None]:
        if not self.may("terminal"):
            return
        self.announce(turn, "Run true", "execute")
        turn.creating = True
        answer = yield self.ask(
            "terminal/create", sessionId=turn.session.id, command="true", cwd=turn.session.cwd
        )
        turn.creating = False
        terminal = answer.get("terminalId") if isinstance(answer, dict) else None
        if not isinstance(terminal, str):
            self.progress(turn, "failed")
            return
        turn.terminal = terminal
        shown = [{"type": "terminal", "terminalId": terminal}]
        self.progress(turn, "in_progress", content=shown)
        yield self.ask("terminal/wait_for_exit", sessionId=turn.session.id, terminalId=terminal)
        yield self.ask("terminal/output", sessionId=turn.session.id, terminalId=terminal)
        self.progress(turn, "completed")
        yield from self.release(turn)

    def release(self, turn: RunningTurn) -> Generator[Any, Any, None]:
        terminal, turn.terminal = turn.terminal, ""
        yield self.ask("terminal/release", sessionId=turn.session.id, terminalId=terminal)


def run(agent: RawAgent) -> None:
    """Serve, and leave without waiting for anything."""
    code = agent.main()
    sys.stdout.flush()
    os._exit(code)


if __name__ == "__main__":
    run(RawAgent())
