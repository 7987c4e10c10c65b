"""Logins: what a client may do that is right, however unlike the usual it is."""

from __future__ import annotations

from typing import Any

import pytest

from acp_agent.harness import login
from acp_agent.harness.aftermath import Aftermath
from acp_agent.harness.catalogue import select
from acp_agent.harness.verdict import Verdict

REFUSING = [
    "auth/login-then-session",
    "auth/session-refused-for-ever",
    "auth/login-refused-for-ever",
    "auth/no-methods-and-refused",
]


def test_a_client_may_log_in_before_it_asks_for_a_session(play: Any) -> None:
    """R-044 asks for a method on offer, not for a refusal first."""

    async def eager(puppet: Any) -> None:
        methods = (await puppet.hello())["result"]["authMethods"]
        await puppet.call("authenticate", {"methodId": methods[1]["id"]})
        await puppet.open()
        await puppet.prompt()

    assert play("auth/login-then-session", eager).verdict is Verdict.PASS


@pytest.mark.parametrize("scenario", REFUSING)
def test_a_client_without_logins_may_leave_when_it_is_refused(play: Any, scenario: str) -> None:
    """Nobody has to support logins: to say so and go is right."""

    async def leaves(puppet: Any) -> None:
        await puppet.hello()
        assert (await puppet.open())["error"]["code"] == -32000

    assert play(scenario, leaves, exit_code=1).failed_rules == ()


def test_a_few_attempts_are_no_storm(play: Any) -> None:
    """R-306: repeated only so often, which is more than once."""

    async def patient(puppet: Any) -> None:
        await puppet.hello()
        for _ in range(3):
            await puppet.open()
            await puppet.call("authenticate", {"methodId": "api-token"})
        await puppet.open()

    assert play("auth/session-refused-for-ever", patient, exit_code=1).verdict is Verdict.PASS


def test_a_prompt_may_be_repeated_after_a_login(play: Any) -> None:
    """Once is no storm, and an error shown is as good as a login offered."""

    async def repeats(puppet: Any) -> None:
        await puppet.hello()
        await puppet.open()
        await puppet.prompt()
        await puppet.call("authenticate", {"methodId": "api-token"})
        await puppet.prompt()
        puppet.show("error", text="a login is needed")

    assert play("auth/prompt-wants-login", repeats, exit_code=1, records=True).verdict is Verdict.PASS


def test_terminal_logins_are_for_clients_that_know_them(play: Any) -> None:
    """R-048 forbids to offer them to others: not applicable then, and the client can go on."""

    async def plain(puppet: Any) -> None:
        assert "authMethods" not in (await puppet.hello())["result"]
        await puppet.open()
        await puppet.prompt()

    for scenario in (
        "auth/terminal-login",
        "auth/terminal-login-fails",
        "auth/terminal-method-beside-another",
    ):
        assert play(scenario, plain).verdict is Verdict.NOT_APPLICABLE


def test_a_client_may_leave_the_login_in_a_terminal_to_its_user(play: Any) -> None:
    """Without a login nothing is known of how it would have been run."""

    async def leaves(puppet: Any) -> None:
        await puppet.hello(auth={"terminal": True})
        await puppet.open()

    result = play("auth/terminal-login", leaves, exit_code=1)
    assert (result.failed_rules, result.verdict) == ((), Verdict.NOT_EXERCISED)


@pytest.mark.parametrize(
    ("changes", "ok"),
    [
        ({}, True),
        ({"arguments": [login.OPTION, "two", "words, $HOME and 'quotes'"]}, False),
        ({"variable": None}, False),
    ],
)
def test_a_login_in_a_terminal_is_run_as_the_method_says(changes: dict[str, Any], ok: bool) -> None:
    """R-050: the program's own arguments, then those of the method, word for word, and its variables."""
    (scenario,) = select(["auth/terminal-login"])
    started = {
        "arguments": ["serve", "--driven", login.OPTION, "two words, $HOME and 'quotes'"],
        "variable": "a value\nof two lines",
    }
    notes = {"login": started | changes, "back": True}
    after = Aftermath(scenario.all_rules, notes=notes, exit_code=0, hung=False, display=None, lives=3)
    assert scenario.aftermath is not None
    scenario.aftermath(after)
    assert all(check.ok for check in after.checks) is ok
