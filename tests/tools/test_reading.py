"""read_file: lines within a bound, and a sentence for everything that is no text file."""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path

import pytest

from acp_agent.tools.base import ToolError
from acp_agent.tools.reading import MAX_BYTES, MAX_LINES, ReadFileTool


def read(path: Path, **more: object) -> str:
    result = asyncio.run(ReadFileTool().run({"path": str(path), **more}, Path("/")))
    assert not result.failed
    assert result.diff is None
    return result.output


def refusal(path: Path, **more: object) -> str:
    with pytest.raises(ToolError) as caught:
        read(path, **more)
    return str(caught.value)


def file_with(folder: Path, content: bytes) -> Path:
    path = folder / "file.txt"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("content", ["one\ntwo\n", "no final line end", "crlf\r\n\r\n", "€ 😀\u2028x\n"])
def test_a_small_file_is_given_as_it_is(tmp_path: Path, content: str) -> None:
    """Nothing is added, hidden or normalised."""
    assert read(file_with(tmp_path, content.encode())) == content


def test_offset_and_limit_choose_lines(tmp_path: Path) -> None:
    """Lines count from 1; a note says how to get the rest."""
    path = file_with(tmp_path, b"1\n2\n3\n4\n5")
    assert read(path, offset=2, limit=2) == "2\n3\n[lines 2 to 3; the file goes on, read it with offset 4]"
    assert read(path, offset=4) == "4\n5"
    assert read(path, offset=5, limit=1) == "5"
    assert read(path, limit=10**30) == "1\n2\n3\n4\n5"


@pytest.mark.parametrize(
    ("content", "count"), [(b"1\n2\n", "2 lines"), (b"1\n2", "2 lines"), (b"1", "1 line"), (b"", "0 lines")]
)
def test_an_offset_past_the_end_is_told_with_the_length(tmp_path: Path, content: bytes, count: str) -> None:
    """A sentence the model can use."""
    assert f"has {count}; offset 3 is past its end" in refusal(file_with(tmp_path, content), offset=3)


def test_an_empty_file_is_said_to_be_empty(tmp_path: Path) -> None:
    """Nothing at all would look like a failure."""
    assert read(file_with(tmp_path, b"")) == "[the file is empty]"


def test_many_lines_are_bounded(tmp_path: Path) -> None:
    """Bounded size with a note, and reading on reaches everything."""
    whole = "".join(f"line {at}\n" for at in range(1, 5001))
    path = file_with(tmp_path, whole.encode())
    pieces = []
    offset = 1
    while True:
        piece, _, note = read(path, offset=offset).partition("[")
        pieces.append(piece)
        if not note:
            break
        offset += MAX_LINES
        assert f"offset {offset}]" in note
    assert "".join(pieces) == whole


def test_large_files_are_bounded_in_bytes_by_whole_lines(tmp_path: Path) -> None:
    """A file of some megabytes is read in a thread, and no more than the window is kept."""
    path = file_with(tmp_path, ("é" * 500 + "\n").encode() * 3000)
    shown = read(path)
    assert shown.endswith("\n[lines 1 to 65; the file goes on, read it with offset 66]")
    assert len(shown.encode()) <= MAX_BYTES + 100
    assert read(path, offset=3000) == "é" * 500 + "\n"
    assert "has 3000 lines" in refusal(path, offset=3001)


def test_one_endless_line_is_cut_at_a_character(tmp_path: Path) -> None:
    """B307, B309: one line of some megabytes."""
    path = file_with(tmp_path, b"first\n" + b"x" + "é".encode() * 2_000_000 + b"\nlast\n")
    assert read(path).startswith("first\n[lines 1 to 1;")
    shown = read(path, offset=2)
    text, _, note = shown.partition("\n")
    assert text == "x" + "é" * ((MAX_BYTES - 1) // 2)
    assert note.startswith("[line 2 is longer than 65536 bytes and was cut here")
    assert "offset 3" in note
    assert read(path, offset=3) == "last\n"


def test_a_byte_order_mark_is_not_shown(tmp_path: Path) -> None:
    """B317: the model's text does not show it."""
    assert read(file_with(tmp_path, b"\xef\xbb\xbfone\n")) == "one\n"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"ab\0cd", "is a binary file"),
        (b"x" * 10_000 + b"\0", "is a binary file"),
        ("Gr\xfc\xdfe\n".encode("latin-1"), "is not UTF-8 text (byte 0xFC in line 1)"),
        (b"one\ntwo \xe2\x82", "is not UTF-8 text (byte 0xE2 in line 2)"),
        ("text".encode("utf-16"), "is UTF-16 text, not UTF-8"),
    ],
)
def test_what_is_not_utf_8_is_refused(tmp_path: Path, content: bytes, sentence: str) -> None:
    """Binary file, other encodings: a sentence, no replacement characters."""
    assert sentence in refusal(file_with(tmp_path, content))


def test_what_is_no_file_is_one_sentence_and_never_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Missing file, directory, FIFO, socket, device, loop, file as folder, long name."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "file").write_text("x")
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(tmp_path)  # the path of a socket is short
        listener.bind("socket")
    for name, sentence in {
        "absent": "does not exist.",
        ".": "is a directory, not a file; list it with bash.",
        "pipe": "is a named pipe, not a file.",
        "socket": "is a socket, not a file.",
        "loop": "is a symbolic link that leads to itself.",
        "file/x": "a part of its path is a file",
        "x" * 300: "too long for the file system",
    }.items():
        assert sentence in refusal(tmp_path / name)
    assert "is a device" in refusal(Path("/dev/zero"))


def test_a_file_that_claims_to_be_empty_is_read(tmp_path: Path) -> None:
    """The files of /proc have length 0 and content."""
    assert "Name:" in read(Path("/proc/self/status"))


def test_a_small_file_is_read_without_a_thread(tmp_path: Path) -> None:
    """The fast path: the call is done without giving the loop a turn."""
    path = file_with(tmp_path, b"x")
    call = ReadFileTool().run({"path": str(path)}, tmp_path)
    with pytest.raises(StopIteration) as finished:
        call.send(None)
    assert finished.value.value.output == "x"
