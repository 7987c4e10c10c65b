"""Decisions without a person: by kind, never by id or position."""

from __future__ import annotations

import pytest

from acp_agent.client.permissions import allow_once, read_request, reject


def request(*kinds: str) -> dict[str, object]:
    options = [{"optionId": f"o{n}", "name": kind, "kind": kind} for n, kind in enumerate(kinds)]
    return {"sessionId": "S1", "toolCall": {"toolCallId": "c1"}, "options": options}


@pytest.mark.parametrize(
    ("kinds", "allowed", "rejected"),
    [
        (("allow_once", "allow_always", "reject_once"), "o0", "o2"),
        (("reject_always", "reject_once", "allow_always", "allow_once"), "o3", "o1"),
        (("allow_always", "reject_always"), "o1", "o1"),
        (("allow_once", "allow_once", "reject_once"), "o2", "o2"),
        (("allow_always",), None, None),
        ((), None, None),
    ],
)
def test_policies_choose_by_kind(kinds: tuple[str, ...], allowed: str | None, rejected: str | None) -> None:
    """B024, B026: `always` is never given unasked, one of several equals is not guessed, no is said with an option."""
    asked = read_request(request(*kinds))
    assert (allow_once(asked), reject(asked)) == (allowed, rejected)


def test_options_are_found_by_their_exact_id() -> None:
    asked = read_request(request("allow_once", "reject_once"))
    found = asked.option("o1")
    assert found is not None
    assert found.kind == "reject_once"
    assert asked.option("allow_once") is None
    assert asked.tool_call_id == "c1"
