"""A tool runs after a clear yes and not otherwise."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_agent.agent.permissions import Permission
from acp_agent.agent.updates import tool_call

NUMBERS = iter(range(1, 1000))


def announce(wired: Any) -> dict[str, Any]:
    """A call of its own, announced in the turn that is open."""
    announced = tool_call(
        f"call_{next(NUMBERS)}", title="t", kind="execute", raw_input={}, paths=(), name="work"
    )
    wired.peer.update("s1", announced)
    return announced


async def asked(wired: Any, permission: Permission) -> tuple[asyncio.Future[bool], dict[str, Any]]:
    answer = asyncio.ensure_future(permission.ask("work", announce(wired)))
    return answer, await wired.permission()


@pytest.mark.parametrize(("option", "granted"), [("allow", True), ("allow_always", True), ("reject", False)])
def test_each_option_means_what_it_says(kit: Any, wired: Any, option: str, granted: bool) -> None:
    """Options allow, allow_always, reject."""

    async def scenario() -> None:
        wired.prompt()
        answer, request = await asked(wired, Permission(wired.peer, wired.session))
        wired.choose(request, option)
        assert await answer is granted
        assert wired.session.allowed == ({"work"} if option == "allow_always" else set())

    kit.run(scenario())


def test_what_is_always_allowed_is_not_asked_for(kit: Any, wired: Any) -> None:
    """allow_always skips the dialog for that tool name."""

    async def scenario() -> None:
        wired.prompt()
        wired.session.allowed.add("work")
        permission = Permission(wired.peer, wired.session)
        assert await permission.ask("work", announce(wired)) is True
        assert not [message for message in wired.take() if "id" in message]
        answer = asyncio.ensure_future(permission.ask("other", announce(wired)))
        wired.choose(await wired.permission(), "reject")
        assert await answer is False

    kit.run(scenario())


@pytest.mark.parametrize(
    "answer",
    [
        {"result": {"outcome": {"outcome": "cancelled"}}},
        {"result": {"outcome": {"outcome": "selected", "optionId": "unknown"}}},
        {"result": {"outcome": {"outcome": "selected", "optionId": "ALLOW"}}},
        {"result": {"outcome": {"outcome": "selected", "optionId": None}}},
        {"result": {"outcome": {"outcome": "allow", "optionId": "allow"}}},
        {"result": None},
        {"result": "allow"},
        {"error": {"code": -32603, "message": "no"}},
        {"error": {"code": 1.5, "message": "no"}},
        {},
    ],
)
def test_everything_else_is_a_no(kit: Any, wired: Any, answer: dict[str, Any]) -> None:
    """A `cancelled` outcome, an error, an unknown option, a malformed answer: rejection."""

    async def scenario() -> None:
        wired.prompt()
        granted, request = await asked(wired, Permission(wired.peer, wired.session))
        wired.receive({"jsonrpc": "2.0", "id": request["id"], **answer})
        assert await granted is False
        assert wired.session.allowed == set()

    kit.run(scenario())


def test_a_turn_that_ends_settles_what_is_open(kit: Any, wired: Any) -> None:
    """The client is given a moment; then the question is withdrawn."""

    async def scenario() -> None:
        wired.prompt()
        permission = Permission(wired.peer, wired.session)
        answer, request = await asked(wired, permission)
        answer.cancel()
        await asyncio.wait([answer])
        wired.cancel()
        await permission.settle(0)
        (withdrawn,) = wired.take()
        assert withdrawn["params"] == {"requestId": request["id"]}
        await permission.settle(0)
        assert wired.take() == []

    kit.run(scenario())


def test_an_answer_in_that_moment_needs_no_withdrawal(kit: Any, wired: Any) -> None:
    """A conforming client answers `cancelled` at once; the turn goes on at once."""

    async def scenario() -> None:
        wired.prompt()
        permission = Permission(wired.peer, wired.session)
        answer, request = await asked(wired, permission)
        answer.cancel()
        await asyncio.wait([answer])
        wired.cancel()
        settled = asyncio.ensure_future(permission.settle(1000))
        await asyncio.sleep(0)
        wired.choose(request, "cancelled")
        await settled
        assert wired.take() == []

    kit.run(scenario())


def test_an_answer_that_came_with_the_cancel_allows_nothing(kit: Any, wired: Any) -> None:
    """R5: allow_always right before the cancel: the tool does not run, nothing is allowed for good."""

    async def scenario() -> None:
        wired.prompt()
        permission = Permission(wired.peer, wired.session)
        answer, request = await asked(wired, permission)
        wired.choose(request, "allow_always")
        answer.cancel()
        await asyncio.wait([answer])
        assert answer.cancelled()
        await permission.settle(1000)
        assert wired.session.allowed == set()
        assert wired.take() == []

    kit.run(scenario())
