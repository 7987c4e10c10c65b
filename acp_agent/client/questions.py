"""The permission requests that wait for an answer: each gets exactly one, whatever happens meanwhile.

Answered by the decision, or with the outcome `cancelled` when the turn is cancelled or has ended, or when the agent
takes the question back. Several may be open, and are answered in any order. Deliberately absent: how it is decided
(permissions.py, chat.py) and when a turn is cancelled (client.py).
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from dataclasses import dataclass

from acp_agent.client import permissions
from acp_agent.client.errors import ClientError
from acp_agent.client.events import ClientEvent, PermissionAnswered, PermissionAsked
from acp_agent.client.permissions import Choice, Decide, PermissionRequest
from acp_agent.jsonrpc.errors import ErrorCode, RpcError
from acp_agent.jsonrpc.messages import RequestId
from acp_agent.protocol.connection import Connection
from acp_agent.protocol.events import RequestReceived


@dataclass(slots=True)
class _Question:
    """A permission request without an answer. turn: the turn's request id. decision: who is still thinking."""

    id: RequestId
    request: PermissionRequest
    turn: RequestId
    decision: asyncio.Future[Choice] | None = None


class Questions:
    """The open questions of one connection.

    post takes each answer as a line; emit tells who shows and does not raise; fail is told of a decision that went
    wrong, after the agent has got a refusal for it.
    """

    def __init__(
        self,
        connection: Connection,
        decide: Decide,
        post: Callable[[bytes], None],
        emit: Callable[[ClientEvent], None],
        fail: Callable[[Exception], None],
    ) -> None:
        self._connection = connection
        self._decide = decide
        self._post = post
        self._emit = emit
        self._fail = fail
        self._open: dict[RequestId, _Question] = {}

    def ask(self, event: RequestReceived) -> None:
        """Take a legal `session/request_permission` and have it decided."""
        request = permissions.read_request(event.params)
        turn = self._connection.conversation.sessions[request.session_id].turn
        question = _Question(event.id, request, turn.request_id if turn is not None else None)
        self._open[event.id] = question
        if turn is not None and turn.whole_turn_cancelled:
            self._answer_cancelled(question)  # it crossed our cancel on its way (race R4)
            return
        self._emit(PermissionAsked(request))
        if event.id not in self._open:
            return  # who shows it has failed
        choice = self._decide(request)
        if choice is None or isinstance(choice, str):
            self._answer(question, choice)
        else:
            question.decision = asyncio.ensure_future(choice)
            question.decision.add_done_callback(functools.partial(self._decided, question))

    def withdraw(self, id_: RequestId) -> None:
        """The agent takes this question back; an unknown id is ignored (R-162)."""
        question = self._open.get(id_)
        if question is not None:
            self._answer_cancelled(question)

    def cancel_session(self, session_id: str) -> None:
        """The session's turn was cancelled, and the agent told so (R-154)."""
        for question in [*self._open.values()]:
            if question.request.session_id == session_id:
                self._answer_cancelled(question)

    def end_turn(self, turn: RequestId) -> None:
        """The turn has ended; what it should have waited for still gets its answer."""
        for question in [*self._open.values()]:
            if question.turn == turn:
                self._answer_cancelled(question)

    def drop(self) -> None:
        """Nobody is there to answer any more."""
        dropped, self._open = self._open, {}
        for question in dropped.values():
            if question.decision is not None:
                question.decision.cancel()

    def _decided(self, question: _Question, decision: asyncio.Future[Choice]) -> None:
        error = None if decision.cancelled() else decision.exception()
        if question.id not in self._open:
            return  # answered meanwhile: the turn was cancelled or has ended
        if decision.cancelled():
            self._answer(question, None)
        elif error is not None:
            self._answer(question, None)
            self._fail(error if isinstance(error, Exception) else ClientError(repr(error)))
        else:
            self._answer(question, decision.result())

    def _answer(self, question: _Question, option_id: Choice) -> None:
        if self._open.pop(question.id, None) is None:
            return
        foreign = option_id is not None and question.request.option(option_id) is None
        if option_id is None or foreign:
            # `cancelled` would say that the turn was cancelled; an error means "not granted" just as well.
            error = RpcError(ErrorCode.INTERNAL_ERROR, "Permission not granted, and no option refuses it")
            self._post(self._connection.respond_error(question.id, error))
        else:
            outcome = {"outcome": "selected", "optionId": option_id}
            self._post(self._connection.respond(question.id, {"outcome": outcome}))
        self._emit(PermissionAnswered(question.request, None if foreign else option_id, cancelled=False))
        if foreign:
            self._fail(ClientError(f"the permission was answered with {option_id!r}, which was not on offer"))

    def _answer_cancelled(self, question: _Question) -> None:
        if self._open.pop(question.id, None) is None:
            return
        if question.decision is not None:
            question.decision.cancel()
        self._post(self._connection.respond(question.id, {"outcome": {"outcome": "cancelled"}}))
        self._emit(PermissionAnswered(question.request, None, cancelled=True))
