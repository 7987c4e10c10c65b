"""Which rules a message gave an agent the chance to break: what a progress line counts as tried.

Deliberately absent: whether a rule was broken (judge.py, answers.py, exchange.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from acp_agent.fuzzing.invariants import kind_of
from acp_agent.protocol.events import Event, NotificationReceived, RequestReceived, ResponseReceived

LINE: Final = frozenset({"R-001", "R-004", "R-005", "R-013"})
"""By any line at all."""
PROCESS: Final = frozenset({"R-314", "R-317", "R-318"})
"""By the process, when it was looked at."""
ENDING: Final = frozenset({"R-313", "R-221"})
"""By the end of a process."""

_ANSWER: Final = frozenset({"R-014", "R-016", "R-019", "R-249", "R-320"})
_ANSWERS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "initialize": frozenset({"R-025", "R-027", "R-028", "R-048"}),
        "session/new": frozenset({"R-039", "R-059", "R-085", "R-113", "R-115"}),
        "session/load": frozenset({"R-062", "R-063", "R-064", "R-319"}),
        "session/resume": frozenset({"R-067", "R-319"}),
        "session/close": frozenset({"R-072", "R-319"}),
        "session/delete": frozenset({"R-101", "R-102", "R-319"}),
        "session/list": frozenset({"R-090", "R-091", "R-095", "R-319"}),
        "session/set_config_option": frozenset({"R-124", "R-115", "R-319"}),
        "session/set_mode": frozenset({"R-319"}),
        "session/prompt": frozenset({"R-128", "R-132", "R-134", "R-135", "R-137", "R-139"}),
    }
)
_UPDATES: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "tool_call": frozenset({"R-184", "R-193", "R-194"}),
        "tool_call_update": frozenset({"R-180", "R-188", "R-189", "R-193"}),
        "plan": frozenset({"R-199"}),
        "config_option_update": frozenset({"R-113"}),
        "notice": frozenset({"R-147"}),
        "compaction_update": frozenset({"R-150", "R-151"}),
    }
)
_CANCELLED: Final = frozenset({"R-155", "R-156", "R-157", "R-158"})


def rules_tried(event: Event, message: Any, *, cancelled: bool) -> frozenset[str]:
    """The rules that one message of the agent is about. cancelled: it answers a prompt that was cancelled."""
    if isinstance(event, ResponseReceived):
        known = _ANSWERS.get(event.method, frozenset({"R-252"}))
        error = frozenset({"R-256"}) if event.error is not None else frozenset()
        return _ANSWER | known | error | (_CANCELLED if cancelled else frozenset())
    if isinstance(event, NotificationReceived):
        return frozenset({"R-019", "R-059", "R-135"}) | _UPDATES.get(kind_of(message), frozenset())
    if isinstance(event, RequestReceived):
        return frozenset({"R-017", "R-018", "R-019"}) | _asked(event.method)
    return frozenset()


def _asked(method: str) -> frozenset[str]:
    if method == "session/request_permission":
        return frozenset({"R-135", "R-179", "R-180"})
    if method.startswith("fs/"):
        return frozenset({"R-020", "R-207"})
    if method.startswith("terminal/"):
        return frozenset({"R-213", "R-217", "R-221"})
    if method.startswith("elicitation/"):
        return frozenset({"R-224", "R-227"})
    return frozenset({"R-250"})
