"""Permission requests against a raw agent: each gets one answer, the right one, whatever happens meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import pytest

from acp_agent.client import permissions
from acp_agent.client.errors import ClientError
from acp_agent.client.events import ClientEvent, PermissionAsked
from acp_agent.client.permissions import PermissionRequest

if TYPE_CHECKING:
    from conftest import Talk

Until = Callable[[Callable[[], bool]], Awaitable[None]]


def test_three_permissions_in_one_write_get_three_answers(talk: Talk, until: Until) -> None:
    """B031, B029, R-181, R-304: several open at once, answered out of order, while updates go on."""
    asked: list[tuple[PermissionRequest, asyncio.Future[str | None]]] = []

    def decide(request: PermissionRequest) -> Awaitable[str | None]:
        asked.append((request, asyncio.get_running_loop().create_future()))
        return asked[-1][1]

    async def scenario() -> None:
        async with talk.session("three_permissions", permission=decide) as (client, session_id):
            prompt = asyncio.ensure_future(client.prompt(session_id, "go"))
            await until(lambda: talk.text() == "meanwhile")
            for (_, future), choice in zip(reversed(asked), ("yes", "no", "yes"), strict=True):
                future.set_result(choice)
            assert (await prompt).stop_reason == "end_turn"

    talk.run(scenario)
    assert [option.kind for option in asked[0][0].options] == ["allow_once", "reject_once"]
    selected = {id_: answer["outcome"] for id_, answer in talk.answers().items()}
    assert selected == {
        "p1": {"outcome": "selected", "optionId": "yes"},
        "p2": {"outcome": "selected", "optionId": "no"},
        "p3": {"outcome": "selected", "optionId": "yes"},
    }


def test_without_a_decision_everything_is_refused(talk: Talk) -> None:
    """B027, B026: nobody asked means no, said with the option that refuses."""

    async def scenario() -> None:
        async with talk.session("three_permissions") as (client, session_id):
            await client.prompt(session_id, "go")

    talk.run(scenario)
    assert talk.permissions_answered() == [("c1", "no", False), ("c2", "no", False), ("c3", "no", False)]


def test_a_cancel_answers_open_permissions_and_those_that_cross_it(talk: Talk, until: Until) -> None:
    """R-154, R-177, B014, race R4: `session/cancel` first, then the outcome `cancelled` for each."""
    asked: list[ClientEvent] = []

    async def never(request: PermissionRequest) -> str | None:
        return await asyncio.get_running_loop().create_future()

    async def scenario() -> None:
        async with talk.session("cancel_with_permissions", permission=never) as (client, session_id):
            prompt = asyncio.ensure_future(client.prompt(session_id, "go"))
            await until(lambda: any(isinstance(event, PermissionAsked) for event in talk.events))
            client.cancel(session_id)
            client.cancel(session_id)
            assert (await prompt).stop_reason == "cancelled"
        asked.extend(event for event in talk.events if isinstance(event, PermissionAsked))

    talk.run(scenario)
    sent = [message.get("method", "answer") for message in talk.sent()[3:-1]]
    assert sent == ["session/cancel", "answer", "answer"]
    assert talk.answers() == {id_: {"outcome": {"outcome": "cancelled"}} for id_ in ("p1", "p2")}
    assert len(asked) == 1, "what comes after the cancel is not asked any more"
    # R-159, B022: what the agent says after the cancel still counts.
    assert [event.update["status"] for event in talk.updates("tool_call_update")] == ["failed"]


def test_the_end_of_the_turn_takes_an_open_question_back(talk: Talk) -> None:
    """Decision 14: the agent's fault; it gets its answer and the question goes."""
    cancelled: list[str] = []

    async def never(request: PermissionRequest) -> str | None:
        try:
            return await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            cancelled.append(request.tool_call_id)
            raise

    async def scenario() -> None:
        async with talk.session("ends_with_permission_open", permission=never) as (client, session_id):
            assert (await client.prompt(session_id, "go")).stop_reason == "end_turn"

    talk.run(scenario)
    assert talk.permissions_answered() == [("c1", None, True)]
    assert talk.misbehaviour() == ["end_with_open_permission", "end_with_open_call"]


def test_a_question_that_the_agent_takes_back_is_answered_cancelled(talk: Talk) -> None:
    """R-170: `$/cancel_request` for it."""

    async def never(request: PermissionRequest) -> str | None:
        return await asyncio.get_running_loop().create_future()

    async def scenario() -> None:
        async with talk.session("withdraws_permission", permission=never) as (client, session_id):
            assert (await client.prompt(session_id, "go")).stop_reason == "end_turn"

    talk.run(scenario)
    assert talk.answers() == {"p1": {"outcome": {"outcome": "cancelled"}}}
    assert talk.misbehaviour() == []


def test_a_choice_among_equals_is_not_made_by_a_policy(talk: Talk) -> None:
    """B024, R-178: four ways to allow and none to refuse; not granted, and not called cancelled."""

    async def scenario() -> None:
        async with talk.session("odd_options", permission=permissions.allow_once) as (client, session_id):
            await client.prompt(session_id, "go")

    talk.run(scenario)
    assert talk.answers()["p1"]["code"] == -32603
    assert talk.permissions_answered() == [("c1", None, False)]


def test_a_chosen_option_is_sent_as_it_was_chosen(talk: Talk) -> None:
    """B024, R-175."""

    async def scenario() -> None:
        async with talk.session("odd_options", permission=lambda request: "c") as (client, session_id):
            await client.prompt(session_id, "go")

    talk.run(scenario)
    assert talk.answers()["p1"] == {"outcome": {"outcome": "selected", "optionId": "c"}}


@pytest.mark.parametrize("later", [False, True])
def test_an_answer_that_was_not_on_offer_never_reaches_the_agent(talk: Talk, later: bool) -> None:
    """R-175: a mistake of ours is told to us; the agent hears that nothing is granted."""

    async def decide(request: PermissionRequest) -> str | None:
        return "foreign"

    async def scenario() -> None:
        decision: permissions.Decide = decide if later else lambda request: "foreign"
        async with talk.session("odd_options", permission=decision) as (client, session_id):
            with pytest.raises(ClientError, match="not on offer"):
                await client.prompt(session_id, "go")

    talk.run(scenario)
    assert talk.answers()["p1"]["code"] == -32603


def test_a_decision_that_fails_refuses_and_is_told(talk: Talk) -> None:
    async def broken(request: PermissionRequest) -> str | None:
        raise LookupError("no such person")

    async def scenario() -> None:
        async with talk.session("odd_options", permission=broken) as (client, session_id):
            with pytest.raises(LookupError):
                await client.prompt(session_id, "go")

    talk.run(scenario)
    assert talk.answers()["p1"]["code"] == -32603
