"""Campaigns against the bad agents, and the table of what they took: docs/fuzzing-agents.md.

    python tests/fuzzing/matrix.py            every bad agent, and the whole table anew
    python tests/fuzzing/matrix.py NAME...    these, the other rows as they stand

Each agent is led through at most BUDGET conversations, drawn from the same seed each time.
"""

from __future__ import annotations

import ast
import multiprocessing
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from acp_agent.fuzzing.agent_target import AgentTarget
from acp_agent.fuzzing.campaign import Budget, Settings, run_campaign
from acp_agent.fuzzing.exchange import Deadlines
from acp_agent.fuzzing.finds import Results
from acp_agent.fuzzing.program import Level
from acp_agent.protocol.rules import RULES

HERE = Path(__file__).resolve().parent
BAD_AGENTS = HERE.parent / "bad_agents"
CONFORMING = HERE / "raw_agent.py"
TABLE = HERE.parents[1] / "docs" / "fuzzing-agents.md"

BUDGET = 300
SHRINK_PLAYS = 150
SEED = 1
PROMPTS = ("hello", "tool", "ask", "read", "write", "terminal", "plan", "long")
"""What the raw agent knows to do something with."""

PATIENT = Deadlines(answer_s=20.0, turn_s=20.0, cancel_s=20.0, exit_s=20.0, settle_s=0.02)
"""For an agent that is to be found in order, however busy the machine is."""
PACE = Deadlines(answer_s=3.0, turn_s=4.0, cancel_s=3.0, exit_s=4.0, settle_s=0.02, start_s=8.0)
"""For agents some of which never answer."""

_ROW = re.compile(r"\| `(?P<name>\w+)` \| (?P<rest>.*) \|")
_HEAD = """\
# Bad agents and what found them

Each of these agents has one defect; `acp-agent fuzz agent` has {budget} conversations to find it. Written by
`python tests/fuzzing/matrix.py`, do not edit; `tox -e fuzz-matrix` plays them all again. The agents are in
`tests/bad_agents/`, what they have in common, a conforming agent, is `tests/fuzzing/raw_agent.py`. They are
prompted with what makes them do things, `PROMPTS` in `tests/fuzzing/matrix.py`: give the same to a run of your own, in
a file, with `--prompts FILE`.

| agent | defect | rule | level | conversations | messages |
|---|---|---|---|---|---|
"""


class BadAgent(NamedTuple):
    """One bad agent as its file says. finds: the rule that has to be named."""

    path: Path
    finds: str
    level: Level
    defect: str

    @property
    def name(self) -> str:
        return self.path.stem


def bad_agents() -> list[BadAgent]:
    """All of them, read and not run, by name."""
    return [_read(path) for path in sorted(BAD_AGENTS.glob("*.py"))]


def command_of(path: Path) -> list[str]:
    """How an agent of these is started: without anything it does not need."""
    return [sys.executable, "-I", "-S", str(path)]


def play(path: Path, level: Level, budget: Budget, pace: Deadlines = PACE) -> Results:
    """A campaign against one agent."""
    with tempfile.TemporaryDirectory(prefix="acp-fuzz-") as directory:
        return run_campaign(
            command_of(path),
            Path(directory),
            Settings(level, budget, SEED, PROMPTS),
            lambda command, root: AgentTarget(command, root, pace),
        )


def play_bad(agent: BadAgent, shrink_plays: int = SHRINK_PLAYS) -> Results:
    """A campaign against a bad agent, until its rule was found broken."""
    return play(agent.path, agent.level, Budget(BUDGET, until=agent.finds, shrink_plays=shrink_plays))


def row(agent: BadAgent, results: Results) -> str:
    """A line of the table."""
    finds = [find for find in results.finds.values() if find.rule.id == agent.finds]
    best = min(finds, key=lambda find: find.messages, default=None)
    numbers = f"{best.example} | {best.messages}" if best is not None else "not found | "
    tier = RULES[agent.finds].tier
    return f"| `{agent.name}` | {agent.defect} | {agent.finds} ({tier}) | {agent.level} | {numbers} |\n"


def rows_of_table() -> dict[str, str]:
    """The rows that stand in the table, by the agents' names."""
    if not TABLE.exists():
        return {}
    lines = TABLE.read_text(encoding="utf-8").splitlines(keepends=True)
    return {found["name"]: line for line in lines if (found := _ROW.match(line))}


def table(rows: Mapping[str, str]) -> str:
    """The page."""
    return _HEAD.format(budget=BUDGET) + "".join(rows[name] for name in sorted(rows))


def main(names: Iterable[str]) -> int:
    """Play and write; 1 if something was not found."""
    wanted = set(names)
    known = {agent.name: agent for agent in bad_agents()}
    rows = {name: line for name, line in rows_of_table().items() if name in known}
    chosen = [agent for name, agent in known.items() if not wanted or name in wanted]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), mp_context=context) as pool:
        for agent, results in zip(chosen, pool.map(play_bad, chosen), strict=True):
            rows[agent.name] = row(agent, results)
            print(rows[agent.name], end="", flush=True)
            TABLE.write_text(table(rows), encoding="utf-8", newline="\n")
    return int(any("not found" in line for line in rows.values()))


def _read(path: Path) -> BadAgent:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = {
        getattr(node.targets[0], "id", ""): ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
    }
    defect = (ast.get_docstring(tree) or "").removeprefix("Defect: ").rstrip(".")
    return BadAgent(path, constants["FINDS"], Level(constants["LEVEL"]), defect)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
