"""Every target says what it is about, and its invariant holds for a few cases each; more are for the fuzzers."""

from __future__ import annotations

import pytest
from case import from_line, to_line
from catalogue import HERE, load, names
from hypothesis import HealthCheck, given, settings

# A quarter of what the chosen profile asks for: each of them is looked at for longer by `tox -e fuzz`.
PROFILE = settings(
    max_examples=max(1, settings().max_examples // 4), deadline=None, suppress_health_check=list(HealthCheck)
)


@pytest.mark.parametrize("name", names())
def test_the_invariant_of_a_target_holds(name: str) -> None:
    """And a case is what its line says."""
    target = load(name)

    @PROFILE
    @given(target.cases)
    def holds(case: object) -> None:
        target.check(from_line(to_line(case)))

    holds()


@pytest.mark.parametrize("name", names())
def test_a_target_begins_with_its_invariant(name: str) -> None:
    """One sentence, the first line of the file, then the documented exceptions."""
    first = (HERE / "targets" / f"{name}.py").read_text(encoding="utf-8").partition("\n")[0]
    assert first == f'"""{load(name).invariant}'
    assert first.endswith(".")
    assert len(first) <= 120
