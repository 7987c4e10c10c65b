"""A client on the Python SDK (PyPI `agent-client-protocol`), written on its public API alone.

    python python_sdk_client.py AGENT_COMMAND_LINE PROMPT CWD

It does what the SDK's examples do: `spawn_agent_process`, a `Client` with a method for what an agent may ask, the
SDK's models for all that is sent, its accumulator for how tool calls and plans stand. What the SDK leaves to an
application is done by the letter of the protocol: permissions are answered `cancelled` with their turn, services know
their sessions, and files and terminals are those of the conforming client. The SDK's defaults are kept, but for
elicitation, which has to be switched on as unstable. Not done: login in a terminal, and `$/cancel_request`, of which
the SDK tells an application nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from acp import PROTOCOL_VERSION, Client, RequestError, spawn_agent_process, text_block
from acp.contrib.session_state import SessionAccumulator
from acp.schema import (
    AcceptElicitationResponse,
    AllowedOutcome,
    BooleanConfigOptionCapabilities,
    CancelElicitationResponse,
    ClientCapabilities,
    ClientSessionCapabilities,
    CreateTerminalResponse,
    DeclineElicitationResponse,
    DeniedOutcome,
    ElicitationCapabilities,
    ElicitationFormCapabilities,
    ElicitationUrlCapabilities,
    FileSystemCapabilities,
    Implementation,
    KillTerminalResponse,
    ReadTextFileResponse,
    ReleaseTerminalResponse,
    RequestPermissionResponse,
    SessionConfigOptionsCapabilities,
    SessionNotification,
    TerminalExitStatus,
    TerminalOutputResponse,
    WaitForTerminalExitResponse,
    WriteTextFileResponse,
)
from raw_services import Files, Refusal, Terminals
from user import SHOWN_AS, Step, User

CALL_S = 30.0
TURN_S = 60.0
CANCEL_S = 5.0
POLL_S = 0.02
CAPABILITIES = ClientCapabilities(
    fs=FileSystemCapabilities(read_text_file=True, write_text_file=True),
    terminal=True,
    session=ClientSessionCapabilities(
        config_options=SessionConfigOptionsCapabilities(boolean=BooleanConfigOptionCapabilities())
    ),
    elicitation=ElicitationCapabilities(form=ElicitationFormCapabilities(), url=ElicitationUrlCapabilities()),
)


class CannotGoOn(Exception):
    """The text is for the user."""


def as_json(model: Any) -> Any:
    """A model of the SDK as the protocol has it."""
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def as_on_the_wire(call: Any) -> dict[str, Any]:
    """A tool call as the accumulator has it; its view has names of Python."""
    stands = as_json(call)
    names = {"raw_input": "rawInput", "raw_output": "rawOutput", "tool_call_id": "toolCallId"}
    return {names.get(name, name): value for name, value in stands.items()}


class SdkClient(Client):
    """What an agent may ask, and the conversation."""

    def __init__(self, user: User, cwd: str) -> None:
        self.user = user
        self.cwd = cwd
        self.agent: Any = None
        self.offers: Any = None
        self.auth_methods: list[Any] = []
        self.modes: set[str] = set()
        self.options: set[str] = set()
        self.state = SessionAccumulator()
        self.held: set[asyncio.Future[None]] = set()
        self.cancelled = asyncio.Event()
        self.files = Files(cwd)
        self.terminals = Terminals(cwd)
        self.heard = 0

    def on_connect(self, conn: Any) -> None:
        """The SDK hands over the agent."""
        self.agent = conn

    # -- what the agent sends

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        """Show it, and stop if it is time to."""
        self.heard += 1
        if not self.user.watches(session_id):
            return
        kind = update.session_update
        self.user.count(kind)
        if kind in SHOWN_AS:
            if update.content.type == "text":
                self.user.see_text(kind, update.content.text, session_id)
        elif kind in {"tool_call", "tool_call_update", "plan"}:
            now = self.state.apply(SessionNotification(session_id=session_id, update=update))
            stands = (
                {"entries": [as_json(entry) for entry in now.plan_entries]}
                if kind == "plan"
                else {"call": as_on_the_wire(now.tool_calls[update.tool_call_id])}
            )
            self.user.show(kind, session=session_id, update=as_json(update), **stands)
        else:
            self.user.show(kind, session=session_id, update=as_json(update))
        if self.user.stops_now():
            await self.stop()

    async def request_permission(
        self, session_id: str, tool_call: Any, options: list[Any], **kwargs: Any
    ) -> RequestPermissionResponse:
        """Choose as the plan says, or leave it open until the turn is over."""
        self.check_session(session_id)
        self.user.show("permission", toolCall=as_json(tool_call), options=[as_json(o) for o in options])
        if not self.user.in_turn:
            raise RequestError.invalid_request({"details": "no turn is active"})
        if not self.cancelled.is_set():
            step = self.user.take("permission") or {"choose": None}
            if "do" not in step:
                chosen = self.user.choose(
                    step if step["choose"] else None, [(o.option_id, o.kind) for o in options]
                )
                if chosen is None:
                    raise RequestError.invalid_params({"details": "there is nothing to choose from"})
                self.user.show("permission_answer", optionId=chosen)
                return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen))
            held: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self.held.add(held)
            if step["do"] == "cancel":
                await self.stop()
            await held
        self.user.show("permission_answer", cancelled=True)
        return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))

    async def create_elicitation(self, message: str, mode: Any, **kwargs: Any) -> Any:
        """Accept, decline or cancel as the plan says; without a step, decline."""
        self.user.show("elicitation", text=message)
        step = self.user.take("elicitation") or {"do": "decline"}
        if step.get("do") == "decline":
            return DeclineElicitationResponse(action="decline")
        if step.get("do") == "cancel":
            return CancelElicitationResponse(action="cancel")
        content = step.get("content", {}) if hasattr(mode, "requested_schema") else None
        return AcceptElicitationResponse(action="accept", content=content)

    async def read_text_file(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None, **kwargs: Any
    ) -> ReadTextFileResponse:
        """As the SDK read the request."""
        result = self.serve(session_id, self.files.read, path=path, line=line, limit=limit)
        return ReadTextFileResponse(**result)

    async def write_text_file(
        self, session_id: str, path: str, content: str, **kwargs: Any
    ) -> WriteTextFileResponse:
        """As the SDK read the request."""
        self.serve(session_id, self.files.write, path=path, content=content)
        return WriteTextFileResponse()

    async def create_terminal(
        self,
        session_id: str,
        command: str,
        args: list[str] | None = None,
        env: list[Any] | None = None,
        cwd: str | None = None,
        output_byte_limit: int | None = None,
        **kwargs: Any,
    ) -> CreateTerminalResponse:
        """As the SDK read the request."""
        params = {"command": command, "args": args, "env": [as_json(e) for e in env or ()], "cwd": cwd}
        result = self.serve(session_id, self.terminals.create, **params, outputByteLimit=output_byte_limit)
        return CreateTerminalResponse(terminal_id=result["terminalId"])

    async def terminal_output(
        self, session_id: str, terminal_id: str, **kwargs: Any
    ) -> TerminalOutputResponse:
        """What there is."""
        result = self.serve(session_id, self.terminals.find, terminalId=terminal_id).output()
        status = result.get("exitStatus")
        return TerminalOutputResponse(
            output=result["output"],
            truncated=result["truncated"],
            exit_status=status and TerminalExitStatus(exit_code=status["exitCode"], signal=status["signal"]),
        )

    async def wait_for_terminal_exit(
        self, session_id: str, terminal_id: str, **kwargs: Any
    ) -> WaitForTerminalExitResponse:
        """When the command has ended."""
        terminal = self.serve(session_id, self.terminals.find, terminalId=terminal_id)
        while not terminal.has_ended:  # noqa: ASYNC110 - a process ends, which sets no event
            await asyncio.sleep(POLL_S)
        status = terminal.exit_status()
        return WaitForTerminalExitResponse(exit_code=status["exitCode"], signal=status["signal"])

    async def kill_terminal(self, session_id: str, terminal_id: str, **kwargs: Any) -> KillTerminalResponse:
        """The command ends, its terminal stays."""
        self.serve(session_id, self.terminals.find, terminalId=terminal_id).kill()
        return KillTerminalResponse()

    async def release_terminal(
        self, session_id: str, terminal_id: str, **kwargs: Any
    ) -> ReleaseTerminalResponse:
        """The command ends, and the id is unknown from now on."""
        self.serve(session_id, self.terminals.release, terminalId=terminal_id)
        return ReleaseTerminalResponse()

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """None is known here; the SDK takes the underscore away."""
        raise RequestError.method_not_found(f"_{method}")

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """None is known here."""

    def serve(self, session_id: str, service: Any, **params: Any) -> Any:
        """Use a service of the session."""
        self.check_session(session_id)
        try:
            return service(params)
        except Refusal as error:
            raise RequestError(error.code, str(error)) from error

    def check_session(self, session_id: str) -> None:
        """What is asked has to be about the session that is open."""
        if session_id != self.user.session:
            raise RequestError.resource_not_found()

    # -- the conversation

    async def converse(self, prompt: str) -> None:
        """From initialize to the last step of the plan."""
        hello = await self.call(
            self.agent.initialize(
                protocol_version=PROTOCOL_VERSION,
                client_capabilities=CAPABILITIES,
                client_info=Implementation(name="python-sdk-client", version="1"),
            )
        )
        if hello.protocol_version != PROTOCOL_VERSION:
            raise CannotGoOn(f"the agent speaks version {hello.protocol_version} of the protocol")
        self.offers, self.auth_methods = hello.agent_capabilities, hello.auth_methods or []
        while (step := self.user.take("start")) and not await self.change_session(step):
            pass
        if self.user.session is None:
            await self.new_session()
        while step := self.user.take("ready"):
            await self.do(step)
        await self.prompt(prompt)
        while step := self.user.take("end"):
            await self.do(step)

    async def call(self, request: Any) -> Any:
        """The result of a request that is no prompt."""
        try:
            return await asyncio.wait_for(request, CALL_S)
        except TimeoutError:
            raise CannotGoOn("the agent does not answer") from None

    async def new_session(self) -> None:
        """session/new, with one login if the agent wants it."""
        self.user.opening = True
        try:
            opened = await self.call(self.agent.new_session(cwd=self.cwd, mcp_servers=[]))
        except RequestError as error:
            if error.code != RequestError.auth_required().code:
                raise
            methods = [m for m in self.auth_methods if getattr(m, "type", "agent") in {None, "agent"}]
            if not methods:
                raise CannotGoOn("the agent wants a login that this client cannot do") from error
            self.user.show("login", text=methods[0].name)
            await self.call(self.agent.authenticate(method_id=methods[0].id))
            opened = await self.call(self.agent.new_session(cwd=self.cwd, mcp_servers=[]))
        finally:
            self.user.opening = False
        self.user.session = opened.session_id
        self.note_offers(opened)

    def note_offers(self, opened: Any) -> None:
        """What a session lets its user set."""
        self.modes = {mode.id for mode in opened.modes.available_modes} if opened.modes else set()
        self.options = {option.id for option in opened.config_options or ()}

    async def change_session(self, step: Step) -> bool:
        """load, resume or list; returns whether a session is open now."""
        sessions = self.offers and self.offers.session_capabilities
        id_ = step.get("sessionId") or self.user.session
        listed: list[Any] = []
        if (step["do"] == "list" or id_ == "first") and sessions and sessions.list is not None:
            cursor = None
            try:
                while True:
                    page = await self.call(self.agent.list_sessions(cursor=cursor))
                    listed += page.sessions
                    cursor = page.next_cursor
                    if cursor is None:
                        break
            except RequestError as error:
                self.user.fail(str(error))
        if id_ == "first":
            id_ = listed[0].session_id if listed else None
        if step["do"] == "load" and self.offers and self.offers.load_session:
            open_session = self.agent.load_session
        elif step["do"] == "resume" and sessions and sessions.resume is not None:
            open_session = self.agent.resume_session
        else:
            return False
        if id_ is None:
            return False
        before, self.user.session = self.user.session, id_
        self.user.replaying = step["do"] == "load"
        try:
            self.note_offers(await self.call(open_session(cwd=self.cwd, session_id=id_, mcp_servers=[])))
        except (RequestError, ValueError) as error:
            self.user.session = before
            self.user.fail(str(error))
        finally:
            self.user.replaying = False
        return self.user.session is not None

    async def do(self, step: Step) -> None:
        """A step between turns; what goes wrong is shown, and the run goes on."""
        session = self.user.session
        try:
            match step["do"]:
                case "prompt":
                    await self.prompt(step["text"])
                case "set_mode" if step["mode"] in self.modes:
                    await self.call(self.agent.set_session_mode(session_id=session, mode_id=step["mode"]))
                case "set_config" if step["configId"] in self.options:
                    await self.call(
                        self.agent.set_config_option(
                            session_id=session, config_id=step["configId"], value=step["value"]
                        )
                    )
                case "load" | "resume" | "list":
                    await self.change_session(step)
                case "new":
                    await self.new_session()
                case "close" if self.offers and self.offers.session_capabilities.close is not None:
                    await self.call(self.agent.close_session(session_id=session))
                case "cancel":
                    await self.agent.cancel(session_id=session)
                case "wait":
                    await self.wait()
        except (RequestError, ValueError) as error:
            self.user.fail(str(error))

    async def prompt(self, text: str) -> None:
        """One turn, to its end or until it is given up."""
        self.cancelled.clear()
        self.user.begin_turn(text)
        stops = [asyncio.create_task(self.stop_later(after_s)) for after_s in self.user.stop_times_s()]
        turn = asyncio.ensure_future(
            self.agent.prompt(session_id=self.user.session, prompt=[text_block(text)])
        )
        try:
            cancelled = asyncio.ensure_future(self.cancelled.wait())
            await asyncio.wait({turn, cancelled}, timeout=TURN_S, return_when=asyncio.FIRST_COMPLETED)
            cancelled.cancel()
            answer = await asyncio.wait_for(turn, CANCEL_S if self.cancelled.is_set() else 0)
            self.user.end_turn(answer.stop_reason)
        except (RequestError, ValueError) as error:  # ValueError: the SDK can make no sense of the answer
            self.user.fail_turn(str(error))
        except TimeoutError:
            self.user.fail_turn("the agent does not end the turn")
        finally:
            for stop in stops:
                stop.cancel()
            self.answer_held()

    async def stop_later(self, after_s: float) -> None:
        """Stop when the plan's milliseconds are over."""
        await asyncio.sleep(after_s)
        if self.user.stops_now():
            await self.stop()

    async def stop(self) -> None:
        """session/cancel, and every open permission answered so."""
        if not self.cancelled.is_set():
            self.cancelled.set()
            await self.agent.cancel(session_id=self.user.session)
            self.user.show("cancelled")
            self.answer_held()

    def answer_held(self) -> None:
        """The permissions that were left open get their answer."""
        for held in self.held:
            held.set_result(None)
        self.held.clear()

    async def wait(self) -> None:
        """Stay and read until nothing has come for a second."""
        heard = -1
        while heard != self.heard:
            heard = self.heard
            await asyncio.sleep(1.0)


async def run(agent: str, prompt: str, cwd: str) -> int:
    """The whole of it; returns the exit code: 0, 3 if a turn ended early, 1 if something failed."""
    user = User()
    client = SdkClient(user, cwd)
    try:
        async with spawn_agent_process(client, *shlex.split(agent), use_unstable_protocol=True):
            try:
                await client.converse(prompt)
            except (RequestError, CannotGoOn, ConnectionError, ValueError) as error:
                user.fail_turn(str(error))
            finally:
                client.terminals.close()
    except OSError as error:
        user.fail_turn(str(error))
    return user.exit_code


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(asyncio.run(run(*sys.argv[1:4])))
