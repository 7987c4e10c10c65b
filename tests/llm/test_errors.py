"""The tree of errors."""

from __future__ import annotations

from acp_agent.llm.errors import ModelError


def test_an_error_is_its_sentence() -> None:
    """And lasting unless said otherwise."""
    error = ModelError("no")
    assert (str(error), error.args, error.retryable, error.wait_s) == ("no", ("no",), False, None)


def test_every_error_is_in_the_drawing() -> None:
    """The module's docstring shows the whole tree."""
    from acp_agent.llm import errors

    assert all(kind.__name__ in (errors.__doc__ or "") for kind in ModelError.__subclasses__())
