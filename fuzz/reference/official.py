"""The official schema as an oracle: the pinned file, and validators of it.

It is the copy that $ACP_OFFICIAL_SCHEMA names, else one beside the checkout, else what schemas/official.py fetches
once and keeps.
"""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

from jsonschema_rs import Draft202012Validator

_CHECKOUT: Final = Path(__file__).resolve().parents[2]
_BESIDE: Final = _CHECKOUT.parent / "shared" / "protocol" / "schema-official" / "schema.json"


@cache
def definitions() -> dict[str, Any]:
    """All definitions of the official file, as they stand there."""
    spec = importlib.util.spec_from_file_location("official", _CHECKOUT / "schemas" / "official.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    named = os.environ.get("ACP_OFFICIAL_SCHEMA")
    given = Path(named) if named else _BESIDE if _BESIDE.is_file() else None
    found: dict[str, Any] = json.loads(module.obtain(given))["$defs"]
    return found


@cache
def validator(definition: str) -> Callable[[object], bool]:
    """What the official schema says of a value; integer formats are asserted as ranges."""
    document = {"$ref": f"#/$defs/{definition}", "$defs": with_ranges(definitions())}
    return Draft202012Validator(document).is_valid


def with_ranges(node: Any) -> Any:
    """The official schema with its integer formats asserted. Said here again, apart from schemas/derive.py."""
    if isinstance(node, list):
        return [with_ranges(item) for item in node]
    if not isinstance(node, dict):
        return node
    node = {key: with_ranges(value) for key, value in node.items()}
    size = node.get("format")
    if isinstance(size, str) and size.lstrip("u") in ("int16", "int32", "int64"):
        bits = int(size[-2:])
        low, high = (0, 2**bits - 1) if size.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        node["allOf"] = [*node.get("allOf", []), {"minimum": low, "maximum": high}]
    return node
