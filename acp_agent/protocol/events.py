"""What a Connection makes of the bytes it was given. Past tense: all of it has happened.

Deliberately absent: what to do about them (agent/, client/, harness/).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from acp_agent.jsonrpc.errors import RpcError
from acp_agent.jsonrpc.messages import Message, RequestId
from acp_agent.protocol.verdicts import Verdict


class RequestReceived(NamedTuple):
    """A legal request. Whoever gets it must answer the id exactly once. params: valid for the method.

    To an observer, which answers nothing, every request is given, an illegal one as it came and after its findings;
    the params of a `_` method may be any JSON value.
    """

    id: RequestId
    method: str
    params: dict[str, Any]


class NotificationReceived(NamedTuple):
    """A legal notification; an unknown or `_` one too, which is ignored by whoever does not know it.

    To an observer every notification is given.
    """

    method: str
    params: Any


class ResponseReceived(NamedTuple):
    """The answer to a request of ours. error None: a success, result is valid for the method.

    Also given when the peer's response was malformed: then error says so and `result` is None.
    """

    id: RequestId
    method: str
    result: Any
    error: RpcError | None


class ProtocolViolation(NamedTuple):
    """A finding about something the peer has sent (verdict.severity says how sure it is).

    Alone, it stands for a message that is dropped and has changed nothing. Followed by the event of its message, the
    message counts all the same: a warning, a suspicion, an answer that ends its turn however wrong it is.
    reply: the line to post for it, None if it must not be answered. message: the message if there was one; an
    observer and a lenient reader may look into it.
    """

    verdict: Verdict
    reply: bytes | None = None
    message: Message | None = None


class StreamEnded(NamedTuple):
    """The peer's stream is at its end: nothing more will come, open calls of ours get no answer.

    unanswered: the ids of our requests that were open; to an observer, of those that the ended side has not answered.
    """

    unanswered: tuple[RequestId, ...]


Event = RequestReceived | NotificationReceived | ResponseReceived | ProtocolViolation | StreamEnded
