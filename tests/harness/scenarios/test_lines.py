"""Lines: what is sent is odd and still the message it should be; and a client may show a turn as a whole."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_agent.harness.scenarios import lines
from acp_agent.harness.verdict import Verdict

QUIET = ["around-64-kib", "line-of-1-mib", "crlf", "blank-lines", "separators-in-strings"]
ASKING = ["escapes", "orders-and-spaces"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON)
def test_escaped_and_spread_lines_are_one_line_with_the_same_value(value: Any) -> None:
    """R-004: what the client has to read is legal JSON on one line."""
    for line in (lines._escaped(value), lines._spread(value)):
        assert line.count(b"\n") == 1
        assert json.loads(line) == value


def test_nothing_of_an_escaped_string_is_left_as_it_was() -> None:
    """A client that looks for words in the bytes finds none, and every slash is escaped too."""
    line = lines._escaped({"method": "session/update", "text": "🚀"})
    assert line.startswith(b'{"\\u006d\\u0065')
    assert b"\\/" in line
    assert b"\\ud83d\\ude80" in line
    assert b"session" not in line


@pytest.mark.parametrize("name", QUIET)
def test_a_client_that_reads_lines_passes(play: Any, name: str) -> None:
    """Whatever answers barriers, with an error or a result, has read what came before."""

    async def script(puppet: Any) -> None:
        puppet.answers["_barrier/1"] = {"result": None}
        await puppet.hello()
        await puppet.open()
        await puppet.prompt()

    result = play(f"framing/{name}", script, records=True)
    assert [outcome.rule for outcome in result.outcomes if outcome.verdict is not Verdict.PASS] == []


@pytest.mark.parametrize("name", ASKING)
@pytest.mark.parametrize("option", ["yes", "no"])
def test_a_permission_in_an_odd_line_may_be_granted_or_not(play: Any, name: str, option: str) -> None:
    """R-040 asks for a choice, not for a certain one."""

    async def script(puppet: Any) -> None:
        chosen = {"outcome": {"outcome": "selected", "optionId": option}}
        puppet.answers["session/request_permission"] = {"result": chosen}
        await puppet.hello()
        await puppet.open()
        await puppet.prompt()
        await puppet.prompt()

    result = play(f"framing/{name}", script, records=True)
    assert [outcome.rule for outcome in result.outcomes if outcome.verdict is not Verdict.PASS] == []
