"""The raw record: what was written comes back byte for byte, and a broken file is explained."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from acp_agent.transport import trace
from acp_agent.transport.trace import Direction, Record, TraceError, TraceReader, TraceWriter

SCHEMA = Path(__file__).resolve().parents[2] / "schemas" / "trace.json"
C, A = Direction.CLIENT_TO_AGENT, Direction.AGENT_TO_CLIENT


def write(path: Path, *slices: tuple[Direction, bytes], max_bytes: int = 1 << 30) -> None:
    ticks = iter(range(1_000_000))
    with TraceWriter(path, {"agent": "a 1"}, max_bytes=max_bytes, clock=lambda: float(next(ticks))) as writer:
        for direction, data in slices:
            writer.record(direction, data)


def read(path: Path) -> tuple[list[Record], bool]:
    with TraceReader(path) as reader:
        return list(reader), reader.complete


def test_bytes_come_back_as_they_were(tmp_path: Path) -> None:
    """Text, bytes that are no text, half a line, and the end of a direction, each with its time."""
    path = tmp_path / "t.jsonl"
    write(path, (C, b'{"a":1}\n{"b"'), (A, b"\xff\x00"), (A, "é\r\n".encode()), (C, b""))
    assert read(path) == (
        [
            Record(1.0, C, b'{"a":1}\n{"b"'),
            Record(2.0, A, b"\xff\x00"),
            Record(3.0, A, "é\r\n".encode()),
            Record(4.0, C, b""),
        ],
        True,
    )


def test_the_header_names_programs_and_start(tmp_path: Path) -> None:
    """A reader knows the format, its version, who took part, and when in UTC."""
    path = tmp_path / "t.jsonl"
    write(path)
    with TraceReader(path) as reader:
        assert reader.header.programs == {"agent": "a 1"}
        assert reader.header.started.utcoffset() is not None
    first = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    assert (first["format"], first["version"]) == ("acp-trace", 1)


@given(slices=st.lists(st.tuples(st.sampled_from([C, A]), st.binary(max_size=200_000)), max_size=4))
def test_any_stream_survives(
    slices: list[tuple[Direction, bytes]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Joined, the slices of a direction are its stream, and every line fits the bundled schema."""
    path = tmp_path_factory.mktemp("trace") / "t.jsonl"
    write(path, *slices)
    records, complete = read(path)
    assert complete
    for side in (C, A):
        sent = b"".join(data for direction, data in slices if direction is side)
        assert b"".join(record.data for record in records if record.direction is side) == sent
    validator = Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert all(validator.is_valid(json.loads(line)) for line in path.read_bytes().splitlines())


def test_a_long_text_is_cut_between_characters(tmp_path: Path) -> None:
    """A megabyte of text stays text, in records of bounded size."""
    path = tmp_path / "t.jsonl"
    write(path, (A, ("x" + "€" * 400_000).encode()))
    lines = [json.loads(line) for line in path.read_bytes().splitlines()[1:]]
    assert len(lines) > 10
    assert all(len(line["text"].encode()) <= trace.SLICE_BYTES for line in lines)


def test_a_last_line_cut_short_is_left_out(tmp_path: Path) -> None:
    """A recorder that was killed leaves a usable trace that says it is incomplete."""
    path = tmp_path / "t.jsonl"
    write(path, (C, b"one"), (C, b"two"))
    path.write_bytes(path.read_bytes()[:-4])
    records, complete = read(path)
    assert ([record.data for record in records], complete) == ([b"one"], False)
    path.write_bytes(path.read_bytes().partition(b"\n")[0])
    assert read(path) == ([], False)


def test_at_its_limit_the_recording_stops_and_says_so(tmp_path: Path) -> None:
    """A client that floods must not fill the disk."""
    path = tmp_path / "t.jsonl"
    write(path, *((C, b"x" * 100) for _ in range(100)), max_bytes=1000)
    records, complete = read(path)
    assert 0 < len(records) < 10
    assert not complete
    assert path.stat().st_size < 1200


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "line 1 is not a JSON object"),
        (b"[]\n", "line 1 is not a JSON object"),
        (b'{"t":1}\n', "line 1 is not the header of a trace"),
        (b'{"format":"acp-trace","version":2,"programs":{}}\n', "this trace has another version than 1"),
        (b'{"format":"acp-trace","version":1,"programs":{}}\n', "line 1 has no start time"),
        (b"HEADER{}\n", "line 2 is not a record of a trace"),
        (b'HEADER{"t":1,"dir":"X","text":"a"}\n', "line 2 is not a record of a trace"),
        (b'HEADER{"t":1,"dir":"C>A","base64":"?"}\n', "line 2 is not a record of a trace"),
        (b'HEADER{"t":true,"dir":"C>A","text":"a"}\n', "line 2 is not a record of a trace"),
        (b'HEADER{"t":1,"dir":"C>A","text":5}\n', "line 2 is not a record of a trace"),
        (b'HEADER{"t":1,"dir":"C>A","text":""}\n', "line 2 is not a record of a trace"),
        (b'HEADER{"t":1,"dir":"C>A","base64":""}\n', "line 2 is not a record of a trace"),
        (b'HEADER{"t":1,"dir":"C>A","base64":"\xc3\xa9"}\n', "line 2 is not a record of a trace"),
        (b'HEADER{"t":1,"dir":["C>A"],"text":"a"}\n', "line 2 is not a record of a trace"),
        (b'HEADER{"t":-1,"dir":"C>A","text":"a"}\n', "line 2 is not a record of a trace"),
        (
            b'{"format":"acp-trace","version":1,"started":"2026-08-22T09:30:00","programs":{}}\n',
            "line 1 has no start time",
        ),
        (
            b'{"format":"acp-trace","version":1,"started":"0001-01-01T00:00:00+05:00","programs":{}}\n',
            "line 1 has no start time",
        ),
        (b"HEADER" + b"x" * 600_000 + b"\n", "line 2 is longer than any record of a trace"),
    ],
)
def test_a_broken_file_is_explained(tmp_path: Path, content: bytes, sentence: str) -> None:
    """One sentence with the line's number."""
    header = b'{"format":"acp-trace","version":1,"started":"2026-08-22T09:30:00Z","programs":{}}\n'
    path = tmp_path / "t.jsonl"
    path.write_bytes(content.replace(b"HEADER", header))
    with pytest.raises(TraceError) as raised:
        read(path)
    assert str(raised.value) == sentence


def test_a_full_disk_ends_the_recording_and_nothing_else() -> None:
    """The connection that is being recorded goes on."""
    path = Path("/dev/full")
    if not path.exists():  # a system without it has no other way to show this
        return
    writer = TraceWriter(path, {})
    writer.record(C, b"x")
    writer.close()
    assert isinstance(writer.error, OSError)


def test_a_record_is_in_the_file_at_once(tmp_path: Path) -> None:
    """Whoever kills the recorder finds everything up to that moment."""
    path = tmp_path / "t.jsonl"
    writer = TraceWriter(path, {})
    before = path.stat().st_size
    writer.record(C, b"now")
    assert path.stat().st_size > before
    writer.close()
    writer.record(C, b"after the end")
