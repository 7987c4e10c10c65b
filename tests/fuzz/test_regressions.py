"""What the fuzzers once found stays fixed: every line that is kept is replayed."""

from __future__ import annotations

import pytest
from catalogue import REGRESSIONS, load, names, regressions


@pytest.mark.parametrize("name", names())
def test_what_was_found_and_fixed_stays_fixed(name: str) -> None:
    """Every find becomes a line in fuzz/regressions/."""
    target = load(name)
    for number, case in regressions(name):
        try:
            target.check(case)
        except Exception as error:
            error.add_note(f"regressions/{name}.jsonl:{number}")
            raise


def test_every_file_of_regressions_belongs_to_a_target() -> None:
    """A target that is renamed takes its finds along."""
    assert {path.stem for path in REGRESSIONS.glob("*.jsonl")} <= set(names())
