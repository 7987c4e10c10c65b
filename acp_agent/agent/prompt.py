"""A prompt's content blocks as the one text the model gets.

Deliberately absent: commands and `@path` in that text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import unquote

_FILE: Final = "file://"


def flatten(blocks: Sequence[dict[str, Any]]) -> str:
    """Text blocks joined as they are, a resource link as a line that names its file; other blocks are left out."""
    parts: list[str] = []
    for block in blocks:
        if block["type"] == "text":
            parts.append(block["text"])
        elif block["type"] == "resource_link":
            parts.append(f"\n[attached file: {path_of(block['uri'])}]")
    return "".join(parts)


def path_of(uri: str) -> str:
    """What follows `file://` in such a URI, percent-decoded, which is its path; any other URI as it is."""
    if not uri.startswith(_FILE):
        return uri
    rest = uri.removeprefix(_FILE)
    host, slash, path = rest.partition("/")
    return unquote(slash + path if host.lower() == "localhost" else rest)
