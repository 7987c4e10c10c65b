"""The outbox by itself: order, counting, waiting, closing; a writer is played by the test."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_agent.transport.outbox import FLUSH_MARK_BYTES, Outbox


def take(outbox: Outbox, count: int) -> bytes:
    """What the kernel would have got from one write of at most count bytes."""
    head = b"".join(bytes(part) for part in outbox.head())[:count]
    outbox.taken(len(head))
    return head


def take_all(outbox: Outbox) -> bytes:
    parts = []
    while outbox.pending_bytes:
        parts.append(take(outbox, 1 << 30))
    return b"".join(parts)


def test_posts_leave_in_the_order_they_were_made() -> None:
    """Order in the code is order on the wire, small and large messages mixed."""
    outbox = Outbox(1 << 20)
    lines = [bytes([65 + index % 26]) * size for index, size in enumerate([3, 200_000, 5, 70_000, 1, 1])]
    for line in lines:
        outbox.post(line)
    assert outbox.pending_bytes == sum(map(len, lines))
    assert take_all(outbox) == b"".join(lines)
    assert outbox.head() == []


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("post"), st.sampled_from([0, 1, 150, 4096, 65_535, 65_536, 200_000])),
            st.tuples(st.just("take"), st.sampled_from([1, 149, 4096, 65_536, 131_072, 1 << 22])),
        ),
        max_size=60,
    )
)
def test_any_mix_of_posts_and_partial_writes_loses_and_reorders_nothing(steps: list[tuple[str, int]]) -> None:
    """Partial writes may end anywhere; what is left keeps its order, and pending_bytes is exact."""
    outbox = Outbox(1 << 20)
    posted, written = bytearray(), bytearray()
    for number, (step, size) in enumerate(steps):
        if step == "post":
            line = bytes([number % 256]) * size
            posted += line
            outbox.post(line)
        else:
            written += take(outbox, size)
        assert outbox.pending_bytes == len(posted) - len(written)
    written += take_all(outbox)
    assert written == posted


def test_a_large_message_is_offered_without_a_copy() -> None:
    """A message of many MiB is kept as the object that was posted."""
    outbox = Outbox(1 << 20)
    large = b"x" * (1 << 20)
    outbox.post(b"small\n")
    outbox.post(large)
    assert outbox.head()[1] is large


def test_small_messages_are_offered_in_few_segments() -> None:
    """20,000 lines of 150 bytes go to the kernel as whole segments, not as 20,000 objects."""
    outbox = Outbox(1 << 30)
    for _ in range(20_000):
        outbox.post(b"y" * 150)
    assert len(outbox.head()) <= 64
    assert outbox.pending_bytes == 3_000_000


def test_the_writer_is_woken_once_until_everything_is_taken() -> None:
    """One flush for everything that is pending, not one a message."""
    outbox = Outbox(1 << 20)
    woken: list[int] = []
    outbox.post(b"before")
    outbox.attach(lambda: woken.append(outbox.pending_bytes), lambda: None)
    assert woken == [6], "what was posted before the writer came counts"
    outbox.post(b"more")
    assert take(outbox, 3) == b"bef"
    outbox.post(b"and more")
    assert woken == [6]
    take_all(outbox)
    outbox.post(b"again")
    assert woken == [6, 5]


def test_drain_below_the_limit_does_not_give_way_to_other_tasks() -> None:
    """The chunk path costs no task switch while the reader keeps up."""

    async def scenario() -> None:
        outbox = Outbox(1 << 20)
        outbox.post(b"z" * (1 << 20))
        ran: list[bool] = []
        asyncio.get_running_loop().call_soon(ran.append, True)
        await outbox.drain()
        assert ran == []

    asyncio.run(scenario())


def test_drain_above_the_flush_mark_asks_the_writer_first() -> None:
    """A producer that awaits nothing still gets its chunks to the reader."""

    async def scenario() -> None:
        outbox = Outbox(1 << 20)
        flushes: list[int] = []
        outbox.attach(lambda: None, lambda: flushes.append(outbox.pending_bytes))
        outbox.post(b"z" * FLUSH_MARK_BYTES)
        assert not outbox.above_flush_mark
        await outbox.drain()
        assert flushes == []
        outbox.post(b"z")
        assert outbox.above_flush_mark
        await outbox.drain()
        assert flushes == [FLUSH_MARK_BYTES + 1]

    asyncio.run(scenario())


def test_drain_waits_until_the_limit_is_reached_from_above() -> None:
    """Backpressure: above the limit a producer waits, at the limit it goes on."""

    async def scenario() -> None:
        outbox = Outbox(10)
        outbox.post(b"x" * 12)
        drained = asyncio.create_task(outbox.drain())
        await asyncio.sleep(0)
        outbox.taken(1)
        await asyncio.sleep(0)
        assert not drained.done()
        outbox.taken(1)
        await drained
        assert outbox.pending_bytes == 10

    asyncio.run(scenario())


def test_a_woken_producer_waits_again_when_another_one_was_faster() -> None:
    """Two producers wake at the same write; the limit still holds for the second one."""

    async def scenario() -> None:
        outbox = Outbox(10)
        outbox.post(b"x" * 12)
        order: list[str] = []

        async def producer(name: str) -> None:
            await outbox.drain()
            order.append(name)
            outbox.post(b"y" * 20)

        first, second = asyncio.create_task(producer("first")), asyncio.create_task(producer("second"))
        await asyncio.sleep(0)
        outbox.taken(5)
        await first
        await asyncio.sleep(0)
        assert order == ["first"]
        outbox.taken(25)
        await second

    asyncio.run(scenario())


def test_a_cancelled_wait_leaves_nothing_behind() -> None:
    """A turn that is cancelled while it waits for the reader is forgotten by the outbox."""

    async def scenario() -> None:
        outbox = Outbox(1)
        outbox.post(b"xx")
        waiting = asyncio.create_task(outbox.drain())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        outbox.taken(2)
        await outbox.drain()

    asyncio.run(scenario())


def test_close_releases_who_waits_and_counts_what_is_lost() -> None:
    """Once the reader is gone nobody waits for it, nothing is kept, and posts are dropped and counted."""

    async def scenario() -> None:
        outbox = Outbox(1)
        outbox.post(b"xx")
        waiting = [asyncio.create_task(outbox.drain()), asyncio.create_task(outbox.flushed())]
        await asyncio.sleep(0)
        outbox.close()
        outbox.close()
        await asyncio.gather(*waiting)
        outbox.post(b"yyy")
        assert outbox.closed
        assert outbox.pending_bytes == 0
        assert outbox.head() == []
        assert outbox.dropped_bytes == 5
        await outbox.drain()

    asyncio.run(scenario())


def test_flushed_waits_for_the_last_byte() -> None:
    """At the end everything pending is waited for, not just what is over the limit."""

    async def scenario() -> None:
        outbox = Outbox(1 << 20)
        outbox.post(b"xx")
        waiting = asyncio.create_task(outbox.flushed())
        await asyncio.sleep(0)
        outbox.taken(1)
        await asyncio.sleep(0)
        assert not waiting.done()
        outbox.taken(1)
        await waiting

    asyncio.run(scenario())


def test_one_large_message_is_no_flood_but_many_answers_are() -> None:
    """A producer that drains may leave the limit and one message pending: that must not stop the reading of cancels."""
    outbox = Outbox(1000)
    outbox.post(b"x" * 1000)
    outbox.post(b"x" * 50_000)
    assert not outbox.flooded
    outbox.post(b"x" * 1001)
    assert outbox.flooded
    take_all(outbox)
    assert not outbox.flooded
    for _ in range(30):
        outbox.post(b"x" * 100)
    assert outbox.flooded
