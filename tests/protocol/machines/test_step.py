"""Asking the tables: what a step costs, and that a start needs nothing of the classes."""

from __future__ import annotations

import itertools
import subprocess
import sys
from typing import Any

import pytest

from acp_agent.protocol.machines.connection import ConnectionFacts
from acp_agent.protocol.machines.step import CONNECTION, TOOL_CALL, TURN, Table, step
from acp_agent.protocol.machines.tool_call import ToolCallFacts
from acp_agent.protocol.machines.turn import TurnFacts

COUNTS, FLAGS = (0, 1), (False, True)

TABLES = [
    (CONNECTION, [ConnectionFacts(spoken) for spoken in FLAGS]),
    (TURN, [TurnFacts(*outcome) for outcome in itertools.product(COUNTS, COUNTS, COUNTS, FLAGS, FLAGS)]),
    (TOOL_CALL, [ToolCallFacts(*outcome) for outcome in itertools.product(FLAGS, FLAGS)]),
]


@pytest.mark.parametrize(("table", "all_facts"), TABLES, ids=[table.name for table, _ in TABLES])
def test_a_step_makes_no_object(table: Table[Any, Any, Any], all_facts: list[Any]) -> None:
    """Requirement: all answers exist beforehand, so that a step costs a lookup and its guards."""
    for state, ways in table.decisions.items():
        for event in ways:
            for facts in all_facts:
                taken = step(table, state, event, facts)
                assert taken is step(table, state, event, facts)
                assert (taken.before, taken.event) == (state, event)


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        ("acp_agent.protocol.machines.step", {"statemachine", "dataclasses", "inspect", "asyncio"}),
        ("acp_agent.agent.server", {"statemachine", "httpx", "jsonschema", "hypothesis"}),
    ],
)
def test_a_start_does_not_import_what_only_others_need(module: str, unwanted: set[str]) -> None:
    """Requirement: whoever starts the agent waits for no library that made the tables, explains or tests."""
    program = f"import sys, {module}; print(*sorted({unwanted!r} & sys.modules.keys()))"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert (ran.returncode, ran.stdout.strip(), ran.stderr) == (0, "", "")
