"""One stored session: its values, and the JSON text they are kept as.

Owns the format (schemas/session.json) and every sentence about a text that does not have it.
Deliberately absent: files and directories (store.py), and what a session is while it is open (session.py).

    StoreError    a session cannot be stored, read or opened, for a reason a person can act on
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from acp_agent import bundled
from acp_agent.jsonrpc.codec import DecodeError, decode, encode
from acp_agent.llm.model import Message
from acp_agent.printable import printable
from acp_agent.protocol import schema

FORMAT_VERSION: Final = 1
SCHEMA: Final = "session.json"
_LONGEST_TITLE: Final = 80
_LONGEST_SHOWN_ID: Final = 60


class StoreError(Exception):
    """The text is one sentence without a full stop, fit for `error.data.error` and for a warning."""


@dataclass(frozen=True, slots=True)
class StoredSession:
    """What a file holds. cwd: where the session worked then; created, updated: aware, UTC.

    messages: in the OpenAI chat form with the marks `summary` and `failed`, the system prompt included.
    """

    id: str
    cwd: Path
    created: datetime
    updated: datetime
    messages: list[Message]


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A stored session as a list shows it.

    title: the first user text as one printable line, "" if there is none. messages: their number without the
    system prompt. problem: why the file cannot be loaded; all but id and updated (then the file's time) is empty.
    """

    id: str
    updated: datetime
    title: str = ""
    messages: int = 0
    cwd: Path | None = None
    problem: str | None = None


def is_session_id(text: str) -> bool:
    """Whether a text has the form of a session id (session.py makes them)."""
    return re.fullmatch("[0-9]{8}-[0-9]{6}-[0-9a-f]{8}", text) is not None


def check_id(text: str) -> None:
    """Raise StoreError unless a text has the form of a session id.

    Nothing else is ever made part of a path, so no id can lead out of the directory of the sessions.
    """
    if not is_session_id(text):
        shown = printable(text[:_LONGEST_SHOWN_ID]) + ("..." if len(text) > _LONGEST_SHOWN_ID else "")
        raise StoreError(f'"{shown}" is not a session id: they have the form YYYYMMDD-HHMMSS-xxxxxxxx')


def to_json(
    session_id: str, cwd: Path, created: datetime, updated: datetime, messages: Sequence[Message]
) -> bytes:
    """The text of a file. What no text can hold, half of a surrogate pair, becomes U+FFFD.

    Raises StoreError for messages that do not have the format: what is written can be read again.
    """
    document: dict[str, Any] = {
        "version": FORMAT_VERSION,
        "id": session_id,
        "cwd": str(cwd),
        "created": _moment(created),
        "updated": _moment(updated),
        "messages": list(messages),
    }
    try:
        text = encode(document)
    except ValueError as error:
        raise StoreError(f"session {session_id} cannot be stored: {error}") from None
    # The validator gives up on half a surrogate pair, so a refusal is looked at again in the written form.
    if not schema.is_valid_document(SCHEMA, document):
        written = decode(text)
        if not schema.is_valid_document(SCHEMA, written):
            raise StoreError(f"session {session_id} cannot be stored: {_misfit(written)}")
    return text


def from_json(session_id: str, text: bytes) -> StoredSession:
    """The session that a file named for this id holds. Raises StoreError."""
    try:
        document = decode(text)
    except DecodeError as error:
        raise _damaged(session_id, f"it is not JSON ({error})") from None
    version = document.get("version") if isinstance(document, dict) else None
    if isinstance(version, int | float) and version > FORMAT_VERSION:
        raise StoreError(
            f"session {session_id} was stored by a newer acp-agent, in format {version}; this one reads format "
            f"{FORMAT_VERSION}"
        )
    if not schema.is_valid_document(SCHEMA, document):
        raise _damaged(session_id, _misfit(document))
    if document["id"] != session_id:
        raise _damaged(session_id, f"it holds session {document['id']}")
    try:
        created, updated = (datetime.fromisoformat(document[name]) for name in ("created", "updated"))
    except ValueError as error:
        raise _damaged(session_id, f"a time in it does not exist ({error})") from None
    return StoredSession(session_id, Path(document["cwd"]), created, updated, document["messages"])


def summary_of(stored: StoredSession) -> SessionInfo:
    """What a list shows of it."""
    count = sum(message["role"] != "system" for message in stored.messages)
    return SessionInfo(stored.id, stored.updated, _title(stored.messages), count, stored.cwd)


def _title(messages: Sequence[Message]) -> str:
    for message in messages:
        if message["role"] == "user" and "summary" not in message:
            # A long text is not split whole for its beginning.
            words = str(message["content"])[: 4 * _LONGEST_TITLE].split()
            line = printable(" ".join(words))
            return line if len(line) <= _LONGEST_TITLE else line[: _LONGEST_TITLE - 1].rstrip() + "…"
    return ""


def _moment(time: datetime) -> str:
    return time.astimezone(UTC).isoformat().removesuffix("+00:00") + "Z"


def _damaged(session_id: str, what: str) -> StoreError:
    return StoreError(f"the file of session {session_id} is damaged: {what}")


def _misfit(document: object) -> str:
    """Where a document leaves the format; the place only, since the rest may be anything."""
    # Only a refusal needs more than a yes or no.
    from jsonschema_rs import Draft202012Validator

    try:
        error = next(Draft202012Validator(bundled.load(SCHEMA)).iter_errors(document), None)
        place = "".join(f"/{step}" for step in error.instance_path) if error is not None else ""
    except (ValueError, TypeError, RecursionError, OverflowError):
        place = ""
    return f"{place or 'it'} is not as schemas/{SCHEMA} says"
