"""The tools that are always there, in the order the model sees them. Absent on purpose: any others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from acp_agent.process import child_environment
from acp_agent.tools.editing import EditFileTool
from acp_agent.tools.reading import ReadFileTool
from acp_agent.tools.registry import ToolRegistry
from acp_agent.tools.shell import BashTool
from acp_agent.tools.writing import WriteFileTool


def default_tools(
    *,
    environ: Mapping[str, str],
    secrets: Iterable[str] = (),
    bash_timeout_s: float,
    bash_max_output_bytes: int,
) -> ToolRegistry:
    """Build them. secrets: names of variables that commands must not see, such as the model's key."""
    return ToolRegistry(
        [
            BashTool(
                timeout_s=bash_timeout_s,
                max_output_bytes=bash_max_output_bytes,
                environ=child_environment(environ, secrets),
            ),
            ReadFileTool(),
            WriteFileTool(),
            EditFileTool(),
        ]
    )
