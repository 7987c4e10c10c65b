"""What servers say when they say no."""

from __future__ import annotations

import errno
import json
import ssl

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_agent.llm.errors import (
    ContextOverflow,
    ModelAuthError,
    ModelBadAnswer,
    ModelError,
    ModelRateLimited,
    ModelServerFailed,
    ModelTimeout,
    ModelUnreachable,
)
from acp_agent.llm.refusals import (
    MAX_SERVER_TEXT,
    ServerAddress,
    one_line,
    refusal_in_stream,
    refusal_of_status,
    said_in,
    transport_failure,
)

ADDRESS = ServerAddress("http://h/v1", "m", "MY_KEY", "sk-secret")
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=20)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["error", "message", "code", "type", "detail", "status"]), inner, max_size=3
        ),
    ),
    max_leaves=8,
)


_PRICES = "Limit 3 requests per minute. See your billing page, or buy credit."


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        ({"code": "rate_limit_exceeded", "type": "requests", "message": _PRICES}, True),
        ({"code": 429, "type": "rate_limit_error", "message": _PRICES}, True),
        ({"code": None, "type": "insufficient_quota", "message": "no"}, False),
        ({"code": "billing_hard_limit_reached", "type": "invalid_request_error", "message": "no"}, False),
        ({"code": 429, "message": _PRICES}, False),
        ({"message": "You exceeded your current quota"}, False),
        ({"message": "slow down"}, True),
    ],
)
@pytest.mark.parametrize("wrapped", ["alone", "in a list", "in the stream"])
def test_a_limit_that_passes_is_told_from_a_quota_by_what_the_server_calls_it(
    error: dict[str, object], passes: bool, wrapped: str
) -> None:
    """Words about money explain many a limit that is over in a minute: they count only where nothing is named."""
    document: object = {"error": error}
    if wrapped == "in the stream":
        refusal = refusal_in_stream({"error": {"status": 429, **error}}, ADDRESS)
    else:
        refusal = refusal_of_status(
            429, json.dumps([document] if wrapped == "in a list" else document), ADDRESS
        )
    assert type(refusal) is ModelRateLimited
    assert refusal.retryable is passes
    assert ("no quota left" in str(refusal)) is not passes


@given(st.integers(300, 599), st.text(max_size=300))
def test_any_status_and_body_give_one_printable_line(status: int, body: str) -> None:
    """Text of a server is untrusted."""
    error = refusal_of_status(status, body, ADDRESS)
    assert isinstance(error, ModelError)
    assert str(error).isprintable()


@given(VALUES)
def test_any_error_member_gives_one_printable_line(value: object) -> None:
    """Whatever shape the error has."""
    assert str(refusal_in_stream({"error": value}, ADDRESS)).isprintable()


@pytest.mark.parametrize(
    ("member", "kind", "retryable"),
    [
        ({"code": 429, "message": "x"}, ModelRateLimited, True),
        ({"code": "503", "message": "x"}, ModelServerFailed, True),
        ({"type": "authentication_error", "message": "x"}, ModelAuthError, False),
        ({"code": "rate_limit_exceeded"}, ModelRateLimited, True),
        ({"code": "insufficient_quota"}, ModelRateLimited, False),
        ("n_ctx is too small", ContextOverflow, False),
        ("anything", ModelServerFailed, True),
    ],
)
def test_an_error_in_the_stream_is_classed_by_code_or_words(
    member: object, kind: type[ModelError], retryable: bool
) -> None:
    """The status of the answer was 200 already."""
    error = refusal_in_stream({"error": member}, ADDRESS)
    assert type(error) is kind
    assert error.retryable is retryable


def test_a_rate_limit_that_counts_tokens_is_no_overflow() -> None:
    """Waiting helps there, shortening is not what was asked for."""
    error = refusal_of_status(429, '{"error":{"message":"too many tokens per minute"}}', ADDRESS)
    assert type(error) is ModelRateLimited


def test_long_text_is_cut_and_the_key_is_hidden() -> None:
    """Before the cut, so that no part of the key is left at its edge."""
    text = "x" * (MAX_SERVER_TEXT - 5) + "sk-secret"
    shown = one_line(text * 1000, ADDRESS)
    assert len(shown) == MAX_SERVER_TEXT
    assert "sk-" not in shown
    assert said_in('{"error": "a\\n\\tb\\u001b[0m"}', ADDRESS) == "a b\ufffd[0m"


def test_an_html_page_gives_its_title_or_its_text() -> None:
    """The page of a gateway."""
    assert said_in("<html><head><title>502\nBad</title></head><body>long</body>", ADDRESS) == "502 Bad"
    assert said_in("<p>busy <b>now</b></p>", ADDRESS) == "busy now"


def chained(*causes: BaseException) -> httpx.ConnectError:
    error: BaseException = httpx.ConnectError("All connection attempts failed")
    first = error
    for cause in causes:
        error.__cause__ = cause
        error = cause
    assert isinstance(first, httpx.ConnectError)
    return first


@pytest.mark.parametrize(
    ("error", "kind", "words", "retryable"),
    [
        (
            chained(OSError(errno.ECONNREFUSED, "x")),
            ModelUnreachable,
            "connection refused; is it running?",
            True,
        ),
        (
            chained(ExceptionGroup("several", [OSError(errno.ECONNREFUSED, "x")])),
            ModelUnreachable,
            "connection refused; is it running?",
            True,
        ),
        (chained(OSError(errno.ENETUNREACH, "x")), ModelUnreachable, "no route", True),
        (chained(OSError(errno.ECONNRESET, "x")), ModelUnreachable, "it closed the connection", True),
        (
            chained(ssl.SSLError(1, "certificate verify failed")),
            ModelUnreachable,
            "secure connection failed",
            False,
        ),
        (chained(), ModelUnreachable, "All connection attempts failed", True),
        (httpx.ConnectTimeout("x"), ModelUnreachable, "no connection within 3 s", True),
        (httpx.ReadTimeout("x"), ModelTimeout, "sent nothing for 7 s", False),
        (httpx.WriteTimeout("x"), ModelTimeout, "sent nothing for 7 s", False),
        (httpx.DecodingError("x"), ModelBadAnswer, "compression is broken", False),
        (httpx.ProxyError("407 sk-secret"), ModelUnreachable, "proxy of the environment: 407 ***", False),
        (httpx.InvalidURL("x"), ModelUnreachable, "check model.baseUrl", False),
        (UnicodeError("label too long"), ModelUnreachable, "check model.baseUrl", False),
        (httpx.RemoteProtocolError("x"), ModelUnreachable, "does not speak HTTP", True),
        (OSError(), ModelUnreachable, "OSError", True),
    ],
)
def test_a_failed_connection_is_explained(
    error: Exception, kind: type[ModelError], words: str, retryable: bool
) -> None:
    """The cause at the bottom of the chain, in words."""
    made = transport_failure(error, ADDRESS, (3.0, 7.0))
    assert type(made) is kind
    assert words in str(made)
    assert made.retryable is retryable
