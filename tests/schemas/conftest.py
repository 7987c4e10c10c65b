"""The official schema as an oracle, wherever the tests run, and the script that derives ours from it."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
BESIDE = CHECKOUT.parent / "shared" / "protocol" / "schema-official" / "schema.json"


def _script(name: str) -> ModuleType:
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, CHECKOUT / "schemas" / f"{name}.py")
        assert spec
        assert spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


@pytest.fixture(scope="session")
def official_module() -> ModuleType:
    return _script("official")


@pytest.fixture(scope="session")
def derive(official_module: ModuleType) -> ModuleType:
    assert official_module
    return _script("derive")


@pytest.fixture(scope="session")
def official_schema(official_module: ModuleType) -> dict[str, Any]:
    """The pinned file: $ACP_OFFICIAL_SCHEMA, else a copy beside the checkout, else the npm package (cached)."""
    named = os.environ.get("ACP_OFFICIAL_SCHEMA")
    given = Path(named) if named else BESIDE if BESIDE.is_file() else None
    schema: dict[str, Any] = json.loads(official_module.obtain(given))
    return schema
