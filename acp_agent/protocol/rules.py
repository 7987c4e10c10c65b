"""The normative rules of ACP as data: who is bound, how strongly, one sentence, and the page it comes from.

`rules.toml` beside this file holds them; it is read when the first rule is asked for. Owns also which rule a verdict
of the core is about. Deliberately absent: how a rule is tested (harness/, fuzzing/), and rules of agents that
nobody can see broken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from acp_agent.protocol.methods import Side


class Tier(StrEnum):
    """How much a broken rule weighs.

    MUST binds everybody, CAPABILITY whoever offers or uses the thing. SHOULD is advice: of the protocol, of our
    reading of it, of this project. INFO is never held against anybody.
    """

    MUST = "MUST"
    CAPABILITY = "CAPABILITY"
    SHOULD = "SHOULD"
    INFO = "INFO"

    @property
    def decides(self) -> bool:
        """Whether a peer that breaks a rule of this tier is not conformant."""
        return self in {Tier.MUST, Tier.CAPABILITY}


class Rule(NamedTuple):
    """One rule. side: who is bound, BOTH for either. page: where it is stated (see rules.toml)."""

    id: str
    side: Side
    tier: Tier
    sentence: str
    page: str

    def binds(self, side: Side) -> bool:
        """Whether `side` (AGENT or CLIENT) has to keep it."""
        return self.side is Side.BOTH or self.side is side


class _Rules(Mapping[str, Rule]):
    """The rules by id, in the order of the file; read from it at the first look."""

    def __getitem__(self, id_: str) -> Rule:
        return _load()[id_]

    def __iter__(self) -> Iterator[str]:
        return iter(_load())

    def __len__(self) -> int:
        return len(_load())


RULES: Final[Mapping[str, Rule]] = _Rules()


@cache
def _load() -> Mapping[str, Rule]:
    import tomllib  # an agent that serves never asks for a rule

    text = Path(__file__).with_name("rules.toml").read_text(encoding="utf-8")
    entries: dict[str, list[str]] = tomllib.loads(text)
    return MappingProxyType(
        {
            id_: Rule(id_, Side(side), Tier(tier), sentence, page)
            for id_, (side, tier, page, sentence) in entries.items()
        }
    )


SLUG_RULES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "parse_error": ("R-004", "R-001", "R-006", "R-005"),
        "line_too_long": ("R-312",),
        "not_an_object": ("R-006", "R-005"),
        "batch": ("R-009",),
        "bad_envelope": ("R-013",),
        "bad_id": ("R-017",),
        "duplicate_id": ("R-018",),
        "not_initialised": ("R-022",),
        "already_initialised": ("R-041",),
        "closing": ("R-029",),
        "method_unknown": ("R-250",),
        "capability_missing": (
            "R-032",
            "R-054",
            "R-060",
            "R-065",
            "R-071",
            "R-089",
            "R-100",
            "R-207",
            "R-213",
            "R-224",
        ),
        "notification_as_request": ("R-250",),
        "mode_not_supported": ("R-224",),
        "params_invalid": (
            "R-019",
            "R-020",
            "R-023",
            "R-044",
            "R-045",
            "R-058",
            "R-061",
            "R-066",
            "R-075",
            "R-078",
            "R-079",
            "R-092",
            "R-106",
            "R-108",
            "R-114",
            "R-123",
            "R-227",
            "R-246",
        ),
        "content_not_supported": ("R-127", "R-205", "R-086"),
        "session_unknown": ("R-074", "R-070"),
        "terminal_unknown": ("R-194",),
        "file_not_found": ("R-210",),
        "session_busy_opening": ("R-126",),
        "session_already_open": ("R-068",),
        "session_closing": ("R-126",),
        "turn_active": ("R-316", "R-130"),
        "no_active_turn": ("R-135",),
        "auth_required": ("R-043",),
        "cancelled": ("R-155",),
        "internal": ("R-257",),
        "request_as_notification": ("R-250",),
        "response_unknown_id": ("R-016", "R-015"),
        "response_duplicate": ("R-016",),
        "response_malformed": ("R-014", "R-013", "R-256"),
        "result_invalid": (
            "R-019",
            "R-059",
            "R-175",
            "R-209",
            "R-212",
            "R-215",
            "R-218",
            "R-219",
            "R-220",
            "R-222",
            "R-236",
        ),
        "update_session_unknown": ("R-059",),
        "update_kind_not_allowed": ("R-067",),
        "update_late": ("R-135", "R-158"),
        "update_ungated": ("R-147", "R-150", "R-113"),
        "tool_call_duplicate": ("R-184",),
        "tool_call_unknown": ("R-188",),
        "tool_status_backwards": ("R-189",),
        "permission_not_awaited": ("R-180", "R-179"),
        "permission_option_foreign": ("R-175",),
        "permission_not_cancelled": ("R-154", "R-177", "R-178"),
        "stop_reason_unasked": ("R-139",),
        "stop_reason_not_cancelled": ("R-156",),
        "cancel_as_error": ("R-157",),
        "end_with_open_call": ("R-134",),
        "end_with_open_permission": ("R-134",),
        "terminal_not_released": ("R-221",),
        "elicitation_duplicate": ("R-240",),
        "compaction_order": ("R-151",),
        "unknown_member": ("R-249",),
    }
)
"""Verdict slug -> the rules it can be about, the usual one first. Which one it is depends on the message."""
