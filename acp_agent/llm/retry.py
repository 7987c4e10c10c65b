"""How long to wait before asking again.

Owns the arithmetic only: back-off, the Retry-After header, the caps. Absent: the waiting, and whether to ask again.
No random share is added to the waits: one person's agent is no herd.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Limits of asking again.

    retries: further requests after the first. first_wait_s doubles up to max_wait_s.
    max_server_wait_s: the longest wait a server can ask for; a person looks at a silent editor meanwhile."""

    retries: int
    first_wait_s: float = 0.5
    max_wait_s: float = 8.0
    max_server_wait_s: float = 60.0

    def wait_s(self, attempt: int, asked_s: float | None) -> float:
        """Return the seconds to wait after failed attempt number `attempt`, counted from 0.

        asked_s: what the server asked for, which goes before the back-off."""
        if asked_s is not None:
            return min(max(asked_s, 0.0), self.max_server_wait_s)
        return min(self.first_wait_s * 2.0 ** min(attempt, 30), self.max_wait_s)


def retry_after_s(header: str | None, now: float) -> float | None:
    """Return the seconds a Retry-After header asks for, None if it is absent or unreadable.

    header: a number of seconds or an HTTP date. now: seconds since the epoch. A past date gives 0.
    Source: RFC 9110, section 10.2.3; fractions of a second are sent in the field and accepted."""
    text = (header or "").strip()
    if not text:
        return None
    if text.replace(".", "", 1).isdecimal() and text.isascii():
        return float(text)
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
