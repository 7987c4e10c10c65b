"""JSON values as a TOML file: what a person, or a tool, may have written into one.

Deliberately absent: what the values mean, and TOML that stands for no such value; damage.py makes that of it.
"""

from __future__ import annotations

import json
from typing import Any, Final

DATE: Final = "\ue000date"
"""A text that is spelled as a date without quotes: TOML has values that JSON does not."""


def spelled(document: dict[str, Any], *, tables: bool) -> str:
    """A TOML file of the document. None cannot be said and is left out; tables: whether tables have headers."""
    lines = []
    for key, value in document.items():
        if tables and isinstance(value, dict):
            continue
        if value is not None:
            lines.append(f"{_key(key)} = {_value(value)}")
    for key, value in document.items():
        if tables and isinstance(value, dict):
            lines.append(f"[{_key(key)}]")
            lines += [f"{_key(name)} = {_value(one)}" for name, one in value.items() if one is not None]
    return "\n".join(lines) + "\n"


def _key(key: str) -> str:
    return key if key.isascii() and key.isalnum() else _text(key)


def _text(text: str) -> str:
    # A JSON string but for two characters: DEL is escaped, half a character has no spelling at all.
    whole = "".join("?" if "\ud800" <= char <= "\udfff" else char for char in text)
    return json.dumps(whole, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if value == DATE and isinstance(value, str):
        return "2026-12-01T07:32:00Z"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return f"[{', '.join(_value(one) for one in value if one is not None)}]"
    members = [f"{_key(key)} = {_value(one)}" for key, one in value.items() if one is not None]
    return f"{{ {', '.join(members)} }}"
