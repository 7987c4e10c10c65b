"""What can go wrong with a model, each as one line a person can act on.

    ModelError
      ModelUnreachable    no connection: server down, name unknown, TLS, proxy
      ModelAuthError      the key is missing, wrong or not allowed (401, 403)
      ModelRateLimited    too many requests or no quota left (429)
      ContextOverflow     the conversation is longer than the model can read
      ModelRefused        the server does not take the request (other 4xx)
      ModelServerFailed   the server broke while answering (5xx)
      ModelBadAnswer      what came is no answer: cut off, not JSON, not a chat completion
      ModelTimeout        the server went silent

Absent: codes of any protocol; the caller maps these to its own.
"""

from __future__ import annotations


class ModelError(Exception):
    """A model call failed.

    str(error) is one line without secrets. retryable: the same request may succeed a little later.
    wait_s: how long the server asked to wait before that, None if it did not say. patience_s: for so long it is worth
    while to ask again, however often."""

    def __init__(
        self,
        message: str,
        *,
        retryable: bool = False,
        wait_s: float | None = None,
        patience_s: float = 0.0,
    ) -> None:
        """Keep the sentence as the only argument, so that str() is exactly it."""
        super().__init__(message)
        self.retryable = retryable
        self.wait_s = wait_s
        self.patience_s = patience_s


class ModelUnreachable(ModelError):
    """No connection to the server could be made, or it broke before anything came."""


class ModelAuthError(ModelError):
    """The server did not accept the key."""


class ModelRateLimited(ModelError):
    """The server wants fewer requests, or the account is out of quota."""


class ContextOverflow(ModelError):
    """The conversation does not fit into the model's context; a shorter one may."""


class ModelRefused(ModelError):
    """The server understood and declined; the same request will be declined again."""


class ModelServerFailed(ModelError):
    """The server, not the request, is at fault."""


class ModelBadAnswer(ModelError):
    """The answer cannot be read, or broke off. Text that came before was delivered."""


class ModelTimeout(ModelError):
    """Nothing came within the idle timeout."""
