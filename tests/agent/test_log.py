"""Log lines: their form, and that a reader who does not read stops nobody."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from acp_agent.agent import log as log_module
from acp_agent.agent.log import Log


@pytest.fixture
def stderr(monkeypatch: pytest.MonkeyPatch) -> Callable[[], str]:
    """Standard error of the log, as a pipe; reads what is there."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    monkeypatch.setattr(log_module, "_STDERR", writer)

    def read() -> str:
        try:
            return os.read(reader, 1 << 20).decode()
        except BlockingIOError:
            return ""

    read.writer = writer  # type: ignore[attr-defined]
    read.reader = reader  # type: ignore[attr-defined]
    return read


def test_a_line_has_its_prefix_and_the_banner_none(stderr: Callable[[], str]) -> None:
    """A banner, then `[acp] ...` lines."""
    log = Log()
    log.banner("Bob 1")
    log.say("hello")
    assert stderr() == "Bob 1\n[acp] hello\n"


def test_debug_is_said_only_when_asked_for(stderr: Callable[[], str]) -> None:
    """Tracebacks only with log.level = "debug"."""
    quiet, loud = Log(), Log(debug=True)
    error = ValueError("x")
    quiet.trace(error)
    assert stderr() == ""
    loud.trace(error)
    said = stderr()
    assert "ValueError: x" in said


@pytest.mark.parametrize("bad", ["\x1b[31mred", "a\rb", "\x07", "\u202eevil", "\x9b", "\x00"])
def test_control_characters_do_not_reach_the_terminal(stderr: Callable[[], str], bad: str) -> None:
    """A name or a path must not act on whoever reads the log."""
    Log().say(f"client: {bad}")
    said = stderr()
    assert all(char.isprintable() or char == "\n" for char in said)


def test_a_line_is_one_line(stderr: Callable[[], str]) -> None:
    """A newline in what a client sent does not look like a line of ours."""
    Log().say("client: x\n[acp] turn done: 9 command(s)")
    assert stderr().count("\n") == 1


def test_half_a_character_can_be_said(stderr: Callable[[], str]) -> None:
    """A lone surrogate is no reason to fail."""
    Log().say("\ud800")
    assert stderr().startswith("[acp] ")


def test_a_reader_that_does_not_read_costs_lines_and_is_told_how_many(stderr: Callable[[], str]) -> None:
    """A full pipe does not stop the agent."""
    log = Log()
    for number in range(20_000):
        log.say(f"line {number}")
    said = stderr()
    while piece := stderr():
        said += piece
    assert "line 19999" not in said
    log.say("after")
    said = stderr()
    assert "line(s) lost" in said
    assert said.endswith("[acp] after\n")


def test_a_reader_that_has_gone_is_no_error(stderr: Callable[[], str]) -> None:
    """EPIPE is not raised out of the log."""
    os.close(stderr.reader)  # type: ignore[attr-defined]
    Log().say("to nobody")


def test_a_closed_standard_error_is_no_error() -> None:
    """Started with `2>&-`."""
    code = "from acp_agent.agent.log import Log; Log().say('x'); print('alive')"
    done = subprocess.run(
        ["bash", "-c", f"exec '{sys.executable}' -c \"{code}\" 2>&-"],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"alive\n")
