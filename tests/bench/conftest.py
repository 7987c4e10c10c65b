"""Makes the modules of bench/ importable: they are run as scripts and belong to no package."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
