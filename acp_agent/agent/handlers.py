"""What Bob answers to the requests that need no turn: `initialize`, `authenticate`, `session/new`.

A handler is called with valid params in a legal state; it returns the result or raises RpcError. A method is handled
by the function of its name. Deliberately absent: `session/prompt` and the notifications (server.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from acp_agent import __version__
from acp_agent.agent.history import History
from acp_agent.agent.instructions import system_prompt
from acp_agent.agent.log import Log
from acp_agent.agent.session import Session, new_session_id
from acp_agent.jsonrpc.errors import ErrorCode, RpcError

PROTOCOL_VERSION: Final = 1
AGENT_INFO: Final = {"name": "bob", "title": "Bob (bash-first agent)", "version": __version__}


class Handlers:
    """The handlers, and the sessions they have opened."""

    def __init__(self, log: Log) -> None:
        self.sessions: dict[str, Session] = {}
        self._log = log

    def initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        """Version 1 is the answer whatever was asked (R-028); what Bob can't do is said, not left out (R-035)."""
        info = params.get("clientInfo") or {}
        name = info.get("title") or info.get("name") or "unnamed client"
        version = f" {info['version']}" if info.get("version") else ""
        asked = params["protocolVersion"]
        self._log.say(f"client: {name}{version}, protocol version {asked} asked, {PROTOCOL_VERSION} spoken")
        return {
            "protocolVersion": PROTOCOL_VERSION,
            "agentInfo": AGENT_INFO,
            "agentCapabilities": {
                "loadSession": False,
                "promptCapabilities": {"image": False, "audio": False, "embeddedContext": False},
                "mcpCapabilities": {"http": False, "sse": False},
            },
            "authMethods": [],
        }

    def authenticate(self, _params: dict[str, Any]) -> dict[str, Any]:
        """There is nothing to log in to: the model's key is the user's own configuration."""
        return {}

    def session_new(self, params: dict[str, Any]) -> dict[str, Any]:
        """Open a session in an existing directory. `mcpServers` are counted and ignored."""
        cwd = Path(params["cwd"])
        what = _unusable(cwd)
        if what is not None:
            data = {"reason": "params_invalid", "method": "session/new", "path": "/cwd"}
            raise RpcError(ErrorCode.INVALID_PARAMS, f"Invalid params: the directory in cwd {what}", data)
        session_id = new_session_id()
        while session_id in self.sessions:  # R-059; 32 random bits a second do meet now and then
            session_id = new_session_id()
        session = Session(session_id, cwd, History(system_prompt(cwd)))
        self.sessions[session.id] = session
        self._log.say(f"session {session.id}: cwd {cwd}, {len(params['mcpServers'])} MCP server(s) ignored")
        return {"sessionId": session.id}


def _unusable(directory: Path) -> str | None:
    """Why a path can't be worked in; None if it can."""
    try:
        if directory.is_dir():
            return None
        return "is not a directory" if directory.exists() else "does not exist"
    except OSError as error:
        return f"can't be looked at: {error.strerror}"
