"""How long to wait before asking again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from acp_agent.llm.retry import RetryPolicy, retry_after_s


def test_the_wait_doubles_up_to_its_cap() -> None:
    """Without a word of the server."""
    policy = RetryPolicy(9, first_wait_s=1.0, max_wait_s=5.0)
    assert [policy.wait_s(attempt, None) for attempt in range(5)] == [1.0, 2.0, 4.0, 5.0, 5.0]
    assert policy.wait_s(10_000, None) == 5.0


def test_the_server_goes_first_up_to_its_cap() -> None:
    """B217."""
    policy = RetryPolicy(1, max_server_wait_s=30.0)
    assert [policy.wait_s(3, asked) for asked in (0.0, 12.0, 99999.0, -1.0)] == [0.0, 12.0, 30.0, 0.0]


def test_dates_are_read_against_the_given_clock() -> None:
    """RFC 9110: all three old date forms may come; the usual one must be read."""
    assert retry_after_s("Sun, 09 Sep 2001 01:46:45 GMT", 1_000_000_000.0) == 5.0
    assert retry_after_s("Sun, 09 Sep 2001 01:46:35 GMT", 1_000_000_000.0) == 0.0
    assert retry_after_s(None, 0.0) is None


@given(st.text(max_size=40), st.floats(0, 1e10))
def test_any_header_gives_seconds_or_nothing(header: str, now: float) -> None:
    """Never an exception, never a negative wait."""
    seconds = retry_after_s(header, now)
    assert seconds is None or seconds >= 0.0
