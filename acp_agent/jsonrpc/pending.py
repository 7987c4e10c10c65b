"""Calls in flight in one direction, by their exact id, and the ids that were answered lately.

Two directions are two id spaces: the same id may be open both ways. Deliberately absent: futures, timeouts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from acp_agent.jsonrpc.messages import Request, RequestId

# How many answered ids are remembered, to tell a second answer from an answer to nobody.
_REMEMBERED = 1024


@dataclass(slots=True)
class OpenCall:
    """A request that has no response yet.

    session_id: the session its params name, if any. subject: what the holder of this table keeps with the call, to
    find it again with the answer whatever happened in between. cancel_asked: its sender has asked to cancel it.
    refused: watched and found illegal: the slug of the finding.
    """

    request: Request
    session_id: str | None = None
    subject: Any = None
    cancel_asked: bool = False
    refused: str | None = None

    @property
    def id(self) -> RequestId:
        """The request's id."""
        return self.request.id

    @property
    def method(self) -> str:
        """The request's method."""
        return self.request.method

    @property
    def params(self) -> Any:
        """The request's params."""
        return self.request.params


class OpenCalls:
    """The table of open calls of one direction.

    Ids are compared by value and JSON type: 1 and "1" are two ids (read_id has made 1.0 the integer 1 and
    refused booleans, so a dict tells them apart as JSON does).
    """

    __slots__ = ("_answered", "_open")

    def __init__(self) -> None:
        self._open: dict[RequestId, OpenCall] = {}
        self._answered: dict[RequestId, None] = {}

    def add(self, call: OpenCall) -> None:
        """Register a call; it must be done before anything else is read, so that a cancel finds it."""
        self._open[call.request.id] = call

    def get(self, id_: RequestId) -> OpenCall | None:
        """The open call of that id, if there is one."""
        return self._open.get(id_)

    def settle(self, id_: RequestId) -> OpenCall | None:
        """Take out the call that a response answers; None when no such call is open."""
        call = self._open.pop(id_, None)
        if call is not None:
            self._answered.pop(id_, None)
            self._answered[id_] = None
            if len(self._answered) > _REMEMBERED:
                del self._answered[next(iter(self._answered))]
        return call

    def was_answered(self, id_: RequestId) -> bool:
        """Whether a call of that id was answered lately and none is open now."""
        return id_ in self._answered and id_ not in self._open

    def __contains__(self, id_: RequestId) -> bool:
        return id_ in self._open

    def __iter__(self) -> Iterator[OpenCall]:
        return iter(list(self._open.values()))

    def __len__(self) -> int:
        return len(self._open)
