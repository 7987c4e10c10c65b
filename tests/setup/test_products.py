"""Each product is told by what only it says; whatever imitates one, or two at once, is just a compatible server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from acp_agent.setup.models import ModelEntry
from acp_agent.setup.probe import Reply
from acp_agent.setup.products import Identity, Product, marks, origin, owner


def test_ollama_tells_its_version_and_what_each_model_can_do(
    serve: Callable[..., Any], find: Callable[..., Any], products: Any
) -> None:
    """Tools first, embeddings last, as /api/show has it."""
    models = {"nomic": ["embedding"], "gemma3": ["completion", "vision"], "qwen3": ["completion", "tools"]}
    (found,) = find(serve(products.ollama(models)).port)
    assert found.identity == Identity(Product.OLLAMA, "0.12.3")
    assert found.models == (
        ModelEntry("qwen3", tools=True),
        ModelEntry("gemma3", tools=False),
        ModelEntry("nomic", chat=False, tools=False),
    )
    assert found.title.startswith("Ollama 0.12.3 at http://127.0.0.1:")


def test_llama_cpp_tells_the_context_it_serves(
    serve: Callable[..., Any], find: Callable[..., Any], products: Any
) -> None:
    """From /props, which is of the loaded model."""
    (found,) = find(serve(products.llama_cpp(n_ctx=8192)).port)
    assert found.identity == Identity(Product.LLAMA_CPP, "b8681-abcdef")
    assert found.models == (ModelEntry("qwen3.gguf", tools=True, context=8192),)


def test_llama_cpp_is_known_without_its_header(
    serve: Callable[..., Any], find: Callable[..., Any], products: Any
) -> None:
    """A proxy in front of it may replace the header; owner and /props are left."""
    routes = products.llama_cpp()
    for answer in routes.values():
        answer.headers.pop("server", None)
    assert find(serve(routes).port)[0].identity.product is Product.LLAMA_CPP
    del routes["GET /props"]
    assert find(serve(routes).port)[0].identity.product is Product.UNKNOWN


def test_lm_studio_tells_types_and_the_loaded_context(
    serve: Callable[..., Any], find: Callable[..., Any], products: Any
) -> None:
    """It answers 200 to every path, which makes it none of the others."""
    server = serve(products.lm_studio(), other=products.lm_studio_other)
    (found,) = find(server.port)
    assert found.identity == Identity(Product.LM_STUDIO)
    assert found.models == (
        ModelEntry("qwen3-8b", tools=True, context=16384),
        ModelEntry("old-llama"),
        ModelEntry("text-embedding-nomic", chat=False),
    )


def test_vllm_tells_version_and_context(
    serve: Callable[..., Any], find: Callable[..., Any], products: Any
) -> None:
    """owned_by and /version together; the owner alone is imitated."""
    (found,) = find(serve(products.vllm()).port)
    assert found.identity == Identity(Product.VLLM, "0.11.0")
    assert found.models == (ModelEntry("Qwen/Qwen3-8B", context=32768),)
    routes = products.vllm()
    del routes["GET /version"]
    assert find(serve(routes).port)[0].identity.product is Product.UNKNOWN


@pytest.mark.parametrize("front", [True, False])
def test_docker_model_runner_is_known(
    serve: Callable[..., Any], find: Callable[..., Any], products: Any, front: bool
) -> None:
    """By its front page, or by the owner of its models; its paths begin with /engines."""
    routes = products.docker()
    if not front:
        del routes["GET /"]
    (found,) = find(serve(routes).port, path="/engines/v1")
    assert found.identity == Identity(Product.DOCKER)
    assert [model.name for model in found.models] == ["ai/qwen3:latest", "ai/mxbai-embed-large:latest"]


@pytest.mark.parametrize(
    "routes",
    [
        {},
        {"GET /": b"Ollama is running (not really) Docker Model Runner is running"},
        {"GET /": b"\xff\xfe\x00"},
        {
            "GET /api/version": b'{"version": "0.12.3"}',
            "GET /version": b'{"version": "1"}',
            "GET /props": b"{}",
        },
        {"GET /lmstudio-greeting": b'{"lmstudio": "yes"}'},
        {"GET /lmstudio-greeting": b"[true]"},
    ],
)
def test_without_a_mark_of_its_own_it_is_a_compatible_server(
    serve: Callable[..., Any], find: Callable[..., Any], products: Any, routes: dict[str, bytes]
) -> None:
    """A path that answers proves nothing, and two marks contradict each other."""
    answers = {path: products.Answer(body) for path, body in routes.items()}
    (found,) = find(serve({**answers, "GET /v1/models": products.model_list("m")}).port)
    assert found.identity == Identity(Product.UNKNOWN)
    assert found.title.startswith("An OpenAI-compatible server at ")
    assert found.models == (ModelEntry("m"),)


def test_broken_details_leave_what_the_list_says(
    serve: Callable[..., Any], find: Callable[..., Any], products: Any
) -> None:
    """The product's own pages may be missing, empty or of another form; the models stay."""
    routes = products.ollama({"qwen3": [], "x-embed": []})
    for path, body in {
        "POST /api/show": {"capabilities": "all"},
        "GET /api/version": {"version": "0 \x1b[1m"},
    }.items():
        routes[path] = products.Answer(body)
    (found,) = find(serve(routes).port)
    assert found.identity == Identity(Product.OLLAMA, "")
    assert found.models == (ModelEntry("qwen3"), ModelEntry("x-embed", chat=False))
    routes = products.lm_studio()
    routes["GET /api/v0/models"] = products.Answer({"data": [7, {"id": 7}, {"id": "qwen3-8b", "type": 7}]})
    assert [model.name for model in find(serve(routes).port)[0].models][:2] == ["qwen3-8b", "old-llama"]


def test_a_large_list_costs_a_bounded_number_of_questions(
    serve: Callable[..., Any], find: Callable[..., Any], products: Any
) -> None:
    """Somebody with hundreds of models does not wait for each."""
    server = serve(products.ollama({f"m{n}": ["completion", "tools"] for n in range(200)}))
    (found,) = find(server.port)
    assert len(found.models) == 200
    assert server.paths().count("POST /api/show") == 64


def test_nothing_but_the_list_is_asked_of_a_server_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its owner did not ask to be examined."""
    import asyncio

    from acp_agent.setup import servers

    asked: list[str] = []

    class Prober:
        async def get(self, url: str) -> Reply:
            asked.append(url)
            return Reply(200, {}, body={"data": [{"id": "m"}]})

    server = asyncio.run(
        servers._examine(Prober(), "https://models.example/v1", None, None, local=False)  # type: ignore[arg-type]
    )
    assert (asked, server.identity.product) == (["https://models.example/v1/models"], Product.UNKNOWN)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"data": [{"owned_by": "vllm"}, {"owned_by": "vllm"}]}, "vllm"),
        ({"data": [{"owned_by": "vllm"}, {"owned_by": "me"}]}, None),
        ({"data": [{"owned_by": ["vllm"]}, "x"]}, None),
        ({"data": []}, None),
        ({"data": None}, None),
        ([], None),
    ],
)
def test_an_owner_counts_only_if_all_models_have_it(body: object, expected: str | None) -> None:
    """A gateway lists models of several owners."""
    assert owner(Reply(200, {}, body=body)) == expected


def test_marks_add_up() -> None:
    """What bears two marks is neither."""
    models = Reply(200, {"server": "llama.cpp"}, body={"data": [{"id": "m", "owned_by": "docker"}]})
    assert marks(models, Reply(200, {})) == {Product.LLAMA_CPP, Product.DOCKER}


def test_the_origin_keeps_the_port() -> None:
    """IPv6 too."""
    assert origin("http://[::1]:8080/engines/v1") == "http://[::1]:8080"
