"""Lists of sessions: pages, cursors that mean something to the agent only, and the end of a list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from acp_agent.harness.endings import NotExercised
from acp_agent.harness.scenario import Offer, on_start, scenario
from acp_agent.harness.stage import PROMPT_S, Stage
from acp_agent.harness.turn import ClientRequest

_LISTS: Final = Offer(capabilities={"sessionCapabilities": {"list": {}}})
_CURSORS: Final = ('  page/2?=+&"ü🚀  ', '{"offset":2}', "0")
_ASK: Final = "Look at the list of sessions, to its end, then send a message in a new one."
_NOT_LISTED: Final = "the sessions were not listed"
_MOST_LISTS: Final = 8
"""A list may be looked at again; who begins it more often than this goes round in circles."""


class _Pages:
    """A list of so many pages, each with the cursor of the next; serves them and remembers what was asked.

    Several lists may be read at once: a page may be asked for as often as the first one was.
    """

    def __init__(self, stage: Stage, cursors: Sequence[str], **last: Any) -> None:
        self.asked: Counter[str | None] = Counter()
        self._stage = stage
        self._cursors = cursors
        self._last = last

    @property
    def begun(self) -> int:
        """How often the first page was asked for."""
        return self.asked[None]

    def serve(self, request: ClientRequest) -> None:
        """Answer a request for a page. A cursor that nobody gave is an error, and breaks R-094."""
        cursor = request.params.get("cursor")
        self.asked[cursor] += 1
        if cursor is None or self.knows(cursor):
            number = 0 if cursor is None else self._cursors.index(cursor) + 1
            over = number == len(self._cursors)
            members = self._last if over else {"nextCursor": self._cursors[number]}
            cwd = request.params.get("cwd") or "/"
            session = {"sessionId": f"listed-{number}", "cwd": cwd, "title": None, "updatedAt": None}
            request.respond({"sessions": [session], **members})
        else:
            request.fail(-32602, "Invalid params: no such cursor")

    def knows(self, cursor: str) -> bool:
        """Whether a cursor is one of those given out."""
        return cursor in self._cursors

    async def until_prompt(self) -> ClientRequest:
        """Serve pages until the client prompts, and a little longer; the prompt."""
        while self.begun <= _MOST_LISTS:
            request = await self._stage.expect_any("session/list", "session/prompt", within_s=PROMPT_S)
            if request is None:
                raise NotExercised("the client sent no prompt after the list")
            if request.method == "session/prompt":
                await self._stage.barrier()
                while (more := await self._stage.expect_any("session/list", within_s=0.1)) is not None:
                    self.serve(more)
                return request
            self.serve(request)
        raise NotExercised("the client lists its sessions again and again")

    def beyond(self) -> set[str | None]:
        """The cursors that were asked for after the last page."""
        at_the_end = not self._cursors or self.asked[self._cursors[-1]] > 0
        unknown = {cursor for cursor in self.asked if cursor is not None and not self.knows(cursor)}
        repeated = {cursor for cursor, times in self.asked.items() if times > self.begun}
        return (unknown if at_the_end else set()) | repeated


async def _to_the_end(stage: Stage, pages: _Pages, why: str) -> None:
    """Serve a list; no page may be asked for after its last."""
    try:
        prompt = await pages.until_prompt()
    finally:
        if pages.begun:
            more, circles = pages.beyond(), pages.begun > _MOST_LISTS
            saw = f"{pages.begun} times from the beginning" if circles else f"another, for the cursor {more}"
            ok = not more and not circles
            stage.check("R-093", ok, f"no further page, for {why}", "none" if ok else saw)
    if not pages.begun:
        raise NotExercised(_NOT_LISTED)
    prompt.respond({"stopReason": "end_turn"})


@scenario(
    "list/pages",
    "A list of four pages, with cursors that are nothing but strings",
    rules=("R-093", "R-094"),
    offer=_LISTS,
    plays=("session/list",),
    user=(on_start("list"),),
    ask=_ASK,
    survives=("R-094",),
)
async def pages(stage: Stage) -> None:
    served = _Pages(stage, _CURSORS)
    await _to_the_end(stage, served, "there was no nextCursor")
    for cursor in (cursor for cursor in served.asked if cursor is not None):
        known = served.knows(cursor)
        stage.check("R-094", known, "a cursor just as it was given", f"the cursor {cursor!r}")
    if set(served.asked) == {None}:
        stage.not_exercised("R-094", "the client shows the first page only, as it may")


def _short(name: str, title: str, why: str, **last: Any) -> None:
    """A list of one page, which ends in one way or another."""

    @scenario(
        f"list/{name}",
        title,
        rules=("R-093",),
        offer=_LISTS,
        plays=("session/list",),
        user=(on_start("list"),),
        ask=_ASK,
        survives=("R-093",),
    )
    async def play(stage: Stage) -> None:
        await _to_the_end(stage, _Pages(stage, (), **last), why)


_short("null-cursor", "The only page has the nextCursor null", "nextCursor is null", nextCursor=None)
_short("nothing-to-list", "There is no session to list", "the list is empty", sessions=[])


@scenario(
    "list/empty-cursor",
    "A page has an empty string as nextCursor: a cursor to some, the end to others",
    rules=("R-093",),
    offer=_LISTS,
    plays=("session/list",),
    user=(on_start("list"),),
    ask=_ASK,
    survives=("R-093",),
)
async def empty_cursor(stage: Stage) -> None:
    await _to_the_end(stage, _Pages(stage, ("",)), "the page after the empty cursor was the last")


@scenario(
    "list/refused",
    "Listing fails; a new session works all the same",
    rules=("R-304", "R-306"),
    offer=_LISTS,
    plays=("session/list",),
    user=(on_start("list"),),
    ask="Look at the list of sessions, which fails; then send a message in a new one.",
)
async def refused(stage: Stage) -> None:
    attempts = 0
    request = await stage.expect_any("session/list", "session/prompt")
    while request is not None and request.method == "session/list" and attempts <= _MOST_LISTS:
        attempts += 1
        request.fail(-32603, "Internal error", {"details": "the index is broken"})
        request = await stage.expect_any("session/list", "session/prompt")
    if not attempts:
        raise NotExercised(_NOT_LISTED)
    few = attempts <= _MOST_LISTS
    stage.check("R-306", few, f"no more than {_MOST_LISTS} attempts", f"{attempts} attempts")
    if request is not None and request.method == "session/prompt":
        stage.check("R-304", True, "a prompt in a new session", "it came", request.number)
        request.respond({"stopReason": "end_turn"})
