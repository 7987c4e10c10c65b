"""What happens in a chat as JSON objects, one a line, for programs (`acp-agent chat --json`).

    {"event":"session","sessionId","agent":{...}|null,"result":{...}}       a session was opened
    {"event":"update","sessionId","turn":1|null,"update":{...}}            a session/update; turn null: outside a turn
    {"event":"permission","sessionId","toolCall":{...},"options":[{"optionId","name","kind"}]}
    {"event":"permission_answer","sessionId","toolCallId","optionId":"..."|null,"cancelled":true|false}
    {"event":"misbehaviour","reason","severity","sentence"}                the agent broke the protocol and goes on
    {"event":"note","text"}                                                what a person would have been told
    {"event":"end","stopReason","commands":1,"fileOperations":0,"skills":0} the turn ended
    {"event":"error","text","stderr":"..."}                                 a call failed, or the agent has gone

`update`, `toolCall`, `agent` and `result` are as they came from the agent. Prompts are read from standard input, one a
line; where a person would be asked, the next line answers: an option's id or number.
Deliberately absent: prose, which transcript.py writes from the same calls.
"""

from __future__ import annotations

from typing import Any, TextIO

from acp_agent.client.events import (
    AgentEnded,
    AgentMisbehaved,
    ClientEvent,
    PermissionAnswered,
    PermissionAsked,
    SessionOpened,
    UpdateReceived,
)
from acp_agent.client.permissions import PermissionRequest
from acp_agent.client.tool_calls import ToolCalls
from acp_agent.jsonrpc import codec


class JsonLines:
    """Writes each event at once. The methods are those of transcript.View."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._agent: dict[str, Any] | None = None
        self._calls = ToolCalls()

    def agent_started(self, agent_info: dict[str, Any] | None) -> None:
        self._agent = agent_info

    def ready_for_prompt(self) -> None:
        pass

    def turn_started(self) -> None:
        self._calls = ToolCalls()

    def show(self, event: ClientEvent) -> None:
        """One line for an event of the client."""
        match event:
            case SessionOpened(session_id, result):
                self._write("session", sessionId=session_id, agent=self._agent, result=result)
            case UpdateReceived(session_id, update, turn):
                if update["sessionUpdate"] in {"tool_call", "tool_call_update"} and turn is not None:
                    self._calls.apply(update)
                self._write("update", sessionId=session_id, turn=turn, update=update)
            case PermissionAsked(request):
                self._calls.apply(request.tool_call)
                options = [
                    {"optionId": option.id, "name": option.name, "kind": option.kind}
                    for option in request.options
                ]
                self._write(
                    "permission", sessionId=request.session_id, toolCall=request.tool_call, options=options
                )
            case PermissionAnswered(request, option_id, cancelled):
                self._write(
                    "permission_answer",
                    sessionId=request.session_id,
                    toolCallId=request.tool_call_id,
                    optionId=option_id,
                    cancelled=cancelled,
                )
            case AgentMisbehaved(verdict):
                self._write(
                    "misbehaviour",
                    reason=verdict.reason,
                    severity=str(verdict.severity),
                    sentence=verdict.sentence,
                )
            case AgentEnded():
                pass  # who waited for it tells, as an error

    def question(self, request: PermissionRequest) -> None:
        pass  # the event has told all of it

    def note(self, text: str) -> None:
        self._write("note", text=text)

    def cancel_asked(self) -> None:
        self._calls.cancel_unfinished()

    def turn_ended(self, stop_reason: str) -> None:
        calls = self._calls
        self._write(
            "end",
            stopReason=stop_reason,
            commands=calls.commands,
            fileOperations=calls.file_operations,
            skills=calls.skills,
        )

    def failed(self, text: str, stderr: str = "") -> None:
        self._write("error", text=text, stderr=stderr)

    def _write(self, event: str, **members: Any) -> None:
        self._out.write(codec.encode({"event": event, **members}).decode())
        self._out.flush()
