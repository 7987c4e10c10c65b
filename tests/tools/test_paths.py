"""What a model may write as a path."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_agent.tools.base import ToolError
from acp_agent.tools.paths import absolute, locations


def test_a_relative_path_begins_at_the_working_directory() -> None:
    """Relative paths resolve against cwd, absolute ones do not."""
    assert absolute("a/./b//c", Path("/work")) == Path("/work/a/b/c")
    assert absolute("/etc/hosts", Path("/work")) == Path("/etc/hosts")


def test_the_tilde_is_the_home_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    """`~` expands, in front only; an unknown user is a sentence."""
    monkeypatch.setenv("HOME", "/home/someone")
    assert absolute("~/x", Path("/work")) == Path("/home/someone/x")
    assert absolute("x/~", Path("/work")) == Path("/work/x/~")
    with pytest.raises(ToolError, match="~no-such-user is nobody's home directory"):
        absolute("~no-such-user/x", Path("/work"))


def test_dots_are_followed_as_the_system_would_and_links_stay(tmp_path: Path) -> None:
    """The path shown is the one an editor has open."""
    (tmp_path / "deep" / "folder").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "deep" / "folder")
    (tmp_path / "deep" / "file").symlink_to("elsewhere")
    assert absolute("link/../file", tmp_path) == tmp_path / "deep" / "file"
    assert absolute("deep/..", tmp_path) == tmp_path
    assert absolute("link/file", tmp_path) == tmp_path / "link" / "file"


@pytest.mark.parametrize(
    ("path", "sentence"),
    [("", "path is empty"), ("a\0b", "NUL character"), ("a\ud800", "half of a surrogate pair")],
)
def test_what_is_no_path_is_one_sentence(path: str, sentence: str) -> None:
    """Bad input; as a location it is none."""
    with pytest.raises(ToolError, match=sentence):
        absolute(path, Path("/work"))
    assert locations(path, Path("/work")) == []


def test_locations_are_absolute() -> None:
    """For clients that follow along."""
    assert locations("a", Path("/work")) == ["/work/a"]
    assert locations(5, Path("/work")) == []
    assert all(Path(one).is_absolute() for one in locations("../x", Path("/work")))
