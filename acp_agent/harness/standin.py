"""The agent where the script does not play: answers at once, correctly, and with as little as an agent needs.

Owns the sessions it has opened and the default answer to every request. Deliberately absent: anything a scenario
is about.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from acp_agent import __version__
from acp_agent.harness.observer import Seen
from acp_agent.harness.scenario import Offer
from acp_agent.harness.wire import Heard, IllegalMove, Wire
from acp_agent.jsonrpc.errors import ErrorCode, RpcError
from acp_agent.jsonrpc.messages import RequestId, read_id
from acp_agent.protocol.events import RequestReceived
from acp_agent.protocol.verdicts import Verdict

AGENT_INFO: Final = {"name": "acp-harness", "title": "ACP client harness", "version": __version__}
_MOST_SESSIONS: Final = 1000


class StandIn:
    """Answers what nobody else does. sessions: the ids it has given out, oldest first, each with its cwd."""

    def __init__(self, wire: Wire, offer: Offer) -> None:
        self.offer = offer
        self.sessions: dict[str, str] = {}
        self._wire = wire

    def take(self, heard: Heard) -> None:
        """A line of the client that is the stand-in's to answer, if it is one that gets an answer."""
        seen = heard.seen
        if seen.has_answer:
            return
        if seen.refusal is not None:
            self._refuse(seen, seen.refusal)
        elif isinstance(seen.event, RequestReceived):
            self.answer(seen.event.id, seen.event.method, seen.event.params)

    def answer(self, id_: RequestId, method: str, params: Any) -> None:
        """Answer a legal request."""
        made = self._result(method, params)
        key = "error" if isinstance(made, RpcError) else "result"
        value = made.to_object() if isinstance(made, RpcError) else made
        message = {"jsonrpc": "2.0", "id": id_, key: value}
        try:
            self._wire.send(message)
        except IllegalMove:
            # The client has made a mess of it; an answer it gets all the same.
            self._wire.send(message, on_purpose=True)

    def setup_result(self) -> dict[str, Any]:
        """The modes and config options that every setup result carries."""
        result: dict[str, Any] = {}
        if self.offer.modes is not None:
            result["modes"] = dict(self.offer.modes)
        if self.offer.config_options is not None:
            result["configOptions"] = [dict(option) for option in self.offer.config_options]
        return result

    def initialize_result(self, **members: Any) -> dict[str, Any]:
        """The result of `initialize`; members replace what it would have."""
        return {
            "protocolVersion": 1,
            "agentInfo": AGENT_INFO,
            "agentCapabilities": dict(self.offer.capabilities),
            "authMethods": [dict(method) for method in self.offer.auth_methods],
            **members,
        }

    def open_session(self, cwd: str) -> dict[str, Any]:
        """A new session: the result of `session/new`."""
        id_ = f"session-{len(self.sessions) + 1}"
        self.sessions[id_] = cwd
        return {"sessionId": id_, **self.setup_result()}

    def _result(self, method: str, params: Any) -> dict[str, Any] | RpcError:
        match method:
            case "initialize":
                return self.initialize_result()
            case "session/new" if len(self.sessions) < _MOST_SESSIONS:
                return self.open_session(params["cwd"])
            case "session/new":
                return RpcError(ErrorCode.INTERNAL_ERROR, "Internal error: too many sessions")
            case "session/load" | "session/resume":
                self.sessions.setdefault(params["sessionId"], params["cwd"])
                return self.setup_result()
            case "session/list":
                listed = [{"sessionId": id_, "cwd": cwd} for id_, cwd in self.sessions.items()]
                return {"sessions": listed}
            case "session/set_config_option":
                return {"configOptions": self._options_with(params["configId"], params["value"])}
            case "session/delete" | "session/close" | "session/set_mode" | "authenticate" | "logout":
                return {}
            case "session/prompt":
                return {"stopReason": "end_turn"}
            case _:
                return RpcError(ErrorCode.METHOD_NOT_FOUND, f"Method not found: {method}")

    def _options_with(self, config_id: str, value: Any) -> list[dict[str, Any]]:
        options: list[Mapping[str, Any]] = list(self.offer.config_options or ())
        return [
            {**option, "currentValue": value} if option["id"] == config_id else dict(option)
            for option in options
        ]

    def _refuse(self, seen: Seen, refusal: Verdict) -> None:
        """An illegal request gets the error an agent owes it; a line that is no request, one of no id."""
        message = seen.message
        usable, id_ = read_id(message.get("id")) if isinstance(message, dict) else (False, None)
        if isinstance(message, dict) and "id" not in message and "method" in message:
            return
        error = refusal.to_error().to_object()
        answer = {"jsonrpc": "2.0", "id": id_ if usable else None, "error": error}
        self._wire.send(answer, on_purpose=True)
