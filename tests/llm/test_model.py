"""The contract's own small functions."""

from __future__ import annotations

import pytest

from acp_agent.llm.model import last_user_text, text_of


def test_the_newest_user_text_and_what_follows_it_are_found() -> None:
    """Older turns do not matter."""
    messages = [
        {"role": "user", "content": "a"},
        {"role": "user", "content": "b"},
        {"role": "tool", "content": "c"},
    ]
    assert last_user_text(messages) == ("b", messages[2:])
    assert last_user_text([]) == ("", [])


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("a", "a"),
        (None, ""),
        ([{"type": "text", "text": "a"}, {"type": "image"}, "x", {"text": 3}], "a"),
        (3, ""),
    ],
)
def test_the_text_of_any_content_is_text(content: object, text: str) -> None:
    """A string or parts."""
    assert text_of(content) == text
