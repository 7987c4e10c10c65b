"""One prompt turn of the scripted agent: what it says, asks and how it ends, in the words of the protocol.

Deliberately absent: what has no turn (stage.py), and whether any of it is legal: the wire refuses what is not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from acp_agent.harness.asked import Asked
from acp_agent.harness.endings import NotExercised
from acp_agent.harness.narration import PATIENCE
from acp_agent.jsonrpc import codec
from acp_agent.protocol.events import RequestReceived

if TYPE_CHECKING:
    from acp_agent.harness.stage import Stage

CANCEL_S: Final = 20.0
"""How long to wait for a cancel: a person may have to find the button."""

ALLOW_OR_REJECT: Final = (
    {"optionId": "yes", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
)
"""Two options whose ids are unlike their kinds."""


class ClientRequest:
    """A request of the client that the script answers. number: in the transcript."""

    def __init__(self, stage: Stage, event: RequestReceived, number: int) -> None:
        self.id = event.id
        self.method = event.method
        self.params: Any = event.params
        self.number = number
        self.is_answered = False
        self._stage = stage

    def respond(self, result: Any, *, on_purpose: bool = False) -> int:
        """Answer with a result; returns the answer's number."""
        message = {"jsonrpc": "2.0", "id": self.id, "result": result}
        return self._answer(message, on_purpose=on_purpose)

    def answer_line(self, result: Any) -> bytes:
        """The answer as a line, for a script that writes it itself: from now on it counts as given."""
        self.is_answered = True
        return codec.encode({"jsonrpc": "2.0", "id": self.id, "result": result})

    def fail(self, code: int, message: str = "failed", data: Any = None, *, on_purpose: bool = False) -> int:
        """Answer with an error."""
        error = {"code": code, "message": message} | ({} if data is None else {"data": data})
        return self._answer({"jsonrpc": "2.0", "id": self.id, "error": error}, on_purpose=on_purpose)

    def _answer(self, message: dict[str, Any], *, on_purpose: bool) -> int:
        number = self._stage.answer(self, message, on_purpose=on_purpose)
        # Not before: an answer that is illegal now is still owed.
        self.is_answered = True
        return number


class StagedTurn:
    """One turn. id, session_id, prompt: of its request. cancelled_at: the cancel's number in the transcript."""

    def __init__(self, stage: Stage, request: ClientRequest) -> None:
        self.request = request
        self.id = request.id
        self.session_id: str = request.params["sessionId"]
        self.prompt: list[dict[str, Any]] = request.params["prompt"]
        self.cancelled_at: int | None = None
        self.cancelled_by = ""
        self._stage = stage
        self._said = hashlib.sha256()
        self._said_bytes = 0

    @property
    def text(self) -> str:
        """The text of the prompt."""
        return "".join(block["text"] for block in self.prompt if block["type"] == "text")

    @property
    def is_ended(self) -> bool:
        """Whether the prompt has been answered."""
        return self.request.is_answered

    @property
    def is_cancelled(self) -> bool:
        """Whether the client has asked to cancel it."""
        return self.cancelled_at is not None

    # -- saying

    def update(self, update: dict[str, Any], *, on_purpose: bool = False) -> int:
        """Send an update of any kind; returns its number."""
        return self._stage.update(self.session_id, update, on_purpose=on_purpose)

    def say(self, text: str, **members: Any) -> int:
        """A chunk of the agent's message. members: beside the content, such as messageId."""
        self.note_said(text)
        return self._chunk("agent_message_chunk", text, members)

    def note_said(self, text: str) -> None:
        """Count text among what the turn has said: `say` does it, raw lines need it."""
        spelled = text.encode("utf-8", "surrogatepass")
        self._said.update(spelled)
        self._said_bytes += len(spelled)

    @property
    def said(self) -> dict[str, Any]:
        """All text of the turn's message, as its size and SHA-256: for the look back, however long it is."""
        return {"bytes": self._said_bytes, "sha256": self._said.hexdigest(), "ended": self.is_ended}

    def say_all(self, texts: Iterable[str]) -> None:
        """A chunk each."""
        for text in texts:
            self.say(text)

    def think(self, text: str, **members: Any) -> int:
        """A chunk of the agent's thoughts."""
        return self._chunk("agent_thought_chunk", text, members)

    def plan(self, *entries: str | dict[str, Any]) -> int:
        """The whole plan; a plain string is a pending entry of medium priority."""
        spelled = [
            {"content": entry, "priority": "medium", "status": "pending"} if isinstance(entry, str) else entry
            for entry in entries
        ]
        return self.update({"sessionUpdate": "plan", "entries": spelled})

    def tool_call(
        self, call_id: str, title: str = "A tool", *, on_purpose: bool = False, **members: Any
    ) -> int:
        """Announce a tool call. members: kind, status, content, locations, rawInput, ..."""
        update = {"sessionUpdate": "tool_call", "toolCallId": call_id, "title": title, **members}
        return self.update(update, on_purpose=on_purpose)

    def tool_update(
        self, call_id: str, status: str | None = None, *, on_purpose: bool = False, **members: Any
    ) -> int:
        """Change a tool call. status None: leave it out."""
        update: dict[str, Any] = {"sessionUpdate": "tool_call_update", "toolCallId": call_id, **members}
        if status is not None:
            update["status"] = status
        return self.update(update, on_purpose=on_purpose)

    def _chunk(self, kind: str, text: str, members: dict[str, Any]) -> int:
        return self.update({"sessionUpdate": kind, "content": {"type": "text", "text": text}, **members})

    # -- asking

    def ask_permission(
        self,
        call_id: str,
        options: Sequence[dict[str, Any]] = ALLOW_OR_REJECT,
        *,
        title: str | None = None,
        request_id: int | str | None = None,
        on_purpose: bool = False,
        **members: Any,
    ) -> Asked:
        """Ask for permission for a tool call. members: of the `toolCall`, beside its id. request_id: of the request."""
        call = {"toolCallId": call_id, **({} if title is None else {"title": title}), **members}
        params = {
            "sessionId": self.session_id,
            "toolCall": call,
            "options": [dict(option) for option in options],
        }
        return self._stage.call(
            "session/request_permission", params, request_id=request_id, on_purpose=on_purpose
        )

    def call(self, method: str, **params: Any) -> Asked:
        """Ask the client something in this session; params beside the sessionId, such as path="/x"."""
        return self._stage.call(method, {"sessionId": self.session_id, **params})

    # -- waiting and ending

    async def cancel(self, within_s: float = CANCEL_S) -> int:
        """Wait for the client to cancel the turn; returns the cancel's number.

        Raises NotExercised if it does not: whoever should have pressed Stop has not.
        """
        if self._stage.narrates:
            within_s *= PATIENCE
        await self._stage.until(lambda: self.is_cancelled, within_s)
        if self.cancelled_at is None:
            raise NotExercised(f"the turn was not cancelled within {within_s:g} s")
        return self.cancelled_at

    def end(self, stop_reason: str | None = None, *, on_purpose: bool = False, **members: Any) -> int:
        """Answer the prompt. stop_reason None: `cancelled` if that was asked for, else `end_turn`."""
        if stop_reason is None:
            stop_reason = "cancelled" if self.is_cancelled else "end_turn"
        return self.request.respond({"stopReason": stop_reason, **members}, on_purpose=on_purpose)

    def fail(self, code: int, message: str = "failed", data: Any = None, *, on_purpose: bool = False) -> int:
        """Answer the prompt with an error."""
        return self.request.fail(code, message, data, on_purpose=on_purpose)
