"""Is the server there, has it the model, does it answer, does it call a tool: over HTTP, as Bob asks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acp_agent.config import ModelSettings, Provider
from acp_agent.setup import model_checks
from acp_agent.setup.findings import Finding, State
from acp_agent.setup.model_checks import ASK_FOR_TOOL, TOOLS_ADVICE, model_present
from acp_agent.setup.models import ModelEntry
from acp_agent.setup.products import Identity, Product
from acp_agent.setup.servers import Server

KEY = "sk-very-secret-0123456789"
OK = ["ok", "ok", "ok", "ok"]


def settings(port: int, **more: Any) -> ModelSettings:
    usual = {
        "base_url": f"http://127.0.0.1:{port}/v1",
        "name": "m",
        "connect_timeout_s": 5.0,
        "idle_timeout_s": 5.0,
    }
    return ModelSettings(**{"provider": Provider.OPENAI, **usual, **more})


def check(chosen: ModelSettings, environ: dict[str, str] | None = None) -> list[Finding]:
    async def all_of_them() -> list[Finding]:
        return [finding async for finding in model_checks.findings(chosen, environ or {})]

    return asyncio.run(all_of_them())


def states(found: list[Finding]) -> list[str]:
    return [finding.state.value for finding in found]


def event(delta: dict[str, object], reason: str | None = None) -> str:
    return (
        "data: " + json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}) + "\n\n"
    )


def said(text: str, reason: str = "stop") -> str:
    return event({"content": text}) + event({}, reason) + "data: [DONE]\n\n"


def called(name: str, arguments: str) -> str:
    call = {"index": 0, "id": "c1", "function": {"name": name, "arguments": arguments}}
    return event({"tool_calls": [call]}) + event({}, "tool_calls") + "data: [DONE]\n\n"


GOOD_CALL = called("note", '{"word": "ready"}')


@pytest.fixture
def chat(products: Any) -> Callable[..., Any]:
    """A route for chat completions: answers without tools, then with tools. A tuple is an error: (status, body)."""

    def chat(
        plain: str | tuple[int, object] = said("yes"), tools: str | tuple[int, object] = GOOD_CALL
    ) -> Any:
        def answer(asked: Any) -> Any:
            reply = tools if asked.body.get("tools") else plain
            if isinstance(reply, tuple):
                return products.Answer(reply[1], reply[0])
            return products.Answer(reply.encode(), headers={"content-type": "text/event-stream"})

        return answer

    return chat


def test_all_is_well(serve: Callable[..., Any], products: Any, chat: Callable[..., Any]) -> None:
    """Four lines; the answer is asked for with one token, the tool with none of our limits."""
    server = serve({**products.ollama({"m": ["completion", "tools"]}), "POST /v1/chat/completions": chat()})
    waits: list[str] = []

    async def all_of_them() -> list[Finding]:
        return [one async for one in model_checks.findings(settings(server.port), {}, waits.append)]

    found = asyncio.run(all_of_them())
    assert [str(one) for one in found] == [
        f"ok       model server   Ollama 0.12.3 at http://127.0.0.1:{server.port}/v1",
        "ok       model          m, calls tools",
        "ok       answer         m answers",
        "ok       tool call      m calls the tool it is given",
    ]
    assert waits == ["asking m, which may have to be loaded first ..."]
    plain, tools = [one.body for one in server.asked if one.path == "/v1/chat/completions"]
    assert plain["max_tokens"] == 1
    assert "tools" not in plain
    assert "max_tokens" not in tools
    assert [one["function"]["name"] for one in tools["tools"]] == ["note"]
    assert tools["messages"] == [{"role": "user", "content": ASK_FOR_TOOL}]


def test_what_is_configured_is_what_is_sent(
    serve: Callable[..., Any], products: Any, chat: Callable[..., Any]
) -> None:
    """Temperature, the limit, and the key, which is nowhere shown."""
    server = serve({"GET /v1/models": products.model_list("m"), "POST /v1/chat/completions": chat()})
    chosen = settings(server.port, temperature=0.5, max_tokens=77, api_key_env="MY_KEY")
    found = check(chosen, {"MY_KEY": KEY})
    assert states(found) == OK
    tools = server.asked[-1].body
    assert (tools["temperature"], tools["max_tokens"]) == (0.5, 77)
    assert all(one.headers["authorization"] == f"Bearer {KEY}" for one in server.asked)
    assert KEY not in "".join(map(str, found))


def test_a_server_that_is_not_there_ends_the_questions(closed_port: int) -> None:
    """What could only fail is not asked, and says why."""
    found = check(settings(closed_port))
    assert states(found) == ["to do", "skipped", "skipped", "skipped"]
    assert found[0].text == (
        f"http://127.0.0.1:{closed_port}/v1 cannot be reached; start the server, or mend model.baseUrl"
    )


@pytest.mark.parametrize(
    ("variable", "environ", "says"),
    [
        (None, {}, "wants a key (401); put it into an environment variable and name that in model.apiKeyEnv"),
        ("MY_KEY", {}, "wants a key (401), and MY_KEY is empty or not set; set it"),
        ("MY_KEY", {"MY_KEY": ""}, "wants a key (401), and MY_KEY is empty or not set; set it"),
        ("MY_KEY", {"MY_KEY": KEY}, "did not accept the key in MY_KEY (401); set the right one"),
        ("MY_KEY", {"MY_KEY": "a\nb"}, "was not asked: the API key holds characters no key can have"),
    ],
)
def test_the_key_is_missing_or_wrong(
    serve: Callable[..., Any],
    products: Any,
    variable: str | None,
    environ: dict[str, str],
    says: str,
) -> None:
    """The sentence names the variable, never the key, even if the server repeats it."""
    server = serve({}, other=products.Answer({"error": f"bad key {KEY}"}, 401))
    found = check(settings(server.port, api_key_env=variable), environ)
    assert states(found)[0] == "to do"
    assert found[0].text.endswith(says)
    assert KEY not in "".join(map(str, found))


@pytest.mark.parametrize(
    ("status", "body", "says"),
    [
        (200, b"<html>", "answers (200), but not with a list of models; check model.baseUrl"),
        (
            200,
            b'{"error": "Unexpected endpoint or method."}',
            "not with a list of models; check model.baseUrl",
        ),
        (
            503,
            b'{"error": {"message": "Loading model"}}',
            "is still loading its model: try again in a moment",
        ),
        (500, b"{}", "failed (500) when asked for its models"),
        (302, b"", "answers (302), but not with a list of models; check model.baseUrl"),
    ],
)
def test_what_answers_wrongly_is_said(
    serve: Callable[..., Any], products: Any, status: int, body: bytes, says: str
) -> None:
    """With what to look at."""
    found = check(settings(serve({}, other=products.Answer(body, status)).port))
    assert found[0].state is State.TO_DO
    assert found[0].text.endswith(says)


def test_a_base_url_without_its_version_is_completed(serve: Callable[..., Any], products: Any) -> None:
    """The right one is in the sentence."""
    server = serve(products.vllm())
    found = check(settings(server.port, base_url=f"http://127.0.0.1:{server.port}"))
    assert found[0].text == (
        f"http://127.0.0.1:{server.port} is not the whole address; "
        f"set model.baseUrl to http://127.0.0.1:{server.port}/v1"
    )


def test_a_password_in_the_address_is_not_shown(closed_port: int) -> None:
    """It works, so people do it."""
    found = check(settings(closed_port, base_url=f"http://me:{KEY}@127.0.0.1:{closed_port}/v1?key={KEY}"))
    assert found[0].text.startswith(f"http://127.0.0.1:{closed_port}/v1 cannot be reached")
    assert KEY not in "".join(map(str, found))


def test_a_server_without_a_list_is_still_asked(
    serve: Callable[..., Any], products: Any, chat: Callable[..., Any]
) -> None:
    """Some gateways have none; what counts is the answer."""
    server = serve({"POST /v1/chat/completions": chat()})
    found = check(settings(server.port))
    assert states(found) == ["ok", "skipped", "ok", "ok"]
    assert found[1].text == 'the server lists no models, so "m" is taken as it is'


@pytest.mark.parametrize(
    ("names", "product", "state", "says"),
    [
        (["a", "m:latest"], Product.UNKNOWN, State.OK, "m:latest"),
        (["gguf"], Product.LLAMA_CPP, State.OK, 'gguf, which llama.cpp serves for any name ("m" too)'),
        (["a", "b"], Product.LLAMA_CPP, State.TO_DO, 'the server does not list "m"; it has "a", "b".'),
        (["m1"], Product.UNKNOWN, State.TO_DO, 'did you mean "m1"?'),
        ([], Product.OLLAMA, State.TO_DO, 'the server has no model; load or pull "m"'),
        ([f"x{n}" for n in range(9)], Product.UNKNOWN, State.TO_DO, '"x4" and 4 more.'),
    ],
)
def test_the_model_is_there_or_what_is_there_instead(
    names: list[str], product: Product, state: State, says: str
) -> None:
    """As the product reads names."""
    server = Server("http://h/v1", Identity(product), tuple(map(ModelEntry, names)), status=200)
    finding = model_present(server, "m")
    assert finding.state is state
    assert says in finding.text


def test_a_missing_model_ends_the_questions(serve: Callable[..., Any], products: Any) -> None:
    """Asking it would only say so again."""
    server = serve({"GET /v1/models": products.model_list("other")})
    assert states(check(settings(server.port))) == ["ok", "to do", "skipped", "skipped"]


def test_a_limit_of_one_token_may_be_refused(serve: Callable[..., Any], products: Any) -> None:
    """Reasoning models want room; without the limit the model answers, and that is what was asked."""

    def answer(asked: Any) -> Any:
        if asked.body.get("max_tokens") == 1:
            return products.Answer({"error": {"message": "output limit was reached"}}, 400)
        reply = GOOD_CALL if asked.body.get("tools") else said("yes")
        return products.Answer(reply.encode(), headers={"content-type": "text/event-stream"})

    server = serve({"GET /v1/models": products.model_list("m"), "POST /v1/chat/completions": answer})
    assert states(check(settings(server.port))) == OK


@pytest.mark.parametrize(
    "reply", [said("", "length"), event({"reasoning_content": "hm"}) + event({}, "length")]
)
def test_one_token_need_not_be_text(
    serve: Callable[..., Any], products: Any, chat: Callable[..., Any], reply: str
) -> None:
    """A model that thinks first spends it on that."""
    server = serve({"GET /v1/models": products.model_list("m"), "POST /v1/chat/completions": chat(reply)})
    assert states(check(settings(server.port))) == OK


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ((500, {"error": "out of memory"}), "failed (500): out of memory"),
        ((404, {"error": "model not found"}), 'knows no such path or no model "m" (404)'),
        ("", "closed the connection without an answer"),
        ("data: {nonsense\n\n", "sent malformed JSON"),
    ],
)
def test_a_model_that_does_not_answer_is_said_in_bobs_words(
    serve: Callable[..., Any],
    products: Any,
    chat: Callable[..., Any],
    reply: str | tuple[int, object],
    says: str,
) -> None:
    """The sentence that Bob would answer with in the editor."""
    server = serve({"GET /v1/models": products.model_list("m"), "POST /v1/chat/completions": chat(reply)})
    found = check(settings(server.port))
    assert states(found) == ["ok", "ok", "to do", "skipped"]
    assert says in found[2].text


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (
            said("I would call the tool."),
            'the model did not call its tool and said "I would call the tool."; ',
        ),
        (said(""), "the model did not call its tool; "),
        (said("", "length"), "the answer was cut off before the call; raise model.maxTokens or the context"),
        (called("other", "{}"), "the model called other({}) instead of what it was asked to"),
        (called("note", "[1"), "the model called note([1) instead"),
        (called("note", '{"word": 7}'), 'the model called note({"word": 7}) instead'),
        (called("note", "[]"), "the model called note([]) instead"),
        (
            (400, {"error": '"auto" tool choice requires --enable-auto-tool-choice'}),
            "--enable-auto-tool-choice",
        ),
        ((500, {"error": "tools param requires --jinja flag"}), "tools param requires --jinja flag; "),
        ((401, {"error": "no"}), "refused access (401): no"),
    ],
)
def test_a_model_that_calls_no_tool_is_of_no_use(
    serve: Callable[..., Any],
    products: Any,
    chat: Callable[..., Any],
    reply: str | tuple[int, object],
    says: str,
) -> None:
    """What it did instead, and what to change."""
    server = serve(
        {"GET /v1/models": products.model_list("m"), "POST /v1/chat/completions": chat(tools=reply)}
    )
    found = check(settings(server.port))
    assert states(found) == ["ok", "ok", "ok", "to do"]
    assert says in found[3].text


@pytest.mark.parametrize("product", ["llama_cpp", "vllm"])
def test_the_advice_is_for_the_product(
    serve: Callable[..., Any], products: Any, chat: Callable[..., Any], product: str
) -> None:
    """The switch of the server that is there."""
    routes, kind = {
        "llama_cpp": (products.llama_cpp("m"), Product.LLAMA_CPP),
        "vllm": (products.vllm("m"), Product.VLLM),
    }[product]
    server = serve({**routes, "POST /v1/chat/completions": chat(tools=said("no"))})
    assert check(settings(server.port))[3].text.endswith(TOOLS_ADVICE[kind])


def test_there_is_advice_for_every_product() -> None:
    """A product that is told apart is told something."""
    assert set(TOOLS_ADVICE) == set(Product)


def test_a_model_that_never_ends_is_given_up(
    serve: Callable[..., Any],
    products: Any,
    chat: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever the configuration allows, a person does not wait for ever."""
    monkeypatch.setattr(model_checks, "MAX_WAIT_S", 0.0)
    server = serve({"GET /v1/models": products.model_list("m"), "POST /v1/chat/completions": chat()})
    finding = asyncio.run(model_checks.completion(settings(server.port), None))
    assert finding.state is State.TO_DO


def test_the_offline_model_needs_no_server() -> None:
    """It says so, and what would set up a real one."""
    (finding,) = check(ModelSettings())
    assert finding.state is State.SKIPPED
    assert "`acp-agent init`" in finding.text


def test_a_script_is_read(tmp_path: Path) -> None:
    """The scripted model needs no server, but its file."""
    chosen = ModelSettings(Provider.SCRIPTED, script=tmp_path / "x.model")
    (finding,) = check(chosen)
    assert finding.state is State.TO_DO
    assert "x.model" in finding.text
