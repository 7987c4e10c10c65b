"""What an editor asks before the first prompt: initialize, authenticate, session/new, and all that Bob does not do."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from raw_client import Agent

AGENT_INFO = {"name": "bob", "title": "Bob (bash-first agent)", "version": "0.11.0"}
SESSION_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{8}")

NOT_SERVED = [
    "session/set_mode",
    "session/set_config_option",
    "session/list",
    "session/resume",
    "session/close",
    "session/delete",
    "session/load",
    "logout",
    "fs/read_text_file",
    "terminal/create",
    "session/request_permission",
    "session/fork",
    "ping",
    "",
    "$/ping",
    "_example.org/ask",
    "_",
    "Initialize",
    "session/prompt ",
]

CLIENTS = {
    "nothing but the version": {"protocolVersion": 1},
    "an editor that says all": {
        "protocolVersion": 1,
        "clientCapabilities": {
            "fs": {"readTextFile": True, "writeTextFile": True},
            "terminal": True,
            "_meta": {"x": 1},
        },
        "clientInfo": {"name": "zed", "title": "Zed", "version": "1.0"},
    },
    "unknown members everywhere": {
        "protocolVersion": 1,
        "clientCapabilities": {"auth": {"terminal": True}, "telepathy": {"mind": [1]}, "fs": {"x": 2}},
        "clientInfo": {"name": "n", "version": "1", "colour": "red"},
        "_meta": {"deep": {"er": [None]}},
        "future": None,
    },
    "null for all that may be left out": {
        "protocolVersion": 1,
        "clientCapabilities": None,
        "clientInfo": None,
        "_meta": None,
    },
    "empty objects": {
        "protocolVersion": 1,
        "clientCapabilities": {},
        "clientInfo": {"name": "", "version": ""},
    },
    "version 0": {"protocolVersion": 0},
    "the largest version": {"protocolVersion": 65535},
}


# Each client with an id of its own kind; a process answers one initialize.
IDS = ["a1b2-uuid", "", "0", 0, -7, 2**53 + 1, 2**63 - 1, -(2**63), "ü\u2028"]


@pytest.mark.parametrize(
    ("params", "id_"),
    list(itertools.zip_longest(CLIENTS.values(), IDS, fillvalue={"protocolVersion": 1})),
    ids=[f"{client}, id {id_!r}" for client, id_ in itertools.zip_longest(CLIENTS, IDS, fillvalue="least")],
)
def test_initialize_answers_every_client_alike(
    start: Callable[..., Agent], params: dict[str, Any], id_: Any
) -> None:
    """initialize: capabilities, info and unknown members may be missing or present; version 1 is the answer
    whatever was asked (R-027, R-028, R-031, R-249). Any legal id comes back as it was, with its JSON type (R-016)."""
    bob = start()
    answer = bob.call("initialize", params, id_=id_)["result"]
    assert answer["protocolVersion"] == 1
    assert answer["agentInfo"] == AGENT_INFO
    assert answer["authMethods"] == []
    capabilities = answer["agentCapabilities"]
    assert capabilities.get("loadSession", False) is False
    assert not any(capabilities.get("promptCapabilities", {}).get(kind) for kind in ("image", "audio"))
    assert not capabilities.get("promptCapabilities", {}).get("embeddedContext")
    assert not any(capabilities.get("mcpCapabilities", {}).get(kind) for kind in ("http", "sse"))
    assert capabilities.get("sessionCapabilities", {}) == {}
    assert bob.end() == 0
    bob.assert_clean()


def test_initialize_is_logged_with_name_and_version(start: Callable[..., Agent]) -> None:
    """It logs client name and protocol version, to standard error."""
    bob = start()
    bob.initialize(protocolVersion=7, clientInfo={"name": "ed", "title": "The Editor", "version": "3.2"})
    assert bob.end() == 0
    line = next(line for line in bob.stderr_text().splitlines() if "The Editor" in line)
    assert line.startswith("[acp] ")
    assert "3.2" in line
    assert "7" in line


def test_the_banner_says_who_runs_with_which_model_and_configuration(start: Callable[..., Agent]) -> None:
    """Logs go to stderr only: a banner at start with name, version, model and its address, configuration, warnings."""
    bob = start(
        '[model]\nprovider = "openai"\nbaseUrl = "http://127.0.0.1:9/v1"\nname = "qwen3"\napiKeyEnv = "NO_SUCH_KEY"\n'
    )
    bob.initialize()
    assert bob.end() == 0
    banner = bob.stderr_text().partition("[acp] ")[0]
    for part in (
        "Bob (bash-first agent)",
        "0.11.0",
        "qwen3",
        "http://127.0.0.1:9/v1",
        "bob.toml",
        "NO_SUCH_KEY",
    ):
        assert part in banner


BAD_INITIALIZE = [
    ({}, ""),
    ({"protocolVersion": "1"}, "/protocolVersion"),
    ({"protocolVersion": None}, "/protocolVersion"),
    ({"protocolVersion": -1}, "/protocolVersion"),
    ({"protocolVersion": 65536}, "/protocolVersion"),
    ({"protocolVersion": 1.5}, "/protocolVersion"),
    ({"protocolVersion": True}, "/protocolVersion"),
    ([], ""),
    ("x", ""),
    (7, ""),
    (False, ""),
]


def test_initialize_with_bad_params_says_where(start: Callable[..., Agent]) -> None:
    """Wrong params: -32602 with a JSON pointer, and a good initialize is still accepted afterwards (K4)."""
    bob = start()
    for params, path in BAD_INITIALIZE:
        error = bob.call("initialize", params)["error"]
        assert error["code"] == -32602, params
        assert error["data"]["path"] == path, params
    # `params: null`, and no params at all, are the same as {}.
    bob.send({"jsonrpc": "2.0", "id": "null", "method": "initialize", "params": None})
    bob.send({"jsonrpc": "2.0", "id": "none", "method": "initialize"})
    for id_ in ("null", "none"):
        error = bob.answer(id_)["error"]
        assert error["code"] == -32602
        assert "protocolVersion" in error["message"]
    assert bob.initialize()["protocolVersion"] == 1
    bob.assert_clean()


def test_every_request_before_initialize_is_refused(start: Callable[..., Agent]) -> None:
    """Requests before initialize: -32600, whatever their name and params (R-022); notifications: silence."""
    bob = start()
    names = ["session/new", "session/prompt", "authenticate", *NOT_SERVED]
    for name in names:
        bob.notify(name)
    for name in names:
        error = bob.call(name, {"cwd": "/", "mcpServers": []})["error"]
        assert error["code"] == -32600, name
        assert error["data"]["reason"] == "not_initialised", name
    assert bob.initialize()["agentInfo"] == AGENT_INFO
    assert len(bob.messages) == len(names) + 1
    bob.assert_clean()


def test_a_second_initialize_is_refused_and_changes_nothing(bob: Agent, tmp_path: Path) -> None:
    """A second one: -32600 (R-041)."""
    error = bob.call("initialize", {"protocolVersion": 1})["error"]
    assert error["code"] == -32600
    assert error["data"]["reason"] == "already_initialised"
    assert SESSION_ID.fullmatch(bob.new_session(tmp_path))


def test_initialize_and_a_session_may_come_in_one_write(start: Callable[..., Agent], tmp_path: Path) -> None:
    """A client that does not wait for the answers is served in order."""
    bob = start()
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "session/new",
            "params": {"cwd": str(tmp_path), "mcpServers": []},
        },
    ]
    bob.judge = None
    bob.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    assert bob.answer(2)["result"]["sessionId"]
    assert [message["id"] for message in bob.messages if "id" in message] == [1, 2]


@pytest.mark.parametrize("name", NOT_SERVED)
def test_what_is_not_served_is_an_unknown_method(bob: Agent, name: str) -> None:
    """Optional, unknown and `_` requests: -32601 (R-251, R-252, B141), with no traceback (B139)."""
    error = bob.call(name, {"sessionId": "x", "cwd": "/"})["error"]
    assert error["code"] == -32601
    assert "Traceback" not in bob.stderr_text()


@pytest.mark.parametrize(
    "name", ["session/cancel", "session/update", "elicitation/complete", "$/cancel_request"]
)
def test_a_notification_sent_as_a_request_is_refused_and_not_run(bob: Agent, name: str) -> None:
    """Notification name sent as request: -32601, not run."""
    params = {"sessionId": "x", "requestId": 1}
    assert bob.call(name, params)["error"]["code"] == -32601


@pytest.mark.parametrize("name", ["initialize", "session/new", "session/prompt", "authenticate"])
def test_a_request_sent_as_a_notification_is_neither_run_nor_answered(
    bob: Agent, tmp_path: Path, name: str
) -> None:
    """Request name sent as notification: not run, no answer (R-015)."""
    seen = len(bob.messages)
    bob.notify(name, {"protocolVersion": 1, "cwd": str(tmp_path), "mcpServers": [], "methodId": "x"})
    bob.barrier()
    assert len(bob.messages) == seen + 1


@pytest.mark.parametrize("name", ["unknown", "_example.org/told", "$/x", "", "session/nothing"])
def test_unknown_notifications_are_met_with_silence(bob: Agent, name: str) -> None:
    """R-253, B139: nothing is sent back and nothing is said on standard error."""
    seen, said = len(bob.messages), bob.stderr_text()
    bob.notify(name, {"a": [1]})
    marker = f"_marker/{seen}"
    bob.call(marker, {})
    assert len(bob.messages) == seen + 1
    # The unknown request behind it is reported; the notification is not.
    text = bob.until_stderr(lambda text: f"method {marker}\n" in text).removeprefix(said)
    assert len(text.splitlines()) == 1


@pytest.mark.parametrize(
    "params", [{"methodId": "anything"}, {"methodId": ""}, {"methodId": "x", "_meta": {}}]
)
def test_authenticate_is_answered_with_an_empty_object(bob: Agent, params: dict[str, Any]) -> None:
    """authenticate: {} to anything (R-047)."""
    assert bob.call("authenticate", params)["result"] == {}


def test_authenticate_without_a_method_id_says_what_is_missing(bob: Agent) -> None:
    """Wrong params: -32602 with a JSON pointer."""
    error = bob.call("authenticate", {})["error"]
    assert (error["code"], error["data"]["path"]) == (-32602, "")
    assert "methodId" in error["message"]


def test_session_ids_have_their_form_and_are_unique(bob: Agent, tmp_path: Path) -> None:
    """session/new: id `YYYYMMDD-HHMMSS-xxxxxxxx`, time-sortable (R-059)."""
    ids = [bob.new_session(tmp_path) for _ in range(50)]
    assert all(SESSION_ID.fullmatch(id_) for id_ in ids)
    assert len(set(ids)) == 50
    assert [id_[:15] for id_ in ids] == sorted(id_[:15] for id_ in ids)


@pytest.mark.parametrize(
    "cwd",
    [
        "",
        ".",
        "x",
        "~",
        "~/x",
        "./x",
        "../x",
        "file:///tmp",
        "C:\\x",
        "/no/such/folder",
        "\0",
        "/a\0b",
        "/" + "x" * 5000,
        "/\ud800",
    ],
)
def test_a_cwd_that_is_no_absolute_directory_is_refused(bob: Agent, cwd: str) -> None:
    """An absolute cwd is required: -32602 with the pointer (R-075, B156)."""
    error = bob.call("session/new", {"cwd": cwd, "mcpServers": []})["error"]
    assert (error["code"], error["data"]["path"]) == (-32602, "/cwd")


def test_a_cwd_that_is_a_file_is_refused(bob: Agent, tmp_path: Path) -> None:
    """B156: a file is no directory."""
    file = tmp_path / "file"
    file.write_text("x")
    assert bob.call("session/new", {"cwd": str(file), "mcpServers": []})["error"]["code"] == -32602


@pytest.mark.parametrize("params", [{"cwd": None, "mcpServers": []}, {"cwd": 7, "mcpServers": []}])
def test_a_missing_or_wrong_cwd_is_refused(bob: Agent, params: dict[str, Any]) -> None:
    """Wrong params: -32602 with a JSON pointer (R-058)."""
    error = bob.call("session/new", params)["error"]
    assert (error["code"], error["data"]["path"]) == (-32602, "/cwd")


MCP_SERVERS = {
    "stdio": {"name": "s", "command": "/bin/true", "args": [], "env": []},
    "stdio with a relative command": {"name": "s", "command": "npx", "args": ["-y", "x"], "env": []},
    "stdio with its type": {"type": "stdio", "name": "s", "command": "/no/such", "args": [], "env": []},
    "http": {"type": "http", "name": "h", "url": "https://example.org/mcp", "headers": []},
    "sse": {"type": "sse", "name": "e", "url": "https://example.org/sse", "headers": []},
}


@pytest.mark.parametrize("server", MCP_SERVERS.values(), ids=MCP_SERVERS)
def test_mcp_servers_of_all_kinds_are_counted_and_ignored(
    bob: Agent, tmp_path: Path, server: dict[str, Any]
) -> None:
    """MCP servers are counted in the log and ignored (R-085, B147)."""
    id_ = bob.new_session(tmp_path, [server, server])
    line = bob.until_stderr(lambda text: f"session {id_}" in text)
    said = next(one for one in line.splitlines() if id_ in one)
    assert "2 MCP server" in said


@pytest.mark.parametrize("servers", [None, []])
def test_no_mcp_servers_may_be_said_in_two_ways(bob: Agent, tmp_path: Path, servers: Any) -> None:
    """`mcpServers: null` is read as [] (D-19)."""
    answer = bob.call("session/new", {"cwd": str(tmp_path), "mcpServers": servers})
    assert SESSION_ID.fullmatch(answer["result"]["sessionId"])


@pytest.mark.parametrize("servers", ["x", {}, [7], [{"name": "s"}], [{"type": "http", "name": "h"}]])
def test_a_malformed_mcp_server_is_refused_with_its_place(bob: Agent, tmp_path: Path, servers: Any) -> None:
    """One bad entry: an error, as the newest schema has it."""
    error = bob.call("session/new", {"cwd": str(tmp_path), "mcpServers": servers})["error"]
    assert error["code"] == -32602
    assert error["data"]["path"].startswith("/mcpServers")


@pytest.mark.parametrize("params", [{}, {"mcpServers": []}, {"cwd": "/"}])
def test_a_missing_member_is_named(bob: Agent, params: dict[str, Any]) -> None:
    """R-058: -32602; the pointer is that of the object, the sentence names the member."""
    error = bob.call("session/new", params)["error"]
    assert (error["code"], error["data"]["path"]) == (-32602, "")
    assert ("mcpServers" if "cwd" in params else "cwd") in error["message"]


def test_nothing_names_a_session_before_its_response(bob: Agent, tmp_path: Path) -> None:
    """B101: the first line after session/new is its response."""
    seen = len(bob.messages)
    id_ = bob.request("session/new", {"cwd": str(tmp_path), "mcpServers": []})
    bob.answer(id_)
    assert bob.messages[seen]["id"] == id_


def test_a_refused_request_never_shows_the_values_it_was_sent(bob: Agent) -> None:
    """An error never echoes the peer's values: they may hold secrets."""
    secret = "sk-very-secret"
    error = bob.call("session/new", {"cwd": secret, "mcpServers": [{"name": 7, "env": secret}]})["error"]
    assert secret not in json.dumps(error)
    assert secret not in bob.stderr_text()
