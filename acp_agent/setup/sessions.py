"""`acp-agent sessions`: look at stored conversations, take one along, remove one.

Owns the list's form, the question before a removal, and the exit codes: 0 done, 1 not done, 130 left by Ctrl-C at the
question. Deliberately absent: files and locks (agent/store.py), the conversation as text (conversation.py), and any
writing into a conversation.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Final, TextIO

from acp_agent.agent.store import SessionInfo, SessionStore, StoreError
from acp_agent.agent.stored_session import summary_of
from acp_agent.client.screen import visible
from acp_agent.config import SessionSettings
from acp_agent.setup.conversation import NOTHING_SAID, as_markdown, as_text

DONE: Final = 0
NOT_DONE: Final = 1
INTERRUPTED: Final = 130

STANDARD_OUTPUT: Final = Path("-")
_HEADS: Final = ("ID", "SAVED", "MESSAGES", "TITLE")


class StoredSessions:
    """The stored sessions of one working directory, for a person. Every method returns an exit code.

    A sentence about what went wrong goes to `err`. Raises OSError only if `out` cannot be written.
    """

    def __init__(
        self,
        settings: SessionSettings,
        cwd: Path,
        out: TextIO,
        err: TextIO,
        ask: Callable[[str], str] = input,
    ) -> None:
        """ask: shows a question and gives the answer; raises EOFError at the end of the input."""
        self._store = SessionStore(settings.dir)
        self._settings = settings
        self._cwd = cwd
        self._out = out
        self._err = err
        self._ask = ask

    def list(self) -> int:
        """One line each, the newest first; one that cannot be loaded with the reason.

        A terminal gets a line of heads, and lines no longer than it is wide.
        """
        try:
            sessions = self._store.list(self._cwd)
        except StoreError as error:
            return self._fail(str(error))
        if not sessions:
            self._tell(f"no sessions are stored in {self._store.directory(self._cwd)}{self._why_none()}")
            return DONE
        rows = [self._row(session) for session in sessions]
        columns = None
        if self._out.isatty():
            rows.insert(0, _HEADS)
            columns = _columns(self._out)
        width = max(len(row[2]) for row in rows)
        for first, saved, messages, title in rows:
            line = f"{first:<24}  {saved:<16}  {messages:>{width}}  {title}"
            print(line if columns is None else _cut(line, columns), file=self._out)
        return DONE

    def show(self, session_id: str) -> int:
        """The conversation, as the chat would show it."""
        try:
            stored = self._store.load(self._cwd, session_id)
        except StoreError as error:
            return self._fail(str(error))
        for piece in as_text(stored):
            self._out.write(piece)
        return DONE

    def export(self, session_id: str, output: Path | None) -> int:
        """The conversation as Markdown, into a new file; to `out` without a name or with `-`."""
        try:
            stored = self._store.load(self._cwd, session_id)
        except StoreError as error:
            return self._fail(str(error))
        if output is None or output == STANDARD_OUTPUT:
            for piece in as_markdown(stored):
                self._out.write(piece)
            return DONE
        text = "".join(as_markdown(stored))
        try:
            with output.open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
        except FileExistsError:
            return self._fail(f"{output} exists already; choose another name, or remove it first")
        except OSError as error:
            return self._fail(f"{output} cannot be written: {error.strerror or error}")
        print(visible(f"Wrote {output}"), file=self._out)
        return DONE

    def delete(self, session_id: str, *, sure: bool) -> int:
        """Remove a stored session, after a question unless the person is sure.

        One that another process has open stays. While the question stands, no other process can open it.
        """
        try:
            if not os.path.lexists(self._store.path(self._cwd, session_id)):
                self._store.load(self._cwd, session_id)  # for its sentence
            self._store.acquire(self._cwd, session_id)
            try:
                if not sure and not self._agrees(session_id):
                    print("Nothing was deleted.", file=self._out)
                    return NOT_DONE
                self._store.delete(self._cwd, session_id)
            finally:
                self._store.release(session_id)
        except StoreError as error:
            return self._fail(str(error))
        except KeyboardInterrupt:
            print("\nNothing was deleted.", file=self._out)
            return INTERRUPTED
        print(f"Deleted {session_id}.", file=self._out)
        return DONE

    # -- pieces

    def _row(self, session: SessionInfo) -> tuple[str, str, str, str]:
        saved = session.updated.astimezone().strftime("%Y-%m-%d %H:%M")
        if session.problem is not None:
            return session.id, saved, "-", visible(session.problem)
        title = visible(session.title) or NOTHING_SAID
        if session.cwd is not None and not self._store.directory(self._cwd).is_relative_to(self._cwd):
            # Such a directory holds the sessions of every project.
            title = f"{title}  ({visible(str(session.cwd))})"
        return session.id, saved, str(session.messages), title

    def _why_none(self) -> str:
        if self._settings.enabled:
            return ""
        return "; they are not kept unless the configuration says so: [sessions] enabled = true"

    def _agrees(self, session_id: str) -> bool:
        try:
            question = f"Delete session {session_id}, {self._described(session_id)}? [y/N] "
            return self._ask(visible(question)).strip().lower() in ("y", "yes")
        except EOFError:
            print(file=self._out)
            return False

    def _described(self, session_id: str) -> str:
        try:
            session = summary_of(self._store.load(self._cwd, session_id))
        except StoreError:
            return "which cannot be loaded"
        title = f'"{session.title}"' if session.title else NOTHING_SAID
        return f"{session.messages} message{'' if session.messages == 1 else 's'}, {title}"

    def _tell(self, sentence: str) -> None:
        print(f"acp-agent: {visible(sentence)}", file=self._err)

    def _fail(self, sentence: str) -> int:
        self._tell(sentence)
        return NOT_DONE


def _columns(out: TextIO) -> int | None:
    """How wide the terminal is; None if it does not say."""
    try:
        return os.get_terminal_size(out.fileno()).columns or None
    except (OSError, ValueError):
        return None


def _cut(line: str, columns: int) -> str:
    """The line, or as much of it as fits, in cells: wide characters take two, marks above others none."""
    used = 0
    for position, char in enumerate(line):
        used += _cells(char)
        if used > columns:
            while _cells_of(line[:position]) > columns - 1:
                position -= 1
            return line[:position].rstrip() + "…"
    return line


def _cells_of(text: str) -> int:
    return sum(_cells(char) for char in text)


def _cells(char: str) -> int:
    if unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1
