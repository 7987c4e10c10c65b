"""What a person sees: a line while it runs on a terminal, and each find in a few lines."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from acp_agent.fuzzing.exchange import Slice
from acp_agent.fuzzing.finds import Find, Results
from acp_agent.fuzzing.invariants import Finding
from acp_agent.fuzzing.program import Level
from acp_agent.fuzzing.terminal import Progress, brief, print_results, summary
from acp_agent.transport.trace import Direction


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def results() -> Results:
    known = Results(Level.VALID, 42, examples=1, messages=9, rules={"R-135"})
    known.edges = {("turn", "pending", "pending"), ("turn", "pending", "streaming")}
    slices = tuple(
        Slice(0.1, Direction.AGENT_TO_CLIENT, b'{"n":"%d \x1b"}\n' % number) for number in range(9)
    )
    known.note(Find(Finding("R-135", "update_late:plan", "too late", 9), slices, 9, 1, False))
    return known


def test_a_find_is_told_with_its_rule_its_end_and_how_to_see_it_again() -> None:
    """Nothing in it moves a terminal's cursor."""
    out = io.StringIO()
    print_results(results(), ["my agent"], Path("report"), out)
    lines = out.getvalue().splitlines()
    assert lines[0] == "R-135 (SHOULD) Nothing of a turn comes after the answer to its prompt."
    assert (
        lines[1] == "  saw: too late (update_late:plan; only after what was said before on the same process)"
    )
    assert lines[2] == "  3 messages before:"
    assert lines[3] == '  A>C {"n":"3 \ufffd"}'
    assert lines[9] == "  again: acp-agent fuzz reproduce report/R-135-update-late-plan.jsonl -- 'my agent'"
    assert lines[11].startswith("1 conversation, 1 find, 1 rules tried; ")
    assert lines[11].endswith("9 messages, seed 42")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}}', "#1 session/list {}"),
        ('{"jsonrpc":"2.0","id":"a","result":{"stopReason":"end_turn"}}', '#"a" {"stopReason":"end_turn"}'),
        ('{"jsonrpc":"2.0","id":null,"error":{"code":1}}', '#null {"code":1}'),
        (
            '{"method":"session/update","params":{"update":{"sessionUpdate":"plan","entries":[]}}}',
            'plan {"entries":[]}',
        ),
        ("[1]", "[1]"),
        ("INFO ready", "INFO ready"),
        ("{}", "{}"),
    ],
)
def test_a_message_is_told_in_a_few_words(line: str, told: str) -> None:
    """What it is comes before what it carries; the whole of it is in the trace."""
    assert brief(line) == told


def test_the_summary_counts_states_and_ways_of_each_machine() -> None:
    """Of those there are."""
    assert "turn 2/7 states 1/" in summary(results())
    assert "connection 0/3 states 0/" in summary(results())


def test_progress_is_for_terminals_only() -> None:
    """A log of continuous integration is no place for a line that is written over."""
    for stream, shown in ((Terminal(), True), (io.StringIO(), False)):
        progress = Progress(stream)
        progress.show(0.5, results())
        progress.end()
        assert ("[##########----------] 1 conversation" in stream.getvalue()) is shown
