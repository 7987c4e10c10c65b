"""The life of one connection: from the first byte until one direction has ended.

Owns the states, events and facts of K2, K3, K4, K8 and K9: which answer to `initialize` makes a connection ready,
and that an ended stream ends it. Both sides and an onlooker use the same machine.

Deliberately absent: the transitions (`classes.py`); ids, capabilities and whether an `initialize` is open (K1, K5, K6
are decided by the holder of the open requests, and never change the state), clocks, and any effect.
"""

from enum import StrEnum
from typing import NamedTuple


class ConnectionState(StrEnum):
    """Where a connection stands; `closing` is final, because nothing leads back from an ended stream."""

    UNINITIALISED = "uninitialised"
    READY = "ready"
    CLOSING = "closing"


class ConnectionEvent(StrEnum):
    """What moves a connection."""

    AGREE_VERSION = "agree_version"
    """The result of `initialize`, naming a version the client speaks (K2)."""
    REFUSE_VERSION = "refuse_version"
    """The result of `initialize`, naming a version the client does not speak (K3)."""
    FAIL_INITIALIZE = "fail_initialize"
    """An error in answer to `initialize`, whatever its code: another attempt may follow (K4)."""
    END_STREAM = "end_stream"
    """A direction ended, became unreadable, or an end was decided (K8, K9)."""


class ConnectionFacts(NamedTuple):
    """What the guards ask about.

    version_spoken: the `protocolVersion` in the result is one the client speaks. Only the events about a
    version read it.
    """

    version_spoken: bool = False


def version_spoken(facts: ConnectionFacts) -> bool:
    """Whether the client speaks the version the agent named."""
    return facts.version_spoken
