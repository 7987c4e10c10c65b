"""The process of an agent under test: bytes both ways without a jam, its end, and what it takes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from acp_agent.client.errors import CannotStartAgent
from acp_agent.fuzzing.peer import Peer

WAIT_S = 20.0


def peer(code: str, tmp_path: Path) -> Peer:
    return Peer([sys.executable, "-I", "-S", "-c", code], tmp_path)


def read_all(process: Peer) -> bytes:
    found = b""
    while not process.output_ended:
        found += process.turn(WAIT_S) or b""
    return found


def test_what_the_agent_does_not_read_waits_and_what_it_writes_is_read(tmp_path: Path) -> None:
    """Both directions hold more than a pipe does: a side that only writes would wait for ever."""
    process = peer(
        "import sys; sys.stdout.buffer.write(b'y' * 300_000 + sys.stdin.buffer.read(300_000))", tmp_path
    )
    process.write(b"x" * 300_000)
    assert process.unwritten_bytes > 0
    assert read_all(process) == b"y" * 300_000 + b"x" * 300_000
    process.close()


def test_a_stalled_client_leaves_the_output_and_takes_standard_error(tmp_path: Path) -> None:
    """The agent's log is drained all the time, or the stall would be blamed for what the log has blocked."""
    process = peer(
        "import sys; print('out', flush=True); print('log', file=sys.stderr, flush=True)", tmp_path
    )
    while b"log" not in process.stderr:
        assert process.turn(WAIT_S, reading=False) is None
    assert read_all(process) == b"out\n"
    process.close()


def test_the_exit_code_is_that_of_the_process(tmp_path: Path) -> None:
    """A signal's number is negative."""
    process = peer("import sys; sys.stdin.read(); sys.exit(3)", tmp_path)
    assert process.exit_code is None
    process.end_input()
    assert process.wait(WAIT_S) == 3
    assert not process.leaves_behind()
    process.close()


def test_a_child_that_outlives_the_agent_is_seen_and_ended(tmp_path: Path) -> None:
    """R-313: it is in the session of the agent."""
    code = "import subprocess as s; s.Popen(['sleep', '600'], stdin=s.DEVNULL); print(1, flush=True)"
    process = peer(code, tmp_path)
    while not process.turn(WAIT_S):
        pass
    assert process.wait(WAIT_S) == 0
    assert process.leaves_behind()
    process.close()
    assert not process.leaves_behind()


def test_memory_and_processor_time_are_those_of_the_process(tmp_path: Path) -> None:
    """A process that holds 50 MB and has counted for a while shows both."""
    process = peer("x = b'x' * 50_000_000; sum(range(3_000_000)); print(1, flush=True); input()", tmp_path)
    while not process.turn(WAIT_S):
        pass
    rss, cpu = process.rss_bytes(), process.cpu_s()
    assert rss is None or 50_000_000 < rss < 500_000_000
    assert cpu is None or cpu > 0
    process.close()
    assert process.rss_bytes() in {None, 0}


def test_a_command_that_does_not_exist_is_one_sentence(tmp_path: Path) -> None:
    """It names the program."""
    with pytest.raises(CannotStartAgent, match="'no-such-agent' cannot be started"):
        Peer(["no-such-agent"], tmp_path)
