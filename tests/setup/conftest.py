"""Model servers on loopback that answer as the real products do, and a terminal that is played."""

from __future__ import annotations

import asyncio
import io
import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from acp_agent.setup import init
from acp_agent.setup.products import Product
from acp_agent.setup.servers import Place, Server, find_servers
from acp_agent.setup.snippets import Command

DEADLINE_S = 5.0
"""For each question in a test; only what a test makes slow on purpose is ever waited for."""


@dataclass
class Answer:
    """What a fake server says to one request."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass
class Asked:
    """One request a fake server got."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


Routes = Mapping[str, Answer | Callable[[Asked], Answer]]


class FakeServer:
    """Serves routes, {"GET /path": answer}, until it is closed. other: for every other request."""

    def __init__(self, routes: Routes, *, other: Answer | None = None, host: str = "127.0.0.1") -> None:
        self.routes = dict(routes)
        self.other = other or Answer({"error": "not found"}, 404)
        self.asked: list[Asked] = []
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            server_version = "fake"

            def do_GET(self) -> None:
                self._answer()

            def do_POST(self) -> None:
                self._answer()

            def _answer(self) -> None:
                raw = self.rfile.read(int(self.headers.get("content-length") or 0))
                asked = Asked(
                    self.command,
                    self.path,
                    {key.lower(): value for key, value in self.headers.items()},
                    json.loads(raw) if raw else None,
                )
                fake.asked.append(asked)
                route = fake.routes.get(f"{self.command} {self.path}", fake.other)
                answer = route(asked) if callable(route) else route
                self.send_response_only(answer.status)
                for key, value in {"content-type": "application/json", **answer.headers}.items():
                    self.send_header(key, value)
                self.send_header("content-length", str(len(answer.content)))
                self.end_headers()
                self.wfile.write(answer.content)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name it has there
                pass

        class Listener(ThreadingHTTPServer):
            address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
            daemon_threads = True

        self._server = Listener((host, 0), Handler)
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def paths(self) -> list[str]:
        """What was asked, as "GET /path", in order."""
        return [f"{one.method} {one.path}" for one in self.asked]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def model_list(*names: str, owner: str = "somebody", **more: object) -> Answer:
    """An answer to GET /v1/models."""
    items = [{"id": name, "object": "model", "created": 1, "owned_by": owner, **more} for name in names]
    return Answer({"object": "list", "data": items})


# The products, with the marks the real ones bear.


def ollama(models: Mapping[str, list[str]], version: str = "0.12.3") -> Routes:
    """models: name -> capabilities."""

    def show(asked: Asked) -> Answer:
        return Answer(
            {"capabilities": models[asked.body["model"]], "model_info": {"general.architecture": "x"}}
        )

    return {
        "GET /": Answer(b"Ollama is running", headers={"content-type": "text/plain"}),
        "GET /api/version": Answer({"version": version}),
        "GET /v1/models": model_list(*models, owner="library"),
        "POST /api/show": show,
    }


def llama_cpp(name: str = "qwen3.gguf", n_ctx: int = 32768) -> Routes:
    mark = {"server": "llama.cpp"}
    models = model_list(name, owner="llamacpp", meta={"n_ctx_train": 40960})
    models.headers.update(mark)
    return {
        "GET /": Answer(b"<html>chat</html>", headers={"content-type": "text/html", **mark}),
        "GET /health": Answer({"status": "ok"}, headers=mark),
        "GET /props": Answer(
            {
                "default_generation_settings": {"n_ctx": n_ctx},
                "total_slots": 1,
                "build_info": "b8681-abcdef",
                "chat_template_caps": {"supports_tools": True},
            },
            headers=mark,
        ),
        "GET /v1/models": models,
    }


def lm_studio() -> Routes:
    return {
        "GET /lmstudio-greeting": Answer({"lmstudio": True}),
        "GET /v1/models": model_list(
            "text-embedding-nomic", "qwen3-8b", "old-llama", owner="organization_owner"
        ),
        "GET /api/v0/models": Answer(
            {
                "object": "list",
                "data": [
                    {"id": "text-embedding-nomic", "type": "embeddings", "state": "not-loaded"},
                    {
                        "id": "qwen3-8b",
                        "type": "llm",
                        "state": "loaded",
                        "max_context_length": 40960,
                        "loaded_context_length": 16384,
                        "capabilities": ["tool_use"],
                    },
                    {"id": "old-llama", "type": "llm", "state": "not-loaded"},
                ],
            }
        ),
    }


LM_STUDIO_OTHER = Answer({"error": "Unexpected endpoint or method. (GET /)"})
"""LM Studio answers 200 to whatever it does not know."""


def vllm(name: str = "Qwen/Qwen3-8B") -> Routes:
    return {
        "GET /version": Answer({"version": "0.11.0"}),
        "GET /health": Answer(b""),
        "GET /v1/models": model_list(name, owner="vllm", max_model_len=32768),
    }


def docker() -> Routes:
    return {
        "GET /": Answer(b"Docker Model Runner is running", headers={"content-type": "text/plain"}),
        "GET /engines/v1/models": model_list(
            "ai/qwen3:latest", "ai/mxbai-embed-large:latest", owner="docker"
        ),
    }


class Products:
    """The makers of routes, for tests that cannot import them."""

    ollama = staticmethod(ollama)
    llama_cpp = staticmethod(llama_cpp)
    lm_studio = staticmethod(lm_studio)
    lm_studio_other = LM_STUDIO_OTHER
    vllm = staticmethod(vllm)
    docker = staticmethod(docker)
    model_list = staticmethod(model_list)
    Answer = Answer
    Asked = Asked


@pytest.fixture
def products() -> type[Products]:
    return Products


@pytest.fixture
def serve() -> Iterator[Callable[..., FakeServer]]:
    """Start a fake server; all are closed after the test."""
    running: list[FakeServer] = []

    def serve(routes: Routes, **more: Any) -> FakeServer:
        running.append(FakeServer(routes, **more))
        return running[-1]

    yield serve
    for server in running:
        server.close()


@pytest.fixture
def find() -> Callable[..., list[Server]]:
    """Look for servers at these ports only; path as the product has it."""

    def find(
        *ports: int,
        environ: Mapping[str, str] | None = None,
        path: str = "/v1",
        deadline_s: float = DEADLINE_S,
        **more: Any,
    ) -> list[Server]:
        places = [Place(Product.UNKNOWN, port, path) for port in ports]
        return asyncio.run(find_servers(environ or {}, places, deadline_s=deadline_s, **more))

    return find


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port where nothing listens, for as long as the test runs."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@dataclass
class Played:
    """A conversation that is over."""

    code: int
    out: str
    err: str
    questions: list[str]


@pytest.fixture
def converse(tmp_path: Path) -> Callable[..., Played]:
    """Run init in tmp_path with a person who types these answers and then leaves."""

    def converse(
        *answers: str | type[BaseException],
        ports: tuple[int, ...] = (),
        environ: Mapping[str, str] | None = None,
        path: str = "/v1",
        deadline_s: float = DEADLINE_S,
        command: Command = Command("/opt/bin/acp-agent"),  # noqa: B008 - frozen
        **options: Any,
    ) -> Played:
        typed = iter(answers)
        questions: list[str] = []
        out, err = io.StringIO(), io.StringIO()

        def ask(question: str) -> str:
            questions.append(question)
            answer = next(typed, EOFError)
            if isinstance(answer, str):
                return answer
            raise answer

        around = init.Surroundings(
            tmp_path, {"HOME": str(tmp_path / "home"), **(environ or {})}, command, out, err, ask
        )
        places = [Place(Product.UNKNOWN, port, path) for port in ports]
        code = init.run(init.InitOptions(**options), around, places, deadline_s)
        return Played(code, out.getvalue(), err.getvalue(), questions)

    return converse
