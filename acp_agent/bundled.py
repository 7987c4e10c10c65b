"""The JSON Schemas that come with the package: inside it when installed, beside it in a checkout.

Deliberately absent: compiling and explaining them; each room that has something to check does that.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import orjson

_PACKAGE = Path(__file__).resolve().parent


@cache
def load(relative_path: str) -> dict[str, Any]:
    """One schema file, parsed; relative_path is below `schemas/`. The result is shared: not to be changed.

    Raises FileNotFoundError if there is no such file.
    """
    content: dict[str, Any] = orjson.loads((_directory() / relative_path).read_bytes())
    return content


@cache
def _directory() -> Path:
    installed = _PACKAGE / "schemas"
    return installed if installed.is_dir() else _PACKAGE.parent / "schemas"
