"""The file of a scripted model: TOML, checked against schemas/script.json, read into frozen values.

Owns the format and the sentences for its mistakes. Absent: playing it (scripted.py).

    name = "demo"                      # optional, for the banner

    [[rule]]
    regex = "count to (\\\\d+)"          # or exact = "..."; or default = true, which fits every text
    [[rule.reply]]                     # the answer to the first model call of the turn
    cycles = 1                         # optional: so many calls in a row get this reply
    parts = [
      { reasoning = "hm" },
      { text = "tick ", repeat = "{1}" },               # so many chunks; times = N repeats inside one chunk
      { delay_ms = 50 },
      { tool_call = { name = "bash", arguments = { command = "date" } } },
    ]
    finish = "tool_calls"              # optional: stop, tool_calls, length, content_filter
    usage = { input_tokens = 10, output_tokens = 20 }    # optional
    [[rule.reply]]                     # the answer after the tool results
    parts = [ { error = { kind = "timeout", message = "gone" } } ]

The first rule that fits is played. A text must fit as a whole, without the white space around it. {1} or {name} is what
a group of the regex matched, {0} the whole text, {script} the path of this file.
"""

from __future__ import annotations

import math
import re
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from acp_agent import bundled
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
from acp_agent.llm.model import FinishReason

ERROR_KINDS: dict[str, type[ModelError]] = {
    "unreachable": ModelUnreachable,
    "auth": ModelAuthError,
    "rate_limited": ModelRateLimited,
    "context_overflow": ContextOverflow,
    "refused": ModelRefused,
    "server_failed": ModelServerFailed,
    "bad_answer": ModelBadAnswer,
    "timeout": ModelTimeout,
}
"""What an error part can raise, by the word for it in the file."""


class Part(NamedTuple):
    """One thing a reply does.

    kind: "text", "reasoning", "tool_call", "delay_ms" or "error". text: the text, the tool's name or the message.
    repeat: chunks of a text, or the milliseconds; a string is a whole number after its place holders are filled."""

    kind: str
    text: str = ""
    repeat: int | str = 1
    times: int | str = 1
    arguments: object = None
    error: str = ""


class Reply(NamedTuple):
    """One answer. usage: (input, output) tokens."""

    parts: tuple[Part, ...]
    cycles: int | str = 1
    finish: FinishReason | None = None
    usage: tuple[int, int] | None = None


class Rule(NamedTuple):
    """Texts and the replies of their turn; neither exact nor regex means every text. number: as in the file, from 1."""

    number: int
    exact: str | None
    regex: re.Pattern[str] | None
    replies: tuple[Reply, ...]


class Script(NamedTuple):
    """A whole file. path is absolute."""

    path: Path
    name: str
    rules: tuple[Rule, ...] = ()


def load_script(path: Path) -> Script:
    """Read a script file.

    Raises ModelRefused with file, place and what was expected, if it cannot be read or is not as schemas/script.json
    says."""
    path = path.absolute()
    try:
        # Some editors begin a file with a byte order mark, which TOML does not know.
        content = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise ModelRefused(f"{path}: no such script file; check model.script") from None
    except (OSError, UnicodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ModelRefused(f"{path}: the script file cannot be read: {why}") from None
    try:
        document = tomllib.loads(content)
    except RecursionError:
        raise ModelRefused(f"{path}: the script file is nested too deeply") from None
    except ValueError as error:
        raise ModelRefused(f"{path}: not valid TOML: {error}") from None
    _check(document, path)
    rules = tuple(_rule(rule, number, path) for number, rule in enumerate(document["rule"], 1))
    return Script(path, str(document.get("name", path.stem)), rules)


def _check(document: dict[str, Any], path: Path) -> None:
    import jsonschema_rs  # only a scripted model needs it here

    odd = _no_json(document)
    if odd is not None:
        raise ModelRefused(f"{path}: {_place(odd)}: dates, times, inf and nan have no place in a script")
    schema = bundled.load("script.json")
    error = next(iter(jsonschema_rs.validator_for(schema).iter_errors(document)), None)
    if error is not None:
        expected = _expected(schema, list(error.schema_path)) or str(error.message)
        raise ModelRefused(f"{path}: {_place(list(error.instance_path))}: {expected}")


def _no_json(document: object) -> list[str | int] | None:
    """The place of a value that TOML knows and JSON does not, None without one: a schema says nothing of it."""
    to_see: list[tuple[object, list[str | int]]] = [(document, [])]
    while to_see:
        value, place = to_see.pop()
        if isinstance(value, dict):
            to_see += [(one, [*place, key]) for key, one in value.items()]
        elif isinstance(value, list):
            to_see += [(one, [*place, index]) for index, one in enumerate(value)]
        elif not (isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))):
            return place
    return None


def _expected(schema: dict[str, Any], schema_path: list[str | int]) -> str | None:
    """Return what was expected where nothing of several fits; the validator's own words for that help nobody."""
    if not schema_path or schema_path[-1] not in ("oneOf", "anyOf", "enum"):
        return None
    node: Any = schema
    for step in schema_path[:-1]:
        node = node[step]
        if isinstance(node, str):  # the path names the step through a reference
            node = schema["$defs"][node.rpartition("/")[2]]
    if schema_path[-1] == "enum":
        return "expected one of " + ", ".join(f'"{one}"' for one in node["enum"])
    description = node.get("description")
    return f"expected {description}" if description else None


def _place(instance_path: list[str | int]) -> str:
    """Say ["rule", 0, "reply", 1, "parts", 2, "text"] as "rule 1, reply 2, part 3, text"."""
    words: list[str] = []
    for step in instance_path:
        if isinstance(step, int) and words:
            words[-1] = f"{'part' if words[-1] == 'parts' else words[-1]} {step + 1}"
        else:
            words.append(str(step))
    return ", ".join(words) or "the top of the file"


def _rule(rule: dict[str, Any], number: int, path: Path) -> Rule:
    regex = None
    if "regex" in rule:
        try:
            regex = re.compile(rule["regex"], re.DOTALL)
        except re.error as error:
            raise ModelRefused(f"{path}: rule {number}, regex: not a regular expression: {error}") from None
    exact = rule["exact"].strip() if "exact" in rule else None
    replies = []
    for position, reply in enumerate(rule["reply"], 1):
        calls = any("tool_call" in part for part in reply["parts"])
        if "finish" in reply and (reply["finish"] == "tool_calls") != calls:
            raise ModelRefused(
                f'{path}: rule {number}, reply {position}, finish: "tool_calls" goes with a tool_call part, '
                f"and only with one"
            )
        replies.append(_reply(reply))
    return Rule(number, exact, regex, tuple(replies))


def _reply(reply: dict[str, Any]) -> Reply:
    usage = reply.get("usage")
    return Reply(
        parts=tuple(_part(part) for part in reply["parts"]),
        cycles=_count(reply.get("cycles", 1)),
        finish=FinishReason(reply["finish"]) if "finish" in reply else None,
        usage=(int(usage["input_tokens"]), int(usage["output_tokens"])) if usage else None,
    )


def _part(part: dict[str, Any]) -> Part:
    if "tool_call" in part:
        call = part["tool_call"]
        return Part("tool_call", text=call["name"], arguments=call.get("arguments", {}))
    if "delay_ms" in part:
        return Part("delay_ms", repeat=_count(part["delay_ms"]))
    if "error" in part:
        return Part("error", text=part["error"]["message"], error=part["error"]["kind"])
    kind = "text" if "text" in part else "reasoning"
    repeat, times = (_count(part.get(name, 1)) for name in ("repeat", "times"))
    return Part(kind, text=part[kind], repeat=repeat, times=times)


def _count(value: float | str) -> int | str:
    """To a schema 3.0 is an integer; a text is filled in when it is played."""
    return value if isinstance(value, str) else int(value)
