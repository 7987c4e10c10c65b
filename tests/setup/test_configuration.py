"""The file is right, whole, and never over one that nobody agreed to lose."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_agent import config
from acp_agent.setup.configuration import (
    AlreadyThereError,
    Choice,
    NotWrittenError,
    quoted,
    text_of,
    write,
)
from acp_agent.setup.products import Identity, Product

OLLAMA = Identity(Product.OLLAMA, "0.12.3")
CHOICE = Choice("http://127.0.0.1:11434/v1", 'a "strange" \\name\\ ü', OLLAMA, "MY_KEY")


def test_the_file_is_read_back_as_the_choice(tmp_path: Path) -> None:
    """By the reader that the agent has."""
    path = tmp_path / "acp-agent.toml"
    write(path, CHOICE, replace=False)
    model = config.read(path).model
    assert (model.provider, model.base_url, model.name, model.api_key_env) == (
        config.Provider.OPENAI,
        CHOICE.base_url,
        CHOICE.name,
        "MY_KEY",
    )
    assert [one.name for one in tmp_path.iterdir()] == ["acp-agent.toml"]


def test_what_is_commented_out_is_right_too(tmp_path: Path) -> None:
    """A person who takes a `#` away must not get an error."""
    text = text_of(Choice("http://h/v1", "m", OLLAMA))
    path = tmp_path / "all.toml"
    path.write_text(
        "\n".join(line.removeprefix("# ") if " = " in line else line for line in text.splitlines()),
        encoding="utf-8",
    )
    model = config.read(path).model
    assert (model.api_key_env, model.max_tokens, model.idle_timeout_s) == ("OPENAI_API_KEY", 4096, 300.0)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_is_quoted(text: str) -> None:
    """As TOML has it."""
    assert tomllib.loads(f"x = {quoted(text)}") == {"x": text}


def test_an_existing_file_stays_unless_it_may_go(tmp_path: Path) -> None:
    """Also one that appeared after the question."""
    path = tmp_path / "acp-agent.toml"
    path.write_text("# mine\n", encoding="utf-8")
    path.chmod(0o600)
    with pytest.raises(AlreadyThereError, match="exists already"):
        write(path, CHOICE, replace=False)
    assert path.read_text(encoding="utf-8") == "# mine\n"
    write(path, CHOICE, replace=True)
    assert config.read(path).model.name == CHOICE.name
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["acp-agent.toml"]


def test_without_hard_links_an_existing_file_stays_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some file systems have none."""

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    path = tmp_path / "acp-agent.toml"
    write(path, CHOICE, replace=False)
    assert config.read(path).model.name == CHOICE.name
    with pytest.raises(AlreadyThereError):
        write(path, CHOICE, replace=False)


def test_a_link_is_followed(tmp_path: Path) -> None:
    """A person who keeps the file elsewhere keeps the link."""
    real = tmp_path / "dotfiles"
    real.mkdir()
    link = tmp_path / "acp-agent.toml"
    link.symlink_to(real / "bob.toml")
    write(link, CHOICE, replace=False)
    assert link.is_symlink()
    assert config.read(real / "bob.toml").model.name == CHOICE.name


def test_a_choice_that_cannot_be_configured_changes_nothing(tmp_path: Path) -> None:
    """The file is checked before it has its name."""
    path = tmp_path / "acp-agent.toml"
    path.write_text("# mine\n", encoding="utf-8")
    with pytest.raises(NotWrittenError, match="cannot be configured"):
        write(path, Choice("not an address", "m", OLLAMA), replace=True)
    with pytest.raises(NotWrittenError, match="read back as another"):
        write(path, Choice("http://h/v1/", "m", OLLAMA), replace=True)
    assert path.read_text(encoding="utf-8") == "# mine\n"
    assert [one.name for one in tmp_path.iterdir()] == ["acp-agent.toml"]


def test_a_directory_in_the_way_is_one_sentence(tmp_path: Path) -> None:
    """As is a parent that is a file."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(NotWrittenError, match="cannot be written: Not a directory"):
        write(tmp_path / "file" / "x.toml", CHOICE, replace=False)
