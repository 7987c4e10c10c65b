"""Deadlines and the process: what is seen beside messages, on agents that are a few lines each."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from acp_agent.fuzzing.exchange import Deadlines, Exchange
from acp_agent.fuzzing.peer import Peer
from acp_agent.transport.trace import Direction

PACE = Deadlines(answer_s=0.3, turn_s=0.3, cancel_s=0.3, exit_s=10.0, settle_s=0.05, start_s=0.3)
PATIENT = Deadlines(answer_s=20.0, turn_s=20.0, cancel_s=20.0, exit_s=20.0, settle_s=0.05)
ANSWER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"protocolVersion": 1}}), flush=True)
"""


class Agents:
    """Starts agents and sees them out."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._peers: list[Peer] = []

    def start(self, code: str, pace: Deadlines = PATIENT) -> Exchange:
        self._peers.append(Peer([sys.executable, "-I", "-S", "-c", code], self._root))
        return Exchange(self._peers[-1], pace)

    def close(self) -> None:
        for peer in self._peers:
            peer.close()


@pytest.fixture
def agents(tmp_path: Path) -> Iterator[Agents]:
    agents = Agents(tmp_path)
    yield agents
    agents.close()


def line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


INITIALIZE = line(id=0, method="initialize", params={"protocolVersion": 1})


def keys(exchange: Exchange) -> list[tuple[str, str]]:
    return [finding.key for finding in exchange.judge.findings]


def test_an_agent_that_answers_and_leaves_has_no_finding(agents: Agents) -> None:
    """And everything both sides wrote is in the record, with the two ends."""
    exchange = agents.start(ANSWER)
    exchange.send([INITIALIZE[:10], INITIALIZE[10:]])
    exchange.wait_for_answers()
    exchange.settle()
    exchange.end()
    assert keys(exchange) == []
    written = [one.data for one in exchange.slices if one.direction is Direction.CLIENT_TO_AGENT]
    assert written == [INITIALIZE[:10], INITIALIZE[10:], b""]


def test_a_request_that_is_not_answered_in_time_is_a_finding_once(agents: Agents) -> None:
    """R-016."""
    exchange = agents.start("import sys; sys.stdin.read()", PACE)
    exchange.send([INITIALIZE])
    exchange.wait_for_answers()
    exchange.wait_for_answers()
    exchange.end()
    assert keys(exchange) == [("R-016", "answered:initialize")]


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (INITIALIZE, "R-317"),
        (b"{\n", "R-302"),
        (line(id=0, method="_x", params={"a": "x" * 70_000}), "R-312"),
    ],
)
def test_the_death_of_the_process_is_laid_to_what_it_read_last(
    agents: Agents, data: bytes, rule: str
) -> None:
    """Any message, a line that is none, a long line."""
    exchange = agents.start("import sys; sys.stdin.readline(); sys.exit(3)")
    exchange.send([data])
    exchange.wait(lambda: not exchange.alive, 20.0)
    exchange.end()
    assert keys(exchange)[:1] == [(rule, f"{exchange.judge.findings[0].shape.split(':')[0]}:exit 3")]


def test_a_traceback_on_standard_error_is_named_by_its_exception(agents: Agents) -> None:
    """R-318; the log of an agent is no such thing."""
    code = "import sys; print('INFO Traceback was off', file=sys.stderr); sys.stdin.readline(); {}['key']"
    exchange = agents.start(code)
    exchange.send([INITIALIZE])
    exchange.wait(lambda: not exchange.alive, 20.0)
    exchange.end()
    assert ("R-318", "standard-error:KeyError") in keys(exchange)


@pytest.mark.parametrize(
    ("stderr", "what"),
    [
        ("thread 'main' panicked at src/main.rs:4:5:", "panicked"),
        ('Exception in thread "main" java.lang.IllegalStateException: x', "IllegalStateException"),
        ("TypeError: x is not a function\\n    at main (file:///agent.js:1:1)", "TypeError"),
        ("panic: runtime error\\n\\ngoroutine 1 [running]:", "panic"),
    ],
)
def test_other_languages_have_tracebacks_too(agents: Agents, stderr: str, what: str) -> None:
    """Rust, Java, JavaScript, Go."""
    exchange = agents.start(f"import sys; sys.stderr.write('''{stderr}'''); sys.stdin.read()")
    exchange.settle()
    exchange.end()
    assert keys(exchange) == [("R-318", f"standard-error:{what}")]


def test_a_process_that_works_without_work_is_a_finding(agents: Agents) -> None:
    """R-314."""
    exchange = agents.start(
        ANSWER.replace(
            "for line",
            "import threading\ndef spin():\n while True: pass\n"
            "threading.Thread(target=spin, daemon=True).start()\nfor line",
        )
    )
    exchange.send([INITIALIZE])
    exchange.wait_for_answers()
    while ("R-314", "rests:processor") not in keys(exchange):
        exchange.settle()  # a busy machine may not let it spin while we look
    exchange.end()


def test_a_process_that_stays_after_the_end_of_its_input_is_a_finding(agents: Agents) -> None:
    """R-313."""
    exchange = agents.start("import time; time.sleep(600)", PACE._replace(exit_s=0.3))
    exchange.end()
    assert keys(exchange) == [("R-313", "ends:stays")]
