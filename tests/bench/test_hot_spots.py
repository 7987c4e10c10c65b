"""The profile of one measure, tried on the hand-written agent."""

from __future__ import annotations

from pathlib import Path

import hot_spots
import measures
import pytest

FLOOR = str(Path(__file__).resolve().parents[2] / "bench" / "peers" / "floor_agent.py")


def test_imports_are_listed_by_package(capsys: pytest.CaptureFixture[str]) -> None:
    """Start-up is imports, so they are what `start` shows."""
    assert hot_spots.main(["start", "--", FLOOR]) == 0
    assert " asyncio" in capsys.readouterr().out


def test_functions_are_listed_by_their_own_time(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two functions of one name stay two lines, told apart by file and line."""
    monkeypatch.setattr(
        hot_spots, "Load", lambda timeout_s: measures.Load(echo_prompts=3, timeout_s=timeout_s)
    )
    assert hot_spots.main(["echo", "--top", "2000", "--", FLOOR]) == 0
    out = capsys.readouterr().out
    assert "floor_agent.py" in out
    assert " _prompt" in out


def test_the_interpreter_is_the_one_the_script_names(tmp_path: Path) -> None:
    """An installed console script belongs to its environment, whoever runs the profile."""
    script = tmp_path / "agent"
    script.write_text("#!/opt/env/bin/python\n")
    assert hot_spots.interpreter_of(script) == "/opt/env/bin/python"
