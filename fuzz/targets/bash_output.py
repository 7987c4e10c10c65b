"""What is kept of a command's output is bounded, valid UTF-8, its very head and tail, however the output is cut.

Documented: ValueError for a limit below 1. Bytes that are not UTF-8 count as the U+FFFD that they become.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from strategies.slices import CUTS, byte_by_byte, cut
from strategies.text import BYTES

from acp_agent.process.clip import OutputClip

cases = st.fixed_dictionaries(
    {
        "data": st.lists(BYTES | st.just(b"line\n" * 20), max_size=12).map(b"".join),
        "limit": st.integers(1, 64) | st.integers(1, 600),
        "cuts": CUTS,
    }
)


def check(case: Any) -> None:
    """Feed it in four ways, and look at what is held meanwhile."""
    data, limit = case["data"], case["limit"]
    expected = plain(data, limit)
    for pieces in ([data], byte_by_byte(data), cut(data, case["cuts"]), [b"", *cut(data, case["cuts"]), b""]):
        clip = OutputClip(limit)
        for piece in pieces:
            clip.feed(piece)
            assert len(clip._head) + len(clip._tail) <= 2 * limit + 1, "more is held than is ever given"
        assert clip.finish() == expected


def plain(data: bytes, limit: int) -> tuple[str, int]:
    """The text and the bytes left out of it, from an output that is all in memory."""
    whole = data.decode("utf-8", "replace").encode()
    if len(whole) <= limit:
        return whole.decode(), 0
    head = whole[: limit // 2]
    while head and not _is_text(head):
        head = head[:-1]
    tail = whole[len(whole) - (limit - limit // 2) :]
    while tail and not _is_text(tail):
        tail = tail[1:]
    left_out = len(whole) - len(head) - len(tail)
    line_break = "\n" if head and not head.endswith(b"\n") else ""
    return f"{head.decode()}{line_break}[... {left_out} bytes left out ...]\n{tail.decode()}", left_out


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
