"""The models a server lists: their names, what each is for, and in which order they are offered.

Owns the reading of `/models` in the shapes servers give it, and the guess by name where a server says nothing. Pure.
Absent: any judgement of how good a model is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, TypeGuard

MAX_NAME: Final = 300

_NOT_FOR_CHAT: Final = re.compile(
    r"embed|(^|[/_-])(bge|gte|e5|minilm)-|minilm|rerank|whisper|transcribe|(^|[/_-])tts([_-]|$)|dall-e|moderation"
    r"|gpt-image|stable-diffusion",
    re.IGNORECASE,
)
"""Names by which such models go everywhere. A wrong guess only moves a model to the end of the list."""


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """One model a server offers.

    chat: False if it is for something else (embeddings, speech, pictures). tools: whether it can call tools. context:
    the tokens it is served with. None where the server does not say."""

    name: str
    chat: bool = True
    tools: bool | None = None
    context: int | None = None

    @property
    def remark(self) -> str:
        """What a person choosing should know; "" if nothing is known."""
        if not self.chat:
            return "not for chat"
        said = [] if self.tools is None else ["calls tools" if self.tools else "cannot call tools"]
        if self.context:
            said.append(f"context {self.context} tokens")
        return ", ".join(said)


def listed(body: object) -> list[ModelEntry] | None:
    """The models of an answer to GET /models in the server's order; None if it is no such list.

    Known shapes: {"data": [{"id": ...}]}, the bare list if something is in it, {"models": [{"id" | "model" | "name":
    ...}]}. A name that cannot be shown and written as it is, or comes twice, is left out."""
    if isinstance(body, dict):
        # A server without a model says null where the empty list should stand.
        items = body.get("data", body.get("models", _ABSENT))
        if items is None and body.get("object") == "list":
            items = []
    else:
        items = body
    if not isinstance(items, list) or (items is body and not items):
        return None
    found: dict[str, ModelEntry] = {}
    for item in items:
        entry = _entry(item)
        if entry is not None:
            found.setdefault(entry.name, entry)
    return None if items and not found else list(found.values())


_ABSENT: Final = object()


def _entry(item: object) -> ModelEntry | None:
    fields = item if isinstance(item, dict) else {"id": item}
    name = next((fields[key] for key in ("id", "model", "name") if isinstance(fields.get(key), str)), None)
    if not isinstance(name, str) or not is_name(name):
        return None
    context = fields.get("max_model_len")
    return ModelEntry(
        name, chat=_NOT_FOR_CHAT.search(name) is None, context=context if is_count(context) else None
    )


def is_name(text: str) -> bool:
    """Whether this can stand in a file and on a terminal as it is."""
    return 0 < len(text) <= MAX_NAME and text.isprintable() and text.strip() == text


def is_count(value: object) -> TypeGuard[int]:
    """Whether this is a whole number above 0."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**12


def in_order(entries: Iterable[ModelEntry]) -> list[ModelEntry]:
    """As offered: what calls tools, what may, what cannot, what is not for chat; the server's order within each."""
    rank = {True: 0, None: 1, False: 2}
    return sorted(entries, key=lambda entry: rank[entry.tools] if entry.chat else 3)


def with_capabilities(entry: ModelEntry, capabilities: object) -> ModelEntry:
    """The entry with what Ollama's /api/show says it can do: "completion", "tools", "embedding", ..."""
    if not isinstance(capabilities, list) or not all(isinstance(one, str) for one in capabilities):
        return entry
    if not capabilities:
        return entry
    return replace(entry, chat="completion" in capabilities, tools="tools" in capabilities)


def same_model(wanted: str, offered: str) -> bool:
    """Whether a server that offers one name takes the other for it.

    Ollama and Docker Model Runner read a name without a tag as `:latest`, and the latter adds its registry."""

    def full(name: str) -> str:
        name = name.removeprefix("docker.io/").removeprefix("index.docker.io/")
        return name if ":" in name.rpartition("/")[2] else f"{name}:latest"

    return wanted == offered or full(wanted) == full(offered)
