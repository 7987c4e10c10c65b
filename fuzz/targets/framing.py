"""Whole, byte by byte and at any cuts a stream gives the lines that a plain split of it gives.

No exception is documented. What is held of an unfinished line stays within the limit.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from strategies.slices import CUTS, byte_by_byte, cut

from acp_agent.jsonrpc.framing import LineBuffer, LineTooLong

_PIECES = st.sampled_from(
    [b"a", b"bc" * 20, b"\n", b"\r", b" ", b"\t", b"\r\n", b"\r\r\n", b"x" * 63, b"\0", "é".encode()]
)

cases = st.fixed_dictionaries(
    {
        "data": st.lists(_PIECES | st.binary(max_size=6), max_size=30).map(b"".join),
        "limit": st.integers(0, 80),
        "cuts": CUTS,
    }
)


def check(case: Any) -> None:
    """Compare three ways of reading with the plain one."""
    data, limit = case["data"], case["limit"]
    expected = plain(data, limit)
    for pieces in ([data], byte_by_byte(data), cut(data, case["cuts"])):
        buffer = LineBuffer(limit)
        found: list[bytes | LineTooLong] = []
        for piece in pieces:
            found += buffer.feed(piece)
            assert sum(map(len, buffer._parts)) <= limit + 1
        found += buffer.end()
        assert found == expected
        assert buffer.end() == []


def plain(data: bytes, limit: int) -> list[bytes | LineTooLong]:
    """The lines of a whole stream; all of it is in memory, so there is nothing to it."""
    found: list[bytes | LineTooLong] = []
    for ended in data.split(b"\n"):
        line = ended.removesuffix(b"\r")
        if len(line) > limit:
            found.append(LineTooLong(limit))
        elif line.strip():
            found.append(line)
    return found
