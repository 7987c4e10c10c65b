"""What the agent can do for a model: bash, and reading, writing and editing files.

Absent on purpose: the protocol, permissions and configuration; the caller hands in plain values.
"""

from __future__ import annotations

from acp_agent.tools.base import FileDiff, Tool, ToolError, ToolKind, ToolResult
from acp_agent.tools.builtin import default_tools
from acp_agent.tools.registry import ToolRegistry

__all__ = ["FileDiff", "Tool", "ToolError", "ToolKind", "ToolRegistry", "ToolResult", "default_tools"]
