"""A prompt's blocks as one text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_agent.agent.prompt import flatten, path_of


def test_text_is_joined_and_links_are_lines() -> None:
    """`text` blocks are concatenated; a resource_link becomes a line that names its file; others are ignored."""
    blocks = [
        {"type": "text", "text": "a"},
        {"type": "image", "data": "", "mimeType": "image/png"},
        {"type": "resource_link", "uri": "file:///x%20y", "name": "n"},
        {"type": "text", "text": " b\n"},
    ]
    assert flatten(blocks) == "a\n[attached file: /x y] b\n"


def test_no_blocks_are_an_empty_text() -> None:
    """A prompt of nothing that is read."""
    assert flatten([]) == ""


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/b.py", "/a/b.py"),
        ("file:///a%20b/%C3%A9", "/a b/é"),
        ("file:///100%25", "/100%"),
        ("file:///100%", "/100%"),
        ("file:///bad%ff", "/bad\ufffd"),
        ("file://localhost/a", "/a"),
        ("file://LocalHost/a", "/a"),
        ("file://localhost-share/a", "localhost-share/a"),
        ("file://server/share/a%20b", "server/share/a b"),
        ("file:///C:/x", "/C:/x"),
        ("/plain/path", "/plain/path"),
        ("https://example.org/a%20b", "https://example.org/a%20b"),
        ("", ""),
        ("file://", ""),
    ],
)
def test_a_file_uri_is_its_path(uri: str, path: str) -> None:
    """`<path without file://, percent-decoded>`; what is no file URI stays as it is."""
    assert path_of(uri) == path


@given(st.lists(st.text()))
def test_text_comes_out_as_it_went_in(texts: list[str]) -> None:
    """White space and characters of all kinds are preserved."""
    assert flatten([{"type": "text", "text": text} for text in texts]) == "".join(texts)
