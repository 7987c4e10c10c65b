"""What can go wrong for a client that talks to an agent. Every text is a sentence for the person at the client.

    ClientError
      CannotStartAgent      the command, its directory or its arguments are not usable
      AgentGone             the agent has ended, or nothing can reach it any more
      AgentSilent           a call was not answered in time
      CancelIgnored         a cancelled turn did not end in time
      UnsupportedVersion    the agent answered `initialize` with a version we do not speak
      TurnRunning           a second prompt while the session's turn is open

An error response of the agent is `RpcError` (jsonrpc/errors.py): the agent lives and the session goes on.
Deliberately absent: what the agent does wrong on the wire; that is an event (events.py).
"""

from __future__ import annotations

from acp_agent.jsonrpc import codec
from acp_agent.jsonrpc.errors import RpcError


class ClientError(Exception):
    """The text is one sentence."""


class CannotStartAgent(ClientError):
    """The agent's process was not started."""


class AgentGone(ClientError):
    """The agent has ended or can't be reached. exit_code: minus the signal if one ended it, None while it runs.

    stderr: the end of what it wrote to standard error, for whoever wants to know why.
    """

    def __init__(self, sentence: str, exit_code: int | None = None, stderr: str = "") -> None:
        super().__init__(sentence)
        self.exit_code = exit_code
        self.stderr = stderr


class AgentSilent(ClientError):
    """A call got no answer within its time. A late answer is dropped."""

    def __init__(self, method: str, timeout_s: float) -> None:
        super().__init__(f"the agent has not answered {method} within {timeout_s:g} s")
        self.method = method


class CancelIgnored(ClientError):
    """The turn was cancelled and did not end; the session takes another prompt all the same (R-305)."""

    def __init__(self, session_id: str, timeout_s: float) -> None:
        super().__init__(f"the agent has not ended the cancelled turn within {timeout_s:g} s")
        self.session_id = session_id


class UnsupportedVersion(ClientError):
    """No protocol version in common; the connection is only good for closing (R-029)."""

    def __init__(self, version: int) -> None:
        super().__init__(
            f"the agent speaks version {version} of the protocol, and this client only version 1"
        )
        self.version = version


class TurnRunning(ClientError):
    """A turn of this session is open; cancel it or wait for its end (R-316)."""

    def __init__(self, session_id: str) -> None:
        super().__init__("a turn is running in this session: cancel it or wait for its end")
        self.session_id = session_id


def explain(error: RpcError) -> str:
    """An error response in one line, with its `data`: an agent often says only there what went wrong."""
    said = error.message.strip() or "the agent gave no message"
    text = f"{said} (code {error.code})"
    if error.data is None or error.data in ({}, [], ""):
        return text
    data = error.data if isinstance(error.data, str) else codec.encode(error.data).decode().strip()
    return f"{text}: {data}"
