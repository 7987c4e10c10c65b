"""Absolute paths, and where they stand."""

from __future__ import annotations

from typing import Any

import pytest

from acp_agent.protocol.paths import is_absolute, judge_call_paths, judge_paths


@pytest.mark.parametrize("path", ["/", "/a/b", "C:\\x", "c:/x", "\\\\server\\share", "//x"])
def test_a_path_from_a_root_is_absolute_on_some_system(path: str) -> None:
    """R-020: the peer may run on another system than we do."""
    assert is_absolute(path)


@pytest.mark.parametrize("path", ["", "a", "./a", "../a", "~", "~/a", "C:", "C:a", "\\a", " /a", "file:///a"])
def test_everything_else_is_relative(path: str) -> None:
    """A drive without a root and a URI are no absolute paths."""
    assert not is_absolute(path)


@pytest.mark.parametrize(
    ("method", "params", "pointers"),
    [
        ("session/new", {"cwd": "w"}, ["/cwd"]),
        (
            "session/new",
            {"cwd": "/w", "additionalDirectories": ["/a", "b", ""]},
            ["/additionalDirectories/1", "/additionalDirectories/2"],
        ),
        ("session/load", {"cwd": "w", "additionalDirectories": None}, ["/cwd"]),
        ("session/resume", {"cwd": "."}, ["/cwd"]),
        ("session/list", {"cwd": "w"}, ["/cwd"]),
        ("session/list", {"cwd": None}, []),
        ("session/list", {}, []),
        ("fs/read_text_file", {"path": "f"}, ["/path"]),
        ("fs/write_text_file", {"path": "f"}, ["/path"]),
        ("terminal/create", {"cwd": "w", "command": "c"}, ["/cwd"]),
        ("terminal/create", {"command": "relative is fine"}, []),
        ("session/prompt", {"cwd": 5, "path": [], "additionalDirectories": 7}, []),
        ("session/list", {"additionalDirectories": 7, "path": 5}, []),
    ],
)
def test_the_paths_of_a_request_are_judged_where_its_type_has_them(
    method: str, params: dict[str, Any], pointers: list[str]
) -> None:
    """R-075, R-079, R-092, R-217; a member of that name elsewhere is nobody's path."""
    found = list(judge_paths(method, params))
    assert [verdict.where["path"] for verdict in found] == pointers
    assert {(verdict.severity, verdict.reason) for verdict in found} <= {("violation", "params_invalid")}


def test_the_paths_of_a_tool_call_are_judged_with_a_pointer() -> None:
    """R-193: locations and diffs; terminals and plain content have none."""
    call = {
        "locations": [{"path": "/a"}, {"path": "a", "line": 1}],
        "content": [
            {"type": "content", "content": {"type": "text", "text": "a/b"}},
            {"type": "diff", "path": "b", "newText": ""},
            {"type": "terminal", "terminalId": "t"},
        ],
    }
    found = list(judge_call_paths(call, "s", "/toolCall"))
    assert [verdict.where["path"] for verdict in found] == [
        "/toolCall/locations/1/path",
        "/toolCall/content/1/path",
    ]
    assert list(judge_call_paths({"locations": None, "content": None}, "s", "/update")) == []
