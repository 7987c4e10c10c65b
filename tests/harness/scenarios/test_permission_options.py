"""Choices: whatever way a client gets to the right option is right."""

from __future__ import annotations

from typing import Any

import pytest

from acp_agent.harness.verdict import Verdict

ALL = [
    ("permission/opaque-option-ids", "allow_once"),
    ("permission/ids-that-are-other-kinds", "reject_once"),
    ("permission/reject", "reject_once"),
    ("permission/reject-for-ever-only", "reject_always"),
    ("permission/default-policy", "allow_once"),
    ("permission/only-an-id", "allow_once"),
    ("permission/never-announced", "reject_once"),
]


def chooses(kind: str, *, delay_s: float = 0.0, error: int | None = None) -> Any:
    """A script of a client whose user wants the last option of this kind, or an error in its place."""

    def answer(params: Any) -> Any:
        if error is not None:
            return {"error": {"code": error, "message": "no"}}
        chosen = [option["optionId"] for option in params["options"] if option["kind"] == kind]
        return {"result": {"outcome": {"outcome": "selected", "optionId": chosen[-1]}}}

    async def script(puppet: Any) -> None:
        puppet.delay_s = delay_s
        puppet.answers["session/request_permission"] = answer
        await puppet.hello()
        await puppet.open()
        await puppet.prompt()

    return script


@pytest.mark.parametrize(("scenario", "kind"), ALL, ids=[id_ for id_, _ in ALL])
def test_the_option_of_the_wanted_kind_is_right(play: Any, scenario: str, kind: str) -> None:
    """R-175, R-178: by its kind, whatever its id; and a client may take its time."""
    assert play(scenario, chooses(kind, delay_s=0.1)).verdict is Verdict.PASS


def test_another_option_of_the_same_kind_is_not_what_the_user_chose(play: Any) -> None:
    """R-175: the last of four is not the third."""
    assert play("permission/four-of-one-kind", chooses("allow_once")).failed_rules == ("R-175",)


def test_the_default_of_a_client_is_never_held_against_it(play: Any) -> None:
    """R-176 is noted: to refuse everything is a policy too."""
    for script in (chooses("reject_once"), chooses("allow_always"), chooses("", error=-32603)):
        assert play("permission/default-policy", script).failed_rules == ()
