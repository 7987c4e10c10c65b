"""The checks of the model: is the server there, has it the model, does it answer, does it call a tool.

Owns the four questions in this order, the last two asked through the same client that Bob uses, and the advice for
each product. A question that could only fail because an earlier one did is not asked. Absent: how a model call is made
(llm).
"""

from __future__ import annotations

import asyncio
import difflib
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from typing import Final

from acp_agent.config import ModelSettings, Provider
from acp_agent.llm.errors import ModelAuthError, ModelError, ModelRefused
from acp_agent.llm.model import Finished, FinishReason, Message, Model, TextDelta, ToolCallReady, ToolSpec
from acp_agent.llm.providers import create_model
from acp_agent.setup.findings import Finding, State
from acp_agent.setup.models import same_model
from acp_agent.setup.probe import shown_address
from acp_agent.setup.products import Product
from acp_agent.setup.servers import NO_MODEL, Server, examine

SERVER: Final = "model server"
MODEL: Final = "model"
COMPLETION: Final = "answer"
TOOL_CALL: Final = "tool call"

MAX_WAIT_S: Final = 180.0
"""For one answer, whatever the configuration allows: somebody is waiting. A large local model is loaded by then."""

TOOL: Final = ToolSpec(
    "note",
    "Write down one word.",
    {
        "type": "object",
        "properties": {"word": {"type": "string", "description": "The word to write down."}},
        "required": ["word"],
    },
)
ASK_FOR_TOOL: Final = 'Call the tool "note" once, with the word "ready". Do not answer in text.'

TOOLS_ADVICE: Final[Mapping[Product, str]] = {
    Product.OLLAMA: "take a model that `ollama show` lists with the capability tools",
    Product.LLAMA_CPP: "start llama-server with --jinja, and take a model whose chat template knows tools",
    Product.LM_STUDIO: "take a model that LM Studio marks as trained for tool use",
    Product.VLLM: "start vLLM with --enable-auto-tool-choice and the --tool-call-parser of this model",
    Product.DOCKER: "take a model whose page says that it calls tools",
    Product.UNKNOWN: "take a model that calls tools, and switch that on in the server if it has a switch",
}


async def findings(
    settings: ModelSettings, environ: Mapping[str, str], on_wait: Callable[[str], None] = lambda _: None
) -> AsyncIterator[Finding]:
    """Ask all four questions, each answer as soon as it is there.

    on_wait: told, before a wait that may be long, what is waited for."""
    if settings.provider is not Provider.OPENAI:
        yield _without_server(settings)
        return
    key = (environ.get(settings.api_key_env) if settings.api_key_env else None) or None
    server = await examine(
        settings.base_url, key, settings.api_key_env, deadline_s=min(settings.connect_timeout_s, MAX_WAIT_S)
    )
    reached = reachable(server, settings, has_key=key is not None)
    yield reached
    if reached.state is State.TO_DO:
        for subject in (MODEL, COMPLETION, TOOL_CALL):
            yield Finding(State.SKIPPED, subject, "the model server has to be reached first")
        return
    present = model_present(server, settings.name or "")
    yield present
    if present.state is State.TO_DO:
        for subject in (COMPLETION, TOOL_CALL):
            yield Finding(State.SKIPPED, subject, "the model has to be there first")
        return
    on_wait(f"asking {settings.name}, which may have to be loaded first ...")
    answered = await completion(settings, key)
    yield answered
    if answered.state is State.TO_DO:
        yield Finding(State.SKIPPED, TOOL_CALL, "the model has to answer first")
        return
    yield await tool_call(settings, key, server.identity.product)


def _without_server(settings: ModelSettings) -> Finding:
    if settings.provider is Provider.OFFLINE:
        return Finding(
            State.SKIPPED,
            SERVER,
            "the built-in offline model needs no server; `acp-agent init` sets up a real one",
        )
    try:
        _model(settings, None, None)
    except ModelError as error:
        return Finding(State.TO_DO, MODEL, str(error))
    return Finding(State.SKIPPED, SERVER, f"the scripted model needs no server; it plays {settings.script}")


def reachable(server: Server, settings: ModelSettings, *, has_key: bool) -> Finding:
    """Whether the server answers as a model server at the configured address.

    A server that answers but lists no models passes: the list is not needed to use it."""
    shown, variable = shown_address(server.base_url), settings.api_key_env
    if server.base_url != settings.base_url:
        found = f"{shown_address(settings.base_url)} is not the whole address; set model.baseUrl to {shown}"
    elif server.status in (401, 403):
        if has_key:
            advice = f"did not accept the key in {variable} ({server.status}); set the right one"
        elif variable:
            advice = f"wants a key ({server.status}), and {variable} is empty or not set; set it"
        else:
            advice = (
                f"wants a key ({server.status}); "
                "put it into an environment variable and name that in model.apiKeyEnv"
            )
        found = f"{shown} {advice}"
    elif server.missing and not server.status:
        found = f"{shown} {server.problem}; start the server, or mend model.baseUrl"
    elif server.problem in ("", NO_MODEL):
        return Finding(State.OK, SERVER, server.title)
    elif server.status in (404, 405, 501):
        return Finding(State.OK, SERVER, f"{shown} answers")
    elif server.missing:
        found = f"{shown} {server.problem}; check model.baseUrl"
    else:
        found = f"{shown} {server.problem}"
    return Finding(State.TO_DO, SERVER, found)


def model_present(server: Server, name: str) -> Finding:
    """Whether the configured model is among those the server lists."""
    if server.problem and server.problem != NO_MODEL:
        return Finding(State.SKIPPED, MODEL, f'the server lists no models, so "{name}" is taken as it is')
    names = [model.name for model in server.models]
    for model in server.models:
        if same_model(name, model.name):
            return Finding(State.OK, MODEL, ", ".join(part for part in (model.name, model.remark) if part))
    if server.identity.product is Product.LLAMA_CPP and len(names) == 1:
        return Finding(State.OK, MODEL, f'{names[0]}, which llama.cpp serves for any name ("{name}" too)')
    if not names:
        return Finding(State.TO_DO, MODEL, f'the server has no model; load or pull "{name}"')
    folded = {known.casefold(): known for known in names}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.5)
    known = f'did you mean "{folded[close[0]]}"?' if close else f"it has {_some(names)}"
    return Finding(
        State.TO_DO, MODEL, f'the server does not list "{name}"; {known} Mend model.name, or load the model'
    )


def _some(names: list[str]) -> str:
    shown = ", ".join(f'"{name}"' for name in names[:5])
    return f"{shown} and {len(names) - 5} more." if len(names) > 5 else f"{shown}."


async def completion(settings: ModelSettings, key: str | None) -> Finding:
    """Whether the model answers at all, asked for one token."""
    try:
        try:
            await _ask(_model(settings, key, max_tokens=1), "Say yes.", ())
        except ModelRefused:
            # Some servers want room for thinking and refuse so small a limit; what counts is that an answer comes.
            await _ask(_model(settings, key, max_tokens=settings.max_tokens), "Say yes.", ())
    except ModelError as error:
        return Finding(State.TO_DO, COMPLETION, str(error))
    except TimeoutError:
        return Finding(State.TO_DO, COMPLETION, _too_slow())
    return Finding(State.OK, COMPLETION, f"{settings.name} answers")


async def tool_call(settings: ModelSettings, key: str | None, product: Product) -> Finding:
    """Whether the model calls the one tool it is given, as it is asked to."""
    try:
        calls, text, reason = await _ask(
            _model(settings, key, max_tokens=settings.max_tokens), ASK_FOR_TOOL, (TOOL,)
        )
    except ModelAuthError as error:
        return Finding(State.TO_DO, TOOL_CALL, str(error))
    except ModelError as error:
        return Finding(State.TO_DO, TOOL_CALL, f"{error}; {TOOLS_ADVICE[product]}")
    except TimeoutError:
        return Finding(State.TO_DO, TOOL_CALL, _too_slow())
    if not calls:
        if reason is FinishReason.LENGTH:
            return Finding(
                State.TO_DO,
                TOOL_CALL,
                "the answer was cut off before the call; raise model.maxTokens or the context",
            )
        said = f' and said "{text.strip()[:60]}"' if text.strip() else ""
        return Finding(
            State.TO_DO, TOOL_CALL, f"the model did not call its tool{said}; {TOOLS_ADVICE[product]}"
        )
    name, arguments = calls[0]
    if name != TOOL.name or not _fits(arguments):
        return Finding(
            State.TO_DO,
            TOOL_CALL,
            f"the model called {name[:40]}({arguments[:60]}) instead of what it was asked to; "
            "a larger model may do better",
        )
    return Finding(State.OK, TOOL_CALL, f"{settings.name} calls the tool it is given")


def _fits(arguments: str) -> bool:
    try:
        value = json.loads(arguments)
    except ValueError:
        return False
    return isinstance(value, dict) and isinstance(value.get("word"), str)


def _too_slow() -> str:
    return f"no whole answer within {MAX_WAIT_S:g} s; a smaller model, or a faster machine, would be more fun"


def _model(settings: ModelSettings, key: str | None, max_tokens: int | None) -> Model:
    """The model as Bob would use it, without asking again: a failure is what is looked for."""
    return create_model(
        provider=settings.provider,
        base_url=settings.base_url,
        name=settings.name,
        api_key=key,
        api_key_variable=settings.api_key_env,
        temperature=settings.temperature,
        max_tokens=max_tokens,
        connect_timeout_s=settings.connect_timeout_s,
        idle_timeout_s=min(settings.idle_timeout_s, MAX_WAIT_S),
        retries=0,
        script=settings.script,
    )


async def _ask(
    model: Model, question: str, tools: tuple[ToolSpec, ...]
) -> tuple[list[tuple[str, str]], str, FinishReason]:
    """One whole answer: calls as (name, arguments), the text, how it ended."""
    messages: list[Message] = [{"role": "user", "content": question}]
    calls: list[tuple[str, str]] = []
    text = ""
    reason = FinishReason.STOP
    try:
        async with asyncio.timeout(MAX_WAIT_S), aclosing(model.stream(messages, tools)) as events:
            async for event in events:
                if isinstance(event, ToolCallReady):
                    calls.append((event.name, event.arguments))
                elif isinstance(event, TextDelta):
                    text += event.text
                elif isinstance(event, Finished):
                    reason = event.reason
    finally:
        await model.aclose()
    return calls, text, reason
