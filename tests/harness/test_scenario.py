"""A scenario as data: what registers, what is refused, and what can be read off it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from acp_agent.harness.plan import is_plan
from acp_agent.harness.scenario import (
    REGISTERED,
    Offer,
    Scenario,
    cancel_after,
    choose,
    on_elicitation,
    on_end,
    on_permission,
    on_ready,
    on_start,
    scenario,
)
from acp_agent.harness.stage import Stage


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    """Scenarios of this file are gone when it is."""
    before = dict(REGISTERED)
    yield
    REGISTERED.clear()
    REGISTERED.update(before)


async def _nothing(stage: Stage) -> None: ...


async def _dies(stage: Stage) -> None:
    await stage.die()


def made(**members: Any) -> Scenario:
    return scenario("test/name", "A situation", rules=("R-016",), **members)(_nothing)


def test_a_decorated_script_is_a_scenario_under_its_id() -> None:
    """Its prompt is always played; other methods are named."""
    registered = made(plays=("session/new",))
    assert REGISTERED["test/name"] is registered
    assert (registered.area, registered.command) == ("test", "test-name")
    assert registered.plays == {"session/prompt", "session/new"}


@pytest.mark.parametrize("id_", ["noarea", "Area/name", "area/", "area/Name", "area/a/b", ""])
def test_an_id_of_another_form_is_refused(id_: str) -> None:
    """It would not do as the name of a command or a directory."""
    with pytest.raises(ValueError, match="is not a new id of the form area/name"):
        scenario(id_, "A situation", rules=("R-016",))(_nothing)


def test_an_id_is_given_once() -> None:
    """Two scripts of one name would be one."""
    made()
    with pytest.raises(ValueError, match="is not a new id"):
        made()


@pytest.mark.parametrize(
    "members", [{"rules": ()}, {"rules": ("R-9999",)}, {"rules": ("R-016",), "survives": ("x",)}]
)
def test_rules_that_do_not_exist_are_refused(members: dict[str, Any]) -> None:
    """And so is a scenario of none."""
    with pytest.raises(ValueError, match="names no rules, or some that do not exist"):
        scenario("test/name", "A situation", **members)(_nothing)


def test_what_needs_an_agent_of_its_own_does_not_fit_into_a_session() -> None:
    """A menu starts another one for it."""
    assert made().fits_in_a_session
    for members in (
        {"plays": frozenset({"initialize"})},
        {"offer": Offer({"loadSession": True})},
        {"lives": 2},
    ):
        assert not Scenario("a/b", "A situation", ("R-016",), _nothing, **members).fits_in_a_session


def test_what_ends_the_agent_is_read_off_its_script() -> None:
    """Nothing can follow it in the same process."""
    assert Scenario("a/b", "A situation", ("R-016",), _dies).ends_agent
    assert not made().ends_agent


def test_steps_are_written_as_the_plan_wants_them() -> None:
    """All that scenarios can write follows the schema."""
    steps = [
        choose("allow_once"),
        on_permission("hold"),
        cancel_after("chunk:3"),
        on_elicitation("decline"),
        on_elicitation(content={"name": "Ada"}),
        on_start("load", "first"),
        on_start("list"),
        on_ready("set_mode", mode="code"),
        on_end("prompt", text="Again."),
        on_end("wait"),
    ]
    assert is_plan(steps)
    assert all(is_plan([step]) for step in steps)
