"""Forward compatibility in the large: every kind of update, members and values of later protocols, and nulls."""

from __future__ import annotations

from typing import Any

from acp_agent.harness.aftermath import Aftermath
from acp_agent.harness.asked import ANSWER_S, Asked
from acp_agent.harness.scenario import Offer, choose, scenario
from acp_agent.harness.scenarios import shown
from acp_agent.harness.scenarios.streaming import NO_TEXT
from acp_agent.harness.stage import Stage
from acp_agent.harness.turn import ALLOW_OR_REJECT, StagedTurn

_STRANGE: dict[str, Any] = {"zzFuture": {"deep": [1, None, {"er": True}]}, "zz_other": None}
_JUNK: dict[str, Any] = {
    "_meta": {
        "example.org/junk": [1, {"a": None}],
        "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "": "",
        "number": 1e300,
    }
}
_MODES = {
    "currentModeId": "ask",
    "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}],
}
_OPTION = {
    "id": "mode",
    "name": "Mode",
    "category": "mode",
    "type": "select",
    "currentValue": "ask",
    "options": [{"value": "ask", "name": "Ask"}],
}
_OPTIONS: list[dict[str, Any]] = [dict(option) for option in ALLOW_OR_REJECT]
_NOT_UNDERSTOOD = {-32700, -32600, -32601, -32602}
_DIFF = {"type": "diff", "path": "/project/a.py", "newText": "x\n"}
_LOCATION = {"path": "/project/a.py", "line": 1}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def every_stable_update(*, user: str = "Hello.") -> list[dict[str, Any]]:
    """One of each kind, legal in a turn in this order, with no text of the agent's message in it."""
    return [
        {"sessionUpdate": "user_message_chunk", "content": _text(user)},
        {"sessionUpdate": "agent_thought_chunk", "content": _text("Hm. ")},
        {
            "sessionUpdate": "tool_call",
            "toolCallId": "each",
            "title": "Each",
            "kind": "edit",
            "status": "pending",
            "content": [{"type": "content", "content": _text("text")}, _DIFF],
            "locations": [_LOCATION],
        },
        {"sessionUpdate": "tool_call_update", "toolCallId": "each", "status": "completed"},
        {
            "sessionUpdate": "plan",
            "entries": [{"content": "Do it", "priority": "high", "status": "completed"}],
        },
        {
            "sessionUpdate": "available_commands_update",
            "availableCommands": [{"name": "zz", "description": "A command", "input": {"hint": "a word"}}],
        },
        {"sessionUpdate": "current_mode_update", "currentModeId": "code"},
        {"sessionUpdate": "config_option_update", "configOptions": [_OPTION]},
        {"sessionUpdate": "session_info_update", "title": "Each kind"},
        {
            "sessionUpdate": "usage_update",
            "used": 10,
            "size": 100,
            "cost": {"amount": 0.5, "currency": "EUR"},
        },
    ]


_OFFER = Offer(modes=_MODES, config_options=(_OPTION,))


@scenario(
    "forward/every-update-then-an-unknown-one",
    "Every kind of update once, then one that does not exist yet, then text",
    rules=("R-015", "R-303"),
    display_rules=("R-308",),
    offer=_OFFER,
    survives=("R-303",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def every_update_then_an_unknown_one(stage: Stage) -> None:
    turn = await stage.prompt()
    since = stage.now_at
    for update in every_stable_update(user=turn.text):
        turn.update(update)
    turn.update({"sessionUpdate": "zz_future", "x": 1}, on_purpose=True)
    turn.update({"sessionUpdate": "_example.org/own", "content": _text("not yours")}, on_purpose=True)
    turn.say("Still here.")
    await stage.check_alive("R-303", after="an update of every kind and of an unknown one")
    stage.check_silent("R-015", since, "updates")
    turn.end()


def _with_strangers(value: Any) -> Any:
    """The same with unknown members in every object."""
    if isinstance(value, dict):
        return {**{name: _with_strangers(member) for name, member in value.items()}, **_STRANGE}
    if isinstance(value, list):
        return [_with_strangers(item) for item in value]
    return value


def _with_junk(value: Any) -> Any:
    """The same with a `_meta` of somebody else's in every object."""
    if isinstance(value, dict):
        return {**{name: _with_junk(member) for name, member in value.items()}, **_JUNK}
    if isinstance(value, list):
        return [_with_junk(item) for item in value]
    return value


async def _play_all(stage: Stage, change: Any, rule: str, what: str) -> None:
    """A whole connection in which every object of the agent is changed: results, updates, a permission request."""
    hello = await stage.expect("initialize")
    prompts = {"image": False, "audio": False, "embeddedContext": False}
    capabilities = {"promptCapabilities": prompts, "sessionCapabilities": {}}
    methods = [{"id": "plain", "name": "Plain"}]
    info = {"name": "changed-agent", "version": "1"}
    result = {
        "protocolVersion": 1,
        "agentCapabilities": capabilities,
        "authMethods": methods,
        "agentInfo": info,
    }
    hello.respond(change(result), on_purpose=True)
    setup = await stage.expect("session/new")
    offers = {"sessionId": "changed", "modes": _MODES, "configOptions": [_OPTION]}
    setup.respond(change(offers), on_purpose=True)
    turn = await stage.prompt(or_breaks=None if stage.narrates else rule)
    chunk = {"sessionUpdate": "agent_message_chunk", "content": _text("Text. ")}
    for update in [*every_stable_update(user=turn.text), chunk, *_chunks_of_no_text()]:
        params = change({"sessionId": turn.session_id, "update": update})
        stage.notify("session/update", params, on_purpose=True)
    turn.note_said("Text. ")
    await _ask(stage, turn, change, rule, what)
    await stage.check_alive(rule, after=what)
    turn.request.respond(change({"stopReason": "end_turn"}), on_purpose=True)


def _chunks_of_no_text() -> list[dict[str, Any]]:
    return [{"sessionUpdate": "agent_message_chunk", "content": content} for content in NO_TEXT]


async def _ask(stage: Stage, turn: StagedTurn, change: Any, rule: str, what: str) -> None:
    turn.tool_call("ask", "Ask")
    params: dict[str, Any] = {
        "sessionId": turn.session_id,
        "toolCall": {"toolCallId": "ask", "title": "Ask"},
        "options": _OPTIONS,
    }
    asked = stage.call("session/request_permission", change(params), on_purpose=True)
    await _check_understood(stage, rule, asked, what)
    turn.tool_update("ask", "completed", on_purpose=True)


async def _check_understood(stage: Stage, rule: str, asked: Asked, what: str) -> None:
    """A permission request must be answered, and not as if it were no proper one. How is the user's affair."""
    answer = await asked.answer(within_s=60 if stage.narrates else ANSWER_S)
    if not answer.arrived and stage.narrates:
        stage.not_exercised(rule, "the user did not answer the permission request")
        return
    understood = answer.arrived and answer.code not in _NOT_UNDERSTOOD
    stage.check(rule, understood, f"an answer to the permission request in spite of {what}", answer)


@scenario(
    "forward/unknown-members",
    "Every object that the agent sends has members that do not exist yet",
    rules=("R-303",),
    display_rules=("R-308",),
    plays=("initialize", "session/new"),
    user=(choose("allow_once"),),
    ask="Allow the tool once.",
    survives=("R-303",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def unknown_members(stage: Stage) -> None:
    await _play_all(stage, _with_strangers, "R-303", "unknown members everywhere")


@scenario(
    "forward/meta-of-others",
    "Every object that the agent sends has a _meta full of things that mean nothing to the client",
    rules=("R-247",),
    display_rules=("R-308",),
    plays=("initialize", "session/new"),
    user=(choose("allow_once"),),
    ask="Allow the tool once.",
    survives=("R-247",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def meta_of_others(stage: Stage) -> None:
    await _play_all(stage, _with_junk, "R-247", "a _meta that means nothing to it")


def _reads_beside_meta(after: Aftermath) -> None:
    after.check_shown_whole("R-247")
    display = shown.display_of(after, "R-247")
    reason = display.stop_reason(1) if display is not None else None
    if reason is not None:
        after.check("R-247", reason == "end_turn", "the stop reason end_turn, that of _meta is none", reason)


@scenario(
    "forward/meta-named-like-members",
    "A _meta has members of the same names as the ones beside it",
    rules=("R-247",),
    user=(choose("allow_once"),),
    ask="Allow the tool once.",
    survives=("R-247",),
    aftermath=_reads_beside_meta,
)
async def meta_named_like_members(stage: Stage) -> None:
    turn = await stage.prompt()
    other = {"sessionUpdate": "agent_message_chunk", "content": _text("Not this. ")}
    ids = {"sessionId": "another", "session_id": "another"}
    chunk = {"sessionUpdate": "agent_message_chunk", "content": _text("This. "), "_meta": other}
    turn.note_said("This. ")
    params = {
        "sessionId": turn.session_id,
        "update": chunk,
        "_meta": {**ids, "update": other, "params": other},
    }
    stage.notify("session/update", params)
    turn.tool_call("ask", "Ask", _meta={"toolCallId": "another", "title": "Another", "status": "completed"})
    call = {"toolCallId": "ask", "_meta": {"toolCallId": "another"}}
    question = {"sessionId": turn.session_id, "toolCall": call, "options": _OPTIONS}
    meta = {**ids, "toolCall": {"toolCallId": "another"}, "options": [], "outcome": {"outcome": "cancelled"}}
    asked = stage.call("session/request_permission", {**question, "_meta": meta})
    await _check_understood(stage, "R-247", asked, "a _meta with the names of its members")
    turn.tool_update("ask", "completed", on_purpose=True)
    await stage.check_alive("R-247", after="a _meta with the names of members")
    turn.end(_meta={"stopReason": "refusal", "stop_reason": "refusal"})


@scenario(
    "forward/null-for-all-optional",
    "Every optional member that may be null is null, from initialize to the end of the turn",
    rules=("R-036", "R-303"),
    display_rules=("R-308",),
    plays=("initialize", "session/new"),
    user=(choose("allow_once"),),
    ask="Allow the tool once.",
    survives=("R-303",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def null_for_all_optional(stage: Stage) -> None:
    hello = await stage.expect("initialize")
    switches = dict.fromkeys(("list", "delete", "resume", "close", "additionalDirectories", "_meta"))
    hello.respond(
        {
            "protocolVersion": 1,
            "agentCapabilities": {"sessionCapabilities": switches, "auth": {"logout": None}, "_meta": None},
            "authMethods": [{"id": "plain", "name": "Plain", "description": None, "_meta": None}],
            "agentInfo": None,
            "_meta": None,
        }
    )
    setup = await stage.expect("session/new")
    setup.respond({"sessionId": "nulls", "modes": None, "configOptions": None, "_meta": None})
    turn = await stage.prompt(or_breaks=None if stage.narrates else "R-036")
    stage.check("R-036", True, "a session and a prompt", "they came", turn.request.number)
    for update in _updates_of_nulls(turn.text):
        stage.notify("session/update", {"sessionId": turn.session_id, "update": update, "_meta": None})
    turn.note_said("Text.")
    nulls: dict[str, Any] = dict.fromkeys(
        ("kind", "status", "content", "locations", "rawInput", "rawOutput", "name")
    )
    asked = turn.ask_permission("each", title=None, **nulls)
    await _check_understood(stage, "R-303", asked, "nulls")
    turn.tool_update("each", "completed", on_purpose=True)
    await stage.check_alive("R-303", after="null in all optional members")
    turn.end(_meta=None)


def _updates_of_nulls(user: str) -> list[dict[str, Any]]:
    blocks = [
        {**_text("Text."), "annotations": None, "_meta": None},
        {**NO_TEXT[0], "uri": None, "annotations": dict.fromkeys(("audience", "lastModified", "priority"))},
        {
            "type": "resource_link",
            "uri": "file:///project/a",
            "name": "a",
            **dict.fromkeys(("title", "description", "mimeType", "size", "annotations", "_meta")),
        },
        {
            "type": "resource",
            "resource": {"uri": "file:///a", "text": "", "mimeType": None, "_meta": None},
            "annotations": None,
        },
    ]
    call = {
        "toolCallId": "each",
        "title": "Each",
        **dict.fromkeys(("name", "rawInput", "rawOutput", "_meta")),
    }
    change = {"toolCallId": "each", **dict.fromkeys(("kind", "status", "title", "content", "locations"))}
    diff = {"type": "diff", "path": "/project/a.py", "oldText": None, "newText": "x\n", "_meta": None}
    command = {"name": "zz", "description": "A command", "input": None, "_meta": None}
    return [
        {"sessionUpdate": "user_message_chunk", "content": _text(user), "messageId": None},
        {"sessionUpdate": "agent_thought_chunk", "content": _text("Hm."), "messageId": None, "_meta": None},
        *(
            {"sessionUpdate": "agent_message_chunk", "content": block, "messageId": None, "_meta": None}
            for block in blocks
        ),
        {"sessionUpdate": "tool_call", **call, "content": [diff], "locations": [{**_LOCATION, "line": None}]},
        {"sessionUpdate": "tool_call_update", **change, "rawInput": None, "rawOutput": None, "_meta": None},
        {"sessionUpdate": "plan", "entries": [], "_meta": None},
        {"sessionUpdate": "available_commands_update", "availableCommands": [command], "_meta": None},
        {"sessionUpdate": "session_info_update", "title": None, "updatedAt": None, "_meta": None},
        {"sessionUpdate": "usage_update", "used": 0, "size": 100, "cost": None, "_meta": None},
    ]


@scenario(
    "forward/unknown-notifications",
    "Notifications of other vendors, of later protocols and of JSON-RPC's own, three of each",
    rules=("R-015", "R-253"),
    display_rules=("R-308",),
    survives=("R-253",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def unknown_notifications(stage: Stage) -> None:
    turn = await stage.prompt()
    since = stage.now_at
    turn.say("Some ")
    for count in range(3):
        stage.notify("_vendor.example/changed", {"count": count})
        stage.notify("$/progress", {"token": count, "value": None})
        stage.notify("session/zz_future", {"sessionId": turn.session_id}, on_purpose=True)
        stage.send_on_purpose({"jsonrpc": "2.0", "method": "zz"})
    turn.say("news.")
    await stage.check_alive("R-253", after="unknown notifications")
    stage.check_silent("R-015", since, "notifications")
    turn.end()


@scenario(
    "forward/unknown-content",
    "The message has blocks of kinds that do not exist yet between its text",
    rules=("R-303",),
    display_rules=("R-308",),
    survives=("R-303",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def unknown_content(stage: Stage) -> None:
    turn = await stage.prompt()
    for content in ({"type": "zz_hologram", "beam": [1, 2]}, {"type": "_example.org/own"}):
        turn.say("Text. ")
        turn.update({"sessionUpdate": "agent_message_chunk", "content": content}, on_purpose=True)
        turn.update({"sessionUpdate": "agent_thought_chunk", "content": content}, on_purpose=True)
    turn.say("The end.")
    await stage.check_alive("R-303", after="blocks of unknown kinds")
    turn.end()
