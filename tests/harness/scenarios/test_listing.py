"""Lists: a client need not look at every page, and may list again."""

from __future__ import annotations

from typing import Any

import pytest

from acp_agent.harness.scenarios import listing
from acp_agent.harness.verdict import Verdict

ALL = ["pages", "null-cursor", "empty-cursor", "nothing-to-list", "refused"]


async def _hello(puppet: Any, **params: Any) -> Any:
    await puppet.hello()
    return (await puppet.call("session/list", params)).get("result", {})


@pytest.mark.parametrize("name", ALL)
def test_the_first_page_is_enough(play: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-093, R-094 bind those who ask for more."""

    async def script(puppet: Any) -> None:
        await _hello(puppet)
        await puppet.open()
        await puppet.prompt()

    assert play(f"list/{name}", script).failed_rules == ()


@pytest.mark.parametrize("name", ALL)
def test_to_list_again_is_no_further_page(play: Any, name: str) -> None:
    """A refreshed list is another one."""

    async def script(puppet: Any) -> None:
        await _hello(puppet, cwd="/project")
        await puppet.call("session/list", {})
        await puppet.open()
        await puppet.prompt()

    assert play(f"list/{name}", script).failed_rules == ()


@pytest.mark.parametrize("stops_at_empty", [True, False])
def test_an_empty_cursor_is_a_cursor_or_the_end(play: Any, stops_at_empty: bool) -> None:
    """B039: either reading is right, as long as it ends."""

    async def script(puppet: Any) -> None:
        result = await _hello(puppet)
        while (cursor := result.get("nextCursor")) is not None and not stops_at_empty:
            result = (await puppet.call("session/list", {"cursor": cursor}))["result"]
        await puppet.open()
        await puppet.prompt()

    assert play("list/empty-cursor", script).verdict is Verdict.PASS


def test_cursors_of_all_kinds_are_sent() -> None:
    """R-094: with blanks at the ends, like JSON, like a number."""
    assert any(cursor != cursor.strip() for cursor in listing._CURSORS)
    assert any(cursor.isdigit() for cursor in listing._CURSORS)
