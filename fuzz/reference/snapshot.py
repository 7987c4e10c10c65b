"""The whole state below an object as plain values, to see that nothing has changed."""

from __future__ import annotations

from typing import Any


def snapshot(value: Any) -> Any:
    """The whole state below a value as plain data, for comparing before and after."""
    seen: dict[int, int] = {}

    def look(item: Any) -> Any:
        if isinstance(item, str | int | float | bytes | None):
            return item
        if id(item) in seen:
            return f"<{seen[id(item)]}>"
        seen[id(item)] = len(seen)
        if isinstance(item, dict):
            return {repr(key): look(inner) for key, inner in item.items()}
        if isinstance(item, set | frozenset):
            return sorted(map(repr, item))
        if isinstance(item, list | tuple):
            return [look(inner) for inner in item]
        names = [name for kind in type(item).__mro__ for name in getattr(kind, "__slots__", ())]
        members = {name: getattr(item, name) for name in names} | getattr(item, "__dict__", {})
        return {"": type(item).__name__, **{name: look(inner) for name, inner in members.items()}}

    return look(value)
