"""What the client under the fuzzer answers when the agent asks: permission, files, terminals, elicitations.

Files are those of the scratch directory; terminals are made up, since the agent's conduct is tested and not a shell.
Deliberately absent: when an answer is sent (player.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from acp_agent.fuzzing.program import Reaction
from acp_agent.jsonrpc.errors import ErrorCode

_NOT_FOUND: Final = -32002
_MOST_FILE_BYTES: Final = 1024 * 1024


class Services:
    """The client's side of its capabilities. root: where its files are."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._terminals = 0

    def answer(self, method: str, params: Mapping[str, Any], reaction: Reaction) -> dict[str, Any]:
        """The members of a response beside its id: `result` or `error`."""
        refuse = reaction is Reaction.REFUSE
        match method:
            case "session/request_permission":
                return {"result": {"outcome": _choice(params, refuse=refuse)}}
            case "elicitation/create":
                return {"result": {"action": "cancel" if refuse else "decline"}}
            case "fs/read_text_file" | "fs/write_text_file" | "terminal/create" if refuse:
                return _error(ErrorCode.INTERNAL_ERROR, "the client could not do it")
            case "fs/read_text_file":
                return self._read(params)
            case "fs/write_text_file":
                return self._write(params)
            case "terminal/create":
                self._terminals += 1
                return {"result": {"terminalId": f"terminal-{self._terminals}"}}
            case "terminal/output":
                status = {"exitCode": 0, "signal": None}
                return {"result": {"output": "done\n", "truncated": False, "exitStatus": status}}
            case "terminal/wait_for_exit":
                return {"result": {"exitCode": 0, "signal": None}}
            case "terminal/kill" | "terminal/release":
                return {"result": {}}
            case _:
                return _error(ErrorCode.METHOD_NOT_FOUND, "Method not found")

    def _read(self, params: Mapping[str, Any]) -> dict[str, Any]:
        path = self._inside(params)
        if path is None or not path.is_file():
            return _error(_NOT_FOUND, "Resource not found")
        lines = path.read_bytes()[:_MOST_FILE_BYTES].decode("utf-8", "replace").splitlines(keepends=True)
        first = max((params.get("line") or 1) - 1, 0)
        limit = params.get("limit")
        kept = lines[first:] if limit is None else lines[first : first + limit]
        return {"result": {"content": "".join(kept)}}

    def _write(self, params: Mapping[str, Any]) -> dict[str, Any]:
        path = self._inside(params)
        if path is None or path.is_dir():
            return _error(_NOT_FOUND, "Resource not found")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(str(params.get("content", "")), encoding="utf-8", errors="replace", newline="")
        except (OSError, ValueError):
            return _error(ErrorCode.INTERNAL_ERROR, "the file cannot be written")
        return {"result": {}}

    def _inside(self, params: Mapping[str, Any]) -> Path | None:
        """The path that is asked for, if it is in the scratch directory."""
        try:
            path = Path(str(params.get("path", ""))).resolve()
        except (OSError, ValueError):
            return None
        return path if path.is_relative_to(self._root.resolve()) else None


def nonsense(number: int, id_: Any) -> dict[str, Any]:
    """Hostile: a response that answers nothing properly; which one depends on the number."""
    forms: tuple[dict[str, Any], ...] = (
        {"id": id_, "result": None},
        {"id": id_, "result": {"outcome": {"outcome": "selected", "optionId": "never offered"}}},
        {"id": id_, "result": 1, "error": {"code": 1, "message": "both"}},
        {"id": id_, "error": {"code": -32603, "message": "Internal error"}},
        {"id": id_, "error": "text"},
        {"id": id_},
        {"id": id_, "result": {"outcome": {"outcome": "canceled"}}},
    )
    return forms[number % len(forms)]


def _choice(params: Mapping[str, Any], *, refuse: bool) -> dict[str, Any]:
    options = [option for option in params.get("options") or () if isinstance(option, Mapping)]
    wanted = "reject" if refuse else "allow"
    fitting = [option for option in options if str(option.get("kind", "")).startswith(wanted)] or options
    return (
        {"outcome": "selected", "optionId": fitting[0].get("optionId")}
        if fitting
        else {"outcome": "cancelled"}
    )


def _error(code: int, message: str) -> dict[str, Any]:
    return {"error": {"code": int(code), "message": message}}
