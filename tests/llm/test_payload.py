"""What is sent."""

from __future__ import annotations

import json

import pytest

from acp_agent.llm.model import ToolSpec
from acp_agent.llm.payload import Sampling, refused_member, request_body

TOOL = ToolSpec("bash", "Run.", {"type": "object"})


def sent(arguments: object, name: object = "bash") -> dict[str, str]:
    """Return the function of the one call of a past answer as it is sent."""
    call = {"id": "a", "type": "function", "function": {"name": name, "arguments": arguments}}
    body = request_body("m", [{"role": "assistant", "content": None, "tool_calls": [call]}], [], Sampling())
    function = json.loads(body)["messages"][0]["tool_calls"][0]["function"]
    assert isinstance(function, dict)
    return function


@pytest.mark.parametrize("arguments", ["", "{", "null", "[]", '"x"', '{"a":1}{"b":2}', "text", None, {}])
def test_arguments_that_are_no_object_are_sent_as_an_empty_one(arguments: object) -> None:
    """B221: some servers parse the calls of the past and fail for good."""
    assert sent(arguments)["arguments"] == "{}"
    assert sent('{"a": 1}')["arguments"] == '{"a": 1}'


@pytest.mark.parametrize(
    ("name", "shown"), [("a.b c", "a_b_c"), ("x" * 100, "x" * 64), ("", "unnamed_tool"), ("bash", "bash")]
)
def test_names_no_server_takes_are_made_takeable(name: str, shown: str) -> None:
    """Letters, digits, _ and -, at most 64."""
    assert sent("{}", name)["name"] == shown


def test_optional_members_come_only_when_set_and_not_refused() -> None:
    """The smallest request every server takes."""
    plain = json.loads(request_body("m", [], [], Sampling(), {"stream_options"}))
    assert plain == {"model": "m", "messages": [], "stream": True}
    full = json.loads(request_body("m", [], [TOOL], Sampling(0.0, 5)))
    assert (full["temperature"], full["max_tokens"], len(full["tools"])) == (0.0, 5, 1)
    other = json.loads(request_body("m", [], [], Sampling(0.0, 5), {"temperature", "max_tokens"}))
    assert other["max_completion_tokens"] == 5
    assert "temperature" not in other


def test_lone_surrogates_do_not_stop_a_request() -> None:
    """UTF-8 cannot hold them."""
    assert "a?b" in request_body("m", [{"role": "user", "content": "a\ud83db"}], [], Sampling()).decode()


def test_only_a_member_that_was_sent_is_left_out() -> None:
    """A complaint about anything else is the answer."""
    body = request_body("m", [], [], Sampling())
    assert refused_member("unknown field stream_options", body) == "stream_options"
    assert refused_member("temperature is too high", body) is None
    assert refused_member("use max_completion_tokens", body) is None
