"""Forward compatibility: what is sent is what it claims to be, and permissions may be answered in any way."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_agent.harness.scenarios import compat
from acp_agent.harness.verdict import Verdict
from acp_agent.protocol import schema

ASKING = [
    "forward/unknown-members",
    "forward/meta-of-others",
    "forward/meta-named-like-members",
    "forward/null-for-all-optional",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@pytest.mark.parametrize("scenario", ASKING)
@pytest.mark.parametrize(
    ("answer", "ok"),
    [
        ({"result": {"outcome": {"outcome": "selected", "optionId": "no"}}}, True),
        ({"result": {"outcome": {"outcome": "cancelled"}}}, True),
        ({"error": {"code": -32603, "message": "nobody is there to be asked"}}, True),
        ({"error": {"code": -32602, "message": "Invalid params"}}, False),
    ],
    ids=["rejects", "cancels", "cannot ask", "does not understand"],
)
def test_how_the_permission_is_answered_is_the_users_affair(
    play: Any, scenario: str, answer: dict[str, Any], ok: bool
) -> None:
    """Only a client that takes the request for a wrong one has not read it."""

    async def answers(puppet: Any) -> None:
        puppet.answers["session/request_permission"] = answer
        await puppet.hello()
        await puppet.open()
        await puppet.prompt()

    result = play(scenario, answers)
    assert (result.failed_rules == ()) is ok
    assert (result.verdict is Verdict.PASS) is ok


@pytest.mark.parametrize(
    "update", compat.every_stable_update(), ids=lambda update: str(update["sessionUpdate"])
)
def test_every_update_is_valid(update: dict[str, Any]) -> None:
    """They have to be read by everybody."""
    assert schema.is_valid("SessionUpdate", update)


def test_there_is_an_update_of_every_kind_that_needs_no_capability() -> None:
    """The gated ones are left out: notices and compaction."""
    kinds = {update["sessionUpdate"] for update in compat.every_stable_update()}
    assert len(kinds | {"agent_message_chunk"}) == 11


@pytest.mark.parametrize(
    "update", compat._updates_of_nulls("Hello."), ids=lambda update: str(update["sessionUpdate"])
)
def test_every_null_is_allowed(update: dict[str, Any]) -> None:
    """Only members that may be null are."""
    assert schema.is_valid("SessionUpdate", update)


@given(JSON)
def test_what_is_added_changes_nothing_that_was_there(value: Any) -> None:
    """Unknown members and _meta come beside the known ones."""

    def without(changed: Any, added: set[str]) -> Any:
        if isinstance(changed, dict):
            return {name: without(member, added) for name, member in changed.items() if name not in added}
        return [without(item, added) for item in changed] if isinstance(changed, list) else changed

    for change, added in ((compat._with_strangers, compat._STRANGE), (compat._with_junk, compat._JUNK)):
        assert without(change(value), set(added)) == without(value, set(added))
