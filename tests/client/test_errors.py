"""How errors read."""

from __future__ import annotations

import pytest

from acp_agent.client.errors import AgentSilent, CancelIgnored, UnsupportedVersion, explain
from acp_agent.jsonrpc.errors import RpcError


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (None, "Internal error (code -32603)"),
        ({}, "Internal error (code -32603)"),
        ("no such key", "Internal error (code -32603): no such key"),
        ({"details": "no key"}, 'Internal error (code -32603): {"details":"no key"}'),
        (["a", 1], 'Internal error (code -32603): ["a",1]'),
        (0, "Internal error (code -32603): 0"),
    ],
)
def test_the_data_of_an_error_is_shown(data: object, shown: str) -> None:
    """B086: as a string, an object, an array."""
    assert explain(RpcError(-32603, "Internal error", data)) == shown


def test_an_error_without_words_is_still_a_sentence() -> None:
    assert explain(RpcError(7, " ")) == "the agent gave no message (code 7)"


def test_times_read_like_times() -> None:
    assert str(AgentSilent("initialize", 60.0)) == "the agent has not answered initialize within 60 s"
    assert "within 0.5 s" in str(CancelIgnored("S", 0.5))
    assert "version 9" in str(UnsupportedVersion(9))
