"""The checks that need no model."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_agent.setup import checks
from acp_agent.setup.findings import State


def test_the_configuration_is_named_by_its_file(tmp_path: Path) -> None:
    """As serve would find it here."""
    path = tmp_path / "acp-agent.toml"
    path.write_text('[model]\nprovider = "offline"\n', encoding="utf-8")
    settings, finding = checks.configuration(None, tmp_path, {})
    assert settings is not None
    assert (finding.state, finding.text) == (State.OK, str(path))


def test_without_a_file_it_is_said_where_one_was_looked_for(tmp_path: Path) -> None:
    """Both places; the defaults are no mistake."""
    settings, finding = checks.configuration(None, tmp_path, {"HOME": "/h", "XDG_CONFIG_HOME": "/h/.config"})
    assert settings is not None
    assert finding.state is State.OK
    assert f"no file, so the defaults; looked for {tmp_path / 'acp-agent.toml'} and " in finding.text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = ", "not valid TOML"),
        ("[model]\nnam = 'x'\n", 'did you mean "name"?'),
        (None, "there is no such"),
    ],
)
def test_a_mistake_is_the_sentence_that_serve_would_say(tmp_path: Path, text: str | None, says: str) -> None:
    """The same reader."""
    path = tmp_path / "x.toml"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    settings, finding = checks.configuration(path, tmp_path, {})
    assert settings is None
    assert finding.state is State.TO_DO
    assert says in finding.text


@pytest.mark.parametrize(
    ("found", "left_out", "state", "text"),
    [
        ([], [], State.OK, "none found"),
        (["a", "b"], [], State.OK, "2 found: a, b"),
        (["a"], ["b: no description", "c: x"], State.TO_DO, "1 found: a; b: no description; c: x"),
        ([], ["b: no name"], State.TO_DO, "none found; b: no name"),
    ],
)
def test_skills_are_named_and_so_is_what_was_left_out(
    found: list[str], left_out: list[str], state: State, text: str
) -> None:
    """With the reason for each."""
    finding = checks.skills(found, left_out)
    assert (finding.state, finding.text) == (state, text)


def test_a_sessions_directory_that_is_there_is_tried(tmp_path: Path) -> None:
    """And left as it was."""
    assert checks.sessions_directory(tmp_path).text == f"{tmp_path} is writable"
    assert list(tmp_path.iterdir()) == []


def test_a_sessions_directory_may_still_have_to_be_made(tmp_path: Path) -> None:
    """Checking does not make it."""
    finding = checks.sessions_directory(tmp_path / ".acp-agent" / "sessions")
    assert finding.state is State.OK
    assert finding.text.endswith("can be made")
    assert list(tmp_path.iterdir()) == []


def test_a_sessions_directory_that_cannot_be_written_says_where_it_fails(tmp_path: Path) -> None:
    """Here a file stands where a directory should be, which no right overcomes."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    finding = checks.sessions_directory(tmp_path / "file" / "sessions")
    assert finding.state is State.TO_DO
    assert f"Not a directory ({tmp_path / 'file'})" in finding.text
