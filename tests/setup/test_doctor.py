"""acp-agent doctor: the lines in order, and the exit code."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acp_agent.config import Settings
from acp_agent.setup import doctor
from acp_agent.setup.findings import Finding, State


class Terminal(io.StringIO):
    """Standard error of a person who waits."""

    def isatty(self) -> bool:
        return True


def run(
    tmp_path: Path, text: str | None = None, err: io.StringIO | None = None, **more: Any
) -> tuple[int, list[str]]:
    """Write this configuration, run, and return the code and the lines."""
    if text is not None:
        (tmp_path / "acp-agent.toml").write_text(text, encoding="utf-8")
    out = io.StringIO()
    code = doctor.run(None, tmp_path, {"HOME": str(tmp_path)}, out, err or io.StringIO(), **more)
    return code, out.getvalue().splitlines()


def test_without_a_model_all_is_well_and_the_server_is_skipped(tmp_path: Path) -> None:
    """The built-in model works for everybody: nothing is to do."""
    code, lines = run(tmp_path)
    assert code == 0
    assert [line[:24].split("  ")[0] for line in lines] == ["ok", "skipped"]


def test_a_broken_configuration_is_the_first_thing_to_do(tmp_path: Path) -> None:
    """The rest waits for it."""
    code, lines = run(tmp_path, "[model]\nprovider = 7\n")
    assert code == 1
    assert lines[0].startswith("to do    configuration  ")
    assert lines[1] == "skipped  model server   the configuration has to be read first"
    assert len(lines) == 2


def test_each_line_tells_and_one_to_do_is_a_failure(
    serve: Callable[..., Any], products: Any, tmp_path: Path
) -> None:
    """Over HTTP, to the exit code."""
    server = serve(products.vllm())
    text = f'[model]\nprovider = "openai"\nbaseUrl = "http://127.0.0.1:{server.port}/v1"\nname = "qwen3-8b"\n'
    code, lines = run(tmp_path, text)
    assert code == 1
    assert [line[:24].rstrip() for line in lines] == [
        "ok       configuration",
        "ok       model server",
        "to do    model",
        "skipped  answer",
        "skipped  tool call",
    ]
    assert 'did you mean "Qwen/Qwen3-8B"?' in lines[2]


def test_further_checks_come_last_and_count(tmp_path: Path) -> None:
    """They get the settings."""
    seen: list[Settings] = []

    def more(settings: Settings) -> list[Finding]:
        seen.append(settings)
        return [Finding(State.TO_DO, "skills", "mend it")]

    code, lines = run(tmp_path, more=more)
    assert (code, lines[-1], len(seen)) == (1, "to do    skills         mend it", 1)


def test_a_wait_is_announced_on_a_terminal_only(
    serve: Callable[..., Any], products: Any, tmp_path: Path
) -> None:
    """A script gets its lines and nothing else."""
    server = serve(products.llama_cpp())
    text = f'[model]\nprovider = "openai"\nbaseUrl = "http://127.0.0.1:{server.port}/v1"\nname = "m"\n'
    terminal, pipe = Terminal(), io.StringIO()
    run(tmp_path, text, terminal)
    run(tmp_path, text, pipe)
    assert terminal.getvalue() == "(asking m, which may have to be loaded first ...)\n"
    assert pipe.getvalue() == ""


def test_ctrl_c_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the code that shells know."""

    async def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(doctor, "_model", interrupted)
    assert run(tmp_path)[0] == 130
