"""Threads that are used again while the program runs, and left behind when it ends."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest

from acp_agent.agent.threads import UnawaitedThreads


def test_what_is_called_in_a_thread_gives_its_result_or_its_error() -> None:
    """The loop's `to_thread` works as with any executor; arguments of all kinds arrive."""

    async def scenario() -> None:
        asyncio.get_running_loop().set_default_executor(UnawaitedThreads())
        assert await asyncio.to_thread(divmod, 7, 2) == (3, 1)
        assert await asyncio.to_thread(int, "ff", base=16) == 255
        with pytest.raises(ZeroDivisionError):
            await asyncio.to_thread(divmod, 1, 0)

    asyncio.run(scenario())


def test_an_idle_thread_is_used_again() -> None:
    """A thousand tool calls, one after the other, do not start a thousand threads."""
    threads = UnawaitedThreads()
    seen = set()
    for _ in range(100):
        seen.add(threads.submit(threading.get_ident).result())
        while not threads._idle.acquire(blocking=False):
            pass
        threads._idle.release()
    assert len(seen) == 1


def test_two_at_once_have_a_thread_each() -> None:
    """A thread that hangs keeps nobody else from theirs."""
    threads = UnawaitedThreads()
    gate = threading.Event()
    held = threads.submit(gate.wait, 20)
    assert threads.submit(lambda: 5).result(20) == 5
    gate.set()
    assert held.result(20) is True


def test_a_cancelled_call_does_not_run() -> None:
    """One that was cancelled before a thread took it is left out."""
    threads = UnawaitedThreads()
    ran = []
    gate = threading.Event()
    threads.submit(gate.wait, 20)
    future = threads.submit(ran.append, 1)
    if future.cancel():
        gate.set()
        assert threads.submit(lambda: None).result(20) is None
        assert ran == []
    gate.set()


def test_the_end_waits_for_no_thread() -> None:
    """The loop closes and Python ends while a thread hangs."""
    code = (
        "import asyncio, time\n"
        "from acp_agent.agent.threads import UnawaitedThreads\n"
        "async def main():\n"
        "    asyncio.get_running_loop().set_default_executor(UnawaitedThreads())\n"
        "    task = asyncio.create_task(asyncio.to_thread(time.sleep, 600))\n"
        "    await asyncio.sleep(0)\n"
        "    await asyncio.sleep(0)\n"
        "    task.cancel()\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], timeout=60, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
