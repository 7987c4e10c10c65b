"""The system prompt."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_agent.agent.instructions import system_prompt


def test_it_names_the_directory_and_the_tools() -> None:
    """The model must know where it is, what it has and what a refusal means."""
    text = system_prompt(Path("/home/x/project"))
    assert "/home/x/project" in text
    for word in ("bash", "read_file", "edit_file", "write_file", "rejected"):
        assert word in text


@pytest.mark.parametrize("cwd", ["/a {b} c", "/{}", "/%s %d", "/é\u2028"])
def test_a_directory_of_any_name_is_named_as_it_is(cwd: str) -> None:
    """Braces and percent signs in a path are characters like others."""
    assert cwd in system_prompt(Path(cwd))
