"""What the tests of the documentation look at: its generator, and every page that a person may read."""

from __future__ import annotations

import importlib.util
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Fence:
    """A fenced block: the page, its language, its text."""

    page: str
    language: str
    text: str


@pytest.fixture(scope="session")
def generate() -> ModuleType:
    """docs/generate.py, which no package holds."""
    spec = importlib.util.spec_from_file_location("generate_docs", CHECKOUT / "docs" / "generate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["generate_docs"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def checkout() -> Path:
    return CHECKOUT


@pytest.fixture(scope="session")
def pages() -> dict[str, str]:
    """Every page by its path in the checkout, such as `docs/models.md`."""
    found = [*CHECKOUT.glob("*.md"), *(CHECKOUT / "docs").rglob("*.md")]
    found += [
        path
        for room in ("schemas", "bench", "changes", "acp_agent")
        for path in (CHECKOUT / room).rglob("*.md")
    ]
    carried = [path for path in found if ".peers" not in path.parts]
    return {str(path.relative_to(CHECKOUT)): path.read_text(encoding="utf-8") for path in sorted(carried)}


@pytest.fixture(scope="session")
def fences(pages: dict[str, str]) -> list[Fence]:
    """Every fenced block of every page."""
    return [
        Fence(page, language, text)
        for page, whole in pages.items()
        for language, text in re.findall(r"^```(\w*)\n(.*?)\n```$", whole, re.MULTILINE | re.DOTALL)
    ]
