"""Two spaces of ids: the agent's request with the id of the client's own open prompt."""

from __future__ import annotations

from typing import Any

import pytest

ALLOWED = {"outcome": {"outcome": "selected", "optionId": "yes"}}


def answers_with(make_id: Any) -> Any:
    """A script that answers the permission with an id made from the request's."""

    async def script(puppet: Any) -> None:
        await puppet.hello()
        await puppet.open()

        def answer(params: Any) -> Any:
            return {"result": ALLOWED, "id": make_id(puppet.asked[-1]["id"])}

        puppet.answers["session/request_permission"] = answer
        await puppet.prompt()

    return script


@pytest.mark.parametrize(
    ("make_id", "failed"), [(lambda id_: id_, ()), (str, ("R-016",)), (lambda id_: id_ + 1, ("R-016",))]
)
def test_the_answer_carries_the_id_of_the_agents_request(
    play: Any, monkeypatch: pytest.MonkeyPatch, make_id: Any, failed: tuple[str, ...]
) -> None:
    """R-016: to the type."""
    monkeypatch.setattr("acp_agent.harness.asked.Asked.answer.__defaults__", (0.2,))
    result = play("ids/equal-to-the-clients", answers_with(make_id))
    assert set(failed) <= set(result.failed_rules)
    assert (result.failed_rules == ()) is (failed == ())
