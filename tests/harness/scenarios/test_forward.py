"""What a later protocol may bring: to ignore it is right, to answer it or to choke on it is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from acp_agent.harness.verdict import Verdict


async def one_turn(puppet: Any) -> None:
    await puppet.hello()
    await puppet.open()
    await puppet.prompt()


@pytest.mark.parametrize("scenario", ["forward/unknown-update", "forward/unknown-request"])
def test_a_client_that_ignores_what_it_does_not_know_passes(play: Any, scenario: str) -> None:
    """R-303, R-252: and shows what it does know."""
    result = play(scenario, one_turn, records=True)
    assert (result.verdict, result.failed_rules) == (Verdict.PASS, ())


def test_an_error_in_answer_to_an_update_is_found(play: Any) -> None:
    """R-015: a notification has no answer, whatever is wrong with it."""

    async def script(puppet: Any) -> None:
        await puppet.hello()
        await puppet.open()

        def hear(message: Any) -> None:
            if message.get("sessionUpdate") == "zz_future":
                puppet.send({"jsonrpc": "2.0", "id": None, "error": {"code": -32602, "message": "unknown"}})

        puppet.updates = Heard(hear)
        await puppet.prompt()

    assert play("forward/unknown-update", script).failed_rules == ("R-015",)


class Heard(list[Any]):
    """A list that tells of what is put into it."""

    def __init__(self, tell: Any) -> None:
        super().__init__()
        self._tell = tell

    def append(self, item: Any) -> None:
        super().append(item)
        self._tell(item)


@pytest.mark.parametrize(
    ("answer", "failed"),
    [
        ({"error": {"code": -32601, "message": "Method not found"}}, ()),
        ({"error": {"code": -32600, "message": "Invalid request"}}, ("R-252",)),
        ({"result": {}}, ("R-252",)),
    ],
)
def test_an_unknown_request_gets_one_error_and_no_other(
    play: Any, answer: dict[str, Any], failed: tuple[str, ...]
) -> None:
    """R-252: also where the method is of another vendor."""

    async def script(puppet: Any) -> None:
        puppet.answers |= dict.fromkeys(("_example.org/ask", "session/zz_future"), answer)
        await one_turn(puppet)

    assert play("forward/unknown-request", script).failed_rules == failed
