"""Agents for the fuzzer's tests, and a pace for them that a busy machine can keep."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

RAW_AGENT = Path(__file__).parent / "raw_agent.py"


@pytest.fixture
def raw_agent() -> list[str]:
    """The command of the conforming agent."""
    return [sys.executable, "-I", "-S", str(RAW_AGENT)]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A directory for sessions to work in."""
    (tmp_path / "note.txt").write_text("a note\n", encoding="utf-8")
    return tmp_path
