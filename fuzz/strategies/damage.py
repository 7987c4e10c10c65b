"""Bytes that were good once: with some taken out, put in, doubled or cut off."""

from __future__ import annotations

from hypothesis import strategies as st

_BYTES = st.sampled_from([bytes([one]) for one in b"{}[]\"'=#,\\. \t\r\n-:0a\x00\x7f\xff"]) | st.sampled_from(
    [
        b"\xef\xbb\xbf",
        b"\xe2\x82",
        b"\r\n",
        b"---\n",
        b"nan",
        b"1e999",
        b"&a ",
        b"*a",
        b"!!x ",
        b"\xe2\x80\xa8",
    ]
)


@st.composite
def damaged(draw: st.DrawFn, good: st.SearchStrategy[bytes], *, most: int = 3) -> bytes:
    """What `good` gives with `most` small changes at most; now and then cut off."""
    data = draw(good)
    for _ in range(draw(st.integers(0, most))):
        at = draw(st.integers(0, len(data)))
        data = data[:at] + draw(_BYTES | st.just(b"")) + data[at + draw(st.integers(0, 3)) :]
    if draw(st.integers(0, 9)) == 9:
        data = data[: draw(st.integers(0, len(data)))]
    return data
