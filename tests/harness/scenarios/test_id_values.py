"""Ids: answers in any order, with results or errors, are right as long as the ids are."""

from __future__ import annotations

from typing import Any

import pytest

from acp_agent.harness.verdict import Verdict

PROBES = [
    "strings",
    "zero-beside-its-string",
    "whole-numbers",
    "beyond-2-to-the-53",
    "reused-after-completion",
]


def answers(of_id: Any) -> Any:
    """A script of a client that answers each request with of_id(id)."""

    async def script(puppet: Any) -> None:
        send = puppet.send

        def changed(message: Any) -> None:
            send(message if "method" in message else {**message, "id": of_id(message["id"])})

        puppet.send = changed
        await puppet.hello()
        await puppet.open()
        await puppet.prompt()

    return script


@pytest.mark.parametrize("name", PROBES)
def test_ids_that_come_back_as_they_were_pass(play: Any, name: str) -> None:
    """R-016."""
    assert play(f"ids/{name}", answers(lambda id_: id_)).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("name", "of_id"),
    [
        ("strings", lambda id_: int(id_) if str(id_).isdigit() else id_),
        ("zero-beside-its-string", lambda id_: id_ or 0),
        ("whole-numbers", lambda id_: abs(id_) if isinstance(id_, int) else id_),
        ("beyond-2-to-the-53", lambda id_: id_ if isinstance(id_, int) and abs(id_) < 2**53 else 2**53),
    ],
    ids=["digits", "empty", "signs", "floats"],
)
def test_an_id_that_is_another_is_found(
    play: Any, name: str, of_id: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-016: of the same value and type."""
    monkeypatch.setattr("acp_agent.harness.stage.Stage.answers.__defaults__", (0.2,))
    assert play(f"ids/{name}", answers(of_id)).failed_rules == ("R-016",)


def test_the_ids_of_a_client_may_be_strings(play: Any) -> None:
    """Then none of the agent's can be like them."""

    async def script(puppet: Any) -> None:
        send, hear = puppet.send, puppet._hear
        puppet.send = lambda message: send(
            {**message, "id": f"c{message['id']}"} if "method" in message and "id" in message else message
        )
        puppet._hear = lambda line: hear(line.replace(b'"id":"c', b'"id":"'))
        puppet._calls = _ByText(puppet._calls)
        await puppet.hello()
        await puppet.open()
        await puppet.prompt()
        await puppet.prompt()

    assert play("ids/the-clients-next", script).verdict is Verdict.PASS


class _ByText(dict[Any, Any]):
    """Calls that are found by the text of their id."""

    def __missing__(self, key: Any) -> Any:
        return self[int(key)]
