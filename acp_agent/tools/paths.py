"""From the path a model writes to a file that may be opened.

Owns what counts as a usable path and every sentence about files that cannot be used. Absent on
purpose: walls around the working directory. What a tool may touch is the permission's business, and
bash could go anywhere.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from acp_agent.tools.base import ToolError

_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}

_REASONS = {
    errno.ENOENT: "does not exist",
    errno.EACCES: "may not be accessed: permission denied",
    errno.EPERM: "may not be accessed: operation not permitted",
    errno.ELOOP: "is a symbolic link that leads to itself",
    errno.ENOTDIR: "cannot be there: a part of its path is a file, not a directory",
    errno.EEXIST: "cannot be there: a part of its path is a file, not a directory",
    errno.ENAMETOOLONG: "has a name that is too long for the file system",
    errno.ENOSPC: "cannot be written: there is no space left",
    errno.EROFS: "cannot be written: the file system is read-only",
}


def absolute(path: str, cwd: Path) -> Path:
    """Resolve `~` and a relative path; links stay links, `..` is followed as the system would.

    Raises ToolError for text that is no path.
    """
    if not path:
        raise ToolError("The path is empty.")
    if "\0" in path:
        raise ToolError("The path holds a NUL character.")
    try:
        os.fsencode(path)
        whole = cwd / (Path(path).expanduser() if path.startswith("~") else path)
    except UnicodeError as error:
        raise ToolError("The path holds half of a surrogate pair, which is no character.") from error
    except RuntimeError as error:
        raise ToolError(f"{path.split('/')[0]} is nobody's home directory here.") from error
    if ".." in str(whole) and ".." in whole.parts:
        # Dropping `a/..` as text would be wrong when `a` is a link, and the last part is not followed.
        last = whole.parts[-1]
        parent = os.path.realpath(whole.parent)
        return Path(os.path.realpath(whole)) if last == ".." else Path(parent, last)
    return whole


def locations(path: object, cwd: Path) -> list[str]:
    """The absolute path as a list of one, or [] when it is none."""
    try:
        return [str(absolute(path, cwd))] if isinstance(path, str) else []
    except ToolError:
        return []


def failure(error: OSError, path: Path) -> ToolError:
    """Say in one sentence why the system refused."""
    return ToolError(f"{path} {_REASONS.get(error.errno or 0, f'cannot be used: {error.strerror}')}.")


def require_regular(found: os.stat_result, path: Path) -> None:
    """Raise ToolError unless it is a regular file: a pipe or a device may block for ever."""
    if stat.S_ISREG(found.st_mode):
        return
    kind = _KINDS.get(stat.S_IFMT(found.st_mode), "something special")
    hint = "; list it with bash" if kind == "a directory" else ""
    raise ToolError(f"{path} is {kind}, not a file{hint}.")


def open_to_read(path: Path) -> int:
    """Open a regular file, never waiting for one; return the descriptor. Raises ToolError."""
    try:
        require_regular(path.stat(), path)
        # It may have been replaced meanwhile; O_NONBLOCK keeps even a pipe from holding us up.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise failure(error, path) from error
    try:
        require_regular(os.fstat(descriptor), path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
