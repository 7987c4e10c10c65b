"""The same bytes in other reads: cut at any places, inside a character and inside CRLF too."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import strategies as st

CUTS = st.lists(st.integers(0, 2_000), max_size=8)
"""Places to cut at; each counts from the beginning again where it is beyond the end."""


def cut(data: bytes, places: Sequence[int]) -> list[bytes]:
    """The data in pieces, cut at these places; never an empty one."""
    bounds = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[start:end] for start, end in pairwise(bounds)]


def byte_by_byte(data: bytes) -> list[bytes]:
    """The data in pieces of one byte."""
    return [data[at : at + 1] for at in range(len(data))]
