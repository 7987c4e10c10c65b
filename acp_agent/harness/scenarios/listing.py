"""Lists of sessions: pages, cursors that mean something to the agent only, and the end of a list."""

from __future__ import annotations

from typing import Any, Final

from acp_agent.harness.scenario import Offer, on_start, scenario
from acp_agent.harness.stage import Stage
from acp_agent.harness.turn import ClientRequest

_LISTS: Final = Offer(capabilities={"sessionCapabilities": {"list": {}}})
_CURSORS: Final = ('  page/2?=+&"ü🚀  ', '{"offset":2}', "0")
_ASK: Final = "Look at the list of sessions, to its end, then send a message in a new one."
_MOST_REQUESTS: Final = 8


def _session(number: int, request: ClientRequest) -> dict[str, Any]:
    return {
        "sessionId": f"listed-{number}",
        "cwd": request.params.get("cwd") or "/",
        "title": f"Session {number}",
    }


def _page(request: ClientRequest, numbers: range, **members: Any) -> None:
    request.respond({"sessions": [_session(number, request) for number in numbers], **members})


async def _nothing_more(stage: Stage, rule: str, why: str) -> None:
    """After the last page comes the prompt, and no further request for a page, before it or after."""
    turn = await stage.prompt()
    turn.say("The list is at its end.")
    await stage.barrier()
    more = await stage.expect_any("session/list", within_s=0.1)
    if more is not None:
        more.respond({"sessions": []})
    # Without a cursor it is another list, which may be asked for at any time.
    page = more is not None and "cursor" in more.params
    stage.check(rule, not page, f"no further page, for {why}", "another session/list" if page else "none")
    turn.end()


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
    request = await stage.expect("session/list", user="the sessions were not listed")
    for number, cursor in enumerate(_CURSORS):
        _page(request, range(2 * number, 2 * number + 2), nextCursor=cursor)
        found = await stage.expect_any("session/list", within_s=3.0)
        if found is None or "cursor" not in found.params:
            stage.not_exercised("R-094", "the client shows the first page only, as it may")
            stage.not_exercised("R-093", "the client did not ask for the last page")
            return
        request, sent = found, found.params.get("cursor")
        stage.check("R-094", sent == cursor, f"the cursor {cursor!r} as it came", repr(sent), request.number)
    _page(request, range(6, 7))
    await _nothing_more(stage, "R-093", "there was no nextCursor")


@scenario(
    "list/null-cursor",
    "The only page has the nextCursor null",
    rules=("R-093",),
    offer=_LISTS,
    plays=("session/list",),
    user=(on_start("list"),),
    ask=_ASK,
    survives=("R-093",),
)
async def null_cursor(stage: Stage) -> None:
    request = await stage.expect("session/list", user="the sessions were not listed")
    session = {**_session(1, request), "title": None, "updatedAt": None}
    request.respond({"sessions": [session], "nextCursor": None})
    await _nothing_more(stage, "R-093", "nextCursor is null")


@scenario(
    "list/empty-cursor",
    "Page after page has an empty string as nextCursor",
    rules=("R-094", "R-306"),
    offer=_LISTS,
    plays=("session/list",),
    user=(on_start("list"),),
    ask=_ASK,
    survives=("R-306",),
)
async def empty_cursor(stage: Stage) -> None:
    request = await stage.expect("session/list", user="the sessions were not listed")
    _page(request, range(1), nextCursor="")
    asked = 0
    while (found := await stage.expect_any("session/list", "session/prompt", within_s=5.0)) is not None:
        if found.method == "session/prompt":
            found.respond({"stopReason": "end_turn"})
            break
        asked += 1
        sent = found.params.get("cursor")
        stage.check("R-094", sent == "", "the empty cursor as it came", repr(sent), found.number)
        # An empty cursor is a cursor to some and the end to others; two pages are enough to see which.
        _page(found, range(asked, asked + 1), **({"nextCursor": ""} if asked < 2 else {}))
        if asked > _MOST_REQUESTS:
            break
    stage.check("R-306", asked <= 2, "no request after the last page", f"{asked} more pages asked for")
    if not asked:
        stage.check("R-094", True, "the empty cursor as it came, or none", "no further page was asked for")


@scenario(
    "list/nothing-to-list",
    "There is no session to list",
    rules=("R-093",),
    offer=_LISTS,
    plays=("session/list",),
    user=(on_start("list"),),
    ask=_ASK,
    survives=("R-093",),
)
async def nothing_to_list(stage: Stage) -> None:
    request = await stage.expect("session/list", user="the sessions were not listed")
    request.respond({"sessions": []})
    await _nothing_more(stage, "R-093", "the list is empty")


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
    request: ClientRequest | None
    request = await stage.expect("session/list", user="the sessions were not listed")
    attempts = 0
    while request is not None and request.method == "session/list" and attempts <= _MOST_REQUESTS:
        attempts += 1
        request.fail(-32603, "Internal error", {"details": "the index is broken"})
        request = await stage.expect_any("session/list", "session/prompt")
    few = attempts <= _MOST_REQUESTS
    stage.check("R-306", few, f"no more than {_MOST_REQUESTS} attempts", f"{attempts} attempts")
    if request is not None and request.method == "session/prompt":
        stage.check("R-304", True, "a prompt in a new session", "it came", request.number)
        request.respond({"stopReason": "end_turn"})
