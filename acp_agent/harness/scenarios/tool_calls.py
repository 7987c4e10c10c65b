"""Tool calls: how they are announced, changed and ended, and what they carry.

What stands on the screen is judged by the member `call` of the display record; a client that writes none is not.
"""

from __future__ import annotations

from typing import Any

from acp_agent.harness.aftermath import Aftermath
from acp_agent.harness.scenario import scenario
from acp_agent.harness.scenarios import shown
from acp_agent.harness.scenarios.streaming import NO_TEXT
from acp_agent.harness.stage import Stage

_NULLS = ("kind", "status", "title", "name", "content", "locations", "rawInput", "rawOutput")


def _text(text: str) -> dict[str, Any]:
    return {"type": "content", "content": {"type": "text", "text": text}}


_DIFF = {"type": "diff", "path": "/project/a.py", "oldText": "one\ntwo\n", "newText": "one\n2\n"}


def _check_call(after: Aftermath, rule: str, call_id: str, **wanted: Any) -> None:
    """How a call must have stood on the screen in the end, member by member."""
    call = shown.last_call_state(after, rule, call_id)
    for name, value in wanted.items() if call is not None else ():
        after.check(rule, call.get(name) == value, f"{name} of {call_id} is {value}", call.get(name))  # type: ignore[union-attr]


@scenario(
    "tools/every-kind-of-content",
    "A tool call with text, image, sound, link, files and a diff",
    rules=("R-303",),
    display_rules=("R-308",),
    survives=("R-303",),
    aftermath=lambda after: _check_call(after, "R-308", "all", status="completed", title="Show everything"),
)
async def every_kind_of_content(stage: Stage) -> None:
    turn = await stage.prompt()
    content = [_text("Some text"), _DIFF, *({"type": "content", "content": block} for block in NO_TEXT)]
    locations = [{"path": "/project/a.py", "line": 2}, {"path": "/project/b.py"}, {"path": "/", "line": None}]
    turn.tool_call("all", "Show everything", kind="fetch", name="show", content=content, locations=locations)
    turn.tool_update("all", "in_progress", rawInput={"query": ["a", 1, None, {"deep": [[]]}]})
    turn.tool_update("all", "completed", rawOutput="a string as well")
    turn.say("Shown.")
    await stage.check_alive("R-303", after="content of every kind")
    turn.end()


@scenario(
    "tools/every-kind-and-status",
    "A tool call of every kind, in every status from the start, and by every way to its end",
    rules=("R-303",),
    display_rules=("R-308",),
    survives=("R-303",),
    aftermath=lambda after: _check_call(
        after, "R-308", "switch_mode", kind="switch_mode", status="completed"
    ),
)
async def every_kind_and_status(stage: Stage) -> None:
    turn = await stage.prompt()
    kinds = ("read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other", "switch_mode")
    statuses = ("pending", "in_progress", "completed", "failed")
    for number, kind in enumerate(kinds):
        turn.tool_call(kind, f"Tool to {kind}", kind=kind, status=statuses[number % 4])
    for number, kind in enumerate(kinds):
        if number % 4 < 2:
            turn.tool_update(kind, "completed" if number % 4 else "failed")
    turn.tool_update("switch_mode", "completed")
    await stage.check_alive("R-303", after="tool calls of every kind and status")
    turn.end()


@scenario(
    "tools/only-an-id",
    "Updates that change nothing: with the id alone, and with null for everything else",
    rules=("R-303",),
    display_rules=("R-308",),
    survives=("R-303",),
    aftermath=lambda after: _check_call(
        after,
        "R-308",
        "quiet",
        status="completed",
        title="Say nothing",
        kind="search",
        content=[_text("kept")],
    ),
)
async def only_an_id(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.tool_call("quiet", "Say nothing", kind="search", status="in_progress", content=[_text("kept")])
    turn.tool_update("quiet")
    nothing = {"sessionUpdate": "tool_call_update", "toolCallId": "quiet", **dict.fromkeys(_NULLS)}
    turn.update(nothing)
    turn.tool_update("quiet", "completed")
    turn.update({**nothing, "_meta": None})
    turn.say("Nothing has changed.")
    await stage.check_alive("R-303", after="updates that change nothing")
    turn.end()


def _starts_as_other_and_pending(after: Aftermath) -> None:
    display = shown.display_of(after, "R-185")
    states = list(shown.call_states(display, "bare")) if display is not None else []
    if not states:
        after.not_exercised("R-185", "the display record does not tell how a tool call stands")
        return
    for name, value in (("kind", "other"), ("status", "pending")):
        seen = states[0].get(name, value)
        after.check("R-185", seen == value, f"{name} {value}, or none", seen)


@scenario(
    "tools/bare",
    "A tool call with an id and a title, and nothing else until its end",
    rules=("R-303",),
    display_rules=("R-185",),
    survives=("R-303",),
    aftermath=_starts_as_other_and_pending,
)
async def bare(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.tool_call("bare", "Do")
    await stage.barrier()
    turn.tool_update("bare", "completed")
    turn.tool_call("", "A call with an empty id", status="completed")
    turn.tool_call("untitled", "", status="failed")
    await stage.check_alive("R-303", after="tool calls with hardly anything in them")
    turn.end()


@scenario(
    "tools/unknown-values",
    "Kinds, statuses and content of tool calls that do not exist yet",
    rules=("R-303",),
    display_rules=("R-308",),
    survives=("R-303",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def unknown_values(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.tool_call("new", "Dream", kind="zz_dream", status="zz_asleep", on_purpose=True)
    strange = [
        {"type": "zz_hologram", "beam": 1},
        _text("ordinary"),
        {"type": "content", "content": {"type": "zz"}},
    ]
    turn.tool_update("new", "in_progress", content=strange, locations=[{"row": 1}], on_purpose=True)
    turn.tool_update("new", "zz_dozing", kind="zz_nap", on_purpose=True)
    turn.tool_update("new", "completed")
    turn.say("Awake again.")
    await stage.check_alive("R-303", after="values that do not exist yet")
    turn.end()


def _keeps_calls_apart(after: Aftermath) -> None:
    for number in range(5):
        ending = "failed" if number == 3 else "completed"
        _check_call(after, "R-308", f"call-{number}", status=ending, title=f"Tool {number}")


@scenario(
    "tools/five-at-once",
    "Five tool calls that begin together, take turns and end in another order",
    rules=("R-303",),
    display_rules=("R-308",),
    survives=("R-303",),
    aftermath=_keeps_calls_apart,
)
async def five_at_once(stage: Stage) -> None:
    turn = await stage.prompt()
    for number in range(5):
        turn.tool_call(f"call-{number}", f"Tool {number}", kind="execute", status="pending")
    for step in range(3):
        for number in (2, 0, 4, 1, 3):
            turn.tool_update(
                f"call-{number}", "in_progress", content=[_text(f"step {step} of tool {number}")]
            )
            turn.say(".")
    for number in (4, 1, 3, 0, 2):
        turn.tool_update(f"call-{number}", "failed" if number == 3 else "completed")
    await stage.check_alive("R-303", after="five tool calls at once")
    turn.end()


@scenario(
    "tools/diffs",
    "Diffs: a changed file, two new ones, an emptied one, one without line ends, one large",
    rules=("R-303",),
    display_rules=("R-308",),
    survives=("R-303",),
    aftermath=lambda after: _check_call(after, "R-308", "edits", status="completed", title="Edit files"),
)
async def diffs(stage: Stage) -> None:
    turn = await stage.prompt()
    many = "".join(f"line {number}\n" for number in range(5000))
    edits: list[dict[str, Any]] = [
        _DIFF,
        {"type": "diff", "path": "/project/new.py", "newText": "print('new')\n"},
        {"type": "diff", "path": "/project/ü null.py", "oldText": None, "newText": "\tx = '👩‍🚀'\r\n"},
        {"type": "diff", "path": "/project/emptied.py", "oldText": "all of it\n", "newText": ""},
        {"type": "diff", "path": "/project/same.py", "oldText": "same", "newText": "same"},
        {
            "type": "diff",
            "path": "/project/large.txt",
            "oldText": many,
            "newText": many.replace("7", "seven"),
        },
    ]
    turn.tool_call("edits", "Edit files", kind="edit", status="pending", content=edits[:2])
    turn.tool_update("edits", "in_progress", content=edits)
    turn.tool_update("edits", "completed", locations=[{"path": edit["path"], "line": 1} for edit in edits])
    await stage.check_alive("R-303", after="diffs of all sorts")
    turn.end()


def _second_replaces_the_first(after: Aftermath) -> None:
    call = shown.last_call_state(after, "R-187", "list")
    if call is None:
        return
    text = shown.text_of(call.get("content"))
    after.check("R-187", text == "second", "the second content alone", text)
    paths = [location["path"] for location in call.get("locations") or ()]
    after.check("R-187", paths == ["/project/second"], "the second location alone", ", ".join(paths))


@scenario(
    "tools/content-replaced",
    "Content and locations come a second time, and then are left out",
    rules=("R-303",),
    display_rules=("R-187",),
    survives=("R-303",),
    aftermath=_second_replaces_the_first,
)
async def content_replaced(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.tool_call(
        "list", "List", content=[_text("fi"), _text("rst")], locations=[{"path": "/project/first"}]
    )
    turn.tool_update(
        "list", "in_progress", content=[_text("second")], locations=[{"path": "/project/second"}]
    )
    turn.tool_update("list", "completed")
    await stage.check_alive("R-303", after="content that is replaced")
    turn.end()


def _keeps_the_diff(after: Aftermath) -> None:
    call = shown.last_call_state(after, "R-308", "twice")
    if call is not None:
        kinds = [block.get("type") for block in call.get("content") or ()]
        after.check(
            "R-308", "diff" in kinds, "the diff is still there", ", ".join(map(str, kinds)) or "no content"
        )


@scenario(
    "tools/announced-twice",
    "A tool call with a diff is announced again without it, as some agents do when its input is complete",
    rules=("R-303",),
    display_rules=("R-308",),
    survives=("R-303",),
    aftermath=_keeps_the_diff,
)
async def announced_twice(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.tool_call("twice", "Edit", kind="edit", status="pending", rawInput={})
    turn.tool_update("twice", content=[_DIFF])
    turn.tool_call("twice", "Edit a.py", on_purpose=True, kind="edit", rawInput={"path": "/project/a.py"})
    turn.tool_update("twice", "completed")
    await stage.check_alive("R-303", after="a tool call that is announced twice")
    turn.end()


def _applies_the_rest(after: Aftermath) -> None:
    call = shown.last_call_state(after, "R-308", "stale")
    if call is not None:
        text = shown.text_of(call.get("content"))
        after.check("R-308", call.get("status") == "completed", "the status completed", call.get("status"))
        after.check("R-308", "exit 0" in text, "the text beside the terminal", text or "none")


@scenario(
    "tools/stale-terminal",
    "An update ends a tool call and names a terminal that does not exist any more",
    rules=("R-303",),
    display_rules=("R-308",),
    survives=("R-303",),
    aftermath=_applies_the_rest,
)
async def stale_terminal(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.tool_call("stale", "make", kind="execute", status="in_progress")
    content = [{"type": "terminal", "terminalId": "gone-since-yesterday"}, _text("exit 0")]
    turn.tool_update("stale", "completed", content=content, on_purpose=True)
    turn.say("It was built.")
    await stage.check_alive("R-303", after="a terminal that does not exist")
    turn.end()


def _creates_the_call(after: Aftermath) -> None:
    call = shown.last_call_state(after, "R-308", "unheard-of")
    if call is not None:
        after.check("R-308", call.get("status") == "completed", "the status completed", call.get("status"))


@scenario(
    "tools/never-announced",
    "Updates of a tool call that was never announced",
    rules=("R-303",),
    display_rules=("R-308",),
    survives=("R-303",),
    aftermath=_creates_the_call,
)
async def never_announced(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.tool_update("unheard-of", "in_progress", content=[_text("busy")], on_purpose=True)
    turn.tool_update("unheard-of", "completed", title="Out of nowhere", on_purpose=True)
    await stage.check_alive("R-303", after="updates of an unknown tool call")
    turn.end()


@scenario(
    "tools/still-open-at-the-end",
    "The turn ends while a tool call is in progress",
    rules=("R-303",),
    display_rules=("R-308",),
    survives=("R-303",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def still_open_at_the_end(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.tool_call("open", "Never ends", status="in_progress")
    turn.say("I forgot something.")
    await stage.check_alive("R-303", after="a tool call that does not end")
    turn.end(on_purpose=True)
