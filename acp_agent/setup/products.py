"""Which product answers at an address: told by what only it says, or not told at all.

Owns the marks of each product. Several of them imitate another's paths, and one answers 200 to every path, so a status
proves nothing: each mark is a text or a field that the product itself gives. Where no mark fits, or two do, the answer
is "an OpenAI-compatible server", which is all that is needed to use it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from acp_agent.setup.models import ModelEntry, is_count, with_capabilities
from acp_agent.setup.probe import Prober, Reply

MAX_ASKED_MODELS: Final = 64
"""Of a longer list, the rest is offered without knowing what it can do."""
_AT_ONCE: Final = 8


class Product(StrEnum):
    """The model servers that are told apart; the values are their names in a sentence."""

    OLLAMA = "Ollama"
    LLAMA_CPP = "llama.cpp"
    LM_STUDIO = "LM Studio"
    VLLM = "vLLM"
    DOCKER = "Docker Model Runner"
    UNKNOWN = "an OpenAI-compatible server"


@dataclass(frozen=True, slots=True)
class Identity:
    """Who answers. version: "" if it does not say."""

    product: Product
    version: str = ""

    def __str__(self) -> str:
        return f"{self.product} {self.version}".rstrip()


async def identify(
    prober: Prober, base_url: str, models: Reply, entries: Sequence[ModelEntry]
) -> tuple[Identity, list[ModelEntry]]:
    """Who answers at base_url, and the models with what that product says about them.

    models: the answer to GET base_url/models, entries: what was read in it."""
    root = origin(base_url)
    front = await prober.get(f"{root}/")
    products = marks(models, front)
    if not products and (await prober.get(f"{root}/lmstudio-greeting")).fields.get("lmstudio") is True:
        products = {Product.LM_STUDIO}
    if len(products) != 1:
        return Identity(Product.UNKNOWN), list(entries)
    (product,) = products
    if product is Product.OLLAMA:
        version = _version((await prober.get(f"{root}/api/version")).fields.get("version"))
        return Identity(product, version), await _ollama_models(prober, root, entries)
    if product is Product.LLAMA_CPP:
        return await _llama_cpp(prober, root, models, entries)
    if product is Product.VLLM:
        version = _version((await prober.get(f"{root}/version")).fields.get("version"))
        return Identity(product if version else Product.UNKNOWN, version), list(entries)
    if product is Product.LM_STUDIO:
        details = (await prober.get(f"{root}/api/v0/models")).fields.get("data")
        return Identity(product), _lm_studio_models(entries, details)
    return Identity(product), list(entries)


def marks(models: Reply, front: Reply) -> set[Product]:
    """The products whose marks the list of models and the front page bear."""
    found = set()
    if "Ollama is running" in front.text:
        found.add(Product.OLLAMA)
    if "Docker Model Runner is running" in front.text or owner(models) == "docker":
        found.add(Product.DOCKER)
    if owner(models) == "llamacpp" or models.headers.get("server") == "llama.cpp":
        found.add(Product.LLAMA_CPP)
    if owner(models) == "vllm":
        found.add(Product.VLLM)
    return found


def owner(models: Reply) -> str | None:
    """The owner that all models of a list have; None if they differ or have none."""
    items = models.fields.get("data")
    if not isinstance(items, list):
        return None
    owners = {str(item.get("owned_by")) if isinstance(item, dict) else "" for item in items}
    return owners.pop() if len(owners) == 1 else None


def origin(base_url: str) -> str:
    """Scheme, host and port of an address, in front of any path."""
    parts = urlsplit(base_url)
    return f"{parts.scheme}://{parts.netloc}"


def _version(value: object) -> str:
    """A version that may be shown and written, "" for anything else."""
    return value if isinstance(value, str) and re.fullmatch(r"[\w.+-]{1,40}", value, re.ASCII) else ""


async def _ollama_models(prober: Prober, root: str, entries: Sequence[ModelEntry]) -> list[ModelEntry]:
    some = asyncio.Semaphore(_AT_ONCE)

    async def asked(entry: ModelEntry) -> ModelEntry:
        async with some:
            reply = await prober.post(f"{root}/api/show", {"model": entry.name})
        return with_capabilities(entry, reply.fields.get("capabilities"))

    known = await asyncio.gather(*(asked(entry) for entry in entries[:MAX_ASKED_MODELS]))
    return [*known, *entries[MAX_ASKED_MODELS:]]


async def _llama_cpp(
    prober: Prober, root: str, models: Reply, entries: Sequence[ModelEntry]
) -> tuple[Identity, list[ModelEntry]]:
    props = (await prober.get(f"{root}/props")).fields
    defaults = props.get("default_generation_settings")
    if models.headers.get("server") != "llama.cpp" and not isinstance(defaults, dict):
        # Other servers name the same owner; /props with these settings is llama.cpp's own.
        return Identity(Product.UNKNOWN), list(entries)
    context = defaults.get("n_ctx") if isinstance(defaults, dict) else None
    capabilities = props.get("chat_template_caps")
    # Where a template knows no tools, llama.cpp writes them into the prompt itself: a no is no no.
    tools = True if isinstance(capabilities, dict) and capabilities.get("supports_tools") is True else None
    if len(entries) == 1:  # what /props says is of the one model that is loaded
        entry = replace(
            entries[0],
            context=context if is_count(context) else None,
            tools=tools,
        )
        entries = [entry]
    return Identity(Product.LLAMA_CPP, _version(props.get("build_info"))), list(entries)


def _lm_studio_models(entries: Sequence[ModelEntry], details: object) -> list[ModelEntry]:
    """The entries with what LM Studio's own list says: type, capabilities, and the context where one is loaded."""
    known = {
        item["id"]: item
        for item in (details if isinstance(details, list) else [])
        if isinstance(item, dict) and isinstance(item.get("id"), str)
    }
    found = []
    for entry in entries:
        item = known.get(entry.name, {})
        capabilities = item.get("capabilities")
        context = item.get("loaded_context_length")
        found.append(
            replace(
                entry,
                chat=item["type"] in ("llm", "vlm") if isinstance(item.get("type"), str) else entry.chat,
                tools="tool_use" in capabilities if isinstance(capabilities, list) else None,
                context=context if is_count(context) else None,
            )
        )
    return found
