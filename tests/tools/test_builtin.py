"""The default tools, put together."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from acp_agent.tools.base import ToolResult
from acp_agent.tools.builtin import default_tools

LIMITS: Any = {"bash_timeout_s": 60, "bash_max_output_bytes": 1000}


def test_secrets_do_not_reach_commands() -> None:
    """Secrets are not passed on to tools' environments."""
    registry = default_tools(
        environ={"PATH": "/usr/bin:/bin", "MODEL_KEY": "very-secret", "SHOWN": "yes"},
        secrets=["MODEL_KEY"],
        **LIMITS,
    )
    tool, arguments = registry.parse(
        "bash", '{"command": "echo \\"[$MODEL_KEY] $SHOWN\\"; env | grep -c secret"}'
    )
    result = asyncio.run(tool.run(arguments, Path("/")))
    assert result == ToolResult("[] yes\n0\n[exit code 1]", failed=True)


def test_titles_and_locations_name_the_file() -> None:
    """Title `tool: path`, locations with the absolute path."""
    tools = {tool.name: tool for tool in default_tools(environ={}, **LIMITS)}
    for name in ("read_file", "write_file", "edit_file"):
        assert tools[name].title({"path": "a/b"}) == f"{name}: a/b"
        assert tools[name].locations({"path": "a/b"}, Path("/work")) == ["/work/a/b"]
    assert tools["bash"].title({"command": "cd a\nls"}) == "bash: cd a\nls"
