"""The choices ACP leaves to its users, as values given to the core.

The core enforces what the protocol states; where one agent queues and another refuses, it asks the policy.
"""

from __future__ import annotations

from typing import NamedTuple

from acp_agent.protocol.errors import AcpErrorCode


class Policy(NamedTuple):
    """How a Connection decides where the protocol is silent. The defaults are the strict reading.

    queue_prompts: a prompt in a session whose turn is open is legal and waits (T2 otherwise refuses it).
    unknown_session_code: what a request naming an unknown session gets.
    any_authenticate: `authenticate` is legal whatever methods were advertised.
    lax_content: prompt blocks without a capability pass; their handler ignores them.
    lax_mcp_servers: MCP server kinds without a capability pass; their handler ignores them.
    reload_open_session: `session/load` of a session that is open and idle is legal.
    served: the baseline methods this side has a handler for, None for all; others are unknown methods.
    versions: the protocol versions a client can speak.
    strict: unknown members at specified types are reported when received and refused when sent (R-249); other members
    of the envelope are reported, a request with a null id is refused.
    """

    queue_prompts: bool = False
    unknown_session_code: int = AcpErrorCode.RESOURCE_NOT_FOUND
    any_authenticate: bool = False
    lax_content: bool = False
    lax_mcp_servers: bool = False
    reload_open_session: bool = False
    served: frozenset[str] | None = None
    versions: tuple[int, ...] = (1,)
    strict: bool = False
