"""Lines from pipes, files and terminals, without holding up the loop."""

from __future__ import annotations

import asyncio
import os
import pty
import tty
from pathlib import Path

from acp_agent.client.keyboard import Keyboard


def lines_of(descriptor: int) -> list[str | None]:
    async def all_lines() -> list[str | None]:
        keyboard = Keyboard(descriptor)
        found = []
        async with asyncio.timeout(10):
            while (line := await keyboard.line()) is not None:
                found.append(line)
        return [*found, await keyboard.line()]

    return asyncio.run(all_lines())


def test_a_pipe_gives_its_lines_and_then_none() -> None:
    read_end, write_end = os.pipe()
    os.write(write_end, "eins\n\nzwei\r\nd€i".encode())
    os.close(write_end)
    assert lines_of(read_end) == ["eins", "", "zwei", "d€i", None]
    os.close(read_end)


def test_a_file_and_the_null_device_are_read_too(tmp_path: Path) -> None:
    """They can't be waited for; they never wait."""
    path = tmp_path / "prompts"
    path.write_bytes(b"a\n" + b"x" * 200_000 + b"\nb")
    with path.open() as file:
        assert lines_of(file.fileno()) == ["a", "x" * 200_000, "b", None]
    with Path(os.devnull).open() as null:
        assert lines_of(null.fileno()) == [None]


def test_waiting_for_a_line_does_not_hold_up_anything_else() -> None:
    async def scenario() -> None:
        read_end, write_end = os.pipe()
        keyboard = Keyboard(read_end)
        waiting = asyncio.ensure_future(keyboard.line())
        for _ in range(10):
            await asyncio.sleep(0)
        assert not waiting.done()
        os.write(write_end, b"now\n")
        async with asyncio.timeout(10):
            assert await waiting == "now"
        os.close(read_end)
        os.close(write_end)

    asyncio.run(scenario())


def test_nothing_is_lost_when_who_waits_is_cancelled() -> None:
    """A question that the agent takes back must not swallow what was typed."""

    async def scenario() -> None:
        read_end, write_end = os.pipe()
        keyboard = Keyboard(read_end)
        for _ in range(20):
            waiting = asyncio.ensure_future(keyboard.line())
            await asyncio.sleep(0)
            os.write(write_end, b"x")
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.wait([waiting])
        os.write(write_end, b"\n")
        async with asyncio.timeout(10):
            assert await keyboard.line() == "x" * 20
        os.close(read_end)
        os.close(write_end)

    asyncio.run(scenario())


def test_what_was_typed_before_a_question_does_not_answer_it() -> None:
    async def scenario() -> None:
        person, terminal = pty.openpty()
        tty.setraw(terminal)  # the test wants each byte where it put it
        keyboard = Keyboard(terminal)
        assert keyboard.is_terminal
        os.write(person, b"1\n")
        keyboard.forget_typed()
        os.write(person, b"2\n")
        async with asyncio.timeout(10):
            assert await keyboard.line() == "2"
        os.close(person)
        async with asyncio.timeout(10):
            assert await keyboard.line() is None
        os.close(terminal)

    asyncio.run(scenario())


def test_a_pipe_keeps_what_was_written_before_a_question() -> None:
    """There it is the answer."""
    read_end, write_end = os.pipe()
    os.write(write_end, b"1\n")
    keyboard = Keyboard(read_end)
    keyboard.forget_typed()
    assert asyncio.run(keyboard.line()) == "1"
    os.close(read_end)
    os.close(write_end)
