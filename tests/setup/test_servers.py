"""Where model servers are looked for, and what is said of a place that is not as hoped."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from acp_agent.setup.probe import Reply
from acp_agent.setup.products import Product
from acp_agent.setup.servers import USUAL_PLACES, Named, examine, explain, from_environment


def has_ipv6() -> bool:
    """Whether this machine has the loopback address ::1."""
    try:
        with socket.socket(socket.AF_INET6) as tried:
            tried.bind(("::1", 0))
    except OSError:
        return False
    return True


HOSTS = [("127.0.0.1", "127.0.0.1"), *([("::1", "[::1]")] if has_ipv6() else [])]


@pytest.fixture
def raw() -> Iterator[Callable[[bytes], int]]:
    """Listen on a port, and send these bytes to whoever connects; none at all means to stay silent."""
    listening: list[socket.socket] = []
    held: list[socket.socket] = []
    threads: list[threading.Thread] = []

    def listen(data: bytes) -> int:
        server = socket.create_server(("127.0.0.1", 0))
        listening.append(server)

        def answer() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                held.append(connection)
                if data:
                    connection.recv(65536)
                    connection.sendall(data)
                    connection.shutdown(socket.SHUT_RDWR)

        threads.append(threading.Thread(target=answer, daemon=True))
        threads[-1].start()
        return int(server.getsockname()[1])

    yield listen
    for server in listening:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
    for thread in threads:
        thread.join()
    for connection in held:
        connection.close()


def test_the_usual_places_are_those_of_the_products() -> None:
    """Ollama, llama.cpp, LM Studio, vLLM, Docker Model Runner at their own ports."""
    assert [(place.product, place.port, place.path) for place in USUAL_PLACES] == [
        (Product.OLLAMA, 11434, "/v1"),
        (Product.LLAMA_CPP, 8080, "/v1"),
        (Product.LM_STUDIO, 1234, "/v1"),
        (Product.VLLM, 8000, "/v1"),
        (Product.DOCKER, 12434, "/engines/v1"),
    ]


@pytest.mark.parametrize(("host", "in_address"), HOSTS)
def test_a_server_is_found_on_either_loopback_address(
    serve: Callable[..., Any], find: Callable[..., Any], products: Any, host: str, in_address: str
) -> None:
    """A server that listens on IPv6 only is found there, and its address says so."""
    server = serve(products.vllm(), host=host)
    (found,) = find(server.port)
    assert found.base_url == f"http://{in_address}:{server.port}/v1"
    assert found.problem == ""


def test_all_that_are_there_are_found_in_the_order_of_the_places(
    serve: Callable[..., Any], find: Callable[..., Any], products: Any, closed_port: int
) -> None:
    """Concurrently; nothing is said of a port where nothing listens."""
    first = serve(products.llama_cpp())
    second = serve(products.ollama({"a": ["completion"]}))
    assert [one.identity.product for one in find(second.port, closed_port, first.port)] == [
        Product.OLLAMA,
        Product.LLAMA_CPP,
    ]


@pytest.mark.parametrize(
    "answer",
    [
        (200, b"<html>a web page</html>"),
        (200, b"{}"),
        (200, b"[]"),
        (200, b'{"data": "none"}'),
        (200, b'{"data": [{"name": 7}]}'),
        (200, b'{"data": [{"id": '),
        (200, b"\xff\xfe"),
        (200, b""),
        (301, b""),
        (404, b"not found"),
        (500, b"<html>broken</html>"),
    ],
    ids=lambda answer: f"{answer[0]}-{answer[1][:12]!r}",
)
def test_something_else_at_a_usual_port_is_passed_over(
    serve: Callable[..., Any], find: Callable[..., Any], products: Any, answer: tuple[int, bytes]
) -> None:
    """Ports such as 8000 and 8080 are used by many programs; none of them is called a model server."""
    status, body = answer
    other = products.Answer(body, status, {"location": "https://models.example/"} if status == 301 else {})
    assert find(serve({}, other=other).port) == []


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nnope",
        b"HTTP/1.1 200 OK\r\nlocation: \x00\r\n\r\n",
        b"\r\n" * 10,
    ],
)
def test_whatever_does_not_speak_http_is_passed_over(
    find: Callable[..., Any], raw: Callable[[bytes], int], data: bytes
) -> None:
    """Another protocol, a broken answer, noise."""
    assert find(raw(data)) == []


def test_a_server_that_says_nothing_is_given_up_and_mentioned(
    find: Callable[..., Any], raw: Callable[[bytes], int]
) -> None:
    """A slow server costs its deadline, and the person learns that something is there."""
    port = raw(b"")
    (found,) = find(port, deadline_s=0.05)
    assert (found.base_url, found.problem) == (f"http://127.0.0.1:{port}/v1", "did not answer within 0.05 s")
    assert found.models == ()


@pytest.mark.parametrize(
    ("status", "body", "problem"),
    [
        (
            401,
            {"error": "key"},
            "refuses access (401); if it is a model server, set OPENAI_BASE_URL to this address",
        ),
        (503, {"error": {"message": "Loading model", "code": 503}}, "is still loading its model: try again"),
        (500, {"error": "boom"}, "failed (500) when asked for its models"),
    ],
)
def test_a_server_that_may_be_one_is_mentioned(
    serve: Callable[..., Any],
    find: Callable[..., Any],
    products: Any,
    status: int,
    body: object,
    problem: str,
) -> None:
    """With what can be done about it."""
    (found,) = find(serve({}, other=products.Answer(body, status)).port)
    assert found.problem.startswith(problem)


def test_what_the_environment_names_comes_first_and_once(
    serve: Callable[..., Any], find: Callable[..., Any], products: Any
) -> None:
    """The same server, found at its port too, is listed once, with its key."""
    named, other = serve(products.vllm()), serve(products.llama_cpp())
    environ = {"OPENAI_BASE_URL": f"http://localhost:{named.port}/v1/", "OPENAI_API_KEY": "k"}
    found = find(other.port, named.port, environ=environ)
    assert [one.base_url for one in found] == [
        f"http://localhost:{named.port}/v1",
        f"http://127.0.0.1:{other.port}/v1",
    ]
    assert found[0].key_variable == "OPENAI_API_KEY"
    assert found[1].key_variable is None


def test_a_key_alone_offers_its_provider_after_what_runs_here(
    serve: Callable[..., Any], find: Callable[..., Any], products: Any
) -> None:
    """OPENAI_API_KEY without an address is for OpenAI; a local model costs nothing and comes first."""
    provider = serve({"GET /v1/models": products.model_list("gpt-x", "text-embedding-3-small", "whisper-1")})
    local = serve(products.vllm())
    url = f"http://127.0.0.1:{provider.port}/v1"
    found = find(local.port, environ={"OPENAI_API_KEY": "k"}, openai_url=url)
    assert [one.base_url for one in found] == [f"http://127.0.0.1:{local.port}/v1", url]
    assert [model.name for model in found[1].models] == ["gpt-x", "text-embedding-3-small", "whisper-1"]
    assert [model.chat for model in found[1].models] == [True, False, False]


def test_an_address_without_its_version_is_completed(
    serve: Callable[..., Any], find: Callable[..., Any], products: Any
) -> None:
    """OPENAI_BASE_URL=http://host:port is a common slip."""
    server = serve(products.vllm())
    (found,) = find(environ={"OPENAI_BASE_URL": f"http://127.0.0.1:{server.port}"})
    assert found.base_url == f"http://127.0.0.1:{server.port}/v1"
    assert found.problem == ""


def test_a_named_server_that_is_not_there_is_mentioned(find: Callable[..., Any], closed_port: int) -> None:
    """The person named it, so silence would puzzle."""
    (found,) = find(environ={"OPENAI_BASE_URL": f"http://127.0.0.1:{closed_port}/v1"})
    assert found.problem == "cannot be reached"
    assert found.title == f"http://127.0.0.1:{closed_port}/v1"


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({}, Named()),
        ({"OPENAI_BASE_URL": " "}, Named()),
        ({"OPENAI_API_KEY": "k"}, Named(("https://api.openai.com/v1",), by_key_alone=True)),
        ({"OPENAI_BASE_URL": "http://h:1/v1/"}, Named(("http://h:1/v1",))),
        ({"OPENAI_BASE_URL": "http://h:1/v1", "OPENAI_API_KEY": "k"}, Named(("http://h:1/v1",))),
    ],
)
def test_the_environment_is_read(environ: dict[str, str], named: Named) -> None:
    """Two variables, as the libraries of OpenAI read them."""
    assert from_environment(environ) == named


@pytest.mark.parametrize(
    "url", ["localhost:11434", "ftp://h/v1", "http://", "http://h:99999/v1", "http://[::1/v1", "http://h/ v1"]
)
def test_what_is_no_address_is_refused(url: str) -> None:
    """In a sentence that shows what an address looks like, and does not repeat what was there."""
    (refused,) = from_environment({"OPENAI_BASE_URL": url}).refused
    assert refused.base_url == "$OPENAI_BASE_URL"
    assert refused.problem.startswith("is no address")


def test_a_key_that_no_header_can_hold_is_not_sent(serve: Callable[..., Any], products: Any) -> None:
    """A line feed from a badly read file; neither shown nor sent."""
    server = serve(products.vllm())
    found = asyncio.run(examine(f"http://127.0.0.1:{server.port}/v1", "bad\nkey", "OPENAI_API_KEY"))
    assert found.problem == "was not asked: the API key holds characters no key can have"
    assert server.asked == []


def test_a_refused_key_is_told_from_a_missing_one() -> None:
    """The advice differs."""
    assert explain(Reply(401, {}), "OPENAI_API_KEY")[0] == "did not accept the key in OPENAI_API_KEY (401)"
    assert "OPENAI_API_KEY to its key" in explain(Reply(403, {}), None)[0]
