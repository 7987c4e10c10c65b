"""The raw record of one connection: every byte of both directions, with its time, in a file of JSON lines.

    {"format":"acp-trace","version":1,"started":"2026-08-22T09:30:00.250Z","programs":{"agent":"...","client":"..."}}
    {"t":0.000312,"dir":"C>A","text":"{\\"jsonrpc\\":..."}     a slice as it was read or written, if it is UTF-8
    {"t":0.000618,"dir":"A>C","base64":"..."}                 a slice that is not
    {"t":1.250113,"dir":"C>A","end":true}                     that direction has ended
    {"t":2.000001,"full":true}                                the file's limit is reached: nothing more is recorded

Slices are no lines: joined in order they are the stream. Owns the format (schemas/trace.json), a writer that never
holds more than a slice, and a reader that survives a last line cut short by a crash.
Deliberately absent: what the bytes mean, and any opinion on them.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

import orjson

FORMAT: Final = "acp-trace"
VERSION: Final = 1
DEFAULT_MAX_BYTES: Final = 512 * 1024 * 1024
"""The size of a file at which recording stops."""

SLICE_BYTES: Final = 64 * 1024
"""The longest slice in one record; what is longer becomes several."""

_MAX_LINE_BYTES: Final = 8 * SLICE_BYTES
# A character of UTF-8 has at most three more bytes after its first.
_CONTINUATIONS: Final = 3


class Direction(StrEnum):
    """Who wrote it: the client to the agent, or the agent to the client."""

    CLIENT_TO_AGENT = "C>A"
    AGENT_TO_CLIENT = "A>C"


class TraceError(Exception):
    """A file that is no trace, or has a broken line in its middle; the text is one sentence with the line's number."""


@dataclass(frozen=True, slots=True)
class Header:
    """The first line. started: in UTC. programs: "agent" and "client" to whatever is known of them."""

    started: datetime
    programs: dict[str, str]


@dataclass(frozen=True, slots=True)
class Record:
    """One slice. t: seconds since the start. data: b"" for the end of that direction, as reads give it."""

    t: float
    direction: Direction
    data: bytes


class TraceWriter:
    """Writes one trace. Each record is in the file, for other processes too, when the call returns.

    clock: seconds that only grow. A write that fails (a full disk) ends the recording and is kept in `error`: a
    record of a connection must not end the connection. Raises OSError if the file can't be made.
    """

    def __init__(
        self,
        path: Path,
        programs: Mapping[str, str],
        *,
        max_bytes: int = DEFAULT_MAX_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.error: OSError | None = None
        self._clock = clock
        self._start = clock()
        self._left = max_bytes
        self._file: IO[bytes] | None = path.open("wb", buffering=0)
        started = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._write({"format": FORMAT, "version": VERSION, "started": started, "programs": dict(programs)})

    def record(self, direction: Direction, data: bytes) -> None:
        """Record a slice of any length; b"" is the end of that direction."""
        if self._file is None:
            return
        t = round(self._clock() - self._start, 6)
        if not data:
            self._write({"t": t, "dir": direction, "end": True})
        for slice_ in _slices(data):
            self._write({"t": t, "dir": direction, **_spell(slice_)})

    def close(self) -> None:
        """Close the file. A second call does nothing."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, value: dict[str, Any]) -> None:
        if self._file is None:
            return
        line = orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
        self._left -= len(line)
        full = self._left < 0
        if full:
            line = orjson.dumps({"t": value.get("t", 0.0), "full": True}, option=orjson.OPT_APPEND_NEWLINE)
        try:
            self._file.write(line)
        except OSError as error:
            self.error = error
            full = True
        if full:
            self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class TraceReader:
    """Reads one trace, record by record. `header` is known at once; `complete` after the last record.

    complete: False when the recording stopped at its limit, or the last line was cut short.
    Raises TraceError for what is no trace, OSError for what can't be opened.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        line = self._file.readline(_MAX_LINE_BYTES)
        self.complete = line.endswith(b"\n")
        try:
            self.header = _read_header(line)
        except TraceError:
            self._file.close()
            raise

    def __iter__(self) -> Iterator[Record]:
        """The records in order. Raises TraceError at a line that is none, unless it is the last and unended."""
        number = 1
        while line := self._file.readline(_MAX_LINE_BYTES):
            number += 1
            if not line.endswith(b"\n"):
                if self._file.read(1):
                    raise TraceError(f"line {number} is longer than any record of a trace")
                self.complete = False
                return
            record = _read_record(line, number)
            if record is None:
                self.complete = False
            else:
                yield record

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _slices(data: bytes) -> Iterator[bytes]:
    """Cut into slices, between characters where that is possible, so that text stays text."""
    start = 0
    while start < len(data):
        end = min(start + SLICE_BYTES, len(data))
        if end < len(data):
            for back in range(_CONTINUATIONS + 1):
                if data[end - back] & 0xC0 != 0x80:  # the first byte of a character
                    end -= back
                    break
        yield data[start:end]
        start = end


def _spell(data: bytes) -> dict[str, str]:
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def _read_header(line: bytes) -> Header:
    value = _read_object(line, 1)
    programs = value.get("programs")
    if value.get("format") != FORMAT or not isinstance(programs, dict):
        raise TraceError("line 1 is not the header of a trace")
    if value.get("version") != VERSION:
        raise TraceError(f"this trace has another version than {VERSION}")
    started = _moment(value.get("started"))
    if started is None:
        raise TraceError("line 1 has no start time")
    return Header(started, {str(name): str(program) for name, program in programs.items()})


def _moment(text: object) -> datetime | None:
    """A time with its zone, in UTC; None for anything else."""
    try:
        moment = datetime.fromisoformat(text) if isinstance(text, str) else None
        return moment.astimezone(UTC) if moment is not None and moment.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def _read_record(line: bytes, number: int) -> Record | None:
    """The record of a line; None for the mark that the file is full."""
    value = _read_object(line, number)
    t = value.get("t")
    if isinstance(t, int | float) and not isinstance(t, bool) and t >= 0:
        if value.get("full") is True:
            return None
        try:
            return Record(float(t), Direction(value["dir"]), _read_data(value))
        except (KeyError, ValueError):
            pass
    raise TraceError(f"line {number} is not a record of a trace")


def _read_data(value: dict[str, Any]) -> bytes:
    """The bytes of a slice. Raises ValueError; an empty slice would be the end of its direction, and is none."""
    for name, read in (("text", str.encode), ("base64", _unspelled)):
        slice_ = value.get(name)
        if isinstance(slice_, str) and slice_:
            return read(slice_)
    if value.get("end") is True:
        return b""
    raise ValueError("neither text nor base64 nor end")


def _unspelled(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _read_object(line: bytes, number: int) -> dict[str, Any]:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        value = None
    if not isinstance(value, dict):
        raise TraceError(f"line {number} is not a JSON object")
    return value
