"""What every turn works with, made once, with the first prompt.

Deliberately absent: anything that belongs to one session (session.py) or to one turn (turn.py).
"""

from __future__ import annotations

from typing import NamedTuple

from acp_agent.agent.keeper import Keeper
from acp_agent.agent.log import Log
from acp_agent.agent.session import Session
from acp_agent.config import ContextSettings, LimitSettings
from acp_agent.llm.model import Model, ToolSpec
from acp_agent.tools.registry import ToolRegistry
from acp_agent.tools.skill import ReadSkillTool


class Engine(NamedTuple):
    """tools: those of every session; a session with skills has one more. specs: the same, as the model is told."""

    model: Model
    tools: ToolRegistry
    specs: tuple[ToolSpec, ...]
    limits: LimitSettings
    context: ContextSettings
    keeper: Keeper
    log: Log

    def tools_of(self, session: Session) -> ToolRegistry:
        """The tools that a session's model may call."""
        return self.tools_ever_of(session) if session.skills else self.tools

    def specs_of(self, session: Session) -> tuple[ToolSpec, ...]:
        """The same tools, as the model is told of them."""
        return specs(self.tools_ever_of(session)) if session.skills else self.specs

    def tools_ever_of(self, session: Session) -> ToolRegistry:
        """Those and the ones it may have called earlier, when there were skills, for a replay."""
        if session.tools is None:
            session.tools = ToolRegistry([*self.tools, ReadSkillTool(session.skills.instructions)])
        return session.tools


def specs(tools: ToolRegistry) -> tuple[ToolSpec, ...]:
    """Tools as a model is told of them."""
    return tuple(ToolSpec(*spec) for spec in tools.specs())
