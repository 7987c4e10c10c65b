"""Where a signal has come."""

from __future__ import annotations

import gc
import sys

import hypothesis.internal.conjecture.junkdrawer as hypothesis_internals

from acp_agent.fuzzing.collector import held, in_collector, may_raise


def test_a_callback_of_the_collector_is_recognised_however_deep() -> None:
    """By its name: Hypothesis gives no other sign."""
    seen: list[bool] = []

    def gc_callback() -> None:
        (lambda: seen.append(in_collector(sys._getframe())))()

    gc_callback()
    seen.append(in_collector(sys._getframe()))
    seen.append(in_collector(None))
    assert seen == [True, False, False]


def test_the_name_is_the_one_that_hypothesis_uses() -> None:
    """Another one would bring back the lost interruptions."""
    hypothesis_internals.gc_cumulative_time()
    assert "gc_callback" in {getattr(callback, "__name__", "") for callback in gc.callbacks}


def test_nothing_is_raised_while_a_process_is_started() -> None:
    """Nor is it held back after that, whatever happened."""
    assert may_raise(None)
    with held(), held():
        assert not may_raise(None)
    assert may_raise(None)
