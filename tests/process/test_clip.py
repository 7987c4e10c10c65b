"""The clip: any split of the bytes gives the same text, valid and within the bound."""

from __future__ import annotations

import itertools
import re
import tracemalloc

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acp_agent.process.clip import OutputClip

NOTE = re.compile(r"\n?\[\.\.\. (\d+) bytes left out \.\.\.\]\n")

output = st.one_of(
    st.binary(max_size=300),
    st.text(max_size=150).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.lists(
        st.sampled_from([b"a", b"\n", b"\0", "é".encode(), "€".encode(), "😀".encode(), b"\xff", b"\xe2\x82"])
    ).map(b"".join),
)


def clipped(pieces: list[bytes], limit: int) -> tuple[str, int]:
    clip = OutputClip(limit)
    for piece in pieces:
        clip.feed(piece)
    return clip.finish()


@given(data=output, cuts=st.lists(st.integers(0, 300)), limit=st.integers(1, 120))
@example(data="é".encode() * 20, cuts=[1, 3], limit=7)
@example(data=b"\xed\xa0\x80" * 9, cuts=[1, 2], limit=10)
def test_any_split_gives_the_same_valid_text_within_the_bound(
    data: bytes, cuts: list[int], limit: int
) -> None:
    """B307, B309: bounded, valid UTF-8, no cut inside a character, whatever the reads were."""
    edges = sorted({0, len(data), *(cut for cut in cuts if cut <= len(data))})
    pieces = [data[start:end] for start, end in itertools.pairwise(edges)]
    text, left_out = clipped(pieces, limit)
    assert (text, left_out) == clipped([data], limit)
    assert (text, left_out) == clipped([data[at : at + 1] for at in range(len(data))], limit)
    whole = data.decode("utf-8", "replace")
    text.encode("utf-8")
    if len(whole.encode()) <= limit:
        assert (text, left_out) == (whole, 0)
        return
    notes = [note for note in NOTE.finditer(text) if int(note[1]) == left_out]
    assert notes
    kept = [(text[: note.start()], text[note.end() :]) for note in notes]
    assert any(
        whole.startswith(head)
        and whole.endswith(tail)
        and len((head + tail).encode()) <= limit
        # A cut may cost up to three bytes of a character on either side, and the line break before the note.
        and len((head + tail).encode()) >= limit - 7
        and len(whole.encode()) - len((head + tail).encode()) in (left_out, left_out + 1)
        for head, tail in kept
    )


def test_output_at_the_limit_is_whole_and_one_byte_more_is_cut() -> None:
    """B307: the bound is exact."""
    assert clipped([b"x" * 100], 100) == ("x" * 100, 0)
    assert clipped([b"x" * 101], 100) == ("x" * 50 + "\n[... 1 bytes left out ...]\n" + "x" * 50, 1)


def test_undecodable_bytes_count_as_the_text_they_become() -> None:
    """B309: U+FFFD takes three bytes; the limit holds for what the model is given."""
    text, left_out = clipped([b"\xff" * 1000], 300)
    assert text.count("\ufffd") == 100
    assert left_out == 2700


def test_control_characters_stay_as_they_are() -> None:
    """B309: NUL and escapes are text; the encoder of the wire escapes them."""
    assert clipped([b"a\0b\x1b[31m\r\n"], 100) == ("a\0b\x1b[31m\r\n", 0)


def test_memory_does_not_grow_with_what_is_fed() -> None:
    """B307: 64 MiB pass through a clip of 10 kB."""
    clip = OutputClip(10_000)
    piece = b"y" * 65536
    clip.feed(piece)
    tracemalloc.start()
    for _ in range(1024):
        clip.feed(piece)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000
    assert clip.finish()[1] == 1025 * 65536 - 10_000


def test_a_limit_below_one_is_refused() -> None:
    """A clip that keeps nothing is a mistake of the caller."""
    with pytest.raises(ValueError, match="at least 1"):
        OutputClip(0)
