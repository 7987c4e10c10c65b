"""What Bob answers to the requests that need no turn: `initialize`, `authenticate`, `session/new`, `session/load`.

A handler is called with valid params in a legal state; it returns the result or raises RpcError. A method is handled
by the function of its name. Deliberately absent: `session/prompt` and the notifications (server.py).
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from acp_agent import __version__
from acp_agent.agent.commands import DESCRIPTIONS
from acp_agent.agent.history import History
from acp_agent.agent.instructions import system_prompt
from acp_agent.agent.log import Log
from acp_agent.agent.session import Session, home_directory, new_session_id
from acp_agent.agent.updates import Update, available_commands
from acp_agent.config import Settings
from acp_agent.jsonrpc.errors import ErrorCode, RpcError
from acp_agent.llm.model import Message

if TYPE_CHECKING:
    from acp_agent.agent.keeper import Keeper
    from acp_agent.agent.skills import Skills

PROTOCOL_VERSION: Final = 1
AGENT_INFO: Final = {"name": "bob", "title": "Bob (bash-first agent)", "version": __version__}


class Handlers:
    """The handlers, and the sessions they have opened."""

    def __init__(self, settings: Settings, log: Log) -> None:
        self.sessions: dict[str, Session] = {}
        self._settings = settings
        self._log = log

    @cached_property
    def keeper(self) -> Keeper:
        """What keeps the sessions; made with the first of them, like everything that a start does not need."""
        from acp_agent.agent.keeper import Keeper

        if not self._settings.sessions.enabled:
            return Keeper(None, self._log)
        from acp_agent.agent.store import SessionStore

        return Keeper(SessionStore(self._settings.sessions.dir), self._log)

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
                "loadSession": self._settings.sessions.enabled,
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
        cwd = _directory(params["cwd"], "session/new")
        session_id = new_session_id()
        while session_id in self.sessions:  # R-059; 32 random bits a second do meet now and then
            session_id = new_session_id()
        self._log.say(f"session {session_id}: cwd {cwd}, {len(params['mcpServers'])} MCP server(s) ignored")
        skills = self._skills(cwd, session_id)
        session = Session(session_id, cwd, History(system_prompt(cwd, skills.prompt_section())), skills)
        self.sessions[session_id] = session
        self.keeper.begin(session)
        return {"sessionId": session_id}

    async def session_load(self, params: dict[str, Any]) -> tuple[Session, list[Message]]:
        """Read a stored session; it works in the directory that is given now. With it, its records to replay.

        It is not among the sessions yet: whoever has replayed it puts it there.
        """
        from acp_agent.agent.stored_session import StoreError

        session_id = params["sessionId"]
        cwd = _directory(params["cwd"], "session/load")
        try:
            stored = await self.keeper.load(cwd, session_id)
        except StoreError as error:
            data = {"reason": "session_unknown", "sessionId": session_id, "error": str(error)}
            raise RpcError(
                ErrorCode.INVALID_PARAMS, "Invalid params: the session can't be loaded", data
            ) from error
        skills = self._skills(cwd, session_id)
        history = History(system_prompt(cwd, skills.prompt_section()), stored.messages)
        session = Session(session_id, cwd, history, skills, stored.created)
        if session_id in self.sessions:
            session.follow(self.sessions[session_id])
        return session, stored.messages

    def commands_of(self, session: Session) -> Update:
        """The update that advertises what a prompt of this session may begin with."""
        skills = [(skill.name, skill.description) for skill in session.skills.commands()]
        return available_commands(DESCRIPTIONS.items(), skills)

    def _skills(self, cwd: Path, session_id: str) -> Skills:
        from acp_agent.agent.skills import load_skills

        skills = load_skills(cwd, self._settings.skills.dirs, home_directory())
        for warning in skills.warnings:
            self._log.say(f"session {session_id}: warning: {warning}")
        return skills


def _directory(path: str, method: str) -> Path:
    cwd = Path(path)
    what = _unusable(cwd)
    if what is not None:
        data = {"reason": "params_invalid", "method": method, "path": "/cwd"}
        raise RpcError(ErrorCode.INVALID_PARAMS, f"Invalid params: the directory in cwd {what}", data)
    return cwd


def _unusable(directory: Path) -> str | None:
    """Why a path can't be worked in; None if it can."""
    try:
        if directory.is_dir():
            return None
        return "is not a directory" if directory.exists() else "does not exist"
    except OSError as error:
        return f"can't be looked at: {error.strerror}"
