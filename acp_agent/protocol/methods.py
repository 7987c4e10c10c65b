"""THE table of ACP v1 methods: who handles each, whether it is answered, its types, what opens it.

Everything that must know a method asks this table: dispatch, validation, the index beside the bundled schemas,
the tests. It holds the 25 stable names. Names that start with `_` belong to extensions and are deliberately
absent, as is every unstable name: both are "not in the table".

Source: ACP v1 schema (npm `@agentclientprotocol/sdk` 2.4.0); `schemas/derive.py` compares the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple


class Side(StrEnum):
    """Which side handles a method; BOTH is the protocol level, where either may send."""

    AGENT = "agent"
    CLIENT = "client"
    BOTH = "both"


class Kind(StrEnum):
    """Whether the sender gets an answer."""

    REQUEST = "request"
    NOTIFICATION = "notification"


class Method(NamedTuple):
    """One method of the protocol.

    params, result: names of definitions in the bundled schemas; result is None for a notification.
    gate: dotted paths into the two capability objects; one of them must be open (see `gate_is_open`).
    An empty gate is a baseline method. What depends on a session is no capability and so not here
    (`session/set_mode` needs `modes` in the result that set the session up).
    """

    name: str
    handled_by: Side
    kind: Kind
    params: str
    result: str | None = None
    gate: tuple[str, ...] = ()

    @property
    def is_request(self) -> bool:
        return self.kind is Kind.REQUEST

    def sent_by(self, side: Side) -> bool:
        """Whether `side` (AGENT or CLIENT) may send this method: the other side handles it, or both do."""
        return self.handled_by is Side.BOTH or self.handled_by is not side


def _request(name: str, side: Side, stem: str, *gate: str) -> Method:
    return Method(name, side, Kind.REQUEST, f"{stem}Request", f"{stem}Response", gate)


def _notification(name: str, side: Side, params: str, *gate: str) -> Method:
    return Method(name, side, Kind.NOTIFICATION, params, None, gate)


_SESSION = "agentCapabilities.sessionCapabilities"
_TERMINAL = "clientCapabilities.terminal"
_ELICITATION = "clientCapabilities.elicitation"

_TABLE = (
    _request("initialize", Side.AGENT, "Initialize"),
    _request("authenticate", Side.AGENT, "Authenticate"),
    _request("logout", Side.AGENT, "Logout", "agentCapabilities.auth.logout"),
    _request("session/new", Side.AGENT, "NewSession"),
    _request("session/load", Side.AGENT, "LoadSession", "agentCapabilities.loadSession"),
    _request("session/resume", Side.AGENT, "ResumeSession", f"{_SESSION}.resume"),
    _request("session/list", Side.AGENT, "ListSessions", f"{_SESSION}.list"),
    _request("session/delete", Side.AGENT, "DeleteSession", f"{_SESSION}.delete"),
    _request("session/close", Side.AGENT, "CloseSession", f"{_SESSION}.close"),
    _request("session/set_mode", Side.AGENT, "SetSessionMode"),
    _request("session/set_config_option", Side.AGENT, "SetSessionConfigOption"),
    _request("session/prompt", Side.AGENT, "Prompt"),
    _notification("session/cancel", Side.AGENT, "CancelNotification"),
    _notification("session/update", Side.CLIENT, "SessionNotification"),
    _request("session/request_permission", Side.CLIENT, "RequestPermission"),
    _request("fs/read_text_file", Side.CLIENT, "ReadTextFile", "clientCapabilities.fs.readTextFile"),
    _request("fs/write_text_file", Side.CLIENT, "WriteTextFile", "clientCapabilities.fs.writeTextFile"),
    _request("terminal/create", Side.CLIENT, "CreateTerminal", _TERMINAL),
    _request("terminal/output", Side.CLIENT, "TerminalOutput", _TERMINAL),
    _request("terminal/wait_for_exit", Side.CLIENT, "WaitForTerminalExit", _TERMINAL),
    _request("terminal/kill", Side.CLIENT, "KillTerminal", _TERMINAL),
    _request("terminal/release", Side.CLIENT, "ReleaseTerminal", _TERMINAL),
    _request(
        "elicitation/create", Side.CLIENT, "CreateElicitation", f"{_ELICITATION}.form", f"{_ELICITATION}.url"
    ),
    _notification(
        "elicitation/complete", Side.CLIENT, "CompleteElicitationNotification", f"{_ELICITATION}.url"
    ),
    _notification("$/cancel_request", Side.BOTH, "CancelRequestNotification"),
)

METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _TABLE})


def gate_is_open(method: Method, declared: Mapping[str, object]) -> bool:
    """Whether the capabilities exchanged in `initialize` allow `method`.

    declared: `{"agentCapabilities": ..., "clientCapabilities": ...}` as they were sent; absent is closed.
    """
    return not method.gate or any(declares(declared, path.split(".")) for path in method.gate)


def declares(capabilities: Mapping[str, object], path: Iterable[str]) -> bool:
    """Whether a capability is on: `true` for a boolean, present and not null for a switch object (R-036)."""
    found: object = capabilities
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found is True or isinstance(found, Mapping)
