"""Elicitations: who advertises none is asked none, and a form may be answered in several ways."""

from __future__ import annotations

from typing import Any

import pytest

from acp_agent.harness.scenarios.elicitation import _FILLED_IN, _fits
from acp_agent.harness.verdict import Verdict

FORMS = {"elicitation": {"form": {}}}
URLS = {"elicitation": {"url": {}}}
ALL = [
    "form-accepted",
    "form-decline",
    "form-cancel",
    "in-the-setup",
    "catastrophic-pattern",
    "unknown-field",
]


def replies(answer: Any, **capabilities: Any) -> Any:
    async def script(puppet: Any) -> None:
        puppet.answers["elicitation/create"] = answer
        await puppet.hello(**capabilities)
        await puppet.open()
        await puppet.prompt()

    return script


@pytest.mark.parametrize("name", [*ALL, "url-not-opened", "completed", "completion-of-nothing"])
def test_a_client_that_advertises_nothing_is_not_asked(play: Any, name: str) -> None:
    """R-224: an empty object advertises no mode."""
    for capabilities in ({}, {"elicitation": {}}, {"elicitation": {"form": None}}):
        result = play(f"elicitation/{name}", replies({"result": {"action": "accept"}}, **capabilities))
        assert result.verdict is Verdict.NOT_APPLICABLE


@pytest.mark.parametrize("code", [-32601, -32602])
def test_a_client_without_elicitations_may_not_know_the_method(play: Any, code: int) -> None:
    """Decision 12: with no mode advertised both codes are right, with one only -32602."""
    answer = {"error": {"code": code, "message": "no"}}
    assert play("elicitation/unknown-mode", replies(answer)).verdict is Verdict.PASS
    expected = Verdict.PASS if code == -32602 else Verdict.FAIL
    assert play("elicitation/unknown-mode", replies(answer, **FORMS)).verdict is expected


@pytest.mark.parametrize(
    ("action", "broken"),
    [("accept", ("R-225", "R-245")), ("decline", ("R-225",)), ("cancel", ("R-225",))],
)
def test_only_who_accepts_an_unknown_mode_has_taken_it_for_a_known_one(
    play: Any, action: str, broken: tuple[str, ...]
) -> None:
    """R-245: a client that closes the question by itself, with the wrong answer, need not have asked anybody."""
    result = play("elicitation/unknown-mode", replies({"result": {"action": action}}, **FORMS))
    assert result.failed_rules == broken


@pytest.mark.parametrize("refused", [0, 1])
def test_an_id_of_any_form_is_answered_as_any_other(play: Any, refused: int) -> None:
    """R-241: opaque; the second one looks like a number."""
    asked: list[str] = []

    def answer(params: Any) -> Any:
        asked.append(params["elicitationId"])
        error = {"error": {"code": -32602, "message": "no id"}}
        return error if len(asked) == refused + 1 else {"result": {"action": "decline"}}

    def declines(params: Any) -> Any:
        return {"result": {"action": "decline"}}

    assert play("elicitation/odd-id", replies(declines, **URLS)).verdict is Verdict.PASS
    assert "R-241" in play("elicitation/odd-id", replies(answer, **URLS)).failed_rules
    assert len(asked) == 2


@pytest.mark.parametrize(
    "answer", [{"action": "accept", "content": {"name": "a"}}, {"action": "decline"}, {"action": "cancel"}]
)
@pytest.mark.parametrize("name", ["catastrophic-pattern", "unknown-field"])
def test_odd_forms_may_be_answered_by_any_action(play: Any, name: str, answer: Any) -> None:
    """R-244, R-245 ask for bounded time and nothing made up."""
    assert play(f"elicitation/{name}", replies({"result": answer}, **FORMS)).verdict is Verdict.PASS


def test_an_error_to_an_odd_form_is_right_too(play: Any) -> None:
    """A client may refuse what it does not understand."""
    answer = {"error": {"code": -32602, "message": "unknown type"}}
    assert play("elicitation/unknown-field", replies(answer, **FORMS)).verdict is Verdict.PASS
    assert play("elicitation/in-the-setup", replies(answer, **FORMS)).failed_rules == ()


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_an_address_may_be_declined_or_closed(play: Any, action: str) -> None:
    """R-232, R-236."""
    result = play("elicitation/url-not-opened", replies({"result": {"action": action}}, **URLS))
    assert result.verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("change", "fits"),
    [
        ({}, True),
        ({"ratio": 2}, True),
        ({"retries": "3"}, False),
        ({"retries": True}, False),
        ({"branch": ""}, False),
        ({"strategy": "squash"}, False),
        ({"other": 1}, False),
    ],
)
def test_what_fits_a_form(change: dict[str, Any], fits: bool) -> None:
    """R-237: known names, each with a value of its kind."""
    assert _fits(_FILLED_IN | change) is fits
    assert not _fits(None)
    assert not _fits({"retries": 1})
