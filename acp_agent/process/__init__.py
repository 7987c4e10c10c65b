"""Children: commands run in sessions of their own, read within a bound, and always ended.

The registry of children is process-wide on purpose, as pids, zombies and signals are.
Absent on purpose: any knowledge of shells, tools or protocols, and anything of Windows.
"""

from __future__ import annotations

from acp_agent.process.child import CannotStart, child_environment
from acp_agent.process.clip import OutputClip
from acp_agent.process.run import Outcome, end_all, end_lingering, run
from acp_agent.process.sessions import end_session

__all__ = [
    "CannotStart",
    "Outcome",
    "OutputClip",
    "child_environment",
    "end_all",
    "end_lingering",
    "end_session",
    "run",
]
