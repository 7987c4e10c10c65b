"""A lenient reading changes no valid value, never its input, and nothing when read again; it names what it replaced.

No exception is documented. What cannot be helped may stay invalid, but what was valid of it stays as it was.
"""

from __future__ import annotations

import copy
from typing import Any

from strategies.own_instances import CASES, at

from acp_agent.protocol import leniency, schema

cases = CASES


def check(case: Any) -> None:
    """Read, read again, and follow the notes."""
    definition, value = case["definition"], case["value"]
    before = copy.deepcopy(value)
    reading, notes = leniency.read(definition, value)
    assert repr(value) == repr(before)
    if schema.is_valid(definition, value):
        assert reading is value
        assert notes == []
        return
    assert len(set(notes)) == len(notes)
    for pointer in notes:
        at(value, pointer)
        pointer.encode()
    if not notes:
        assert repr(reading) == repr(value)
    again, more = leniency.read(definition, reading)
    if schema.is_valid(definition, reading):
        assert notes, "valid all at once, and nothing said"
        assert again is reading
        assert more == []
    else:
        assert repr(again) == repr(reading)
