"""One question to an HTTP server, asked carefully: short, bounded, and without surprises for whoever runs it.

Owns the request: its time, its size, where a key goes. A server found on a port may be anything, so nothing it says is
trusted and nothing it does is an error here. Absent: what the answers mean (products.py, models.py), and the requests
for an answer of a model, which are llm's.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit, urlunsplit

from acp_agent.llm.route import http_client

if TYPE_CHECKING:
    import httpx

MAX_ANSWER_BYTES: Final = 16 * 1024 * 1024
"""A large provider's list of models has about one megabyte."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back.

    status: 0 if nothing came; problem then says why, in a few words that follow "it". body: decoded JSON, None if it
    was none. text: the beginning of the body."""

    status: int
    headers: Mapping[str, str]
    text: str = ""
    body: object = None
    problem: str = ""

    @property
    def fields(self) -> dict[str, object]:
        """The body as an object, {} if it is something else."""
        return self.body if isinstance(self.body, dict) else {}


class Prober:
    """Asks one server; use inside `probing`."""

    def __init__(self, client: httpx.AsyncClient, deadline_s: float) -> None:
        self._client = client
        self._deadline_s = deadline_s

    async def get(self, url: str) -> Reply:
        """GET this address; never raises for what the server or the network does."""
        return await self._ask("GET", url, None)

    async def post(self, url: str, body: object) -> Reply:
        """POST a JSON body; never raises for what the server or the network does."""
        return await self._ask("POST", url, body)

    async def _ask(self, method: str, url: str, body: object) -> Reply:
        import httpx
        import orjson

        content = None if body is None else orjson.dumps(body)
        try:
            async with (
                asyncio.timeout(self._deadline_s),
                self._client.stream(method, url, content=content) as response,
            ):
                held = bytearray()
                async for piece in response.aiter_bytes():
                    held += piece
                    if len(held) > MAX_ANSWER_BYTES:
                        return Reply(0, {}, problem="sent far more than an answer to such a question")
                return _reply(response, bytes(held))
        except (TimeoutError, httpx.TimeoutException):
            return Reply(0, {}, problem=f"did not answer within {self._deadline_s:g} s")
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, UnicodeError) as error:
            return Reply(0, {}, problem=_reason(error))


def _reply(response: httpx.Response, content: bytes) -> Reply:
    import orjson

    try:
        body = orjson.loads(content)
    except ValueError:
        body = None
    text = content[:2000].decode("utf-8", "replace")
    return Reply(
        response.status_code, {key.lower(): value for key, value in response.headers.items()}, text, body
    )


def _reason(error: Exception) -> str:
    import httpx

    if isinstance(error, httpx.ConnectError):
        return "cannot be reached"
    if isinstance(error, httpx.RemoteProtocolError | httpx.DecodingError):
        return "does not speak HTTP"
    return "broke the connection"


@asynccontextmanager
async def probing(url: str, key: str | None, deadline_s: float) -> AsyncIterator[Prober]:
    """A prober for the server at this address.

    key: sent with every request, so url has to be the server it was made for. deadline_s: for each request. The way
    there is the model client's (llm/route.py). Raises ValueError for a key no header can hold and for settings of the
    environment (proxy, certificates) that cannot be used."""
    import httpx

    headers = {"accept": "application/json", "user-agent": "bob-acp"}
    if key:
        if not (key.isascii() and key.isprintable()):
            raise ValueError("the API key holds characters no key can have")
        headers["authorization"] = f"Bearer {key}"
    try:
        client = http_client(url, httpx.Timeout(deadline_s), headers)
    except ValueError as error:
        raise ValueError("the proxy or certificate settings of the environment cannot be used") from error
    async with client:
        yield Prober(client, deadline_s)


def below(base_url: str, path: str) -> str:
    """The address of a path below a base URL, whose query, where it has one, stays at the end."""
    parts = urlsplit(base_url)
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + path, fragment=""))


def shown_address(url: str) -> str:
    """An address without what may be secret in it: user, password, query."""
    try:
        parts = urlsplit(url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    except ValueError:
        return url.rpartition("@")[2].partition("?")[0]
