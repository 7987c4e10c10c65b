"""Derive the bundled ACP v1 schemas from the official one.

    python schemas/derive.py            write schemas/acp/v1/*.json
    python schemas/derive.py --check    compare only; exit 1 with the list of files that differ
    --official FILE                     read the official schema from FILE instead of the npm package

Structure (names, members, types, required, nullability, unions, leniency marks) comes from the official file.
It is normalised without changing what is accepted, which `tests/schemas/test_equivalence.py` proves. Words come
from `descriptions.toml` alone. The one thing added is range: `format: uint32` and its kin become minimum and
maximum, since validators do not check `format`. The method table comes from `acp_agent/protocol/methods.py` and
is compared with the official annotations.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import official

from acp_agent.protocol.methods import METHODS, Side

HERE = Path(__file__).resolve().parent
TARGET = HERE / "acp" / "v1"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
WIDTH = 100

# Each area is a file; its definitions stand in this order. A definition must be in exactly one.
AREAS: Final[dict[str, tuple[str, str]]] = {
    "json-rpc": (
        "envelopes, ids, errors, extensions and request cancellation",
        "RequestId AgentRequest AgentResponse AgentNotification ClientRequest ClientResponse"
        " ClientNotification CancelRequestNotification Error ErrorCode ExtRequest ExtResponse"
        " ExtNotification",
    ),
    "initialize": (
        "version, identity and capabilities",
        "ProtocolVersion InitializeRequest InitializeResponse Implementation ClientCapabilities"
        " FileSystemCapabilities ClientSessionCapabilities SessionConfigOptionsCapabilities"
        " BooleanConfigOptionCapabilities CompactionCapabilities NoticeCapabilities AuthCapabilities"
        " ElicitationCapabilities ElicitationFormCapabilities ElicitationUrlCapabilities AgentCapabilities"
        " PromptCapabilities McpCapabilities SessionCapabilities SessionListCapabilities"
        " SessionDeleteCapabilities SessionAdditionalDirectoriesCapabilities SessionResumeCapabilities"
        " SessionCloseCapabilities AgentAuthCapabilities LogoutCapabilities",
    ),
    "auth": (
        "logging in and out",
        "AuthMethod AuthMethodAgent AuthMethodTerminal AuthMethodId AuthenticateRequest"
        " AuthenticateResponse LogoutRequest LogoutResponse",
    ),
    "session": (
        "setting up, finding and ending sessions; MCP servers",
        "SessionId NewSessionRequest NewSessionResponse LoadSessionRequest LoadSessionResponse"
        " ResumeSessionRequest ResumeSessionResponse ListSessionsRequest ListSessionsResponse SessionInfo"
        " DeleteSessionRequest DeleteSessionResponse CloseSessionRequest CloseSessionResponse McpServer"
        " McpServerStdio McpServerHttp McpServerSse EnvVariable HttpHeader",
    ),
    "modes": (
        "session modes",
        "SessionModeState SessionMode SessionModeId SetSessionModeRequest SetSessionModeResponse"
        " CurrentModeUpdate",
    ),
    "config-options": (
        "session configuration options",
        "SessionConfigOption SessionConfigId SessionConfigOptionCategory SessionConfigSelect"
        " SessionConfigSelectOptions SessionConfigSelectOption SessionConfigSelectGroup"
        " SessionConfigGroupId SessionConfigValueId SessionConfigBoolean SetSessionConfigOptionRequest"
        " SetSessionConfigOptionResponse ConfigOptionUpdate",
    ),
    "prompt": (
        "a turn: prompt, stop reason, cancel",
        "PromptRequest PromptResponse StopReason CancelNotification",
    ),
    "session-update": (
        "what an agent tells while it works",
        "SessionNotification SessionUpdate ContentChunk MessageId SessionInfoUpdate Notice NoticeSeverity"
        " CompactionUpdate CompactionSummaryChunk CompactionId CompactionStatus",
    ),
    "plan": ("plans", "Plan PlanEntry PlanEntryPriority PlanEntryStatus"),
    "commands": (
        "slash commands",
        "AvailableCommandsUpdate AvailableCommand AvailableCommandInput UnstructuredCommandInput",
    ),
    "usage": ("context use and cost", "UsageUpdate Cost"),
    "tool-call": (
        "tool calls and their results",
        "ToolCall ToolCallUpdate ToolCallId ToolKind ToolCallStatus ToolCallContent Content Diff Terminal"
        " ToolCallLocation",
    ),
    "permission": (
        "asking before acting",
        "RequestPermissionRequest PermissionOption PermissionOptionId PermissionOptionKind"
        " RequestPermissionResponse RequestPermissionOutcome SelectedPermissionOutcome",
    ),
    "content": (
        "content blocks",
        "ContentBlock TextContent ImageContent AudioContent ResourceLink EmbeddedResource"
        " EmbeddedResourceResource TextResourceContents BlobResourceContents Annotations Role",
    ),
    "fs": (
        "files through the client",
        "ReadTextFileRequest ReadTextFileResponse WriteTextFileRequest WriteTextFileResponse",
    ),
    "terminal": (
        "terminals through the client",
        "TerminalId CreateTerminalRequest CreateTerminalResponse TerminalOutputRequest"
        " TerminalOutputResponse TerminalExitStatus WaitForTerminalExitRequest"
        " WaitForTerminalExitResponse KillTerminalRequest KillTerminalResponse ReleaseTerminalRequest"
        " ReleaseTerminalResponse",
    ),
    "elicitation": (
        "questions to the person: forms and links",
        "CreateElicitationRequest ElicitationFormMode ElicitationUrlMode ElicitationSessionScope"
        " ElicitationRequestScope ElicitationId ElicitationSchema ElicitationSchemaType"
        " ElicitationPropertySchema StringPropertySchema StringFormat EnumOption NumberPropertySchema"
        " IntegerPropertySchema BooleanPropertySchema MultiSelectPropertySchema MultiSelectItems"
        " StringMultiSelectItems TitledMultiSelectItems CreateElicitationResponse"
        " ElicitationAcceptAction ElicitationContentValue CompleteElicitationNotification",
    ),
}

# The smallest and largest value of each integer format.
RANGES: Final = {
    "uint16": (0, 2**16 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
}

# What a reader is told to tolerate (see schemas/README.md), official mark -> ours.
LENIENCY: Final = {
    "x-deserialize-default-on-error": "error",
    "x-deserialize-skip-invalid-items": "items",
    "x-deserialize-default-on-null": "null",
}
DROPPED: Final = {"description", "title", "discriminator", "x-docs-ignore", "x-side", "x-method", *LENIENCY}
ORDER: Final = (
    *("description", "$ref", "type", "format", "const", "enum", "not", "minLength", "minimum", "maximum"),
    *("default", "x-known", "x-lenient", "x-discriminator", "required", "properties", "items"),
    *("additionalProperties", "anyOf"),
)

Schema = dict[str, Any]


class DerivationError(Exception):
    """The official file or the descriptions are not what this script can carry over; the message says why."""


# --- structure ----------------------------------------------------------------------------------------------


def structure(node: Schema) -> Schema:
    """One official schema in our normal form: no prose, same instances accepted (but for the ranges)."""
    result = {key: value for key, value in node.items() if key not in DROPPED}
    lenient = [ours for mark, ours in LENIENCY.items() if node.get(mark)]
    if lenient:
        result["x-lenient"] = lenient
    if "properties" in node:
        result["properties"] = {name: structure(value) for name, value in node["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            result[key] = structure(node[key])
    if "allOf" in node:
        (only,) = node["allOf"]  # the official file uses allOf only to put annotations beside one $ref
        result.pop("allOf")
        result["$ref"] = only["$ref"]
    if "const" in node:
        result.pop("type", None)
    if "oneOf" in node or "anyOf" in node:
        for key in ("oneOf", "anyOf"):
            result.pop(key, None)
        result.update(_union(node))
    _add_range(result)
    unknown = set(result) - set(ORDER)
    if unknown:
        raise DerivationError(f"keywords {sorted(unknown)} are new: decide how they are carried over")
    return {key: result[key] for key in ORDER if key in result}


def _add_range(schema: Schema) -> None:
    # const values are inside their range already; the range would only be noise.
    if schema.get("format") in RANGES and "const" not in schema:
        low, high = RANGES[schema["format"]]
        schema["minimum"] = max(low, schema.get("minimum", low))
        schema["maximum"] = min(high, schema.get("maximum", high))


def _union(node: Schema) -> Schema:
    """The keywords that stand for a oneOf or anyOf."""
    exclusive = "oneOf" in node
    branches: list[Schema] = list(_flattened(node["oneOf"] if exclusive else node["anyOf"]))
    values = [branch["const"] for branch in branches if "const" in branch]
    if values and len(branches) - len(values) <= 1:
        return _enumeration(branches, values)
    properties = {name for branch in branches for name, _ in _tags(branch)}
    if len(properties) > 1:
        raise DerivationError(f"one union, several discriminators: {sorted(properties)}")
    tags = [value for branch in branches for _, value in _tags(branch)]
    if exclusive and (len(tags) != len(branches) or len(set(tags)) != len(tags)):
        raise DerivationError("a oneOf that no discriminator makes exclusive cannot become an anyOf")
    result: Schema = {"anyOf": [_branch(branch, tags) for branch in branches]}
    for name in properties:
        result["x-discriminator"] = name
    return result


def _flattened(branches: list[Schema]) -> Iterator[Schema]:
    """The branches, those of a bare nested anyOf in its place (`anyOf: [{anyOf: [A, B]}, null]`)."""
    for branch in branches:
        if set(branch) - DROPPED == {"anyOf"}:
            yield from _flattened(branch["anyOf"])
        else:
            yield branch


def _enumeration(branches: list[Schema], values: list[Any]) -> Schema:
    """A union of constants: a closed one becomes enum, an open one keeps the known values as a remark."""
    rest = [branch for branch in branches if "const" not in branch]
    (kind,) = {branch["type"] for branch in branches}
    if rest:
        return {**structure(rest[0]), "x-known": values}
    return {"type": kind, "enum": values}


def _tags(branch: Schema) -> list[tuple[str, Any]]:
    """The discriminator of a branch: its required members that have one fixed value."""
    return [
        (name, member["const"])
        for name, member in branch.get("properties", {}).items()
        if "const" in member and name in branch.get("required", ())
    ]


def _branch(branch: Schema, tags: list[Any]) -> Schema:
    """One branch. "Any other tag" officially is a `not` over whole objects; here it sits on the member."""
    if "not" not in branch:
        return structure(branch)
    refused = [value for option in branch["not"]["anyOf"] for _, value in _tags(option)]
    (name,) = {name for option in branch["not"]["anyOf"] for name, _ in _tags(option)}
    if refused != tags or structure(branch["properties"][name]) != {"type": "string"}:
        raise DerivationError("a `not` that is more than 'any other discriminator value'")
    rest = {key: value for key, value in branch.items() if key not in ("not", "unevaluatedProperties")}
    result = structure(rest)
    result["properties"][name] = {"type": "string", "not": {"enum": refused}}
    result["additionalProperties"] = True
    return {key: result[key] for key in ORDER if key in result}


# --- words --------------------------------------------------------------------------------------------------


def describe(definitions: dict[str, Schema], words: Mapping[str, Any]) -> list[str]:
    """Put the descriptions in; return what is missing or stale, a line each.

    words: {"everywhere": {member: text}, Definition: {"_": text, member: text, "variants": {tag: text}}}.
    A member with one fixed value (a discriminator) needs no text, its branch has one.
    """
    faults = []
    used: set[tuple[str, ...]] = set()

    def text(*key: str) -> str | None:
        entry: Any = words
        for part in key:
            entry = entry.get(part, {}) if isinstance(entry, Mapping) else {}
        if isinstance(entry, str):
            used.add(key)
            return entry
        return None

    def members(name: str, schema: Schema) -> None:
        for member, value in schema.get("properties", {}).items():
            if "const" not in value:
                found = text(name, member) or text("everywhere", member)
                if found is None:
                    faults.append(f"no description of {name}.{member}")
                else:
                    schema["properties"][member] = {"description": found, **value}
        for branch in schema.get("anyOf", ()):
            members(name, branch)
            for _, tag in _tags(branch):
                found = text(name, "variants", tag)
                if found is None:
                    faults.append(f"no description of {name}, variant {tag}")
                    continue
                described = {"description": found, **branch}
                branch.clear()
                branch.update(described)

    for name, schema in definitions.items():
        members(name, schema)
        found = text(name, "_")
        if found is None:
            faults.append(f"no description of {name}")
            continue
        definitions[name] = {"description": found, **schema}
    return faults + [f"stale description {'.'.join(key)}" for key in _leaves(words) if key not in used]


def _leaves(words: Mapping[str, Any], prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, value in words.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, (*prefix, key))
        else:
            yield (*prefix, key)


# --- files --------------------------------------------------------------------------------------------------


def home() -> dict[str, str]:
    """Definition -> the file it stands in."""
    return {name: f"{area}.json" for area, (_, names) in AREAS.items() for name in names.split()}


def _relative(node: Any, here: str, homes: Mapping[str, str]) -> Any:
    if isinstance(node, dict):
        result = {key: _relative(value, here, homes) for key, value in node.items()}
        if isinstance(node.get("$ref"), str):
            file = homes[node["$ref"].rpartition("/")[2]]
            result["$ref"] = node["$ref"] if file == here else file + node["$ref"]
        return result
    if isinstance(node, list):
        return [_relative(value, here, homes) for value in node]
    return node


def index(homes: Mapping[str, str]) -> Schema:
    """What binds every method to its direction, kind, types and gate, and every definition to its file."""

    def reference(name: str) -> Schema:
        return {"$ref": f"{homes[name]}#/$defs/{name}"}

    directions = {Side.AGENT: "client to agent", Side.CLIENT: "agent to client", Side.BOTH: "both"}
    methods = {}
    for method in METHODS.values():
        entry: Schema = {
            "direction": directions[method.handled_by],
            "kind": str(method.kind),
            "params": reference(method.params),
        }
        if method.result is not None:
            entry["result"] = reference(method.result)
        if method.gate:
            entry["gate"] = list(method.gate)
        methods[method.name] = entry
    return {
        "title": "ACP v1: every stable method, and where every definition stands",
        "protocolVersion": 1,
        "methods": methods,
        "definitions": dict(sorted(homes.items())),
    }


def files(source: Schema, words: Mapping[str, Any]) -> dict[str, str]:
    """Everything this script writes: file name -> text. Raises DerivationError with all that is wrong."""
    homes = home()
    faults = [f"definition {name} has no area" for name in sorted(source["$defs"].keys() - homes.keys())]
    faults += [
        f"definition {name} is in an area but not official"
        for name in sorted(homes.keys() - source["$defs"].keys())
    ]
    faults += method_faults(source["$defs"])
    definitions = {name: structure(schema) for name, schema in source["$defs"].items()}
    faults += describe(definitions, words)
    if faults:
        raise DerivationError("\n".join(faults))
    written = {}
    for area, (subject, names) in AREAS.items():
        file = f"{area}.json"
        defs = {name: _relative(definitions[name], file, homes) for name in names.split()}
        written[file] = text_of({"$schema": DIALECT, "title": f"ACP v1: {subject}", "$defs": defs})
    written["index.json"] = text_of(index(homes))
    return written


def method_faults(definitions: Mapping[str, Schema]) -> list[str]:
    """Where our method table and the official annotations disagree."""
    official_side = {"agent": Side.AGENT, "client": Side.CLIENT, "protocol": Side.BOTH}
    theirs = {
        (name, schema["x-method"], official_side[schema["x-side"]])
        for name, schema in definitions.items()
        if "x-method" in schema
    }
    ours = {
        (name, method.name, method.handled_by)
        for method in METHODS.values()
        for name in (method.params, method.result)
        if name is not None
    }
    return [f"methods.py lacks {item}" for item in sorted(theirs - ours)] + [
        f"methods.py has {item}, the official schema has not" for item in sorted(ours - theirs)
    ]


def text_of(value: Any) -> str:
    """JSON for eyes and diffs: two spaces, and whatever fits on one line stands on one."""
    return _layout(value, 0, 0) + "\n"


def _layout(value: Any, indent: int, used: int) -> str:
    flat = json.dumps(value, ensure_ascii=False)
    if (
        not isinstance(value, (dict, list))
        or not value
        or (indent > 0 and indent + used + len(flat) <= WIDTH)
    ):
        return flat
    pad = " " * (indent + 2)
    if isinstance(value, dict):
        keys = [json.dumps(key) + ": " for key in value]
        lines = [
            key + _layout(item, indent + 2, len(key)) for key, item in zip(keys, value.values(), strict=True)
        ]
        return "{\n" + ",\n".join(pad + line for line in lines) + "\n" + " " * indent + "}"
    lines = [_layout(item, indent + 2, 0) for item in value]
    return "[\n" + ",\n".join(pad + line for line in lines) + "\n" + " " * indent + "]"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="derive.py", description="Derive schemas/acp/v1 from the official schema."
    )
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 if a file differs")
    parser.add_argument(
        "--official", type=Path, metavar="FILE", help="the official schema, instead of the npm package"
    )
    options = parser.parse_args(arguments)
    try:
        source = json.loads(official.obtain(options.official))
        wanted = files(source, tomllib.loads((HERE / "descriptions.toml").read_text(encoding="utf-8")))
    except (DerivationError, official.OfficialSchemaUnavailableError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    present = {path.name: path.read_text(encoding="utf-8") for path in TARGET.glob("*.json")}
    differing = sorted(
        name for name in wanted.keys() | present.keys() if wanted.get(name) != present.get(name)
    )
    if options.check:
        for name in differing:
            sys.stdout.write(f"schemas/acp/v1/{name} differs from what derive.py makes\n")
        return 1 if differing else 0
    TARGET.mkdir(parents=True, exist_ok=True)
    for name in differing:
        if name in wanted:
            (TARGET / name).write_text(wanted[name], encoding="utf-8")
        else:
            (TARGET / name).unlink()
    sys.stdout.write(f"{len(wanted)} files, {len(differing)} changed\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
