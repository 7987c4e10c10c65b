"""Where a server is decides how it is asked."""

from __future__ import annotations

import asyncio
import ssl

import httpx
import pytest

from acp_agent.llm.route import http_client, is_loopback


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://[::1]:1/v1", True),
        ("http://localhost/v1", True),
        ("http://a.localhost/v1", True),
        ("http://0.0.0.0:1/v1", True),
        ("http://192.168.1.2/v1", False),
        ("https://api.openai.com/v1", False),
        ("http://[bad", False),
        ("", False),
    ],
)
def test_loopback_is_known_by_its_address(url: str, loopback: bool) -> None:
    """Names other than localhost are not looked up."""
    assert is_loopback(url) is loopback


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "https://models.example", "https://localhost:1"])
def test_settings_of_the_environment_that_cannot_be_used_are_told(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy that is none counts only on the way out of this machine; certificates count wherever there is TLS."""
    monkeypatch.setenv("ALL_PROXY", "nonsense://x")
    monkeypatch.setattr(ssl, "create_default_context", _no_certificates)
    if url.startswith("https:"):
        with pytest.raises(ValueError, match=r"nonsense|no certificates"):
            http_client(url, httpx.Timeout(1))
    else:
        asyncio.run(http_client(url, httpx.Timeout(1)).aclose())


def _no_certificates(*_: object, **__: object) -> ssl.SSLContext:
    raise FileNotFoundError(2, "no certificates")
