"""Defect: files outside the session's directory are served."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main
from raw_services import Files

BREAKS = {
    "fs/outside-the-session": {"R-083"},
}


class Open(Files):
    def _path(self, params: dict[str, Any]) -> Path:
        return Path(params["path"])


class Client(RawClient):
    def __init__(self, agent: str, prompt: str, cwd: str) -> None:
        super().__init__(agent, prompt, cwd)
        self.files = Open(cwd)


if __name__ == "__main__":
    main(Client)
