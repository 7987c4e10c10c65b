"""What a driven client is given: its command line, the plan, and where to write what its user sees.

Owns the placeholders, the two environment variables and the check of a plan against its schema.
Deliberately absent: running the client (drive.py); what each step means is in docs/harness.md.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import orjson

from acp_agent.harness.scenario import Step
from acp_agent.protocol import schema

PLAN_VARIABLE: Final = "ACP_HARNESS_PLAN"
DISPLAY_VARIABLE: Final = "ACP_HARNESS_DISPLAY"
PLAN_SCHEMA: Final = "harness-plan.json"

_PLACEHOLDER: Final = re.compile(r"\{(agent|prompt|cwd)\}")


def is_plan(steps: object) -> bool:
    """Whether decoded JSON is a plan: a list of steps the schema knows."""
    return schema.is_valid_document(PLAN_SCHEMA, steps)


def command_line(template: str, *, agent: Sequence[str], prompt: str, cwd: Path) -> str:
    """The shell's command: each placeholder becomes one word of the shell, whatever it holds.

    agent: the agent's own command line, which arrives as one word for the client to take apart.
    """
    values = {"agent": shlex.join(agent), "prompt": prompt, "cwd": str(cwd)}
    return _PLACEHOLDER.sub(lambda found: shlex.quote(values[found[1]]), template)


def environment(base: Mapping[str, str], *, plan: Sequence[Step], display: Path) -> dict[str, str]:
    """The client's environment."""
    return {**base, PLAN_VARIABLE: orjson.dumps(list(plan)).decode(), DISPLAY_VARIABLE: str(display)}
