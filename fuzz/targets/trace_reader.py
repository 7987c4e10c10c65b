"""What was recorded reads back, up to any cut; any other file is read as its format says, or refused in a sentence.

Documented: TraceError with the number of the line. A full file, or one cut short, says that it is not complete.
"""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator
from strategies.json_values import changed
from strategies.text import BYTES

from acp_agent import bundled
from acp_agent.transport.trace import Direction, Record, TraceError, TraceReader, TraceWriter

_HEADER = {
    "format": "acp-trace",
    "version": 1,
    "started": "2026-08-22T09:30:00.250Z",
    "programs": {"agent": "a"},
}
_LINES = [
    {"t": 0.5, "dir": "C>A", "text": "x\n"},
    {"t": 1, "dir": "A>C", "base64": "/w=="},
    {"t": 1.5, "dir": "C>A", "end": True},
    {"t": 2.0, "full": True},
]
_WRITES = st.lists(
    st.tuples(st.sampled_from([str(one) for one in Direction]), BYTES | st.just("é".encode() * 33_000)),
    max_size=5,
)
_RECORDED = st.fixed_dictionaries(
    {"writes": _WRITES, "most": st.just(1 << 30) | st.integers(0, 600), "cut": st.integers(0, 700)}
)
_LINE = st.one_of(
    st.sampled_from(_LINES).flatmap(changed).map(lambda value: json.dumps(value).encode()),
    BYTES,
)
_FILES = st.builds(
    lambda header, lines, end: b"\n".join([header, *lines]) + end,
    st.one_of(st.just(_HEADER), changed(_HEADER)).map(lambda value: json.dumps(value).encode()) | BYTES,
    st.lists(_LINE, max_size=4),
    st.sampled_from([b"", b"\n"]),
)

cases = _RECORDED | st.fixed_dictionaries({"file": _FILES})


def check(case: Any) -> None:
    """Record and read it cut short; or read a file of whatever origin."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.jsonl"
        if "file" in case:
            path.write_bytes(case["file"])
            _read_any(path)
        else:
            _record(path, case["writes"], case["most"])
            _read_cut(path, case["cut"])


def _record(path: Path, writes: list[tuple[str, bytes]], most: int) -> None:
    ticks = iter(range(1_000_000))
    with TraceWriter(path, {"agent": "a"}, max_bytes=most, clock=lambda: float(next(ticks))) as writer:
        for direction, data in writes:
            writer.record(Direction(direction), data)
    records, complete, error = _read(path)
    if error is not None:
        assert most < 200, "a header that was written is read"
        return
    full = b'"full":true' in path.read_bytes().splitlines()[-1]
    assert complete is not full
    for direction in Direction:
        sent = b"".join(data for name, data in writes if name == direction)
        came = b"".join(record.data for record in records if record.direction is direction)
        assert sent.startswith(came)
        assert full or came == sent


def _read_cut(path: Path, place: int) -> None:
    """A recorder that was killed leaves the beginning of what it would have left."""
    whole = path.read_bytes()
    records, complete, _ = _read(path)
    path.write_bytes(whole[: place % (len(whole) + 1)])
    left = path.read_bytes()
    found, still_complete, error = _read(path)
    if error is not None:
        assert left.count(b"\n") <= 1, error
        return
    assert found == records[: len(found)]
    lines = left.count(b"\n") - 1 - (b'"full":true' in left)
    assert len(found) >= lines
    assert still_complete == (left.endswith(b"\n") and (complete or left != whole))


def _read_any(path: Path) -> None:
    records, _, error = _read(path)
    fitting = 0
    for line in path.read_bytes().split(b"\n")[1:-1]:
        if not _fits(line):
            break
        fitting += b'"full"' not in line
    assert len(records) >= fitting or (error is not None and "line 1 " in str(error)), (
        "a good record is refused"
    )
    for record in records:
        assert isinstance(record.data, bytes)
        assert record.t >= 0
    ends = sum(not record.data for record in records)
    assert ends == 0 or b'"end"' in path.read_bytes(), "an empty slice would be the end of a direction"


def _read(path: Path) -> tuple[list[Record], bool, TraceError | None]:
    """The records up to the first that is none; whether they are all; what is wrong."""
    records: list[Record] = []
    try:
        with TraceReader(path) as reader:
            assert reader.header.started.tzinfo is not None, "the moment of the start is one in UTC"
            for record in reader:
                records.append(record)
            return records, reader.complete, None
    except TraceError as error:
        assert "line" in str(error) or "version" in str(error)
        assert "\n" not in str(error)
        return records, False, error


def _fits(line: bytes) -> bool:
    """Whether the schema takes it as a record, and its base64 is some."""
    try:
        value = json.loads(line, parse_constant=str)
        line.decode()
        return _validator().is_valid(value) and "format" not in value and not _is_bad_base64(value)
    except (ValueError, RecursionError):
        return False


def _is_bad_base64(value: dict[str, Any]) -> bool:
    return value.get("base64", "/w==") != "/w=="


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(bundled.load("trace.json"))
