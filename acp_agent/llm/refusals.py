"""What a server says when it says no, as a ModelError with a sentence for the person in front of the editor.

Owns the reading of HTTP statuses, error bodies (JSON in many shapes, plain text, HTML), error events in a stream and
transport failures. Text of the server is untrusted: it is cut to one line, cleaned of control characters and of the API
key. Absent: the decision to try again, which is client.py's; here it is only said whether that may help.
"""

from __future__ import annotations

import contextlib
import errno
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from acp_agent.llm.errors import (
    ContextOverflow,
    ModelAuthError,
    ModelBadAnswer,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelServerFailed,
    ModelTimeout,
    ModelUnreachable,
)
from acp_agent.printable import printable

MAX_SERVER_TEXT = 300
"""Characters of the server's own words that are shown."""

_MAY_PASS = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
_OVERFLOW = re.compile(
    r"context[ _-]?(length|size|window)|maximum context|max(imum)?[ _](model|prompt|input)[ _](length|tokens)"
    r"|\bn_ctx\b|available context|prompt is too long|prompt too long|input is too long|too many (input )?tokens"
    r"|reduce the length of|exceeds? .{0,40}(token|context) (limit|length)",
    re.IGNORECASE,
)
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing|credit", re.IGNORECASE)
"""In a code or type; in the text only where there is neither: a passing limit is often explained by prices."""
_LOADING = re.compile(r"loading model|model is (still )?(being )?load(ing|ed)|still loading", re.IGNORECASE)
_LOADING_S = 60.0
"""A model of some gigabytes from a disk; after that a person has to look."""
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Whom the sentences speak of.

    url: the base URL without credentials and query. key_variable: environment variable of the key, if one is named.
    secret: the key itself, to be cut out of what the server says; never shown."""

    url: str
    name: str
    key_variable: str | None = None
    secret: str | None = field(default=None, repr=False)


def refusal_of_status(
    status: int, body: str, address: ServerAddress, wait_s: float | None = None, location: str = ""
) -> ModelError:
    """Return the error for an HTTP answer that is not 2xx.

    body: what came, perhaps only its beginning. wait_s: a Retry-After already read. location: of a redirect."""
    if 300 <= status < 400:
        target = f" to {one_line(location, address)}" if location else ""
        return ModelRefused(
            f"the model server at {address.url} redirects{target}; set model.baseUrl to that address"
        )
    return _classified(status, said_in(body, address), body, _names_in(_decoded(body)), address, wait_s)


def refusal_in_stream(chunk: dict[str, object], address: ServerAddress) -> ModelError:
    """Return the error for a chunk with an `error` member, or for an error event's data."""
    inner = chunk.get("error")
    source = inner if isinstance(inner, dict) else chunk
    status = next(
        (code for code in (source.get("code"), source.get("status"), chunk.get("code")) if _is_status(code)),
        0,
    )
    return _classified(int(str(status)), _said(chunk, address), str(chunk), _names_in(chunk), address, None)


def _is_status(code: object) -> bool:
    return str(code).isdigit() and 400 <= int(str(code)[:9]) < 600


def _names_in(value: object) -> str:
    """The `code` and `type` of an error, "" if it has neither. A number is a status, and "error" says nothing."""
    if isinstance(value, list):
        value = next(iter(value), None)
    if not isinstance(value, dict):
        return ""
    inner = value.get("error")
    source = inner if isinstance(inner, dict) else value
    names = (source.get("code"), source.get("type"))
    return " ".join(
        name for name in names if isinstance(name, str) and name != "error" and not name.isdigit()
    )


def _classified(
    status: int, said: str, everything: str, names: str, address: ServerAddress, wait_s: float | None
) -> ModelError:
    """names: what the server itself calls the error; everything: all it sent, read where it names nothing."""
    where = f"the model server at {address.url}"
    code = f" ({status})" if status else ""
    tail = f": {said}" if said else ""
    kind = (names or everything).lower()
    if status in (401, 403) or (not status and ("invalid_api_key" in kind or "authentication_error" in kind)):
        return ModelAuthError(f"{where} refused access{code}{tail}; {_about_the_key(address)}")
    if status == 429 or (not status and ("rate_limit" in kind or "insufficient_quota" in kind)):
        if _QUOTA.search(kind):
            return ModelRateLimited(f"the account at {address.url} has no quota left{code}{tail}")
        return ModelRateLimited(
            f"{where} takes no more requests for now{code}{tail}; wait a little and ask again",
            retryable=True,
            wait_s=wait_s,
        )
    if status != 404 and _OVERFLOW.search(everything):
        return ContextOverflow(f'the conversation is too long for the context of "{address.name}"{tail}')
    if status == 404:
        return ModelRefused(
            f'{where} knows no such path or no model "{address.name}" (404){tail}; check model.baseUrl and model.name'
        )
    if status == 503 and _LOADING.search(said):
        return ModelServerFailed(
            f"{where} is still loading its model{code}{tail}; ask again when it has",
            retryable=True,
            wait_s=wait_s,
            patience_s=_LOADING_S,
        )
    if status >= 500 or not status:
        return ModelServerFailed(
            f"{where} failed{code}{tail}", retryable=not status or status in _MAY_PASS, wait_s=wait_s
        )
    return ModelRefused(
        f"{where} refused the request{code}{tail}", retryable=status in _MAY_PASS, wait_s=wait_s
    )


def _about_the_key(address: ServerAddress) -> str:
    if address.secret and address.key_variable:
        return f"check the API key in ${address.key_variable}"
    if address.secret:
        return "check the API key"
    if address.key_variable:
        return f"set the API key in ${address.key_variable}, which is empty or not set"
    return "if it wants an API key, put it into an environment variable and name that in model.apiKeyEnv"


def said_in(body: str, address: ServerAddress) -> str:
    """Return the server's own explanation out of an error body, one line, "" when there is none."""
    text = body.strip()
    value = _decoded(text)
    if value is not None:
        return _said(value, address)
    if text.startswith("<"):
        title = _TITLE.search(text)
        text = title[1] if title else _TAG.sub(" ", text)
    return one_line(text, address)


def _decoded(body: str) -> object:
    """The JSON object, list or string that a body is, None if it is something else."""
    import json

    if body.lstrip().startswith(("{", "[", '"')):
        with contextlib.suppress(ValueError, RecursionError):
            value: object = json.loads(body)
            return value
    return None


def _said(value: object, address: ServerAddress) -> str:
    return one_line(_sentence_in(value, 0) or "", address)


def _sentence_in(value: object, depth: int) -> str | None:
    if isinstance(value, str):
        return value.strip() or None
    if depth > 4:
        return None
    if isinstance(value, list):
        return next((found for one in value if (found := _sentence_in(one, depth + 1))), None)
    if isinstance(value, dict):
        for name in (
            "error",
            "errors",
            "message",
            "detail",
            "msg",
            "error_description",
            "title",
            "code",
            "type",
        ):
            found = _sentence_in(value.get(name), depth + 1)
            if found:
                return found
    return None


def one_line(text: str, address: ServerAddress) -> str:
    """Return text as one line of at most MAX_SERVER_TEXT printable characters, without the API key."""
    if address.secret:
        text = text.replace(address.secret, "***")
    # Only the start can be shown; a server may send megabytes.
    text = " ".join(text[: MAX_SERVER_TEXT * 20].split())
    text = printable(text)
    return text if len(text) <= MAX_SERVER_TEXT else text[: MAX_SERVER_TEXT - 1] + "…"


def transport_failure(
    error: Exception, address: ServerAddress, timeouts_s: tuple[float, float]
) -> ModelError:
    """Return the error for a request that failed below HTTP.

    error: an httpx exception, or what slips through it. timeouts_s: (connect, idle), for the sentences."""
    import httpx

    connect_s, idle_s = timeouts_s
    if isinstance(error, httpx.ConnectTimeout):
        return ModelUnreachable(
            f"cannot reach the model server at {address.url}: no connection within {connect_s:g} s",
            retryable=True,
        )
    if isinstance(error, httpx.TimeoutException):
        return ModelTimeout(
            f"the model server at {address.url} sent nothing for {idle_s:g} s; "
            "model.idleTimeout can be raised if it needs longer"
        )
    if isinstance(error, httpx.DecodingError):
        return ModelBadAnswer(
            f"the answer of the model server at {address.url} is damaged: its compression is broken"
        )
    if isinstance(error, httpx.ProxyError):
        return ModelUnreachable(
            f"cannot reach the model server at {address.url} through the proxy of the environment: "
            f"{one_line(str(error), address)}"
        )
    if isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol | UnicodeError):
        return ModelUnreachable(
            f'"{address.url}" is no address a request can be sent to; check model.baseUrl'
        )
    if isinstance(error, httpx.RemoteProtocolError):
        return ModelUnreachable(
            f"the model server at {address.url} broke the connection or does not speak HTTP: "
            f"{one_line(str(error), address)}",
            retryable=True,
        )
    reason, lasting = _reason_of(error, address)
    return ModelUnreachable(
        f"cannot reach the model server at {address.url}: {reason}", retryable=not lasting
    )


def _reason_of(error: Exception, address: ServerAddress) -> tuple[str, bool]:
    """Return the cause in words and whether it will be the same a second later."""
    import socket
    import ssl

    for cause in _causes(error):
        if isinstance(cause, ssl.SSLError):
            return (
                f"the secure connection failed ({one_line(getattr(cause, 'reason', None) or str(cause), address)})",
                True,
            )
        if isinstance(cause, socket.gaierror):
            return "its host name is not known; check model.baseUrl and the network", False
        if isinstance(cause, OSError) and cause.errno == errno.ECONNREFUSED:
            return "connection refused; is it running?", False
        if isinstance(cause, OSError) and cause.errno in (errno.ENETUNREACH, errno.EHOSTUNREACH):
            return "no route to it; check the network", False
        if isinstance(cause, OSError) and cause.errno in (errno.ECONNRESET, errno.EPIPE):
            return "it closed the connection", False
    return one_line(str(error), address) or type(error).__name__, False


def _causes(error: BaseException) -> Iterator[BaseException]:
    waiting = [error]
    seen: set[int] = set()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        if isinstance(one, BaseExceptionGroup):
            waiting.extend(one.exceptions)
        waiting.extend(link for link in (one.__context__, one.__cause__) if link is not None)
