"""What a tolerant reader makes of a value that is not valid, where the protocol says that it may.

Three marks, in the bundled schemas as `x-lenient`:
- `error`: a bad value of this member reads as if the member were absent (a required list: as `[]`);
- `items`: a bad item of this list is dropped, the others stay;
- `null`: an explicit null reads as an empty list or map.

And one rule of the whole value: null reads as `{}` where no member is required, since peers answer `null` for an
empty result. Nothing else is tolerated: a required member that is missing stays an error. To send, strict validity
is needed all the same. Called only after the strict check failed; the caller checks again what comes back.

Source: ACP v1 schema, its `x-deserialize-*` annotations.
"""

from __future__ import annotations

from typing import Any

from acp_agent.protocol import schema
from acp_agent.protocol.fragments import Fragment, branches, parts, pointer, types


def read(definition: str, value: object) -> tuple[Any, list[str]]:
    """The value as a tolerant reader sees it, and JSON pointers into the original of what was replaced or dropped.

    `value` itself is never changed; what needs no change is shared with the result. Where tolerance does not help
    the original stays, so the result may still be invalid. Raises KeyError for a definition that does not exist.
    """
    if schema.is_valid(definition, value):
        return value, []
    if value is None and schema.is_valid(definition, {}):
        return {}, [""]
    notes: list[str] = []
    return _read(schema.node(definition), value, "", notes), notes


def _read(fragment: Fragment, value: Any, path: str, notes: list[str]) -> Any:
    """`value`, which does not fit the fragment, with everything below read tolerantly."""
    for part in parts(fragment):
        if isinstance(value, dict):
            value = _read_object(part, value, path, notes)
        elif isinstance(value, list) and "items" in part:
            value = _read_list(part["items"], value, path, notes)
        if "anyOf" in part:
            value = _read_union(part, value, path, notes)
    return value


def _read_object(part: Fragment, value: dict[str, Any], path: str, notes: list[str]) -> dict[str, Any]:
    named = part.get("properties", {})
    others = part.get("additionalProperties")
    changed: dict[str, Any] = {}
    for name, item in value.items():
        inner = named.get(name, others if isinstance(others, dict) else None)
        if inner is None or schema.fits(inner, item):
            continue
        kept = _read_member(inner, item, pointer(path, name), notes, name in part.get("required", ()))
        if kept is not item:
            changed[name] = kept
    if not changed:
        return value
    merged = {**value, **changed}
    return {name: item for name, item in merged.items() if item is not _ABSENT}


class _Absent:
    """Stands for a member that reads as if it were not there."""


_ABSENT = _Absent()


def _read_member(inner: Fragment, item: Any, path: str, notes: list[str], required: bool) -> Any:
    marks = inner.get("x-lenient", ())
    if item is None and "null" in marks:
        notes.append(path)
        return [] if "array" in types(inner) else {}
    below: list[str] = []
    if "items" in marks and isinstance(item, list):
        kept = _good_items(inner["items"], item, path, below)
    else:
        kept = _read(inner, item, path, below)
    if schema.fits(inner, kept):
        notes += below
        return kept
    if "error" in marks:
        notes.append(path)
        return [] if required else _ABSENT
    notes += below
    return kept


def _good_items(inner: Fragment, items: list[Any], path: str, notes: list[str]) -> list[Any]:
    kept = []
    for position, item in enumerate(items):
        place = pointer(path, position)
        below: list[str] = []
        reading = item if schema.fits(inner, item) else _read(inner, item, place, below)
        if schema.fits(inner, reading):
            kept.append(reading)
            notes += below
        else:
            notes.append(place)
    return kept


def _read_list(inner: Fragment, items: list[Any], path: str, notes: list[str]) -> list[Any]:
    return [
        item if schema.fits(inner, item) else _read(inner, item, pointer(path, position), notes)
        for position, item in enumerate(items)
    ]


def _read_union(part: Fragment, value: Any, path: str, notes: list[str]) -> Any:
    """The reading by the branch that is meant; of several, by the first that comes to fit."""
    for branch in branches(part, value):
        below: list[str] = []
        kept = value if schema.fits(branch, value) else _read(branch, value, path, below)
        if schema.fits(branch, kept):
            notes += below
            return kept
    return value
