"""What counts as an absolute path on the wire, whatever system the peer runs on, and where paths stand (R-020).

Deliberately absent: whether such a path exists, or means anything here; the `command` of an MCP server, which
common clients send as a bare name (docs/decisions.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from acp_agent.protocol.verdicts import Verdict, violation

# The member of a request's params that is one path. A member of that name elsewhere is none: unknown members pass.
_ONE_PATH: Final = {
    "session/new": "cwd",
    "session/load": "cwd",
    "session/resume": "cwd",
    "session/list": "cwd",
    "fs/read_text_file": "path",
    "fs/write_text_file": "path",
    "terminal/create": "cwd",
}
_WITH_DIRECTORIES: Final = frozenset({"session/new", "session/load", "session/resume"})


def is_absolute(path: str) -> bool:
    """Whether a path starts at a root: `/x`, `C:\\x`, `C:/x` or `\\\\server\\x`."""
    if path.startswith(("/", "\\\\")):
        return True
    drive, colon, root = path[:1], path[1:2], path[2:3]
    return drive.isascii() and drive.isalpha() and colon == ":" and root in {"\\", "/"}


def judge_paths(method: str, params: dict[str, Any]) -> Iterator[Verdict]:
    """Findings on the paths in valid params of a request."""
    member = _ONE_PATH.get(method)
    path = params.get(member) if member is not None else None
    if path is not None and not is_absolute(path):
        sentence = f"{member} is an absolute path"
        yield violation("params_invalid", sentence, method=method, path=f"/{member}")
    if method in _WITH_DIRECTORIES:
        for index, directory in enumerate(params.get("additionalDirectories") or ()):
            if not is_absolute(directory):
                pointer = f"/additionalDirectories/{index}"
                yield violation("params_invalid", "a path is absolute", method=method, path=pointer)


def judge_call_paths(call: dict[str, Any], session_id: str, pointer: str) -> Iterator[Verdict]:
    """Findings on the paths in a tool call or its update: its locations and its diffs. pointer: where it stands."""
    for index, location in enumerate(call.get("locations") or ()):
        if not is_absolute(location["path"]):
            place = f"{pointer}/locations/{index}/path"
            yield violation("params_invalid", "a path is absolute", sessionId=session_id, path=place)
    for index, item in enumerate(call.get("content") or ()):
        if item["type"] == "diff" and not is_absolute(item["path"]):
            place = f"{pointer}/content/{index}/path"
            yield violation("params_invalid", "a path is absolute", sessionId=session_id, path=place)
