"""What `doctor` finds around the model: the skills of this directory, and the place for its sessions.

Owns which of them are looked at for given settings. Absent: the findings' sentences (checks.py), and how skills and
sessions are read (agent).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from acp_agent.agent.session import home_directory
from acp_agent.agent.skills import load_skills
from acp_agent.agent.store import SessionStore
from acp_agent.config import Settings
from acp_agent.setup import checks
from acp_agent.setup.findings import Finding, State


def findings(settings: Settings, cwd: Path) -> Iterator[Finding]:
    """The findings for a session in this directory."""
    skills = load_skills(cwd, settings.skills.dirs, home_directory())
    yield checks.skills(list(skills), skills.warnings)
    if settings.sessions.enabled:
        yield checks.sessions_directory(SessionStore(settings.sessions.dir).directory(cwd))
    else:
        yield Finding(
            State.SKIPPED, "sessions", "conversations are not kept; [sessions] enabled = true would keep them"
        )
