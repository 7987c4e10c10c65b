"""A model server behind HTTPS: Bob starts without TLS and has it when a request needs it."""

from __future__ import annotations

import os
import ssl
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import trustme
from raw_client import Agent

ANSWER = b'data: {"choices":[{"delta":{"content":"over TLS"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(ANSWER)))
        self.end_headers()
        self.wfile.write(ANSWER)

    def log_message(self, *_args: object) -> None:
        """Not on the tests' standard error."""


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def address(authority: trustme.CA) -> Iterator[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield f"https://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
        serving.join()


def _config(address: str) -> str:
    return f'[model]\nprovider = "openai"\nbaseUrl = "{address}"\nname = "m"\nretries = 0\n'


def test_a_model_behind_https_answers(
    start: Callable[..., Agent], address: str, authority: trustme.CA, tmp_path: Path
) -> None:
    """The certificate of a local authority counts when $SSL_CERT_FILE names it."""
    trusted = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(trusted))
    agent = start(_config(address), environ={**os.environ, "SSL_CERT_FILE": str(trusted)})
    agent.initialize()
    session = agent.new_session(tmp_path)
    assert agent.turn(session, "hello")["result"] == {"stopReason": "end_turn"}
    assert agent.text_of(session) == "over TLS"
    agent.assert_clean()


def test_a_certificate_that_nobody_vouches_for_is_refused(
    start: Callable[..., Agent], address: str, tmp_path: Path
) -> None:
    """The sentence says that it is the certificate, not the server."""
    agent = start(_config(address))
    agent.initialize()
    session = agent.new_session(tmp_path)
    error = agent.turn(session, "hello")["error"]
    assert error["code"] == -32603
    assert "CERTIFICATE_VERIFY_FAILED" in error["message"]
