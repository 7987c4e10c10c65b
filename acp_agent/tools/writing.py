"""The write_file tool, and the one way in which a tool changes a file.

A file is written beside its place, synced, and renamed into it, so a reader sees the old or the new
text and nothing between. Kept: mode, owner where the system lets us, a byte-order mark, and links: the
file a link leads to is written, also when it does not exist yet. Not kept: hard links; the other names
go on showing the old text, since writing through them could change files far away, such as a package
store. Where nothing can be put beside it (a single file mounted into a container), it is written in
place. A read-only file is refused, although a rename would get past that.

Absent on purpose: walls around the working directory, and backups.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import errno
import os
import stat
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from acp_agent.tools import paths
from acp_agent.tools.base import Arguments, Counted, FileDiff, ToolError, ToolKind, ToolResult, text

MAX_DIFF_BYTES = 4 * 1024 * 1024
"""Old and new text together; above it there is no diff, for it would pass over the wire whole."""

_BOM = codecs.BOM_UTF8
_NO_ROOM_BESIDE = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV})

T = TypeVar("T")


class Permit:
    """Leave to change a file, given to a thread; withdrawn by a cancel, and then for good.

    Once `withdraw` has returned the file is either changed or will not be.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._withdrawn = False

    @contextlib.contextmanager
    def used(self) -> Iterator[None]:
        """Hold the permit while changing. Raises ToolError if it was withdrawn."""
        with self._lock:
            if self._withdrawn:
                raise ToolError("The change was cancelled.")
            yield

    def withdraw(self) -> None:
        with self._lock:
            self._withdrawn = True


async def with_permit(work: Callable[[Permit], T]) -> T:
    """Run `work` in a thread, for a sync may take as long as a disk likes; a cancel takes the permit away."""
    permit = Permit()
    try:
        return await asyncio.to_thread(work, permit)
    except asyncio.CancelledError:
        permit.withdraw()
        raise


@dataclass(frozen=True, slots=True)
class Target:
    """The file that is meant, after all links, and how it was found: None if there is none yet."""

    path: Path
    found: os.stat_result | None


def target(path: Path) -> Target:
    """Follow the links. Raises ToolError for what is there and is no regular file."""
    try:
        # os.path: Path.resolve raises other errors in other versions for a link that leads to itself.
        real = Path(os.path.realpath(path))
        if real.is_symlink():
            raise ToolError(f"{path} is a symbolic link that leads to itself.")
        try:
            found = real.stat()
        except FileNotFoundError:
            return Target(real, None)
    except OSError as error:
        raise paths.failure(error, path) from error
    paths.require_regular(found, path)
    return Target(real, found)


def replace(place: Target, content: bytes, permit: Permit) -> None:
    """Give the file this content, atomically; missing folders are made. Raises ToolError.

    A file that changed since `target` found it is left alone.
    """
    try:
        if place.found is None:
            place.path.parent.mkdir(parents=True, exist_ok=True)
        elif not os.access(place.path, os.W_OK):
            raise ToolError(f"{place.path} is read-only; change its mode with bash if it is to be written.")
        try:
            _rename_into(place, content, permit)
        except OSError as error:
            if place.found is None or error.errno not in _NO_ROOM_BESIDE:
                raise
            _write_in_place(place, content, permit)
    except OSError as error:
        raise paths.failure(error, place.path) from error


def _rename_into(place: Target, content: bytes, permit: Permit) -> None:
    beside = place.path.parent / f".acp-agent-{os.urandom(8).hex()}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    # A new file gets what the umask leaves; a copy of a private one is private from the beginning.
    descriptor = os.open(beside, flags, 0o666 if place.found is None else 0o600)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor
            file.write(content)
            file.flush()
            if place.found is not None:
                _take_over(descriptor, place.found)
            os.fsync(descriptor)
        with permit.used():
            _require_unchanged(place)
            beside.replace(place.path)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
    _sync_folder(place.path.parent)


def _take_over(descriptor: int, found: os.stat_result) -> None:
    """Owner first: a change of owner clears the set-uid bits of the mode."""
    mine = os.fstat(descriptor)
    if (mine.st_uid, mine.st_gid) != (found.st_uid, found.st_gid):
        with contextlib.suppress(PermissionError):
            os.fchown(descriptor, found.st_uid, found.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(found.st_mode))


def _write_in_place(place: Target, content: bytes, permit: Permit) -> None:
    with permit.used():
        _require_unchanged(place)
        descriptor = os.open(place.path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor
            file.write(content)
            file.truncate()
            file.flush()
            os.fsync(descriptor)


def _require_unchanged(place: Target) -> None:
    try:
        now = place.path.lstat()
    except FileNotFoundError:
        now = None
    if _identity(now) != _identity(place.found):
        raise ToolError(f"{place.path} was changed by somebody else meanwhile; read it again.")


def _identity(found: os.stat_result | None) -> tuple[int, ...] | None:
    return found and (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable, where the file system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def content_of(path: Path, limit_bytes: int) -> bytes:
    """Read a file, at most limit_bytes of it. Raises ToolError."""
    try:
        with open(paths.open_to_read(path), "rb") as file:  # noqa: PTH123 - a descriptor
            return file.read(limit_bytes)
    except OSError as error:
        raise paths.failure(error, path) from error


class WriteFileTool:
    """Give a file this text, and make it if it is not there."""

    name = "write_file"
    kind: ToolKind = "edit"
    counts_as: Counted = "file operation"
    needs_permission = True
    description = (
        "Write a UTF-8 text file, replacing all that was in it; missing folders are made. "
        "To change a part of a file use edit_file."
    )
    parameters: dict[str, object] = {  # noqa: RUF012 - the protocol of Tool is read-only
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "minLength": 1,
                "description": "The file; a relative path begins at the working directory.",
            },
            "content": {"type": "string", "description": "The whole text of the file."},
        },
        "required": ["path", "content"],
    }

    def title(self, arguments: Arguments) -> str:
        return f"write_file: {text(arguments, 'path')}"

    def locations(self, arguments: Arguments, cwd: Path) -> list[str]:
        return paths.locations(arguments.get("path"), cwd)

    async def run(self, arguments: Arguments, cwd: Path) -> ToolResult:
        """Write. The diff is None when the old text is not UTF-8 or both together are too long."""
        path = paths.absolute(text(arguments, "path"), cwd)
        written = text(arguments, "content")
        content = encoded(written, "content")
        return await with_permit(lambda permit: _write(path, written, content, permit))


def encoded(value: str, name: str) -> bytes:
    """Encode text of the model's. Raises ToolError for half of a surrogate pair."""
    try:
        return value.encode()
    except UnicodeEncodeError as error:
        raise ToolError(f"{name} holds half of a surrogate pair, which is no character.") from error


def _write(path: Path, written: str, content: bytes, permit: Permit) -> ToolResult:
    place = target(path)
    old: bytes | None = None
    if place.found is not None:
        old = content_of(place.path, MAX_DIFF_BYTES + 1)
        if old.startswith(_BOM) and not content.startswith(_BOM):
            content = _BOM + content
    replace(place, content, permit)
    note = "new file, " if old is None else ""
    return ToolResult(f"wrote {path} ({note}{len(content)} bytes)", diff=diff_of(path, old, written))


def diff_of(path: Path, old: bytes | None, new: str) -> FileDiff | None:
    """The change as a diff, or None when it cannot be shown: not UTF-8, or too long."""
    if len(old or b"") + len(new.encode()) > MAX_DIFF_BYTES:
        return None
    try:
        old_text = None if old is None else old.decode().removeprefix("\ufeff")
    except UnicodeDecodeError:
        return None
    return FileDiff(str(path), old_text, new.removeprefix("\ufeff"))
