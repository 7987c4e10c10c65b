"""The tools there are, and the way from the model's text to checked arguments.

Owns every sentence about unknown tools and unusable arguments. Absent on purpose: running a tool.
Lenient where models are loose without being wrong: no text at all is {}, null for an optional member
is the same as leaving it out, 3.0 is an integer, unknown members pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

import orjson

from acp_agent.tools.base import Arguments, Tool, ToolError

MAX_DEPTH = 200
"""Arguments go out again inside messages, and orjson writes at most 254 levels."""

_MAX_PROBLEMS = 3


class _Problem(Protocol):
    """As much of jsonschema_rs.ValidationError as is read here."""

    @property
    def instance_path(self) -> list[str | int]: ...
    @property
    def schema_path(self) -> list[str | int]: ...
    @property
    def message(self) -> str: ...


class _Validator(Protocol):
    def is_valid(self, instance: object) -> bool: ...
    def iter_errors(self, instance: object) -> Iterable[_Problem]: ...


class ToolRegistry:
    """The tools by name, in the order given."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        """Raises ValueError if two tools have one name."""
        self._tools: dict[str, Tool] = {}
        self._validators: dict[str, _Validator] = {}
        for tool in tools:
            if tool.name in self._tools:
                raise ValueError(f"two tools are named {tool.name}")
            self._tools[tool.name] = tool

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def specs(self) -> list[tuple[str, str, dict[str, object]]]:
        """(name, description, parameters) of each tool, for the model."""
        return [(tool.name, tool.description, tool.parameters) for tool in self._tools.values()]

    def parse(self, name: str, arguments_json: str) -> tuple[Tool, Arguments]:
        """Find the tool and check the arguments, given as the model's JSON text.

        Raises ToolError with a sentence for the model, which names the member by a JSON pointer.
        """
        tool = self._tools.get(name)
        if tool is None:
            raise ToolError(f'There is no tool "{_shown(name)}"; the tools are {", ".join(self._tools)}.')
        arguments = _without_loose_ends(_decoded(name, arguments_json), tool.parameters)
        validator = self._validator(tool)
        if not validator.is_valid(arguments):
            problems = [_sentence(tool, arguments, one) for one in validator.iter_errors(arguments)]
            raise ToolError(" ".join(problems[:_MAX_PROBLEMS]))
        return tool, arguments

    def _validator(self, tool: Tool) -> _Validator:
        validator = self._validators.get(tool.name)
        if validator is None:
            # Not needed before a model calls a tool, and 28 ms to import.
            import jsonschema_rs

            validator = self._validators[tool.name] = jsonschema_rs.Draft202012Validator(tool.parameters)
        return validator


def _decoded(name: str, arguments_json: str) -> Arguments:
    if not arguments_json.strip():
        return {}
    try:
        value = orjson.loads(arguments_json)
    except ValueError as error:
        if "surrogate" in str(error):
            raise ToolError(
                f"The arguments of {name} hold half of a surrogate pair, which is no character; "
                "send the whole character instead."
            ) from error
        raise ToolError(
            f"The arguments of {name} are not valid JSON ({error}); send one JSON object."
        ) from error
    if not isinstance(value, dict):
        raise ToolError(f"The arguments of {name} must be one JSON object, not {_kind_of(value)}.")
    if arguments_json.count("[") + arguments_json.count("{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise ToolError(f"The arguments of {name} are nested deeper than {MAX_DEPTH} levels.")
    return value


def _depth(value: object) -> int:
    """Count levels without recursion: the value may be deeper than the stack."""
    depth = 0
    level: list[object] = [value]
    while level:
        below: list[object] = []
        for one in level:
            if isinstance(one, dict):
                below.extend(one.values())
            elif isinstance(one, list):
                below.extend(one)
        depth += any(isinstance(one, dict | list) for one in level)
        level = below
    return depth


def _without_loose_ends(arguments: Arguments, schema: Mapping[str, object]) -> Arguments:
    properties = schema.get("properties")
    required = schema.get("required")
    kept: Arguments = {}
    for name, value in arguments.items():
        property_ = properties.get(name) if isinstance(properties, dict) else None
        if isinstance(property_, dict):
            if value is None and not (isinstance(required, list) and name in required):
                continue
            if property_.get("type") == "integer" and isinstance(value, float) and _is_sendable(value):
                value = int(value)
        kept[name] = value
    return kept


def _is_sendable(value: float) -> bool:
    """Whether it is an integer of 64 bits: arguments go out again inside messages, and orjson writes no others."""
    return value.is_integer() and -(2.0**63) <= value < 2.0**63


def _sentence(tool: Tool, arguments: Arguments, problem: _Problem) -> str:
    """Say what is wrong from the tool's own schema; the validator's wording is not ours to rely on."""
    keyword = problem.schema_path[-1] if problem.schema_path else ""
    rule: object = tool.parameters
    for step in problem.schema_path:
        rule = rule[step] if isinstance(rule, dict | list) else None  # type: ignore[index]
    if keyword == "required" and isinstance(rule, list) and not problem.instance_path:
        missing = [f'"{name}"' for name in rule if name not in arguments]
        return f"{tool.name} needs the argument{'s' if len(missing) > 1 else ''} {' and '.join(missing)}."
    value: object = arguments
    for step in problem.instance_path:
        value = value[step] if isinstance(value, dict | list) else None  # type: ignore[index]
    pointer = "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in problem.instance_path)
    match keyword:
        case "type":
            expected = f"must be of type {rule}, not {_kind_of(value)}"
        case "minimum":
            expected = f"must be at least {rule}"
        case "exclusiveMinimum":
            expected = f"must be greater than {rule}"
        case "minLength":
            expected = "must not be empty"
        case _:
            expected = f"is not as it should be: {problem.message}"
    return f"{tool.name}: {pointer} {expected}."


def _kind_of(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "a string"
        case int() | float():
            return "a number"
        case list():
            return "an array"
        case _:
            return "an object"


def _shown(name: str) -> str:
    """Give a name that may be anything a short and valid form."""
    name = name.encode("utf-8", "replace").decode()
    return name if len(name) <= 60 else name[:60] + "..."
