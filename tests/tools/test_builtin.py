"""The default tools, put together."""

from __future__ import annotations

import asyncio
from pathlib import Path

from acp_agent.tools.base import ToolResult
from acp_agent.tools.builtin import default_tools


def test_secrets_do_not_reach_commands() -> None:
    """Secrets are not passed on to tools' environments."""
    registry = default_tools(
        environ={"PATH": "/usr/bin:/bin", "MODEL_KEY": "very-secret", "SHOWN": "yes"}, secrets=["MODEL_KEY"]
    )
    tool, arguments = registry.parse(
        "bash", '{"command": "echo \\"[$MODEL_KEY] $SHOWN\\"; env | grep -c secret"}'
    )
    result = asyncio.run(tool.run(arguments, Path("/")))
    assert result == ToolResult("[] yes\n0\n[exit code 1]", failed=True)


def test_titles_and_locations_name_the_file() -> None:
    """Title `tool: path`, locations with the absolute path."""
    registry = default_tools(environ={})
    for name in ("read_file", "write_file", "edit_file"):
        tool = registry.get(name)
        assert tool is not None
        assert tool.title({"path": "a/b"}) == f"{name}: a/b"
        assert tool.locations({"path": "a/b"}, Path("/work")) == ["/work/a/b"]
