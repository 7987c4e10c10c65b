"""A conforming client in one piece, written from the protocol and the plan's description alone; no code of ours in it.

    python raw_client.py AGENT_COMMAND_LINE PROMPT CWD

Plays ACP_HARNESS_PLAN and writes ACP_HARNESS_DISPLAY. The bad clients subclass it: each method is one place where a
client can go wrong. Exit code: 0 when all went well, 3 when a turn ended early (max_tokens, refusal, ...), 1 when
something failed.
"""

from __future__ import annotations

import contextlib
import os
import queue
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import orjson

sys.path.insert(0, str(Path(__file__).resolve().parent))
from raw_services import Files, Refusal, Terminals

Message = dict[str, Any]
ANSWER_S = 60.0
TURN_S = 120.0
CANCEL_S = 15.0
WAIT_S = 3.0
FIRST_ID = 0
KINDS = ("allow_once", "allow_always", "reject_once", "reject_always")
OTHER_KINDS = {
    "available_commands_update",
    "config_option_update",
    "current_mode_update",
    "session_info_update",
    "usage_update",
}
"""Kinds of updates that are shown as they come."""


class AgentGone(Exception):
    """The agent has ended, or closed its output."""


class Failed(Exception):
    """A call got an error, or none of it made sense."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


class RawClient:
    """One run: one agent process, one or more sessions, the plan carried out."""

    capabilities: ClassVar[Message] = {
        "fs": {"readTextFile": True, "writeTextFile": True},
        "terminal": True,
        "auth": {"terminal": True},
        "elicitation": {"form": {}, "url": {}},
        "session": {"configOptions": {"boolean": {}}},
    }

    def __init__(self, agent: str, prompt: str, cwd: str) -> None:
        self.agent = agent
        self.first_prompt = prompt
        self.cwd = cwd
        self.plan: list[Message] = orjson.loads(os.environ.get("ACP_HARNESS_PLAN", "[]"))
        path = os.environ.get("ACP_HARNESS_DISPLAY")
        self.display_file = open(path, "ab") if path else None  # noqa: SIM115, PTH123 - for the whole run
        self.started = time.monotonic()
        self.next_id = FIRST_ID
        self.answers: dict[int, Message] = {}
        self.inbox: queue.Queue[bytes | None] = queue.Queue()
        self.session = ""
        self.modes: set[str] = set()
        self.options: dict[str, Message] = {}
        self.tool_calls: dict[str, Message] = {}
        self.capabilities_of_agent: Message = {}
        self.auth_methods: list[Message] = []
        self.turn = 0
        self.turn_open = False
        self.cancelled = False
        self.turn_started = 0.0
        self.counts: dict[str, int] = {}
        self.texts: list[str] = []
        self.held: dict[str, Any] = {}
        self.choice = "allow_once"
        self.replaying = False
        self.exit_code = 0
        self.files = Files(cwd)
        self.terminals = Terminals(cwd)

    # -- the run

    def main(self) -> int:
        """Everything; returns the exit code."""
        self.start_agent()
        try:
            self.run()
        except AgentGone:
            self.show("error", text="the agent has ended")
            self.exit_code = 1
        except Failed as error:
            self.show("error", text=str(error))
            self.exit_code = 1
        finally:
            self.end_agent()
        return self.exit_code

    def run(self) -> None:
        """From initialize to the last step of the plan."""
        self.initialize()
        self.open_session()
        for step in self.take_steps("ready"):
            self.do(step)
        self.prompt(self.first_prompt)
        while step := self.take_step("end"):
            self.do(step)

    def start_agent(self) -> None:
        """Start the agent with pipes."""
        self.process = subprocess.Popen(
            shlex.split(self.agent), stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        self.reader = threading.Thread(target=self.read_lines, daemon=True)
        self.reader.start()

    def read_lines(self) -> None:
        """Put every line of the agent into the inbox, None at the end."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.inbox.put(line)
        self.inbox.put(None)

    def end_agent(self) -> None:
        """Close the agent's input, wait a little, end its group."""
        self.terminals.close()
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, 15)
            self.process.wait(5)

    # -- the protocol

    def initialize(self) -> None:
        """Agree on version 1."""
        params = {
            "protocolVersion": 1,
            "clientCapabilities": self.capabilities,
            "clientInfo": {"name": "raw-client", "version": "1.0"},
        }
        result = self.call("initialize", params)
        if result["protocolVersion"] != 1:
            raise Failed(0, f"the agent speaks version {result['protocolVersion']}")
        self.capabilities_of_agent = result.get("agentCapabilities") or {}
        self.auth_methods = result.get("authMethods") or []

    def open_session(self) -> None:
        """A new session, unless the plan wants another."""
        for step in self.take_steps("start"):
            if self.do_session(step):
                return
        self.new_session()

    def new_session(self) -> None:
        """session/new, with one login if the agent wants it."""
        params = {"cwd": self.cwd, "mcpServers": []}
        try:
            result = self.call("session/new", params)
        except Failed as error:
            if error.code != -32000:
                raise
            self.log_in()
            result = self.call("session/new", params)
        self.session = result["sessionId"]
        self.note_offers(result)

    def note_offers(self, result: Message) -> None:
        """Keep what a session offers to be set."""
        modes = (result.get("modes") or {}).get("availableModes") or []
        self.modes = {mode["id"] for mode in modes if isinstance(mode, dict) and "id" in mode}
        self.note_options(result.get("configOptions"))

    def note_options(self, options: Any) -> None:
        """Keep a list of config options; those of a kind that is not known are left out."""
        known = [
            option
            for option in options or []
            if isinstance(option, dict) and option.get("type") in {"select", "boolean"} and "id" in option
        ]
        self.options = {option["id"]: option for option in known}

    def log_in(self) -> None:
        """The first method that the agent handles itself; without one, the first that a terminal does."""
        if not self.auth_methods:
            raise Failed(-32000, "the agent wants a login and offers none")
        methods = [method for method in self.auth_methods if method.get("type") != "terminal"]
        method = (methods or self.auth_methods)[0]
        self.show("login", text=method.get("name", ""))
        if methods:
            self.call("authenticate", {"methodId": method["id"]})
        elif self.log_in_by_terminal(method) == 0:
            self.end_agent()
            self.reader.join(5)
            self.inbox = queue.Queue()
            self.start_agent()
            self.initialize()
        else:
            raise Failed(-32000, "the login has failed")

    def log_in_by_terminal(self, method: Message) -> int:
        """Run the agent's program with more arguments and variables; returns its exit code."""
        command = [*shlex.split(self.agent), *(method.get("args") or [])]
        return subprocess.run(command, env=os.environ | (method.get("env") or {}), check=False).returncode

    def can(self, name: str) -> bool:
        """Whether the agent has advertised a session method."""
        if name == "load":
            return self.capabilities_of_agent.get("loadSession") is True
        methods = self.capabilities_of_agent.get("sessionCapabilities") or {}
        return isinstance(methods.get(name), dict)

    def do_session(self, step: Message) -> bool:
        """load, resume or list; returns whether a session is open now."""
        name = step["do"]
        if not self.can(name):
            return False
        if name == "list":
            try:
                self.list_sessions()
            except Failed as error:
                self.show("error", text=str(error))
            return False
        id_ = step.get("sessionId") or self.session
        if id_ == "first":
            listed = self.list_sessions() if self.can("list") else []
            if not listed:
                return False
            id_ = listed[0]["sessionId"]
        self.replaying = name == "load"
        before, self.session = self.session, id_
        try:
            result = self.call(f"session/{name}", {"sessionId": id_, "cwd": self.cwd, "mcpServers": []})
        except Failed as error:
            self.session = before
            self.show("error", text=str(error))
            return bool(before)
        finally:
            self.replaying = False
        self.note_offers(result)
        return True

    def list_sessions(self) -> list[Message]:
        """All pages."""
        sessions: list[Message] = []
        params: Message = {}
        while True:
            result = self.call("session/list", params)
            sessions += result["sessions"]
            cursor = result.get("nextCursor")
            if cursor is None or len(sessions) > 10_000:
                return sessions
            params = {"cursor": cursor}

    def prompt(self, text: str) -> None:
        """One turn, to its end or until it is given up."""
        self.turn += 1
        self.turn_open, self.cancelled = True, False
        self.counts, self.texts = {}, []
        self.turn_started = time.monotonic()
        self.show("user", text=text)
        params = {"sessionId": self.session, "prompt": self.prompt_content(text)}
        id_ = self.send_request("session/prompt", params)
        try:
            reason = self.stop_reason(self.answer_to(id_, TURN_S, while_cancelled_s=CANCEL_S))
        except Failed as error:
            self.show("error", text=str(error))
            self.exit_code = self.exit_code or 1
        else:
            self.show("end", stopReason=reason, text="".join(self.texts))
            if reason not in {"end_turn", "cancelled"}:
                self.exit_code = self.exit_code or 3
        finally:
            self.turn_open = False
            self.answer_held()

    def stop_reason(self, result: Message) -> str:
        """How a turn has ended."""
        reason = result.get("stopReason")
        if not isinstance(reason, str):
            raise Failed(0, "the agent does not say how the turn ended")
        return reason

    def prompt_content(self, text: str) -> list[Message]:
        """The blocks of a prompt."""
        return [{"type": "text", "text": text}]

    def cancel(self) -> None:
        """session/cancel, and every open permission answered so."""
        self.cancelled = True
        self.turn_started = time.monotonic()
        self.notify("session/cancel", {"sessionId": self.session})
        self.show("cancelled")
        self.answer_held()

    def answer_held(self) -> None:
        """Give the permissions that were left open their answer."""
        for request in list(self.held.values()):
            self.answer_cancelled(request)
        self.held.clear()

    # -- what the agent sends

    def handle(self, message: Message) -> None:
        """One message of the agent."""
        if "method" not in message:
            self.handle_response(message)
        elif "id" in message:
            self.handle_request(message)
        else:
            self.handle_notification(message)

    def handle_response(self, message: Message) -> None:
        """Keep an answer that somebody waits for; drop all others."""
        id_ = message.get("id")
        if type(id_) is int and ("result" in message) != ("error" in message):
            self.answers.setdefault(id_, message)

    def handle_request(self, message: Message) -> None:
        """Serve it, or say that it is unknown."""
        params = message.get("params") or {}
        handlers: dict[str, Callable[[Message, Message], None]] = {
            "session/request_permission": self.on_permission,
            "elicitation/create": self.on_elicitation,
            "terminal/wait_for_exit": self.on_wait_for_exit,
        }
        services: dict[str, Callable[[Message], Message]] = {
            "fs/read_text_file": self.files.read,
            "fs/write_text_file": self.files.write,
            "terminal/create": self.terminals.create,
            "terminal/output": lambda params: self.terminals.find(params).output(),
            "terminal/kill": self.on_kill,
            "terminal/release": self.on_release,
        }
        method = message["method"]
        try:
            if method in handlers:
                handlers[method](message, params)
            elif method in services:
                self.check_session(params)
                self.respond(message, services[method](params))
            else:
                self.respond_error(message, -32601, f"Method not found: {method}")
        except Refusal as error:
            self.respond_error(message, error.code, str(error))
        except (KeyError, TypeError, AttributeError) as error:
            self.respond_error(message, -32602, f"Invalid params: {error!r}")

    def check_session(self, params: Message) -> None:
        """A service belongs to a session of this connection."""
        if params["sessionId"] != self.session:
            raise Refusal(-32002, "Resource not found: no such session")

    def handle_notification(self, message: Message) -> None:
        """Updates, withdrawn requests; all else is ignored."""
        params = message.get("params")
        if not isinstance(params, dict):
            return
        if message["method"] == "session/update":
            update = params.get("update")
            if isinstance(update, dict) and params.get("sessionId") == self.session:
                self.on_update(update)
        elif message["method"] == "$/cancel_request":
            request = self.held.pop(repr(params.get("requestId")), None)
            if request is not None:
                self.answer_cancelled(request)

    def on_update(self, update: Message) -> None:
        """Show it, and count for the plan."""
        kind = update.get("sessionUpdate")
        if self.turn_open:
            names = {
                "agent_message_chunk": "chunk",
                "agent_thought_chunk": "thought",
                "tool_call": "tool_call",
            }
            for name in ("update", names.get(str(kind))):
                if name:
                    self.counts[name] = self.counts.get(name, 0) + 1
        content = update.get("content")
        text = content.get("text") if isinstance(content, dict) else None
        if kind in {"agent_message_chunk", "agent_thought_chunk", "user_message_chunk"}:
            shown = {"agent_message_chunk": "message", "agent_thought_chunk": "thought"}.get(
                str(kind), "user"
            )
            if isinstance(text, str):
                self.show(shown, text=text)
                if shown == "message" and self.turn_open:
                    self.texts.append(text)
        elif kind in {"tool_call", "tool_call_update"} and isinstance(update.get("toolCallId"), str):
            self.show(str(kind), update=update, call=self.merge_call(update))
        elif kind == "plan":
            self.show("plan", update=update, entries=self.merge_plan(update))
        elif kind in OTHER_KINDS:
            if kind == "config_option_update":
                self.note_options(update.get("configOptions"))
            self.show(str(kind), update=update)
        self.cancel_if_due()

    def merge_call(self, update: Message) -> Message:
        """How a tool call stands after an update: null and missing members leave what was there."""
        call = self.tool_calls.setdefault(update["toolCallId"], {})
        for name, value in update.items():
            if value is not None and name != "sessionUpdate":
                call[name] = value
        return call

    def merge_plan(self, update: Message) -> list[Message]:
        """The plan after an update: the whole of it."""
        return list(update.get("entries") or [])

    def cancel_if_due(self) -> None:
        """Carry out the plan's `after` steps."""
        if not self.turn_open or self.cancelled:
            return
        for step in self.plan:
            if "after" not in step:
                continue
            what, _, number = step["after"].partition(":")
            passed_ms = (time.monotonic() - self.turn_started) * 1000
            if (passed_ms if what == "ms" else self.counts.get(what, 0)) >= int(number):
                self.plan.remove(step)
                self.cancel()
                return

    def on_permission(self, message: Message, params: Message) -> None:
        """Choose as the plan says."""
        options = params["options"]
        self.show("permission", toolCall=params["toolCall"], options=options)
        if not self.turn_open:
            self.respond_error(message, -32600, "Invalid request: no turn is active")
            return
        if self.cancelled:
            self.answer_cancelled(message)
            return
        step = self.take_step("permission")
        if step is not None and step.get("do") == "cancel":
            self.hold(message)
            self.cancel()
        elif step is not None and step.get("do") == "hold":
            self.hold(message)
        else:
            if step is not None:
                self.choice = step["choose"]
            option_id = self.pick(options)
            if option_id is None:
                self.respond_error(message, -32602, "Invalid params: there is nothing to choose from")
            else:
                self.answer_selected(message, option_id)

    def pick(self, options: list[Message]) -> str | None:
        """The first option of the wanted kind, or the one of the wanted id; otherwise one that refuses."""
        wanted = "kind" if self.choice in KINDS else "optionId"
        chosen = [option for option in options if option[wanted] == self.choice]
        refusing = [option for option in options if option["kind"].startswith("reject")]
        return next((str(option["optionId"]) for option in (*chosen, *refusing, *options)), None)

    def hold(self, message: Message) -> None:
        """Leave a permission open."""
        self.held[repr(message["id"])] = message

    def answer_selected(self, message: Message, option_id: str) -> None:
        """Answer with an option."""
        self.show("permission_answer", optionId=option_id)
        self.respond(message, {"outcome": {"outcome": "selected", "optionId": option_id}})

    def answer_cancelled(self, message: Message) -> None:
        """Answer that the turn was cancelled."""
        self.show("permission_answer", cancelled=True)
        self.respond(message, {"outcome": {"outcome": "cancelled"}})

    def on_elicitation(self, message: Message, params: Message) -> None:
        """Accept, decline or cancel as the plan says; without a step, decline."""
        if params.get("mode") not in {"form", "url"}:
            raise Refusal(-32602, "Invalid params: this mode is not supported")
        if ("sessionId" in params) == ("requestId" in params):
            raise Refusal(-32602, "Invalid params: exactly one scope is needed")
        step = self.take_step("elicitation") or {"do": "decline"}
        self.show("elicitation", text=params.get("message", ""))
        if "do" in step:
            self.respond(message, {"action": step["do"]})
        elif params["mode"] == "form":
            self.respond(message, {"action": "accept", "content": step.get("content", {})})
        else:
            self.respond(message, {"action": "accept"})

    def on_wait_for_exit(self, message: Message, params: Message) -> None:
        """Answered when the command ends; see `tick`."""
        self.check_session(params)
        self.terminals.waiting.append((message, self.terminals.find(params)))
        self.answer_waits()

    def on_kill(self, params: Message) -> Message:
        """End a command; its terminal stays."""
        self.terminals.find(params).kill()
        return {}

    def on_release(self, params: Message) -> Message:
        """End a command and forget its terminal."""
        self.terminals.find(params).kill()
        self.answer_waits()
        return self.terminals.release(params)

    def answer_waits(self) -> None:
        """Answer who waits for a command that has ended."""
        for waiting in list(self.terminals.waiting):
            message, terminal = waiting
            if terminal.has_ended:
                self.terminals.waiting.remove(waiting)
                self.respond(message, terminal.exit_status())

    # -- the plan

    def take_step(self, on: str) -> Message | None:
        """The next unused step of its kind."""
        for step in self.plan:
            if step.get("on") == on:
                self.plan.remove(step)
                return step
        return None

    def take_steps(self, on: str) -> list[Message]:
        """All unused steps of a kind."""
        found = [step for step in self.plan if step.get("on") == on]
        self.plan = [step for step in self.plan if step.get("on") != on]
        return found

    def do(self, step: Message) -> None:
        """A step between turns. A call that fails is shown, and the run goes on."""
        with contextlib.suppress(Failed):
            match step["do"]:
                case "prompt":
                    self.prompt(step["text"])
                case "set_mode" if step["mode"] in self.modes:
                    self.set_mode(step["mode"])
                case "set_config" if step["configId"] in self.options:
                    self.set_option(step["configId"], step["value"])
                case "load" | "resume" | "list":
                    self.do_session(step)
                case "new":
                    self.new_session()
                case "close" if self.can("close"):
                    self.call("session/close", {"sessionId": self.session})
                case "cancel":
                    self.notify("session/cancel", {"sessionId": self.session})
                case "wait":
                    self.wait()

    def set_mode(self, mode: str) -> None:
        """session/set_mode, which an empty result ends."""
        self.call("session/set_mode", {"sessionId": self.session, "modeId": mode})

    def set_option(self, id_: str, value: Any) -> None:
        """session/set_config_option, whose result is the new list."""
        params = {"sessionId": self.session, "configId": id_, "value": value}
        if isinstance(value, bool):
            params["type"] = "boolean"
        self.note_options(self.call("session/set_config_option", params)["configOptions"])

    def wait(self) -> None:
        """Stay and read until the agent has said nothing for a while, or has ended."""
        until = time.monotonic() + WAIT_S
        with contextlib.suppress(AgentGone):
            while time.monotonic() < until:
                if self.pump(0.1):
                    until = time.monotonic() + WAIT_S

    # -- the wire

    def call(self, method: str, params: Message) -> Message:
        """A request and its result."""
        return self.answer_to(self.send_request(method, params), ANSWER_S)

    def send_request(self, method: str, params: Message) -> int:
        """A request; returns its id."""
        id_ = self.next_id
        self.next_id += 1
        self.send({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})
        return id_

    def answer_to(self, id_: int, within_s: float, while_cancelled_s: float | None = None) -> Message:
        """Wait for a result, handling everything else meanwhile."""
        deadline = time.monotonic() + within_s
        while id_ not in self.answers:
            now = time.monotonic()
            if while_cancelled_s is not None and self.cancelled:
                if now > self.turn_started + while_cancelled_s:
                    raise Failed(0, "the agent does not end the cancelled turn")
            elif now > deadline:
                raise Failed(0, "the agent does not answer")
            self.pump(0.05)
        answer = self.answers.pop(id_)
        if "error" in answer:
            error = answer["error"]
            raise Failed(error.get("code", 0), str(error.get("message", "")))
        return answer["result"] or {}

    def pump(self, within_s: float) -> bool:
        """Handle one line, if one comes in time."""
        self.answer_waits()
        self.cancel_if_due()
        try:
            line = self.inbox.get(timeout=within_s)
        except queue.Empty:
            return False
        if line is None:
            self.inbox.put(None)
            raise AgentGone
        try:
            message = orjson.loads(line)
        except orjson.JSONDecodeError:
            return True
        if isinstance(message, dict):
            self.handle(message)
        return True

    def notify(self, method: str, params: Message) -> None:
        """A notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def respond(self, message: Message, result: Any) -> None:
        """The answer to a request of the agent."""
        self.send({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def respond_error(self, message: Message, code: int, text: str) -> None:
        """An error in answer to a request of the agent."""
        self.send({"jsonrpc": "2.0", "id": message["id"], "error": {"code": code, "message": text}})

    def send(self, message: Message) -> None:
        """One line to the agent."""
        self.write(orjson.dumps(message) + b"\n")

    def write(self, data: bytes) -> None:
        """Bytes to the agent."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except OSError as error:
            raise AgentGone from error

    # -- what the user sees

    def show(self, kind: str, **members: Any) -> None:
        """A line of the display record."""
        if self.display_file is None:
            return
        record: Message = {"t": round(time.monotonic() - self.started, 4), "kind": kind}
        record |= {"session": self.session, "turn": self.turn if self.turn_open else None}
        if self.replaying:
            record["replay"] = True
        self.display_file.write(orjson.dumps(record | members) + b"\n")
        self.display_file.flush()


def main(client: type[RawClient] = RawClient) -> None:
    """Run a client with the process's arguments."""
    sys.exit(client(*sys.argv[1:4]).main())


if __name__ == "__main__":
    main()
