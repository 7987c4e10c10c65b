"""Makes the modules of bench/ importable: they are run as scripts and belong to no package."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

if sys.platform != "linux":
    # The bench reads CPU time and memory from the Linux kernel and says so elsewhere; there is nothing of it to test.
    collect_ignore_glob = ["test_*.py"]
