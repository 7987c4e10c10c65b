"""One careful question: bounded in time and size, never redirected, and the key only where it belongs."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Callable
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import trustme

from acp_agent.setup import probe
from acp_agent.setup.probe import Reply, below, probing, shown_address


def get(url: str, path: str = "/", key: str | None = None) -> Reply:
    """Ask once."""

    async def ask() -> Reply:
        async with probing(url, key, 5.0) as prober:
            return await prober.get(url + path)

    return asyncio.run(ask())


def test_an_answer_is_status_headers_text_and_json(serve: Callable[..., Any], products: Any) -> None:
    """Headers in lower case; the key is sent."""
    server = serve({"GET /x": products.Answer({"a": 1}, 201, {"Server": "llama.cpp"})})
    reply = get(f"http://127.0.0.1:{server.port}", "/x", "k")
    assert (reply.status, reply.fields, reply.text, reply.headers["server"]) == (
        201,
        {"a": 1},
        '{"a": 1}',
        "llama.cpp",
    )
    assert server.asked[0].headers["authorization"] == "Bearer k"


def test_what_is_no_json_is_text(serve: Callable[..., Any], products: Any) -> None:
    """Cut to its beginning."""
    server = serve({"GET /": products.Answer(b"hello " * 10_000)})
    reply = get(f"http://127.0.0.1:{server.port}")
    assert (reply.body, reply.fields, len(reply.text)) == (None, {}, 2000)


def test_redirects_are_not_followed(serve: Callable[..., Any], products: Any) -> None:
    """They could carry the key elsewhere."""
    other = serve({})
    target = f"http://127.0.0.1:{other.port}/"
    server = serve({}, other=products.Answer(b"", 307, {"location": target}))
    assert get(f"http://127.0.0.1:{server.port}", key="k").status == 307
    assert other.asked == []


def test_a_flood_is_cut_off(
    serve: Callable[..., Any], products: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory is bounded."""
    monkeypatch.setattr(probe, "MAX_ANSWER_BYTES", 1000)
    server = serve({}, other=products.Answer(b"x" * 5000))
    reply = get(f"http://127.0.0.1:{server.port}")
    assert (reply.status, reply.problem) == (0, "sent far more than an answer to such a question")


def test_a_proxy_of_the_environment_is_not_for_this_machine(
    serve: Callable[..., Any], products: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """http_proxy set, as in many companies, and the server is still found."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("all_proxy", "nonsense://x")
    server = serve(products.vllm())
    assert get(f"http://127.0.0.1:{server.port}", "/version").status == 200


def test_a_proxy_that_cannot_be_used_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is sent."""
    monkeypatch.setenv("https_proxy", "nonsense://x")
    with pytest.raises(ValueError, match="proxy or certificate settings"):
        get("https://models.example")


@pytest.mark.parametrize(
    ("base", "address"),
    [
        ("http://h/v1", "http://h/v1/models"),
        ("http://h/v1/", "http://h/v1/models"),
        ("https://u:p@h:1/v1?api-version=2", "https://u:p@h:1/v1/models?api-version=2"),
    ],
)
def test_a_path_goes_before_the_query(base: str, address: str) -> None:
    """Azure's addresses have one."""
    assert below(base, "/models") == address


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://h:1/v1", "http://h:1/v1"),
        ("https://me:secret@h/v1?key=secret#x", "https://h/v1"),
        ("http://me:secret@[bad/v1?key=secret", "[bad/v1"),
    ],
)
def test_an_address_is_shown_without_secrets(url: str, shown: str) -> None:
    """Nothing that a person would not want on a screen."""
    assert shown_address(url) == shown


def test_a_local_server_behind_https_is_asked_as_the_model_client_asks_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The certificate of a local authority counts when $SSL_CERT_FILE names it, and not without."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with ThreadingHTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        url = f"https://127.0.0.1:{server.server_port}"
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        try:
            assert get(url, "/nothing-here").problem == "cannot be reached"
            authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
            monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
            assert get(url, "/nothing-here").status == 404
        finally:
            server.shutdown()
            serving.join()
