"""Whole tool calls out of the pieces servers send.

Owns the one question "which call does this piece belong to", for servers that leave out the index, give every call
index 0, give no id or the same id to all, send the name late or in pieces, or glue several calls into one. Absent:
whether a tool of that name exists and whether its arguments fit; malformed arguments are passed on as they came.

How a piece finds its call, first rule that fits:

1. It has the id of a call: that call, unless the indexes differ (two calls under one id).
2. It has an id no call has: a new call, unless it goes on with a call that still lacks an id, or the server gives each
   piece of one index a fresh id.
3. It has no id: the newest call of its index, or the newest call at all when it has no index.
4. Whatever was found is left for a new call when the piece names another tool than the call does and the call's
   arguments are already a complete JSON value.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from acp_agent.llm.model import ToolCallReady

UNNAMED = "unnamed_tool"
"""Name of a call that has arguments but no name: no such tool exists, so the model is told instead of left waiting."""

_SCANNER = json.JSONDecoder()


@dataclass(slots=True)
class _Call:
    index: int | None
    call_id: str | None
    name: str = ""
    arguments: list[str] = field(default_factory=list)

    def text(self) -> str:
        return "".join(self.arguments)


class ToolCallAssembler:
    """Collects the tool call pieces of one answer."""

    def __init__(self, tool_names: Collection[str] = (), used_ids: Iterable[str] = ()) -> None:
        """tool_names: the offered tools, to tell a second name from the rest of a first one.

        used_ids: ids of the conversation so far, which no new call may have."""
        self._known = frozenset(tool_names)
        self._used = set(used_ids)
        self._calls: list[_Call] = []

    def __bool__(self) -> bool:
        """Whether any call has begun."""
        return bool(self._calls)

    def add(self, pieces: object) -> None:
        """Take the `tool_calls` member of one delta or message; anything that is not a list of objects is ignored."""
        if not isinstance(pieces, list):
            return
        fresh: list[_Call] = []
        for piece in pieces:
            if isinstance(piece, dict):
                self._add_piece(piece, fresh)

    def _add_piece(self, piece: dict[str, object], fresh: list[_Call]) -> None:
        # Some servers leave out the wrapper and put name and arguments beside the id.
        function = piece.get("function")
        inner: dict[str, object] = function if isinstance(function, dict) else piece
        index = piece.get("index")
        index = index if isinstance(index, int) and not isinstance(index, bool) else None
        raw_id = piece.get("id")
        call_id = str(raw_id) if isinstance(raw_id, str | int) and raw_id not in ("", True, False) else None
        raw_name = inner.get("name")
        name = raw_name if isinstance(raw_name, str) else ""
        arguments = _as_text(inner.get("arguments"))
        if not (name or arguments or call_id):
            return
        call = self._find(index, call_id, name, arguments)
        if call is not None and call_id is None and index is None and name and call in fresh:
            call = None  # two objects of one list are two calls, unless something says otherwise
        if call is None:
            call = _Call(index, call_id)
            self._calls.append(call)
            fresh.append(call)
        if call.call_id is None:
            call.call_id = call_id
        if call.index is None:
            call.index = index
        call.name = self._joined_name(call.name, name)
        if arguments:
            call.arguments.append(arguments)

    def _find(self, index: int | None, call_id: str | None, name: str, arguments: str) -> _Call | None:
        if call_id is not None:
            same = next((call for call in reversed(self._calls) if call.call_id == call_id), None)
            if same is not None:
                if index is not None and index == same.index and name == same.name:
                    return same  # two values in it are parted at the end
                two_under_one_id = None not in (index, same.index) and index != same.index
                return None if two_under_one_id or self._names_another(same, name, arguments) else same
        call = self._newest_at(index, has_name=bool(name))
        if call is None:
            return None
        if call_id is not None and call.call_id is not None:
            fresh_id_each_piece = index is not None and index == call.index and not name and bool(call.name)
            return call if fresh_id_each_piece and not _is_complete(call.text()) else None
        if call_id is not None and name and call.name:
            return None
        return None if self._names_another(call, name, arguments) else call

    def _newest_at(self, index: int | None, *, has_name: bool) -> _Call | None:
        if index is None:
            return self._calls[-1] if self._calls else None
        for call in reversed(self._calls):
            if call.index == index:
                return call
        # An index that only turns up later still means the call that began without one.
        if self._calls and self._calls[-1].index is None and not has_name:
            return self._calls[-1]
        return None

    def _names_another(self, call: _Call, name: str, arguments: str) -> bool:
        if not name or not call.name:
            return False
        so_far = call.text()
        if not so_far:
            # No arguments yet: the rest of a name in pieces, unless both are tools in their own right.
            return name != call.name and name in self._known and call.name in self._known
        if not _is_complete(so_far):
            return False
        # A closing piece may repeat the name; if arguments follow after all, the two values are parted at the end.
        return name != call.name or bool(arguments)

    def _joined_name(self, so_far: str, piece: str) -> str:
        if not piece or piece == so_far:
            return so_far
        if piece in self._known and piece.startswith(so_far):
            return piece  # the server repeats the name from its beginning, longer each time
        return so_far + piece

    def ends_inside_a_call(self) -> bool:
        """Whether the newest call has begun its arguments but not ended them."""
        if not self._calls:
            return False
        text = self._calls[-1].text().strip()
        return bool(text) and not _is_complete(text) and len(_values(text)) == 0

    def finish(self) -> list[ToolCallReady]:
        """Return the calls in the order they began, each with an id of its own and arguments that are not empty."""
        ready: list[ToolCallReady] = []
        for call in self._calls:
            name = encodable(call.name).strip()
            texts = _argument_texts(encodable(call.text()))
            if not name and texts == ["{}"]:
                continue  # an id alone: a piece that announces nothing
            for position, text in enumerate(texts):
                wanted = encodable(call.call_id or "") if position == 0 else ""
                ready.append(ToolCallReady(self._own_id(wanted), name or UNNAMED, text))
        return ready

    def _own_id(self, wanted: str) -> str:
        if not wanted or wanted in self._used:
            # Nine letters and digits: the strictest form any server asks for.
            number = len(self._used) + 1
            while (wanted := f"call{number:05d}") in self._used:
                number += 1
        self._used.add(wanted)
        return wanted


def encodable(text: str) -> str:
    """Return text with surrogate pairs joined and lone surrogates as U+FFFD, so that it can be written as UTF-8."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def is_json_object(text: str) -> bool:
    """Whether text is exactly one JSON object."""
    return _loaded(text).__class__ is dict


def _as_text(arguments: object) -> str:
    if isinstance(arguments, str):
        return arguments
    if isinstance(arguments, dict):  # the object itself instead of its text
        return json.dumps(arguments, ensure_ascii=False)
    return ""


def _loaded(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_complete(text: str) -> bool:
    if not text.rstrip().endswith(("}", '"', "]", "null")):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _values(text: str) -> list[str]:
    """Return the texts of the JSON objects that text consists of, [] if anything else is in it."""
    found: list[str] = []
    at = 0
    while True:
        while at < len(text) and text[at] in " \t\r\n,;":
            at += 1
        if at == len(text):
            return found
        if text[at] != "{":
            return []
        try:
            _, end = _SCANNER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return []
        found.append(text[at:end])
        at = end


def _argument_texts(text: str) -> list[str]:
    """Return the arguments of the one or more calls that text is.

    Several objects stuck together are several calls of the same tool, except that an empty object before a full one is
    a place holder, and an object sent twice is one call."""
    stripped = text.strip()
    if not stripped or stripped == "null":
        return ["{}"]
    value = _loaded(stripped)
    if isinstance(value, str):
        # JSON text wrapped in a JSON string once more.
        inner = value.strip()
        return [inner] if is_json_object(inner) else ([text] if inner else ["{}"])
    if value is not None:
        return [text]
    values = list(dict.fromkeys(_values(stripped)))
    full = [one for one in values if _loaded(one)]
    return full or values[:1] or [text]
