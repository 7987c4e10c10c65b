"""A find is seen again by playing its record, against an agent that names things otherwise, too."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from acp_agent.fuzzing.agent_target import AgentTarget
from acp_agent.fuzzing.exchange import Deadlines
from acp_agent.fuzzing.finds import Find
from acp_agent.fuzzing.program import Await, Boundary, Cancel, EndInput, Program, Prompt, Reaction, Step
from acp_agent.fuzzing.report import write_trace
from acp_agent.fuzzing.reproduce import reproduce
from acp_agent.transport.trace import TraceError

BAD_AGENTS = Path(__file__).resolve().parents[1] / "bad_agents"
PACE = Deadlines(answer_s=20.0, turn_s=20.0, cancel_s=20.0, exit_s=20.0, settle_s=0.05)

OTHER_NAMES = """
import sys
sys.path.insert(0, {place!r})
from {module} import Agent, run

class Other(Agent):
    made = 0
    def session_id(self):
        self.made += 1
        return f"another-{{self.made}}-é"
    def ask(self, method, **params):
        self.next_id += 1000
        return super().ask(method, **params)

run(Other())
"""


def recorded(agent: str, program: Program, root: Path) -> Path:
    """The trace of one plan against a bad agent."""
    target = AgentTarget([sys.executable, "-I", "-S", str(BAD_AGENTS / f"{agent}.py")], root, PACE)
    outcome = target.play(program, alone=True)
    assert outcome.findings
    path = root / "find.jsonl"
    write_trace(path, Find(outcome.findings[0], outcome.slices, outcome.messages, 1, True), target.command)
    return path


ASK = Program(steps=(Step(Prompt(text="ask")),), reactions=(Reaction.REFUSE,))
STOP = Program(
    steps=(Step(Prompt(text="ask")), Step(Await(Boundary.ASKED)), Step(Cancel())), reactions=(Reaction.HOLD,)
)
CASES = [("runs_what_was_refused", ASK, "R-179"), ("fails_cancelled_turns", STOP, "R-157")]


@pytest.mark.parametrize(("agent", "program", "rule"), CASES)
def test_the_same_agent_does_the_same_again(agent: str, program: Program, rule: str, root: Path) -> None:
    """And a conforming one shows that the find is gone."""
    trace = recorded(agent, program, root)
    command = [sys.executable, "-I", "-S", str(BAD_AGENTS / f"{agent}.py")]
    assert rule in {finding.rule for finding in reproduce(trace, command, PACE)}
    good = [sys.executable, "-I", "-S", str(Path(__file__).parent / "raw_agent.py")]
    assert reproduce(trace, good, PACE) == []


@pytest.mark.parametrize(("agent", "program", "rule"), CASES)
def test_other_names_of_sessions_and_requests_are_translated(
    agent: str, program: Program, rule: str, root: Path
) -> None:
    """An agent makes up its ids anew each time."""
    trace = recorded(agent, program, root)
    code = OTHER_NAMES.format(place=str(BAD_AGENTS), module=agent)
    found = reproduce(trace, [sys.executable, "-I", "-S", "-c", code], PACE)
    assert rule in {finding.rule for finding in found}


def test_an_input_that_ends_in_a_turn_ends_there_again(root: Path) -> None:
    """The replay waits for no answer that the record did not wait for."""
    program = Program(steps=(Step(Prompt(text="long")), Step(EndInput())))
    trace = recorded("leaves_children", program, root)
    good = [sys.executable, "-I", "-S", str(Path(__file__).parent / "raw_agent.py")]
    assert reproduce(trace, good, PACE) == []


def test_a_file_that_is_no_trace_is_said_to_be_none(root: Path) -> None:
    """Before any agent is started."""
    with pytest.raises(TraceError):
        reproduce(root / "note.txt", ["no-such-agent"])
