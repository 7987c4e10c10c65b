"""The client, as the agent talks to it: checked messages in order, and calls with their answers.

Everything Bob sends goes through here: connection (schemas, machines), then outbox. Posting never waits, so order in
the code is order on the wire. Deliberately absent: reading (server.py).
"""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

from acp_agent.jsonrpc.errors import RpcError
from acp_agent.jsonrpc.framing import LineTooLong
from acp_agent.jsonrpc.messages import RequestId
from acp_agent.protocol.connection import Connection
from acp_agent.protocol.events import ResponseReceived
from acp_agent.protocol.machines.connection import ConnectionState
from acp_agent.transport.outbox import FLUSH_MARK_BYTES, Outbox


class Call(NamedTuple):
    """A request to the client. answer: resolves with the response, whatever it is; it is never an exception."""

    id: RequestId
    answer: asyncio.Future[ResponseReceived]


class Peer:
    """One connection's way out. All sending methods raise LocalProtocolError for what would be illegal."""

    def __init__(self, connection: Connection, outbox: Outbox) -> None:
        self.connection = connection
        self._outbox = outbox
        self._calls: dict[RequestId, Call] = {}
        self._posted_bytes = 0  # since the last breath

    def begin_turn(self, request_id: RequestId) -> None:
        """The turn of this prompt begins: what is said in its session from now on belongs to it."""
        self.connection.conversation.begin_turn(request_id)

    def update(self, session_id: str, update: dict[str, Any]) -> None:
        """Post one `session/update`."""
        line = self.connection.notify("session/update", {"sessionId": session_id, "update": update})
        self._posted_bytes += len(line)
        self._outbox.post(line)

    def respond(self, id_: RequestId, result: dict[str, Any]) -> None:
        """Post the success response to a request of the client."""
        self._outbox.post(self.connection.respond(id_, result))

    def respond_error(self, id_: RequestId, error: RpcError) -> None:
        """Post the error response to a request of the client."""
        self._outbox.post(self.connection.respond_error(id_, error))

    def apologise(self, line: bytes | LineTooLong) -> None:
        """Post the answer to a line that could not be taken in for a reason of ours, if it needs one."""
        answer = self.connection.give_up(line)
        if answer is not None:
            self._outbox.post(answer)

    def post(self, line: bytes) -> None:
        """Post a reply that the connection has made."""
        self._outbox.post(line)

    def flush(self) -> None:
        """Let the client read now what has been posted: when it is about to wait for nothing else."""
        self._outbox.flush()

    def call(self, method: str, params: dict[str, Any]) -> Call:
        """Post a request; its answer is awaited by whoever made it."""
        id_, line = self.connection.request(method, params)
        call = Call(id_, asyncio.get_running_loop().create_future())
        self._calls[id_] = call
        self._outbox.post(line)
        return call

    def reopen(self, call: Call) -> Call | None:
        """A call whose waiting was cancelled, to be waited for again; None if it was answered meanwhile."""
        if call.id not in self._calls:
            return None
        again = self._calls[call.id] = Call(call.id, asyncio.get_running_loop().create_future())
        return again

    def withdraw(self, call: Call) -> None:
        """Ask the client to drop a request and wait no longer; a late answer is taken without a word."""
        if self._calls.pop(call.id, None) is not None:
            self._outbox.post(self.connection.notify("$/cancel_request", {"requestId": call.id}))

    def settle(self, event: ResponseReceived) -> None:
        """Hand an answer to whoever waits for it."""
        call = self._calls.pop(event.id, None)
        if call is not None and not call.answer.done():
            call.answer.set_result(event)

    @property
    def is_open(self) -> bool:
        """Whether anything may still be said to the client."""
        return self.connection.state is ConnectionState.READY

    @property
    def crowded(self) -> bool:
        """Whether a producer should `breathe` before it posts more: when the client is too far behind, and once in
        a flush mark's worth of updates, so that a model that never waits does not keep out everything else."""
        return self._posted_bytes > FLUSH_MARK_BYTES or self._outbox.full

    async def breathe(self) -> None:
        """Let the writer write and the reader read; wait while the client is too far behind."""
        self._posted_bytes = 0
        await self._outbox.drain()
        await asyncio.sleep(0)
