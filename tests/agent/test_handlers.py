"""What is answered without a turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from acp_agent.agent import handlers as handlers_module
from acp_agent.agent.handlers import Handlers
from acp_agent.config import Settings
from acp_agent.jsonrpc.errors import RpcError


@pytest.fixture
def handlers(kit: Any) -> Any:
    """Handlers whose log is kept in `said`."""
    log = kit.Said()
    made = Handlers(Settings(), log)
    made.said = log.lines  # type: ignore[attr-defined]
    return made


@pytest.mark.parametrize("asked", [0, 1, 2, 65535])
def test_version_1_is_the_answer_whatever_was_asked(handlers: Any, asked: int) -> None:
    """R-027, R-028."""
    answer = handlers.initialize({"protocolVersion": asked})
    assert answer["protocolVersion"] == 1
    assert answer["agentInfo"] == {"name": "bob", "title": "Bob (bash-first agent)", "version": "0.11.0"}
    assert answer["authMethods"] == []


@pytest.mark.parametrize(
    ("info", "shown"),
    [
        ({"clientInfo": {"name": "zed", "title": "Zed", "version": "1"}}, "Zed 1"),
        ({"clientInfo": {"name": "zed", "title": None, "version": "1"}}, "zed 1"),
        ({"clientInfo": {"name": "zed", "title": "", "version": ""}}, "zed"),
        ({"clientInfo": None}, "unnamed client"),
        ({}, "unnamed client"),
    ],
)
def test_the_client_is_named_in_the_log(handlers: Any, info: dict[str, Any], shown: str) -> None:
    """It logs client name and protocol version; R-038: the title, or the name."""
    handlers.initialize({"protocolVersion": 3, **info})
    assert shown in handlers.said[0]
    assert "3" in handlers.said[0]


def test_a_session_has_its_directory_and_a_fresh_history(handlers: Any, tmp_path: Path) -> None:
    """Fresh history holding the system prompt, empty allow-always set; MCP servers are counted."""
    id_ = handlers.session_new({"cwd": str(tmp_path), "mcpServers": [{}, {}]})["sessionId"]
    session = handlers.sessions[id_]
    assert session.cwd == tmp_path
    assert session.allowed == set()
    (system,) = session.history.messages()
    assert str(tmp_path) in system["content"]
    assert "2 MCP server" in handlers.said[0]


def test_a_directory_that_cannot_be_used_is_refused_in_words(handlers: Any, tmp_path: Path) -> None:
    """-32602 with a pointer, and no session."""
    (tmp_path / "file").write_text("")
    for name, why in (("missing", "does not exist"), ("file", "not a directory"), ("x" * 300, "")):
        with pytest.raises(RpcError) as refused:
            handlers.session_new({"cwd": str(tmp_path / name), "mcpServers": []})
        assert refused.value.code == -32602
        assert refused.value.data["path"] == "/cwd"
        assert why in refused.value.message
    assert handlers.sessions == {}


def test_an_id_is_never_given_twice(handlers: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-059: two sessions of one second may draw the same digits; the first keeps its id and its history."""
    drawn = iter(["a", "a", "a", "b"])
    monkeypatch.setattr(handlers_module, "new_session_id", lambda: next(drawn))
    params = {"cwd": str(tmp_path), "mcpServers": []}
    assert [handlers.session_new(params)["sessionId"] for _ in range(2)] == ["a", "b"]
    assert set(handlers.sessions) == {"a", "b"}


def test_authenticate_is_answered_with_an_empty_object(handlers: Any) -> None:
    """{} to anything."""
    assert handlers.authenticate({"methodId": "x"}) == {}
