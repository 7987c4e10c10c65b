"""Other spellings of a message are the same message, other cuts the same bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from acp_agent.fuzzing.strategies.text import ANY, ENCODABLE
from acp_agent.fuzzing.strategies.wire import NO_MESSAGES, SPELLINGS, Spelling, cut, spelled
from acp_agent.jsonrpc import codec
from acp_agent.jsonrpc.framing import LineBuffer
from acp_agent.jsonrpc.messages import Notification, Request, Response, classify

MESSAGES = st.dictionaries(
    ENCODABLE, st.one_of(ENCODABLE, st.integers(-5, 5), st.none(), st.lists(ENCODABLE))
)


@given(MESSAGES, SPELLINGS)
def test_every_spelling_is_one_line_that_says_the_same(message: dict[str, object], how: Spelling) -> None:
    """The product's own reader is the judge."""
    line = spelled(message, how)
    assert line.count(b"\n") == 1
    [whole] = LineBuffer().feed(line)
    assert isinstance(whole, bytes)
    assert codec.decode(whole) == message


@given(MESSAGES, SPELLINGS)
def test_cuts_lose_nothing(message: dict[str, object], how: Spelling) -> None:
    """In whatever pieces, never an empty one."""
    line = spelled(message, how)
    assert b"".join(cut(line, how)) == line
    assert all(cut(line, how))


@given(ANY)
def test_half_of_a_pair_is_written_as_its_escape(text: str) -> None:
    """UTF-8 could not hold it."""
    spelled([text]).decode("utf-8")


def test_what_is_called_no_message_is_none_or_has_no_usable_envelope() -> None:
    """The last list of them are calls with broken envelopes; some ids in there are the only thing that is usable."""
    usable = []
    for line in NO_MESSAGES:
        try:
            message = classify(codec.decode(line))
        except codec.DecodeError:
            continue
        if isinstance(message, Request | Notification | Response):
            usable.append(line)
    assert usable == []
