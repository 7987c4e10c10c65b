"""The schemas that come with the package."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from acp_agent import bundled

CHECKOUT = Path(__file__).resolve().parents[1]
FILES = sorted(path.relative_to(CHECKOUT / "schemas") for path in (CHECKOUT / "schemas").rglob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=str)
def test_every_schema_of_the_checkout_comes_with_the_package(path: Path) -> None:
    """Installed from a wheel, in which each file has to be named, or not."""
    assert bundled.load(path.as_posix()) == json.loads(
        (CHECKOUT / "schemas" / path).read_text(encoding="utf-8")
    )


def test_a_file_that_is_not_there_is_said() -> None:
    """As the system has it."""
    with pytest.raises(FileNotFoundError):
        bundled.load("nothing.json")
