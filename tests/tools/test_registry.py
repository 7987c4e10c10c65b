"""From a model's text to a tool and checked arguments, or a sentence the model can use."""

from __future__ import annotations

import os

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_agent.tools.base import Tool, ToolError
from acp_agent.tools.builtin import default_tools
from acp_agent.tools.reading import ReadFileTool
from acp_agent.tools.registry import MAX_DEPTH, ToolRegistry

REGISTRY = default_tools(environ=os.environ, bash_timeout_s=60, bash_max_output_bytes=9999)


def refusal(name: str, arguments: str) -> str:
    with pytest.raises(ToolError) as caught:
        REGISTRY.parse(name, arguments)
    return str(caught.value)


def outcome(name: str, arguments: str) -> tuple[Tool, dict[str, object]] | str:
    """What parse gives, or the sentence it refuses with; anything else is a crash."""
    try:
        return REGISTRY.parse(name, arguments)
    except ToolError as error:
        return str(error)


@pytest.mark.parametrize(
    ("name", "arguments", "parsed"),
    [
        ("bash", '{"command": "ls"}', {"command": "ls"}),
        ("bash", '{"command": "ls", "timeout": 2.5}', {"command": "ls", "timeout": 2.5}),
        ("bash", '{"command": "ls", "timeout": null}', {"command": "ls"}),
        ("bash", ' {"command": "ls", "why": ["unknown", "members", "pass"]} ', None),
        ("read_file", '{"path": "a", "offset": 3.0, "limit": null}', {"path": "a", "offset": 3}),
        ("write_file", '{"path": "a", "content": ""}', {"path": "a", "content": ""}),
        ("edit_file", '{"path": "a", "old_text": "b", "new_text": "", "replace_all": true}', None),
    ],
)
def test_good_arguments_are_given_as_they_are(
    name: str, arguments: str, parsed: dict[str, object] | None
) -> None:
    """Lenient where a model is loose without being wrong."""
    tool, value = REGISTRY.parse(name, arguments)
    assert tool.name == name
    assert value == (parsed if parsed is not None else orjson.loads(arguments))


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("grep", "{}", 'There is no tool "grep"; the tools are bash, read_file, write_file, edit_file.'),
        ("\ud800" + "x" * 100, "{}", 'There is no tool "?' + "x" * 59 + '..."; the tools are'),
        ("bash", "", 'bash needs the argument "command".'),
        ("bash", "  ", 'bash needs the argument "command".'),
        ("edit_file", '{"old_text": ""}', 'edit_file needs the arguments "path" and "new_text".'),
        ("bash", '{"command": null}', "bash: /command must be of type string, not null."),
        ("bash", '{"command": ["ls"]}', "bash: /command must be of type string, not an array."),
        ("bash", '{"command": ""}', "bash: /command must not be empty."),
        ("bash", '{"command": "a", "timeout": "5"}', "bash: /timeout must be of type number, not a string."),
        (
            "bash",
            '{"command": "a", "timeout": true}',
            "bash: /timeout must be of type number, not a boolean.",
        ),
        ("bash", '{"command": "a", "timeout": 0}', "bash: /timeout must be greater than 0."),
        ("read_file", '{"path": "a", "offset": 0}', "read_file: /offset must be at least 1."),
        (
            "read_file",
            '{"path": "a", "offset": 1.5}',
            "read_file: /offset must be of type integer, not a number.",
        ),
        ("bash", '{"command": {}, "timeout": -1}', "bash: /timeout must be greater than 0."),
        ("bash", "[1]", "The arguments of bash must be one JSON object, not an array."),
        ("bash", "null", "The arguments of bash must be one JSON object, not null."),
        ("bash", '"ls"', "The arguments of bash must be one JSON object, not a string."),
        ("bash", '{"command": "l', "The arguments of bash are not valid JSON ("),
        ("bash", '{"command": "a"}{"command": "b"}', "The arguments of bash are not valid JSON ("),
        ("bash", '{"command": "a", "timeout": 1e999}', "The arguments of bash are not valid JSON ("),
        ("bash", '{"command": "\\ud800"}', "The arguments of bash hold half of a surrogate pair"),
        ("bash", '{"command": "\ud800"}', "The arguments of bash hold half of a surrogate pair"),
        (
            "bash",
            '{"command": "a", "x": ' + "[" * 300 + "]" * 300 + "}",
            "are nested deeper than 200 levels.",
        ),
        (
            "bash",
            '{"command": "a", "x": ' + "[" * 9999 + "]" * 9999 + "}",
            "The arguments of bash are not valid JSON (",
        ),
    ],
)
def test_bad_arguments_are_one_sentence(name: str, arguments: str, sentence: str) -> None:
    """Unknown tool, malformed or missing arguments: a sentence with the member's pointer; B204, B309."""
    assert sentence in refusal(name, arguments)


def test_the_deepest_arguments_that_pass_can_be_sent_on() -> None:
    """They go out again inside a message, as the call's raw input."""
    inner = MAX_DEPTH - 1
    _, value = REGISTRY.parse("bash", '{"command": "a", "x": ' + "[" * inner + "]" * inner + "}")
    assert orjson.dumps({"params": {"update": {"rawInput": value}}})


@pytest.mark.parametrize("number", ["1e300", "18446744073709551616", "9223372036854775808.0"])
def test_a_whole_float_becomes_an_integer_only_if_a_message_can_hold_it(number: str) -> None:
    """Arguments go out again, and orjson writes integers of 64 bits only."""
    _, value = REGISTRY.parse("read_file", f'{{"path": "a", "offset": {number}, "limit": 3.0}}')
    assert orjson.dumps(value)
    assert repr(value["limit"]) == "3"


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
members = st.fixed_dictionaries(
    {},
    optional={
        name: json_values | st.just("a") for name in ("command", "timeout", "path", "offset", "old_text")
    },
)


@given(
    name=st.sampled_from(["bash", "read_file", "write_file", "edit_file", "x"]), value=json_values | members
)
def test_any_json_is_arguments_or_a_sentence(name: str, value: object) -> None:
    """No text of a model's is a crash."""
    text = orjson.dumps(value).decode("utf-8")
    parsed = outcome(name, text)
    if isinstance(parsed, str):
        assert parsed.endswith(".")
        assert "\n" not in parsed
        return
    tool, arguments = parsed
    assert tool.title(arguments)
    assert orjson.dumps(arguments)


@given(text=st.text() | st.text(alphabet='{}[]":,\\ud8001e9 '))
def test_any_text_is_arguments_or_a_sentence(text: str) -> None:
    """No text of a model's is a crash."""
    assert outcome("bash", text)


def test_the_default_tools_are_described_for_the_model() -> None:
    """The tools of the surface, with JSON parameters."""
    specs = REGISTRY.specs()
    assert [name for name, _, _ in specs] == ["bash", "read_file", "write_file", "edit_file"]
    members = {name: list(parameters["properties"]) for name, _, parameters in specs}  # type: ignore[call-overload]
    assert members == {
        "bash": ["command", "timeout"],
        "read_file": ["path", "offset", "limit"],
        "write_file": ["path", "content"],
        "edit_file": ["path", "old_text", "new_text", "replace_all"],
    }
    assert all(description.endswith(".") for _, description, _ in specs)
    assert {tool.name: tool.kind for tool in REGISTRY} == {
        "bash": "execute",
        "read_file": "read",
        "write_file": "edit",
        "edit_file": "edit",
    }


def test_two_tools_of_one_name_are_refused() -> None:
    """A mistake of whoever builds the registry."""
    with pytest.raises(ValueError, match="two tools are named read_file"):
        ToolRegistry([ReadFileTool(), ReadFileTool()])
