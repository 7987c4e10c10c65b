"""Which option a client answers with: ids and kinds that have nothing in common, and choices of one kind."""

from __future__ import annotations

from typing import Any, Final

from acp_agent.harness.asked import Answer
from acp_agent.harness.scenario import choose, scenario
from acp_agent.harness.stage import Stage

_SWAPPED: Final = (
    {"optionId": "reject_once", "name": "Allow", "kind": "allow_once"},
    {"optionId": "allow_always", "name": "Allow always", "kind": "allow_always"},
    {"optionId": "allow_once", "name": "Reject", "kind": "reject_once"},
)
_ODD_ID: Final = ' 0/"ja"\t✓ ' + "x" * 300
_OPAQUE: Final = (
    {"optionId": "null", "name": "Reject", "kind": "reject_once"},
    {"optionId": "", "name": "Reject always", "kind": "reject_always"},
    {"optionId": _ODD_ID, "name": "Allow", "kind": "allow_once"},
    {"optionId": "2", "name": "Allow always", "kind": "allow_always"},
)
_FOUR_ALLOWED: Final = tuple(
    {"optionId": f"directory-{letter}", "name": f"Allow in directory {letter}", "kind": "allow_once"}
    for letter in "abcd"
)
_REJECT_FOR_EVER: Final = (
    {"optionId": "1", "name": "Allow", "kind": "allow_once"},
    {"optionId": "2", "name": "Never", "kind": "reject_always"},
)


def _kind_of(answer: Answer, options: tuple[dict[str, str], ...]) -> str:
    """The kind of the option that was chosen, "" if it is none of them."""
    return next((option["kind"] for option in options if option["optionId"] == answer.option_id), "")


async def _ask(stage: Stage, options: tuple[dict[str, str], ...], **call: Any) -> Answer:
    """A turn with one tool that needs permission, to its end; the answer."""
    turn = await stage.prompt()
    turn.tool_call("t", "A tool", kind="execute", status="pending")
    answer = await turn.ask_permission("t", options, **call).answer()
    if answer.arrived:
        turn.tool_update("t", "completed" if _kind_of(answer, options).startswith("allow") else "failed")
        turn.end()
    return answer


@scenario(
    "permission/opaque-option-ids",
    "Option ids that are odd strings, and nothing like their kinds",
    rules=("R-175",),
    user=(choose("allow_once"),),
    ask="Allow the tool once.",
    survives=("R-175",),
)
async def opaque_option_ids(stage: Stage) -> None:
    answer = await _ask(stage, _OPAQUE)
    kind = _kind_of(answer, _OPAQUE)
    stage.check("R-175", kind != "", "an optionId that was offered, to the letter", answer)
    stage.check(
        "R-175", kind == "allow_once", "the option that the user chose, the one that allows once", answer
    )


@scenario(
    "permission/ids-that-are-other-kinds",
    "The option that rejects has the id allow_once",
    rules=("R-175", "R-178"),
    user=(choose("reject_once"),),
    ask="Reject the tool.",
    survives=("R-175",),
)
async def ids_that_are_other_kinds(stage: Stage) -> None:
    answer = await _ask(stage, _SWAPPED)
    kind = _kind_of(answer, _SWAPPED)
    stage.check("R-175", kind != "", "one of the offered options", answer)
    stage.check("R-178", kind.startswith("reject"), "the option of kind reject_once, whatever its id", answer)


@scenario(
    "permission/four-of-one-kind",
    "Four options of the kind allow_once, of which the user wants the third",
    rules=("R-175",),
    user=(choose("directory-c"),),
    ask="Choose the third option, directory c.",
    survives=("R-175",),
)
async def four_of_one_kind(stage: Stage) -> None:
    answer = await _ask(stage, _FOUR_ALLOWED)
    third = answer.option_id == "directory-c"
    stage.check("R-175", third, "the option that the user selected, directory-c", answer)


@scenario(
    "permission/reject",
    "The user rejects one tool: no reason to abort the turn",
    rules=("R-175", "R-178"),
    user=(choose("reject_once"),),
    ask="Reject the tool.",
    survives=("R-178",),
)
async def reject(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.tool_call("rm", "Delete everything", kind="delete", status="pending")
    answer = await turn.ask_permission("rm").answer()
    stage.check("R-178", answer.outcome == "selected", "the outcome selected with a reject option", answer)
    stage.check("R-175", answer.option_id == "no", "the option that rejects", answer)
    turn.tool_update("rm", "failed")
    turn.say("Then I won't.")
    await stage.check_alive("R-178", after="a rejected tool")
    turn.end()


@scenario(
    "permission/reject-for-ever-only",
    "The only option that rejects is of the kind reject_always",
    rules=("R-178",),
    user=(choose("reject_always"),),
    ask="Reject the tool for ever.",
    survives=("R-178",),
)
async def reject_for_ever_only(stage: Stage) -> None:
    answer = await _ask(stage, _REJECT_FOR_EVER)
    stage.check("R-178", answer.option_id == "2", "the option of the kind reject_always", answer)


@scenario(
    "permission/default-policy",
    "What a client answers by itself: noted, and held against nobody",
    rules=("R-176",),
    ask="Do what you would do: this only notes what your client answers.",
)
async def default_policy(stage: Stage) -> None:
    answer = await _ask(stage, _OPAQUE)
    chosen = _kind_of(answer, _OPAQUE) or answer.outcome or answer
    stage.note("default answer", str(chosen))
    if answer.arrived:
        stage.check("R-176", True, "whatever the client's settings say", f"{chosen}, {answer}", answer.number)


@scenario(
    "permission/only-an-id",
    "The request names a tool call that is known, by nothing but its id",
    rules=("R-040", "R-175"),
    user=(choose("allow_once"),),
    ask="Allow the tool once.",
    survives=("R-040",),
)
async def only_an_id(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.tool_call("known", "A tool that is known", kind="edit", rawInput={"path": "/a"})
    answer = await turn.ask_permission("known").answer()
    stage.check("R-040", answer.is_result, "a result", answer)
    stage.check("R-175", answer.option_id in {"yes", "no"}, "one of the offered options", answer)
    turn.tool_update("known", "completed" if answer.option_id == "yes" else "failed")
    turn.end()


@scenario(
    "permission/never-announced",
    "Tool calls that nobody has heard of before: one with a title, one with nothing but an id",
    rules=("R-182", "R-175"),
    user=(choose("allow_once"),),
    ask="Allow both tools once.",
    survives=("R-182",),
)
async def never_announced(stage: Stage) -> None:
    turn = await stage.prompt()
    described = turn.ask_permission(
        "new", title="A new tool", kind="execute", status="pending", rawInput={"command": "ls"}
    )
    bare = turn.ask_permission("newer")
    for call, answer in zip(("new", "newer"), await stage.answers([described, bare]), strict=True):
        stage.check("R-182", answer.is_result, f"a choice for the tool call {call}", answer)
        stage.check("R-175", answer.option_id in {"yes", "no"}, "one of the offered options", answer)
        turn.tool_update(call, "completed" if answer.option_id == "yes" else "failed")
    await stage.check_alive("R-182", after="updates of tool calls that only a permission request announced")
    turn.end()
