"""The bench driver, tried on the hand-written agent with tiny counts and on agents with one defect each."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from driver import AgentFailed, AgentProcess
from measures import MEASURES, Contestant, Load, Setting, percentile

BENCH = Path(__file__).resolve().parents[2] / "bench"
FLOOR = Contestant("floor", (sys.executable, str(BENCH / "peers" / "floor_agent.py")))
TINY = Load(
    warm_up_prompts=1,
    echo_prompts=3,
    stream_updates=50,
    tool_cycles=3,
    big_kib=512,
    stall_updates=100_000_000,
    stall_s=0.05,
    timeout_s=30,
)

AgentWriter = Callable[[str], Contestant]


@pytest.fixture
def agent(tmp_path: Path) -> AgentWriter:
    """Write an agent whose prompt is the given statements, with say(update) and answer(result) to speak with."""

    def write(on_prompt: str) -> Contestant:
        path = tmp_path / "agent.py"
        head = """
            import json, sys

            def post(message):
                sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
                sys.stdout.flush()

            def chunk(text):
                update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
                post({"method": "session/update", "params": {"sessionId": "s", "update": update}})

            for line in sys.stdin:
                message = json.loads(line)

                def answer(result):
                    post({"id": message["id"], "result": result})

                if message["method"] == "initialize":
                    answer({"protocolVersion": 1})
                elif message["method"] == "session/new":
                    answer({"sessionId": "s"})
                elif message["method"] == "session/prompt":
                    text = message["params"]["prompt"][0]["text"]
        """
        path.write_text(textwrap.dedent(head) + textwrap.indent(textwrap.dedent(on_prompt), " " * 8))
        return Contestant("defective", (sys.executable, str(path)))

    return write


def setting(scratch: Path, load: Load = TINY) -> Setting:
    """A setting on this process's own first core."""
    return Setting(load, scratch, core=0)


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_gives_figures_for_the_floor_agent(name: str, tmp_path: Path) -> None:
    """Each measure runs against the hand-written agent and every figure is a number that makes sense."""
    load = replace(TINY, stall_updates=20_000_000)
    figures = MEASURES[name](FLOOR, setting(tmp_path, load))
    assert figures
    assert all(value >= 0 for value in figures.values())


def test_a_measure_that_asks_for_permission_gets_the_allowing_option(tmp_path: Path) -> None:
    """The driver answers `session/request_permission`; without an answer the turn could not end."""
    assert MEASURES["tools"](FLOOR, setting(tmp_path))["tools_per_s"] > 0


@pytest.mark.parametrize(
    ("measure", "on_prompt", "complaint"),
    [
        ("echo", "chunk('a'); chunk('b'); answer({'stopReason': 'end_turn'})", "asked for 1 chunks, got 2"),
        ("echo", "chunk('a'); answer({'stopReason': 'refusal'})", "stop reason 'refusal'"),
        (
            "echo",
            "post({'id': message['id'], 'error': {'code': -32603, 'message': 'no model'}})",
            "answered with an error: no model",
        ),
        ("echo", "sys.exit('out of luck')", "out of luck"),
        (
            "stream",
            "[chunk('a') for _ in range(50 if 'stream' in text else 1)]; answer({'stopReason': 'end_turn'})",
            "the chunks are 1 characters long",
        ),
        ("tools", "chunk('a'); answer({'stopReason': 'end_turn'})", "tool step 1 is None"),
        ("stall", "chunk('a'); answer({'stopReason': 'end_turn'})", "stop reason 'end_turn'"),
    ],
)
def test_no_figure_comes_from_work_that_was_not_done(
    agent: AgentWriter, tmp_path: Path, measure: str, on_prompt: str, complaint: str
) -> None:
    """An agent that answers the wrong thing is not measured but named, with the reason in words."""
    with pytest.raises(AgentFailed, match=complaint):
        MEASURES[measure](agent(on_prompt), setting(tmp_path))


def test_an_agent_that_keeps_silent_is_given_up_at_the_deadline(tmp_path: Path) -> None:
    """No measure waits for ever."""
    silent = Contestant("silent", (sys.executable, "-c", "import signal; signal.pause()"))
    with pytest.raises(AgentFailed, match=r"sent nothing for 0\.1 s"):
        MEASURES["echo"](silent, setting(tmp_path, replace(TINY, timeout_s=0.1)))


def test_an_agent_that_outlives_its_input_is_reported(tmp_path: Path) -> None:
    """Exit after end of file is part of the measure: staying is a failure, not a large number."""
    command = (sys.executable, "-c", "import signal; signal.pause()")
    with AgentProcess(command, tmp_path) as process, pytest.raises(AgentFailed, match="still running"):
        process.end(timeout_s=0.1)


def test_a_command_that_cannot_start_is_one_sentence(tmp_path: Path) -> None:
    """A missing program is told by its name."""
    with pytest.raises(AgentFailed, match="cannot start no-such-agent: No such file"):
        AgentProcess(("no-such-agent",), tmp_path)


def test_an_agent_that_answers_before_it_reads_on_does_not_block_the_driver(
    agent: AgentWriter, tmp_path: Path
) -> None:
    """A prompt larger than the pipe and an answer larger than the pipe, both under way at once."""
    eager = agent("chunk('a' * 300_000); chunk('b' * 300_000); answer({'stopReason': 'end_turn'})")
    with AgentProcess(eager.command, tmp_path, timeout_s=30) as process:
        process.initialize()
        session_id = process.new_session()
        process.send_prompt(session_id, "x")
        turn = process.prompt(session_id, "y" * 300_000)
    assert turn.messages()[-1]["id"] == 4


def test_percentiles_are_values_that_occurred() -> None:
    """Nearest rank: p50 of an odd count is the middle, p99 of few values is the largest."""
    assert percentile([3, 1, 2], 50) == 2
    assert percentile([1, 2, 3, 4], 99) == 4
    assert percentile([float(value) for value in range(1, 301)], 99) == 297


def test_the_whole_run_prints_a_table_and_writes_every_value(tmp_path: Path) -> None:
    """The command as `make bench` gives it, on one agent, with little work."""
    record = tmp_path / "record.json"
    command = [sys.executable, str(BENCH / "run.py"), "--quick", "--measures", "echo", "--agents", "floor"]
    command += [
        "--agent",
        f"floor={sys.executable} {BENCH / 'peers' / 'floor_agent.py'}",
        "--json",
        str(record),
    ]
    command += ["--agent", "absent=/nonexistent/agent"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "| echo round trip p50, one core |" in ended.stdout
    assert "not measured: absent, echo: cannot start" in ended.stdout
    assert len(json.loads(record.read_text())["samples"]["floor"]["echo_p50_us"]) == 1
