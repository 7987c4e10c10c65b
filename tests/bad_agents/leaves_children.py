"""Defect: what the agent has started outlives it (B134)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzzing"))
from raw_agent import RawAgent, Session, run

FINDS = "R-313"
LEVEL = "valid"


class Agent(RawAgent):
    def opened(self, session: Session) -> None:
        super().opened(session)
        null = subprocess.DEVNULL
        subprocess.Popen(["sleep", "600"], stdin=null, stdout=null, stderr=null)


if __name__ == "__main__":
    run(Agent())
