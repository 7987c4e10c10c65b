"""The model servers within reach: where they are looked for, and what was found there.

Owns the usual places, the two environment variables, and the sentence for a place that is not as hoped. Absent: the
person's choice (init.py) and whether a model really answers (doctor.py).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from acp_agent.llm.route import is_loopback
from acp_agent.setup.models import ModelEntry, in_order, listed
from acp_agent.setup.probe import Prober, Reply, below, probing, shown_address
from acp_agent.setup.products import Identity, Product, identify

URL_VARIABLE: Final = "OPENAI_BASE_URL"
KEY_VARIABLE: Final = "OPENAI_API_KEY"
OPENAI_URL: Final = "https://api.openai.com/v1"

NO_MODEL: Final = "has no model yet"

LOCAL_DEADLINE_S: Final = 2.0
"""For each question to this machine; a server that is computing may take a moment to look up."""
REMOTE_DEADLINE_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Place:
    """Where a product listens unless it was told otherwise."""

    product: Product
    port: int
    path: str = "/v1"


USUAL_PLACES: Final = (
    Place(Product.OLLAMA, 11434),
    Place(Product.LLAMA_CPP, 8080),
    Place(Product.LM_STUDIO, 1234),
    Place(Product.VLLM, 8000),
    Place(Product.DOCKER, 12434, "/engines/v1"),
)

LOOPBACK_HOSTS: Final = ("127.0.0.1", "[::1]")
"""Both, because some servers listen on only one of them; numbers, because what `localhost` means differs."""


@dataclass(frozen=True, slots=True)
class Server:
    """A model server that was found, or one that cannot be used as it is.

    key_variable: the environment variable whose key it was asked with. problem: why it cannot be used, as what follows
    the address in a sentence; "" if it can. missing: no model server is there. status: of the answer to GET /models, 0
    if none came."""

    base_url: str
    identity: Identity = field(default_factory=lambda: Identity(Product.UNKNOWN))
    models: tuple[ModelEntry, ...] = ()
    key_variable: str | None = None
    problem: str = ""
    missing: bool = False
    status: int = 0

    @property
    def title(self) -> str:
        """Product, version and address; the address alone if it did not show itself as a model server."""
        if self.problem and self.problem != NO_MODEL:
            return shown_address(self.base_url)
        name = str(self.identity)
        return f"{name if name[0] != 'a' else 'An' + name[2:]} at {shown_address(self.base_url)}"


async def find_servers(
    environ: Mapping[str, str],
    places: Sequence[Place] = USUAL_PLACES,
    *,
    openai_url: str = OPENAI_URL,
    deadline_s: float | None = None,
) -> list[Server]:
    """Ask all places at once; return what is there, what the person named in the environment first.

    Nothing is returned for a usual place where nothing, or something else than a model server, listens. deadline_s: for
    each question, instead of the two above."""
    named = from_environment(environ, openai_url)
    key = environ.get(KEY_VARIABLE) or None
    asked = [examine(url, key, KEY_VARIABLE if key else None, deadline_s) for url in named.addresses]
    usual = [
        examine(f"http://{host}:{place.port}{place.path}", None, None, deadline_s)
        for place in places
        for host in LOOPBACK_HOSTS
    ]
    answers = await asyncio.gather(*asked, *usual)
    found = [*named.refused, *answers[: len(asked)]]
    for server in answers[len(asked) :]:
        if not server.missing and not any(_same_place(server.base_url, other.base_url) for other in found):
            found.append(server)
    # Where there is only a key, its provider comes after what runs here.
    if named.by_key_alone:
        found.sort(key=lambda server: server.base_url == openai_url)
    return found


@dataclass(frozen=True, slots=True)
class Named:
    """What the environment says. refused: an address that cannot be used, with its sentence."""

    addresses: tuple[str, ...] = ()
    refused: tuple[Server, ...] = ()
    by_key_alone: bool = False


def from_environment(environ: Mapping[str, str], openai_url: str = OPENAI_URL) -> Named:
    """The addresses that the two variables name: none, the base URL, or the provider that the key alone is for."""
    url = environ.get(URL_VARIABLE, "").strip().rstrip("/")
    if not url:
        return Named((openai_url,), by_key_alone=True) if environ.get(KEY_VARIABLE) else Named()
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable or not url.isprintable() or " " in url:
        problem = "is no address; it should look like http://127.0.0.1:11434/v1"
        return Named(refused=(Server(f"${URL_VARIABLE}", problem=problem),))
    if parts.username or parts.password or parts.query or parts.fragment:
        problem = (
            "holds more than an address, perhaps a password, which does not belong in a file: leave it out, "
            f"and put a key into {KEY_VARIABLE}"
        )
        return Named(refused=(Server(f"${URL_VARIABLE}", problem=problem),))
    return Named((url,))


async def examine(
    base_url: str, key: str | None, key_variable: str | None, deadline_s: float | None = None
) -> Server:
    """Ask one address for its models and who it is. Never raises for what is there.

    key: its value, key_variable: where it came from. Only the list of models is asked of a server elsewhere."""
    local = is_loopback(base_url)
    seconds = deadline_s or (LOCAL_DEADLINE_S if local else REMOTE_DEADLINE_S)
    try:
        async with probing(base_url, key, seconds) as prober:
            return await _examine(prober, base_url, key, key_variable, local=local)
    except ValueError as error:
        return Server(base_url, key_variable=key_variable, problem=f"was not asked: {error}")


async def _examine(
    prober: Prober, base_url: str, key: str | None, key_variable: str | None, *, local: bool
) -> Server:
    reply = await prober.get(below(base_url, "/models"))
    entries = listed(reply.body) if reply.status == 200 else None
    if entries is None and reply.status and not base_url.endswith("/v1"):
        # The version is easily left out of an address.
        longer = below(base_url, "/v1")
        other = await prober.get(below(longer, "/models"))
        if other.status == 200 and listed(other.body) is not None:
            base_url, reply, entries = longer, other, listed(other.body)
    if entries is None:
        problem, missing = explain(reply, key_variable)
        return Server(
            base_url, key_variable=key_variable, problem=problem, missing=missing, status=reply.status
        )
    if key:
        # A server may repeat what it was sent; a key is neither shown nor written, whoever says it.
        entries = [entry for entry in entries if key not in entry.name]
    identity = Identity(Product.UNKNOWN)
    if local:
        identity, entries = await identify(prober, base_url, reply, entries)
    problem = "" if entries else NO_MODEL
    return Server(base_url, identity, tuple(in_order(entries)), key_variable, problem, status=reply.status)


def explain(reply: Reply, key_variable: str | None) -> tuple[str, bool]:
    """Why an answer to GET /models is no list, as what follows the address; and whether no model server is there."""
    if reply.status == 0:
        return reply.problem, reply.problem != "" and not reply.problem.startswith("did not answer")
    if reply.status in (401, 403):
        if key_variable:
            return f"did not accept the key in {key_variable} ({reply.status})", False
        return (
            f"refuses access ({reply.status}); if it is a model server, set {URL_VARIABLE} to this address and "
            f"{KEY_VARIABLE} to its key",
            False,
        )
    if reply.status == 503 and "oading" in reply.text:
        return "is still loading its model: try again in a moment", False
    if reply.status >= 500:
        # Other servers use these ports too; an error in JSON is more likely a model server's.
        return f"failed ({reply.status}) when asked for its models", reply.body is None
    return f"answers ({reply.status}), but not with a list of models", True


def usable(servers: Iterable[Server]) -> list[Server]:
    """The servers that offer a model to talk to."""
    return [server for server in servers if any(model.chat for model in server.models)]


def _same_place(one: str, other: str) -> bool:
    """Whether two addresses are the same server: equal, or the same port and path of this machine."""
    if one == other:
        return True
    if not (is_loopback(one) and is_loopback(other)):
        return False
    first, second = urlsplit(one), urlsplit(other)
    return (first.port, first.path) == (second.port, second.path)
