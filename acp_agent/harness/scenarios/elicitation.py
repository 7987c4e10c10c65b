"""Elicitations, if the client advertises them: forms, addresses, modes that do not exist, and their completion."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any, Final

from acp_agent.harness.asked import Answer
from acp_agent.harness.scenario import on_elicitation, scenario
from acp_agent.harness.stage import Stage

_FORM: Final = ("elicitation.form",)
_URL: Final = ("elicitation.url",)
_ACTIONS: Final = frozenset({"accept", "decline", "cancel"})
_FIELDS: Final[dict[str, dict[str, Any]]] = {
    "branch": {"type": "string", "title": "Branch", "minLength": 1, "maxLength": 40, "default": "main"},
    "strategy": {"type": "string", "enum": ["merge", "rebase"]},
    "kind": {"type": "string", "oneOf": [{"const": "f", "title": "Fix"}, {"const": "n", "title": "New"}]},
    "retries": {"type": "integer", "minimum": 0, "maximum": 5},
    "ratio": {"type": "number", "minimum": 0.5},
    "force": {"type": "boolean", "default": False},
    "files": {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}, "minItems": 1},
}
_FILLED_IN: Final = {
    "branch": "ü/feature",
    "strategy": "rebase",
    "kind": "n",
    "retries": 3,
    "ratio": 0.75,
    "force": True,
    "files": ["a", "c"],
}
_EVIL_PATTERN: Final = "^(([a-z])+.)+[A-Z]([a-z])+$"
_EVIL_TEXT: Final = "a" * 60
_ODD_IDS: Final = ('an id/with "quotes"\\ и é字 {}', "0")
_ONE_FIELD: Final = {"type": "object", "properties": {"name": {"type": "string"}}}


def _form(properties: dict[str, dict[str, Any]], required: list[str] | None = None) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return schema if required is None else {**schema, "required": required}


def _fits(content: Any) -> bool:
    """Whether accepted content fits _FIELDS: known names, each of its kind."""
    if not isinstance(content, dict) or not set(content) <= set(_FIELDS) or "branch" not in content:
        return False
    kinds: dict[str, Any] = {
        "string": str,
        "integer": int,
        "number": (int, float),
        "boolean": bool,
        "array": list,
    }
    for name, value in content.items():
        field = _FIELDS[name]
        if not isinstance(value, kinds[field["type"]]):
            return False
        if isinstance(value, bool) and field["type"] != "boolean":
            return False
    return bool(content["branch"]) and content.get("strategy", "merge") in {"merge", "rebase"}


def _check_action(stage: Stage, answer: Answer, *accepted: str) -> None:
    """R-236: one of the three actions, and content only with accept."""
    action = answer.member("action")
    stage.check("R-236", action in _ACTIONS, "accept, decline or cancel", answer)
    if accepted:
        stage.check("R-236", action in accepted, f"what the user has done: {' or '.join(accepted)}", answer)
    if action != "accept":
        stage.check("R-236", answer.member("content") is None, "no content, for nothing was accepted", answer)


@scenario(
    "elicitation/form-accepted",
    "A form with a field of every kind is filled in",
    rules=("R-236", "R-237"),
    needs=_FORM,
    user=(on_elicitation(content=_FILLED_IN),),
    ask="Fill the form in and send it off.",
    survives=("R-236",),
)
async def form_accepted(stage: Stage) -> None:
    turn = await stage.prompt()
    schema = _form(_FIELDS, ["branch"])
    asked = turn.call("elicitation/create", mode="form", message="How shall I merge?", requestedSchema=schema)
    answer = await asked.answer(60.0 if stage.narrates else 10.0)
    _check_action(stage, answer, "accept")
    if answer.member("action") == "accept":
        fits = _fits(answer.member("content"))
        stage.check("R-237", fits, "content that fits the form, values of its kinds", answer)
    turn.end()


def _refused_form(action: str, ask: str) -> None:
    @scenario(
        f"elicitation/form-{action}",
        f"A form that the user answers with {action}",
        rules=("R-236",),
        needs=_FORM,
        user=(on_elicitation(action),),
        ask=ask,
        survives=("R-236",),
    )
    async def play(stage: Stage) -> None:
        turn = await stage.prompt()
        params = {"mode": "form", "message": "Your name?", "requestedSchema": _ONE_FIELD}
        answer = await turn.call("elicitation/create", **params).answer(60.0 if stage.narrates else 10.0)
        # Where only one button stands for both, a person cannot tell them apart.
        _check_action(stage, answer, *(("decline", "cancel") if stage.narrates else (action,)))
        turn.say("Then without it.")
        await stage.check_alive("R-236", after=f"the answer {action}")
        turn.end()


_refused_form("decline", "Decline to fill the form in.")
_refused_form("cancel", "Close the form without an answer.")


@scenario(
    "elicitation/in-the-setup",
    "A question that belongs to a request and not to a session: the client's own session/new",
    rules=("R-236", "R-304", "R-074"),
    needs=_FORM,
    plays=("session/new",),
    user=(on_elicitation("decline"),),
    ask="Decline the question.",
)
async def in_the_setup(stage: Stage) -> None:
    setup = await stage.expect("session/new")
    if stage.advertises("elicitation.form"):
        params = {
            "requestId": setup.id,
            "mode": "form",
            "message": "Your name?",
            "requestedSchema": _ONE_FIELD,
        }
        answer = await stage.call("elicitation/create", params).answer()
        stage.check("R-304", answer.arrived, "an answer while session/new is awaited", answer)
        if answer.code is None:
            _check_action(stage, answer)
        else:
            stage.not_exercised("R-236", "the client refuses questions outside a session")
    setup.respond({"sessionId": "asked first"})
    turn = await stage.prompt()
    stage.check("R-074", turn.session_id == "asked first", "a prompt in the session", turn.session_id)
    turn.end()


@contextlib.asynccontextmanager
async def _page() -> AsyncIterator[tuple[str, list[str]]]:
    """A web page that nobody may open unasked: its address, and who came."""
    visits: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        visits.append((await reader.readline()).decode("latin-1").strip() or "a connection")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        port = server.sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/log-in?state=acp-harness", visits
    finally:
        server.close()


@scenario(
    "elicitation/url-not-opened",
    "The user declines to open an address: nobody may have looked at it",
    rules=("R-232", "R-236"),
    needs=_URL,
    user=(on_elicitation("decline"),),
    ask="Decline to open the address. Do not open it.",
    survives=("R-236",),
)
async def url_not_opened(stage: Stage) -> None:
    turn = await stage.prompt()
    async with _page() as (url, visits):
        params = {"mode": "url", "message": "Please log in.", "url": url, "elicitationId": "e-1"}
        answer = await turn.call("elicitation/create", **params).answer(60.0 if stage.narrates else 10.0)
        _check_action(stage, answer, "decline", "cancel")
        await stage.barrier()
        await stage.pause(0.5)
        saw = visits[0] if visits else "nobody"
        stage.check("R-232", not visits, "nobody at the address without the user's consent", saw)
    turn.end()


@scenario(
    "elicitation/unknown-mode",
    "A mode that does not exist",
    rules=("R-225", "R-245"),
    survives=("R-245",),
)
async def unknown_mode(stage: Stage) -> None:
    turn = await stage.prompt()
    any_mode = stage.advertises("elicitation.form") or stage.advertises("elicitation.url")
    codes = (-32602,) if any_mode else (-32602, -32601)
    params = {"sessionId": turn.session_id, "mode": "_example.org/hologram", "message": "Look!"}
    full = {**params, "url": "https://example.org/", "elicitationId": "e-9", "requestedSchema": _ONE_FIELD}
    for sent in (params, full):
        answer = await stage.call("elicitation/create", sent, on_purpose=True).answer()
        wanted = " or ".join(map(str, codes))
        stage.check(
            "R-225", answer.code in codes, f"the error {wanted} for a mode that is not advertised", answer
        )
        if answer.code is not None or answer.member("action") == "accept":
            stage.check(
                "R-245", not answer.is_result, "no question in a mode the client knows nothing of", answer
            )
        else:
            # Who declines or cancels need not have asked anybody.
            stage.not_exercised("R-245", "that something was asked in an unknown mode is not to be seen")
    turn.end()


@scenario(
    "elicitation/completed",
    "The user accepts to open an address; its completion is told twice",
    rules=("R-236", "R-243"),
    needs=_URL,
    user=(on_elicitation(content={}),),
    ask="Accept the address.",
    survives=("R-243",),
)
async def completed(stage: Stage) -> None:
    turn = await stage.prompt()
    async with _page() as (url, _):
        params = {"mode": "url", "message": "Please log in.", "url": url, "elicitationId": "e-2"}
        answer = await turn.call("elicitation/create", **params).answer(60.0 if stage.narrates else 10.0)
        _check_action(stage, answer)
        since = stage.now_at
        for _ in range(2):
            stage.notify("elicitation/complete", {"elicitationId": "e-2"}, on_purpose=True)
        await stage.check_alive("R-243", after="a completion that is told twice")
        stage.check_silent("R-243", since, "elicitation/complete")
    turn.end()


@scenario(
    "elicitation/odd-id",
    "The id of an address has blanks, quotes, slashes and letters of three alphabets, and is completed by it",
    rules=("R-236", "R-241"),
    needs=_URL,
    user=(on_elicitation("decline"), on_elicitation("decline")),
    ask="Decline to open the addresses, both times.",
    survives=("R-241",),
)
async def odd_id(stage: Stage) -> None:
    turn = await stage.prompt()
    async with _page() as (url, _):
        for id_ in _ODD_IDS:
            params = {"mode": "url", "message": "Please log in.", "url": url, "elicitationId": id_}
            answer = await turn.call("elicitation/create", **params).answer(60.0 if stage.narrates else 10.0)
            _check_action(stage, answer, "decline", "cancel")
            stage.check("R-241", answer.is_result, "an answer as for any other id", answer)
            since = stage.notify("elicitation/complete", {"elicitationId": id_}, on_purpose=True)
            await stage.check_alive("R-241", after="the completion of an odd id")
            stage.check_silent("R-241", since, "the completion of an odd id")
    turn.end()


@scenario(
    "elicitation/completion-of-nothing",
    "The completion of elicitations that were never asked for",
    rules=("R-243", "R-015"),
    needs=_URL,
    survives=("R-243",),
)
async def completion_of_nothing(stage: Stage) -> None:
    turn = await stage.prompt()
    since = stage.now_at
    for id_ in ("never", "", "501"):
        stage.notify("elicitation/complete", {"elicitationId": id_}, on_purpose=True)
    await stage.check_alive("R-243", after="completions of elicitations that never were")
    stage.check_silent("R-015", since, "elicitation/complete")
    turn.end()


@scenario(
    "elicitation/catastrophic-pattern",
    "A field with a pattern that takes for ever to match what the user enters",
    rules=("R-244",),
    needs=_FORM,
    user=(on_elicitation(content={"name": _EVIL_TEXT}),),
    ask=f"Enter {_EVIL_TEXT} (sixty times the letter a), then send the form off or close it.",
    survives=("R-244",),
)
async def catastrophic_pattern(stage: Stage) -> None:
    turn = await stage.prompt()
    field = {"type": "string", "title": "Name", "pattern": _EVIL_PATTERN}
    schema = _form({"name": field}, ["name"])
    asked = turn.call("elicitation/create", mode="form", message="Your name?", requestedSchema=schema)
    answer = await asked.answer(60.0 if stage.narrates else 10.0)
    stage.check("R-244", answer.arrived, "an answer in bounded time, whatever it is", answer)
    await stage.check_alive("R-244", after="a pattern that takes for ever")
    turn.end()


@scenario(
    "elicitation/unknown-field",
    "A form with a field of a type that does not exist, beside an ordinary one",
    rules=("R-245", "R-016"),
    needs=_FORM,
    user=(on_elicitation(content={"name": "Ada"}),),
    ask="Fill in what you can, and send the form off or decline it.",
    survives=("R-245",),
)
async def unknown_field(stage: Stage) -> None:
    turn = await stage.prompt()
    strange = {"type": "_example.org/colour", "title": "Colour", "palette": ["red", "green"]}
    schema = _form({"name": {"type": "string"}, "colour": strange})
    params = {
        "sessionId": turn.session_id,
        "mode": "form",
        "message": "Name and colour?",
        "requestedSchema": schema,
    }
    asked = stage.call("elicitation/create", params, on_purpose=True)
    answer = await asked.answer(60.0 if stage.narrates else 10.0)
    stage.check("R-016", answer.arrived, "an answer: an action, or an error", answer)
    content = answer.member("content")
    invented = isinstance(content, dict) and content.get("colour") not in (None, "red", "green")
    stage.check("R-245", not invented, "nothing made up for the field of an unknown type", answer)
    await stage.check_alive("R-245", after="a field of an unknown type")
    turn.end()
