"""acp-agent doctor: the lines in order, and the exit code."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
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


def answered(asked: Any) -> Any:
    """What a model says that does as it is told: one word, or one call of the one tool that it is offered."""
    delta: dict[str, object] = {"content": "yes"}
    if "tools" in asked.body:
        function = {"name": asked.body["tools"][0]["function"]["name"], "arguments": '{"word": "hello"}'}
        delta = {"tool_calls": [{"index": 0, "id": "c1", "function": function}]}
    reason = "tool_calls" if "tools" in asked.body else "stop"
    chunks = [{"delta": delta}, {"delta": {}, "finish_reason": reason}]
    return "".join(f"data: {json.dumps({'choices': [chunk]})}\n\n" for chunk in chunks).encode()


def test_the_whole_program_finds_a_whole_setup(
    serve: Callable[..., Any], products: Any, tmp_path: Path
) -> None:
    """The process a person starts, and a server over HTTP: reached, the model there, one token, one tool, 0."""
    events = {"content-type": "text/event-stream"}
    server = serve(
        {
            "GET /v1/models": products.model_list("m"),
            "POST /v1/chat/completions": lambda asked: products.Answer(answered(asked), headers=events),
        }
    )
    (tmp_path / "acp-agent.toml").write_text(
        f'[model]\nprovider = "openai"\nbaseUrl = "http://127.0.0.1:{server.port}/v1"\nname = "m"\n',
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "-m", "acp_agent", "doctor"],
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert [line[:24].rstrip() for line in done.stdout.splitlines()] == [
        "ok       configuration",
        "ok       model server",
        "ok       model",
        "ok       answer",
        "ok       tool call",
        "ok       skills",
        "skipped  sessions",
    ]
    assert (done.returncode, done.stderr) == (0, "")
    asked = [one.body for one in server.asked if one.path == "/v1/chat/completions"]
    assert asked[0]["max_tokens"] == 1
    assert [len(body.get("tools", ())) for body in asked] == [0, 1]


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
