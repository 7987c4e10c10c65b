"""The services a client may offer: files and terminals, by the letter of the protocol and nothing else.

Part of the raw client; stands alone, so that it can't share a mistake with the harness.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

Params = dict[str, Any]


class Refusal(Exception):
    """An error response: code and message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Files:
    """fs/read_text_file and fs/write_text_file below the session's directory."""

    def __init__(self, root: str) -> None:
        self.root = Path(root).resolve()
        self.unsaved: dict[str, str] = {}
        """Text of open editors that is not on the disk yet, by path."""

    def read(self, params: Params) -> Params:
        """Lines are counted from 1; a limit is a number of lines."""
        path = self._path(params)
        text = self.unsaved.get(str(path))
        if text is None:
            try:
                text = path.read_bytes().decode("utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise Refusal(-32002, f"Resource not found: {error}") from error
        line, limit = params.get("line"), params.get("limit")
        if line is not None or limit is not None:
            if line is not None and line < 1:
                raise Refusal(-32602, "Invalid params: lines are counted from 1")
            start = (line or 1) - 1
            lines = text.splitlines(keepends=True)[start:]
            text = "".join(lines if limit is None else lines[:limit])
        return {"content": text}

    def write(self, params: Params) -> Params:
        """Makes the file and its directories if they are not there."""
        path = self._path(params)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(params["content"].encode("utf-8"))
        except OSError as error:
            raise Refusal(-32603, f"Internal error: {error}") from error
        self.unsaved.pop(str(path), None)
        return {}

    def _path(self, params: Params) -> Path:
        path = Path(params["path"])
        if not path.is_absolute():
            raise Refusal(-32602, "Invalid params: the path is relative")
        if not path.resolve().is_relative_to(self.root):
            raise Refusal(-32602, "Invalid params: the path is outside the session's directory")
        return path


class Terminal:
    """One command with its output."""

    def __init__(self, params: Params, cwd: str) -> None:
        self._limit: int | None = params.get("outputByteLimit")
        self._output = b""
        self._cut = False
        env = os.environ | {item["name"]: item["value"] for item in params.get("env") or ()}
        self._process = subprocess.Popen(
            [params["command"], *(params.get("args") or ())],
            cwd=params.get("cwd") or cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        pipe = self._process.stdout
        assert pipe is not None
        with pipe:
            while data := os.read(pipe.fileno(), 65536):
                self._output += data
                if self._limit is not None and len(self._output) > self._limit + 4:
                    # Four bytes more than the limit, so that a character boundary can be found.
                    self._output, self._cut = self._output[-(self._limit + 4) :], True

    def output(self) -> Params:
        """What there is, within the limit, in whole characters; the exit once there is one."""
        ended = self._process.poll() is not None
        if ended:
            self._reader.join(2)
        data, cut = self._output, self._cut
        if self._limit is not None and len(data) > self._limit:
            data, cut = self.end_of(data, self._limit), True
        result: Params = {"output": data.decode("utf-8", "replace"), "truncated": cut}
        if ended:
            result["exitStatus"] = self.exit_status()
        return result

    def end_of(self, data: bytes, limit: int) -> bytes:
        """As much of the end as the limit allows, in whole characters."""
        data = data[len(data) - limit :]
        while data and data[0] & 0xC0 == 0x80:
            data = data[1:]
        return data

    @property
    def has_ended(self) -> bool:
        """Whether the command has ended."""
        return self._process.poll() is not None

    def exit_status(self) -> Params:
        """The code or the signal."""
        code = self._process.returncode
        if code < 0:
            return {"exitCode": None, "signal": signal.Signals(-code).name}
        return {"exitCode": code, "signal": None}

    def kill(self) -> None:
        """End the command and all it has started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)


class Terminals:
    """The terminals of a connection. waiting: requests for an exit that has not come yet."""

    terminal = Terminal

    def __init__(self, cwd: str) -> None:
        self._cwd = cwd
        self._live: dict[str, Terminal] = {}
        self._count = 0
        self.waiting: list[tuple[Any, Terminal]] = []

    def create(self, params: Params) -> Params:
        """Start a command."""
        if params.get("cwd") and not Path(params["cwd"]).is_absolute():
            raise Refusal(-32602, "Invalid params: cwd is relative")
        try:
            terminal = self.terminal(params, self._cwd)
        except OSError as error:
            raise Refusal(-32603, f"Internal error: {error}") from error
        self._count += 1
        self._live[f"term-{self._count}"] = terminal
        return {"terminalId": f"term-{self._count}"}

    def find(self, params: Params) -> Terminal:
        """The terminal that a request names."""
        terminal = self._live.get(params["terminalId"])
        if terminal is None:
            raise Refusal(-32002, "Resource not found: no such terminal")
        return terminal

    def release(self, params: Params) -> Params:
        """Kill what runs, forget the id."""
        self.find(params).kill()
        self.forget(params)
        return {}

    def forget(self, params: Params) -> None:
        """From now on the id is unknown."""
        del self._live[params["terminalId"]]

    def close(self) -> None:
        """End everything."""
        for terminal in self._live.values():
            terminal.kill()
        self._live.clear()
