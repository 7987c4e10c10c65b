"""The bench table: medians, ratios, goals."""

from __future__ import annotations

from table import markdown, medians, number, ratios, spread

SAMPLES = {
    "bob": {"stream_per_s": [990.0, 1200.0, 1210.0], "start_cpu_ms": [30.0], "stall_growth_mib": [0.5]},
    "python-sdk": {"stream_per_s": [90.0, 100.0, 300.0], "start_cpu_ms": [100.0], "stall_growth_mib": [0.0]},
    "floor": {},
}


def test_ratios_are_between_medians() -> None:
    """One slow round moves neither."""
    middle = medians(SAMPLES)
    assert middle["bob"]["stream_per_s"] == 1200
    assert ratios(middle)["bob"]["stream_per_s"] == 12
    assert ratios(middle)["python-sdk"]["start_cpu_ms"] == 1


def test_growth_has_no_ratio() -> None:
    """Next to nothing divided by nothing says nothing."""
    assert "stall_growth_mib" not in ratios(medians(SAMPLES))["bob"]


def test_goals_are_judged_in_their_direction() -> None:
    """More updates a second is better, more CPU seconds is not."""
    lines = markdown(SAMPLES, ours="bob").splitlines()
    stream = next(line for line in lines if line.startswith("| streamed updates a second"))
    start = next(line for line in lines if line.startswith("| CPU until the `initialize`"))
    assert "≥ 10× reached" in stream
    assert "≤ 0.2× missed" in start


def test_an_agent_without_a_figure_shows_a_dash() -> None:
    """A figure nobody has takes no row; one that somebody lacks is visible as lacking."""
    lines = markdown(SAMPLES, ours="bob").splitlines()
    assert len(lines) == 2 + 3
    assert all(line.split("|")[6].strip() == "–" for line in lines[2:])


def test_the_table_stands_without_its_base() -> None:
    """No Python SDK on this machine: medians, no ratios, no verdict on goals that are ratios."""
    text = markdown({"bob": {"stream_per_s": [5.0]}}, ours="bob")
    assert "| 5.00 |" in text
    assert "reached" not in text
    assert "missed" not in text


def test_numbers_keep_three_digits() -> None:
    """Small and large values are read at a glance."""
    assert [number(value) for value in (0, 0.0664, 0.256, 1.239, 41.58, 236505.3)] == [
        "0",
        "0.066",
        "0.26",
        "1.24",
        "41.6",
        "236\u202f505",
    ]


def test_spread_is_half_the_quartile_distance() -> None:
    """As a part of the median; nothing to say about fewer than three rounds."""
    assert spread([80.0, 90.0, 100.0, 110.0, 120.0]) == 0.1
    assert spread([1.0, 9.0]) == 0


def test_absolute_goals_need_no_base() -> None:
    """Growth under a stalled client is held against the outbox limit, not against another agent."""
    text = markdown({"bob": {"stall_growth_mib": [3.5], "exit_ms": [2500.0]}}, ours="bob")
    assert "≤ 4 MiB reached" in text
    assert "≤ 2000 ms missed" in text
