"""What a session tells beside its text: plans, usage, its title, and which message a chunk belongs to."""

from __future__ import annotations

from typing import Any

from acp_agent.harness.aftermath import Aftermath
from acp_agent.harness.scenario import on_end, scenario
from acp_agent.harness.scenarios import shown
from acp_agent.harness.stage import Stage


def _entry(content: str, status: str = "pending", priority: str = "medium") -> dict[str, Any]:
    return {"content": content, "priority": priority, "status": status}


_PLANS = (
    (_entry("Read it", "completed"), _entry("Think", "in_progress"), _entry("Write it")),
    (_entry("Write it", "in_progress", "high"), _entry("Test it", "pending", "low")),
    (),
    (_entry("Rest"),),
)


def _shows_each_plan_alone(after: Aftermath) -> None:
    display = shown.display_of(after, "R-200")
    if display is None:
        return
    plans = [record["entries"] for record in display.of("plan") if isinstance(record.get("entries"), list)]
    if not plans:
        after.not_exercised("R-200", "the display record does not tell how the plan stands")
        return
    shown_plans = [[entry.get("content") for entry in plan] for plan in plans]
    sent = [[entry["content"] for entry in plan] for plan in _PLANS]
    alone = all(plan in sent for plan in shown_plans) and shown_plans[-1] == sent[-1]
    after.check("R-200", alone, f"each plan alone on the screen: {sent}", shown_plans)


@scenario(
    "plans/replaced",
    "A plan of three entries, then one of two, then an empty one, then one of one",
    rules=("R-303",),
    display_rules=("R-200",),
    survives=("R-303",),
    aftermath=_shows_each_plan_alone,
)
async def plan_replaced(stage: Stage) -> None:
    turn = await stage.prompt()
    for plan in _PLANS:
        turn.plan(*plan)
        turn.say("I have changed my mind. ")
    await stage.check_alive("R-303", after="four plans")
    turn.end()


@scenario(
    "plans/unknown-values",
    "Plans with priorities and statuses that do not exist yet, an entry of no kind, and one without content",
    rules=("R-303",),
    display_rules=("R-308",),
    survives=("R-303",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def plan_with_unknown_values(stage: Stage) -> None:
    turn = await stage.prompt()
    entries = [
        _entry("Ordinary"),
        _entry("Urgent", priority="zz_urgent"),
        _entry("Blocked", status="zz_blocked"),
        {"priority": "high", "status": "pending"},
        7,
    ]
    turn.update({"sessionUpdate": "plan", "entries": entries}, on_purpose=True)
    turn.plan(_entry("Ordinary", "completed"), _entry("", "completed"))
    turn.say("As planned.")
    await stage.check_alive("R-303", after="a plan of unknown values")
    turn.end()


def _shows_the_last_usage(after: Aftermath) -> None:
    wanted, control = {"used": 1_000_001, "size": 1_000_000}, {"used": 0, "size": 200_000}
    shown.check_shown_like(after, "R-308", "usage_update", wanted, control)


@scenario(
    "usage/all-forms",
    "Usage with and without cost, of nothing, of very much, and over its size",
    rules=("R-303",),
    display_rules=("R-308",),
    survives=("R-303",),
    aftermath=_shows_the_last_usage,
)
async def usage_in_all_forms(stage: Stage) -> None:
    turn = await stage.prompt()
    forms: tuple[dict[str, Any], ...] = (
        {"used": 0, "size": 200_000},
        {"used": 12_345, "size": 200_000, "cost": {"amount": 0.0123, "currency": "USD"}},
        {"used": 12_345, "size": 200_000, "cost": {"amount": 3, "currency": "credits"}},
        {"used": 12_345, "size": 200_000, "cost": None, "_meta": None},
        {"used": 0, "size": 0},
        {"used": 2**53 + 1, "size": 2**64 - 1},
        {"used": 1_000_001, "size": 1_000_000},
    )
    for form in forms:
        turn.update({"sessionUpdate": "usage_update", **form})
    turn.say("That was expensive.")
    await stage.check_alive("R-303", after="usage in all its forms")
    turn.end()


def _shows_the_titles(after: Aftermath) -> None:
    control = {"title": "A first title"}
    shown.check_shown_like(after, "R-308", "session_info_update", {"title": "Ü, 漢字 & <b>"}, control)


@scenario(
    "info/title-set-and-cleared",
    "The title of the session is set, left alone, cleared and set again",
    rules=("R-303",),
    display_rules=("R-308",),
    survives=("R-303",),
    aftermath=_shows_the_titles,
)
async def title_set_and_cleared(stage: Stage) -> None:
    turn = await stage.prompt()
    for members in (
        {"title": "A first title", "updatedAt": "2026-01-02T03:04:05Z"},
        {"updatedAt": "2026-01-02T03:04:05.678+09:00"},
        {},
        {"title": None, "updatedAt": None},
        {"title": ""},
        {"title": "Ü, 漢字 & <b>"},
    ):
        turn.update({"sessionUpdate": "session_info_update", **members})
    turn.say("What was I called?")
    await stage.check_alive("R-303", after="titles")
    turn.end()


@scenario(
    "messages/with-ids",
    "Chunks of two messages with ids, of one with null and of one without, and a second prompt",
    rules=("R-143", "R-303"),
    display_rules=("R-308",),
    user=(on_end("prompt", text="And what else?"),),
    ask="When the turn has ended, send another message.",
    survives=("R-303",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def messages_with_ids(stage: Stage) -> None:
    turn = await stage.prompt()
    echo = {"type": "text", "text": turn.text}
    turn.update({"sessionUpdate": "user_message_chunk", "content": echo, "messageId": "user-1"})
    for id_, text in (("a", "One "), ("a", "message. "), ("b", "Another. "), (None, "One of no id. ")):
        turn.say(text, messageId=id_)
        turn.think("Hm. ", messageId=f"thought {id_}")
    turn.say("And one more.")
    await stage.check_alive("R-303", after="messages with ids")
    turn.end()
    second = await stage.prompt()
    has_id = "messageId" in second.request.params
    stage.check("R-143", not has_id, "no message id of the client's own", "one" if has_id else "none")
    second.say("Nothing.")
    second.end()
