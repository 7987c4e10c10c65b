"""Makes the modules beside it importable: they are run as scripts and belong to no package."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def checkout() -> Path:
    return CHECKOUT
