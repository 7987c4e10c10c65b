"""What a child is given, and what happens when it cannot be ended."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from acp_agent.process import CannotStart, child_environment
from acp_agent.process.child import Child


def test_secrets_are_not_passed_on() -> None:
    """Secrets are not passed on to the environments of tools; everything else is."""
    environ = {"PATH": "/bin", "MODEL_KEY": "secret", "OTHER": "x"}
    assert child_environment(environ, ["MODEL_KEY", "ABSENT"]) == {"PATH": "/bin", "OTHER": "x"}
    assert "MODEL_KEY" in environ


def test_ending_is_one_task_however_often_it_is_asked_for() -> None:
    """Turn end, cancel and exit may all ask at once."""

    async def work() -> None:
        child = Child(["sleep", "600"], cwd=Path("/"), env=dict(os.environ), max_output_bytes=100)
        endings = {child.end(), child.end()}
        assert len(endings) == 1
        await asyncio.shield(endings.pop())
        child.close()
        assert child.returncode == -15
        assert not child.is_heard

    asyncio.run(work())


def test_a_child_is_finished_once() -> None:
    """Its output is handed over, not copied."""

    async def work() -> None:
        child = Child(["echo", "x"], cwd=Path("/"), env=dict(os.environ), max_output_bytes=100)
        await child.wait()
        assert await child.finish() == ("x\n", 0)
        with pytest.raises(RuntimeError, match="finished once"):
            await child.finish()

    asyncio.run(work())


def test_no_free_descriptor_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bad times are told like bad input."""

    def refuse() -> tuple[int, int]:
        raise OSError(24, "Too many open files")

    async def work() -> None:
        monkeypatch.setattr(os, "pipe", refuse)
        with pytest.raises(CannotStart, match="echo cannot be started: Too many open files"):
            Child(["echo"], cwd=Path("/"), env={}, max_output_bytes=100)
        monkeypatch.undo()

    asyncio.run(work())
