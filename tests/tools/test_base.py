"""The values between tools and whoever runs them."""

from __future__ import annotations

import pytest

from acp_agent.tools.base import ToolError, number, text


def test_members_are_taken_by_their_type() -> None:
    """A tool that is called without the registry's check still answers with a sentence."""
    assert text({"a": "x"}, "a") == "x"
    assert number({}, "a", 7) == 7
    assert number({"a": 2.5}, "a", 7) == 2.5
    for wrong in (None, 5, ["x"]):
        with pytest.raises(ToolError, match='"a" must be a string'):
            text({"a": wrong}, "a")
    for wrong in (None, "5", True):
        with pytest.raises(ToolError, match='"a" must be a number'):
            number({"a": wrong}, "a", 7)
