"""The values of request ids: every string and every integer of 64 bits is one, and none is special."""

from __future__ import annotations

from typing import Final

from acp_agent.harness.asked import Answer
from acp_agent.harness.scenario import choose, on_end, scenario
from acp_agent.harness.stage import Stage
from acp_agent.jsonrpc.messages import RequestId

_PROBE: Final = "_example.org/probe"
_STRINGS: Final = (
    "a",
    "",
    "501",
    "null",
    " ",
    "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
    "ü€漢🚀",
    'quote " and \\ backslash',
    "x" * 2000,
)
_WHOLE_NUMBERS: Final = (0, -1, 2**31, -(2**31) - 1, 2**53 - 1)
_LARGE: Final = (2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63))


async def _probe(stage: Stage, *ids: RequestId) -> None:
    """Ask with these ids, all open at once; each must be answered once, with its own id to the letter and the digit."""
    asked = [stage.call(_PROBE, {}, request_id=id_) for id_ in ids]
    answers: list[Answer] = await stage.answers(asked)
    await stage.barrier()
    for request, answer in zip(asked, answers, strict=True):
        expected = f"one answer with the id {_spell(request.id)}"
        saw: object = answer if len(request.answers) < 2 else f"{len(request.answers)} answers"
        stage.check("R-016", len(request.answers) == 1, expected, saw)


def _spell(id_: RequestId) -> str:
    spelled = repr(id_) if isinstance(id_, int) else f'the string "{id_}"'
    return spelled if len(spelled) < 60 else f"{spelled[:60]}..."


@scenario(
    "ids/strings",
    "Requests whose ids are strings: empty, like a number, a UUID, with quotes, long",
    rules=("R-016",),
    survives=("R-016",),
)
async def strings(stage: Stage) -> None:
    turn = await stage.prompt()
    await _probe(stage, *_STRINGS)
    turn.end()


@scenario(
    "ids/zero-beside-its-string",
    'The ids 0, "0" and "" at the same time',
    rules=("R-016",),
    survives=("R-016",),
)
async def zero_beside_its_string(stage: Stage) -> None:
    turn = await stage.prompt()
    await _probe(stage, 0, "0", "")
    turn.end()


@scenario(
    "ids/whole-numbers",
    "Ids that are zero, negative, and larger than 32 bits",
    rules=("R-016",),
    survives=("R-016",),
)
async def whole_numbers(stage: Stage) -> None:
    turn = await stage.prompt()
    await _probe(stage, *_WHOLE_NUMBERS)
    turn.end()


@scenario(
    "ids/beyond-2-to-the-53",
    "Ids of 64 bits, which a number of JavaScript cannot hold",
    rules=("R-016",),
    survives=("R-016",),
)
async def beyond_2_to_the_53(stage: Stage) -> None:
    turn = await stage.prompt()
    await _probe(stage, *_LARGE)
    turn.end()


@scenario(
    "ids/reused-after-completion",
    "An id is used again when its request has been answered",
    rules=("R-016",),
    survives=("R-016",),
)
async def reused_after_completion(stage: Stage) -> None:
    turn = await stage.prompt()
    for round_ in (1, 2, 3):
        for id_ in ("again", 7):
            answer = await stage.call(_PROBE, {"round": round_}, request_id=id_).answer()
            expected = f"an answer in round {round_} with the id {_spell(id_)}"
            stage.check("R-016", answer.arrived, expected, answer)
    turn.end()


@scenario(
    "ids/permission-of-id-zero",
    "A permission request with the id 0, and one with an empty string",
    rules=("R-016", "R-175"),
    user=(choose("allow_once"),),
    ask="Allow both tools once.",
    survives=("R-016",),
)
async def permission_of_id_zero(stage: Stage) -> None:
    turn = await stage.prompt()
    ids: tuple[int | str, ...] = (0, "")
    for call in ("zero", "empty"):
        turn.tool_call(call, f"The tool {call}", kind="execute", status="pending")
    asked = [
        turn.ask_permission(call, request_id=id_) for call, id_ in zip(("zero", "empty"), ids, strict=True)
    ]
    for call, id_, answer in zip(("zero", "empty"), ids, await stage.answers(asked), strict=True):
        stage.check("R-016", answer.arrived, f"an answer to the permission request {_spell(id_)}", answer)
        stage.check("R-175", answer.option_id in {"yes", "no"}, "one of the offered options", answer)
        turn.tool_update(call, "completed" if answer.option_id == "yes" else "failed")
    turn.end()


@scenario(
    "ids/the-clients-next",
    "The agent uses the ids that the client would use next; its counter is its own all the same",
    rules=("R-016", "R-304"),
    user=(on_end("prompt", text="Another, please."),),
    ask="When the turn has ended, send another message.",
)
async def the_clients_next(stage: Stage) -> None:
    turn = await stage.prompt()
    first = turn.id if isinstance(turn.id, int) else 1
    await _probe(stage, *range(first + 1, first + 6))
    turn.end()
    second = await stage.prompt(or_breaks=None if stage.narrates else "R-304")
    stage.check("R-304", True, "a second prompt", "it came", second.request.number)
    await _probe(stage, *range(first + 1, first + 6))
    second.say("The answer to the second prompt.")
    second.end()
