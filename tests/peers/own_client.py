"""Our own client role, `acp_agent.client`, as `acp-agent chat` uses it, with the plan's user in the person's place.

    python own_client.py AGENT_COMMAND_LINE PROMPT CWD

Advertises what that client does: no files, no terminals, no elicitation. How a tool call stands is what the client's
ToolCalls make of it; a plan stands as its last update gave it.
"""

from __future__ import annotations

import asyncio
import shlex
import sys
from pathlib import Path
from typing import Any

from user import SHOWN_AS, Step, User

from acp_agent.client.client import Client, Limits
from acp_agent.client.errors import CancelIgnored, ClientError, explain
from acp_agent.client.events import (
    ClientEvent,
    PermissionAnswered,
    PermissionAsked,
    SessionOpened,
    UpdateReceived,
)
from acp_agent.client.permissions import Choice, PermissionRequest
from acp_agent.client.tool_calls import ToolCalls, ToolCallView
from acp_agent.jsonrpc.errors import RpcError
from acp_agent.protocol.errors import AcpErrorCode

LIMITS = Limits(answer_s=30.0, cancel_s=5.0)
TURN_S = 60.0


def as_on_the_wire(call: ToolCallView) -> dict[str, Any]:
    """A tool call as it stands, its members named as in the protocol."""
    stands = {"title": call.title, "kind": call.kind, "status": call.status, "content": call.content}
    return stands | {"locations": call.locations, "rawInput": call.raw_input, "rawOutput": call.raw_output}


class OwnClient:
    """The conversation. client is set before anything happens."""

    client: Client

    def __init__(self, user: User, cwd: str) -> None:
        self.user = user
        self.cwd = cwd
        self.offers: dict[str, Any] = {}
        self.modes: set[str] = set()
        self.options: set[str] = set()
        self.calls = ToolCalls()
        self.heard = 0

    # -- what the agent sends

    def on_event(self, event: ClientEvent) -> None:
        """Show it, and stop if it is time to."""
        self.heard += 1
        match event:
            case SessionOpened(session_id):
                self.user.session = session_id
            case UpdateReceived(session_id, update) if self.user.watches(session_id):
                self.on_update(session_id, update)
            case PermissionAsked(request):
                options = [{"optionId": o.id, "name": o.name, "kind": o.kind} for o in request.options]
                self.user.show("permission", toolCall=request.tool_call, options=options)
            case PermissionAnswered(_, option_id, cancelled):
                answer = {"cancelled": True} if cancelled else {"optionId": option_id}
                self.user.show("permission_answer", **answer)
            case _:
                pass

    def on_update(self, session_id: str, update: dict[str, Any]) -> None:
        """One update of the session that is open."""
        kind = update["sessionUpdate"]
        self.user.count(kind)
        if kind in {"tool_call", "tool_call_update"}:
            self.user.show(kind, update=update, call=as_on_the_wire(self.calls.apply(update)))
        elif kind == "plan":
            self.user.show(kind, update=update, entries=update["entries"])
        elif kind not in SHOWN_AS:
            self.user.show(kind, update=update)
        elif update["content"]["type"] == "text":
            self.user.see_text(kind, update["content"]["text"], session_id)
        if self.user.stops_now():
            self.stop()

    def decide(self, request: PermissionRequest) -> Choice | asyncio.Future[Choice]:
        """Choose as the plan says; what is left open, the client answers when its time has come."""
        step = self.user.take("permission")
        if step is None or "do" not in step:
            return self.user.choose(step, [(option.id, option.kind) for option in request.options])
        if step["do"] == "cancel":
            asyncio.get_running_loop().call_soon(self.stop)
        return asyncio.get_running_loop().create_future()

    def stop(self) -> None:
        """The client sends the cancel and answers what is open."""
        self.client.cancel(str(self.user.session))
        self.user.show("cancelled")

    # -- the conversation

    async def converse(self, prompt: str) -> None:
        """From initialize to the last step of the plan."""
        await self.client.initialize()
        self.offers = self.client.agent_capabilities
        while (step := self.user.take("start")) and not await self.change_session(step):
            pass
        if self.user.session is None:
            await self.new_session()
        while step := self.user.take("ready"):
            await self.do(step)
        await self.prompt(prompt)
        while step := self.user.take("end"):
            await self.do(step)

    async def new_session(self) -> None:
        """session/new, with one login if the agent wants it."""
        try:
            opened = await self.open("session/new")
        except RpcError as error:
            if error.code != AcpErrorCode.AUTH_REQUIRED:
                raise
            methods = [m for m in self.client.auth_methods if m.get("type", "agent") == "agent"]
            if not methods:
                raise ClientError("the agent wants a login that this client cannot do") from error
            self.user.show("login", text=methods[0]["name"])
            await self.client.call("authenticate", {"methodId": methods[0]["id"]})
            opened = await self.open("session/new")
        self.note_offers(opened)

    async def open(self, method: str, **params: Any) -> Any:
        """A call that opens a session."""
        return await self.client.call(method, {"cwd": self.cwd, "mcpServers": [], **params})

    def note_offers(self, opened: Any) -> None:
        """What a session lets its user set."""
        modes = (opened.get("modes") or {}).get("availableModes", ())
        self.modes = {mode["id"] for mode in modes}
        self.options = {option["id"] for option in opened.get("configOptions") or ()}

    async def change_session(self, step: Step) -> bool:
        """load, resume or list; returns whether a session is open now."""
        can = self.offers.get("sessionCapabilities") or {}
        id_ = step.get("sessionId") or self.user.session
        listed: list[dict[str, Any]] = []
        if (step["do"] == "list" or id_ == "first") and can.get("list") is not None:
            params: dict[str, Any] = {}
            try:
                while True:
                    page = await self.client.call("session/list", params)
                    listed += page["sessions"]
                    if page.get("nextCursor") is None:
                        break
                    params = {"cursor": page["nextCursor"]}
            except RpcError as error:
                self.user.fail(explain(error))
        if id_ == "first":
            id_ = listed[0]["sessionId"] if listed else None
        offered = (step["do"] == "load" and self.offers.get("loadSession")) or (
            step["do"] == "resume" and can.get("resume") is not None
        )
        if id_ is None or not offered:
            return False
        before, self.user.session = self.user.session, id_
        self.user.replaying = step["do"] == "load"
        try:
            self.note_offers(await self.open(f"session/{step['do']}", sessionId=id_) or {})
        except RpcError as error:
            self.user.session = before
            self.user.fail(explain(error))
        finally:
            self.user.replaying = False
        return self.user.session is not None

    async def do(self, step: Step) -> None:
        """A step between turns; what goes wrong is shown, and the run goes on."""
        session = {"sessionId": self.user.session}
        can = self.offers.get("sessionCapabilities") or {}
        try:
            match step["do"]:
                case "prompt":
                    await self.prompt(step["text"])
                case "set_mode" if step["mode"] in self.modes:
                    await self.client.call("session/set_mode", session | {"modeId": step["mode"]})
                case "set_config" if step["configId"] in self.options:
                    params = session | {"configId": step["configId"], "value": step["value"]}
                    if isinstance(step["value"], bool):
                        params["type"] = "boolean"
                    await self.client.call("session/set_config_option", params)
                case "load" | "resume" | "list":
                    await self.change_session(step)
                case "new":
                    await self.new_session()
                case "close" if can.get("close") is not None:
                    await self.client.call("session/close", session)
                case "cancel":
                    self.client.cancel(str(self.user.session))
                case "wait":
                    await self.wait()
        except RpcError as error:
            self.user.fail(explain(error))

    async def prompt(self, text: str) -> None:
        """One turn, to its end or until it is given up."""
        self.user.begin_turn(text)
        loop = asyncio.get_running_loop()
        stops = [loop.call_later(after_s, self.stop_if_due) for after_s in self.user.stop_times_s()]
        try:
            async with asyncio.timeout(TURN_S):
                result = await self.client.prompt(str(self.user.session), text)
            self.user.end_turn(result.stop_reason)
        except RpcError as error:
            self.user.fail_turn(explain(error))
        except CancelIgnored as error:
            self.user.fail_turn(str(error))
        except TimeoutError:
            self.user.fail_turn("the agent does not end the turn")
        finally:
            for stop in stops:
                stop.cancel()

    def stop_if_due(self) -> None:
        """When the plan's milliseconds are over."""
        if self.user.stops_now():
            self.stop()

    async def wait(self) -> None:
        """Stay and read until nothing has come for a second."""
        heard = -1
        while heard != self.heard:
            heard = self.heard
            await asyncio.sleep(1.0)


async def run(agent: str, prompt: str, cwd: str) -> int:
    """The whole of it; returns the exit code: 0, 3 if a turn ended early, 1 if something failed."""
    user = User()
    own = OwnClient(user, cwd)
    try:
        own.client = await Client.start(
            shlex.split(agent), cwd=Path(cwd), on_event=own.on_event, permission=own.decide, limits=LIMITS
        )
        async with own.client:
            await own.converse(prompt)
    except RpcError as error:
        user.fail_turn(explain(error))
    except ClientError as error:
        user.fail_turn(str(error))
    return user.exit_code


if __name__ == "__main__":
    sys.exit(asyncio.run(run(*sys.argv[1:4])))
