"""Settings: what a person may choose, from one TOML file, checked against `schemas/config.json`.

Owns the search for the file, the defaults (the classes below; a test holds what the schema tells of them against
these) and the sentence for each mistake in a file. Deliberately absent: secrets. A file names the environment
variable that holds a key; the key itself is neither read nor kept here, so no settings that are logged can show it.

A start without any file costs a few look-ups of paths: everything else is imported when there is a file to read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, NamedTuple

ENVIRONMENT_VARIABLE: Final = "ACP_AGENT_CONFIG"
FILE_NAME: Final = "acp-agent.toml"
USER_DIRECTORY: Final = "acp-agent"
USER_FILE_NAME: Final = "config.toml"

DEFAULT_API_KEY_ENV: Final = "OPENAI_API_KEY"
"""Goes with the default base_url only: a key must not be sent to a server that it was not made for."""


class ConfigError(Exception):
    """A configuration that cannot be used; the text is one sentence with the file, the key and what was expected."""


class Provider(StrEnum):
    """Who answers as the model."""

    OFFLINE = "offline"
    SCRIPTED = "scripted"
    OPENAI = "openai"


class LogLevel(StrEnum):
    """How much is said on standard error."""

    INFO = "info"
    DEBUG = "debug"


class ModelSettings(NamedTuple):
    """[model]: which language model answers, and how it is reached."""

    provider: Provider = Provider.OFFLINE
    base_url: str = "https://api.openai.com/v1"
    name: str | None = None
    api_key_env: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    connect_timeout_s: float = 10.0
    idle_timeout_s: float = 300.0
    retries: int = 2
    script: Path | None = None


class LimitSettings(NamedTuple):
    """[limits]: what bounds work and memory."""

    max_steps: int = 100
    max_line_bytes: int = 64 * 1024 * 1024
    max_outbox_bytes: int = 4 * 1024 * 1024
    loop_warn_at: int = 3
    loop_stop_at: int = 5


class BashSettings(NamedTuple):
    """[tools.bash]: the bash tool."""

    timeout_s: float = 120.0
    max_output_bytes: int = 64 * 1024


class ContextSettings(NamedTuple):
    """[context]: when a conversation is compressed, and what of it is kept as it is. threshold 0: never by itself."""

    threshold: int = 0
    keep_last_turns: int = 2


class SkillSettings(NamedTuple):
    """[skills]: where skills are looked for, in this order; relative to the session's directory."""

    dirs: tuple[str, ...] = ("skills", ".agents/skills", ".claude/skills", "~/.agents/skills")


class SessionSettings(NamedTuple):
    """[sessions]: whether conversations are kept on disk, and where; relative to the session's directory."""

    enabled: bool = False
    dir: str = ".acp-agent/sessions"


class Settings(NamedTuple):
    """All of it. source is the file it came from, None if there was none."""

    model: ModelSettings = ModelSettings()
    limits: LimitSettings = LimitSettings()
    bash: BashSettings = BashSettings()
    context: ContextSettings = ContextSettings()
    skills: SkillSettings = SkillSettings()
    sessions: SessionSettings = SessionSettings()
    log_level: LogLevel = LogLevel.INFO
    source: Path | None = None


# The keys of the file, table by table, and the field that each one sets.
MODEL_FIELDS: Final = {
    "provider": "provider",
    "baseUrl": "base_url",
    "name": "name",
    "apiKeyEnv": "api_key_env",
    "temperature": "temperature",
    "maxTokens": "max_tokens",
    "connectTimeout": "connect_timeout_s",
    "idleTimeout": "idle_timeout_s",
    "retries": "retries",
    "script": "script",
}
LIMIT_FIELDS: Final = {
    "maxSteps": "max_steps",
    "maxLineBytes": "max_line_bytes",
    "maxOutboxBytes": "max_outbox_bytes",
    "loopWarnAt": "loop_warn_at",
    "loopStopAt": "loop_stop_at",
}
BASH_FIELDS: Final = {"timeout": "timeout_s", "maxOutputBytes": "max_output_bytes"}
CONTEXT_FIELDS: Final = {"threshold": "threshold", "keepLastTurns": "keep_last_turns"}
SKILL_FIELDS: Final = {"dirs": "dirs"}
SESSION_FIELDS: Final = {"enabled": "enabled", "dir": "dir"}

_INTEGERS: Final = frozenset(
    {
        "max_tokens",
        "retries",
        "max_steps",
        "max_line_bytes",
        "max_outbox_bytes",
        "loop_warn_at",
        "loop_stop_at",
        "max_output_bytes",
        "threshold",
        "keep_last_turns",
    }
)


def load(explicit: Path | None, cwd: Path, environ: Mapping[str, str]) -> Settings:
    """Settings from the first file there is: explicit, $ACP_AGENT_CONFIG, in cwd, the user's own; else the defaults.

    A relative path counts from cwd. Raises ConfigError for a file that was asked for and is not there, that cannot
    be read, or that says something the schema does not allow.
    """
    if explicit is not None:
        return read(cwd / explicit)
    named = environ.get(ENVIRONMENT_VARIABLE)
    if named:
        return read(cwd / named, origin=f"${ENVIRONMENT_VARIABLE} names ")
    for path in (os.path.join(cwd, FILE_NAME), user_file(environ)):  # noqa: PTH118  (no Path made in vain)
        if path is not None and os.path.lexists(path):
            return read(Path(path))
    return Settings()


def user_file(environ: Mapping[str, str]) -> str | None:
    """Where the user's own file would be; None if there is no such place."""
    if os.uname().sysname == "Linux":
        # What platformdirs would say; its import alone takes longer than the rest of a start's configuration.
        base = environ.get("XDG_CONFIG_HOME", "")
        if not base.startswith("/"):
            home = environ.get("HOME") or os.path.expanduser("~")  # noqa: PTH111  (Path's raises without a home)
            if not home.startswith("/"):
                return None
            base = f"{home}/.config"
        return f"{base}/{USER_DIRECTORY}/{USER_FILE_NAME}"
    import platformdirs

    return str(platformdirs.user_config_path(USER_DIRECTORY, appauthor=False) / USER_FILE_NAME)


def read(path: Path, origin: str = "") -> Settings:
    """Settings from this file. origin: what the sentence about a missing file begins with."""
    document = _parse(path, origin)
    problem = explain(document)
    if problem is not None:
        raise ConfigError(f"{path}: {problem}")
    model = _model(document.get("model", {}), path)
    return Settings(
        model=model,
        limits=LimitSettings(**_fields(document.get("limits", {}), LIMIT_FIELDS)),
        bash=BashSettings(**_fields(document.get("tools", {}).get("bash", {}), BASH_FIELDS)),
        context=ContextSettings(**_fields(document.get("context", {}), CONTEXT_FIELDS)),
        skills=SkillSettings(**_fields(document.get("skills", {}), SKILL_FIELDS)),
        sessions=SessionSettings(**_fields(document.get("sessions", {}), SESSION_FIELDS)),
        log_level=LogLevel(document.get("log", {}).get("level", Settings().log_level)),
        source=path,
    )


def _parse(path: Path, origin: str) -> dict[str, Any]:
    import tomllib

    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise ConfigError(f"{origin}{path}: there is no such configuration file") from None
    except (OSError, ValueError) as problem:
        reason = (problem.strerror if isinstance(problem, OSError) else None) or str(problem)
        raise ConfigError(f"{origin}{path}: the configuration file cannot be read: {reason}") from None
    try:
        # Some editors begin a file with a byte order mark, which TOML does not know.
        return tomllib.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as problem:
        line = raw.count(b"\n", 0, problem.start) + 1
        raise ConfigError(f"{path}: the configuration file is not UTF-8 text (line {line})") from None
    except RecursionError:
        raise ConfigError(f"{path}: the configuration file is nested too deeply") from None
    except ValueError as problem:
        raise ConfigError(f"{path}: the configuration file is not valid TOML: {problem}") from None


def _fields(table: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    fields = {names[key]: value for key, value in table.items()}
    for name, value in fields.items():
        if isinstance(value, list):
            fields[name] = tuple(value)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            # To a schema 3.0 is an integer and 3 a number; a setting is what its field says.
            fields[name] = int(value) if name in _INTEGERS else float(value)
    return fields


def _model(table: Mapping[str, Any], path: Path) -> ModelSettings:
    fields = _fields(table, MODEL_FIELDS)
    if "provider" in fields:
        fields["provider"] = Provider(fields["provider"])
    if "base_url" in fields:
        fields["base_url"] = fields["base_url"].rstrip("/")
    if "script" in fields:
        fields["script"] = path.parent / fields["script"]
    settings = ModelSettings(**fields)
    if settings.provider is Provider.OPENAI and settings.name is None:
        raise ConfigError(
            f'{path}: [model] provider "openai" needs a name: the model\'s name as the server knows it'
        )
    if settings.provider is Provider.SCRIPTED and settings.script is None:
        raise ConfigError(f'{path}: [model] provider "scripted" needs a script: the path of the file to play')
    if settings.provider is Provider.OPENAI and not {"base_url", "api_key_env"} & fields.keys():
        return ModelSettings(**fields, api_key_env=DEFAULT_API_KEY_ENV)
    return settings


# What is wrong with a document


def explain(document: dict[str, Any]) -> str | None:
    """What is wrong with a parsed configuration, without the file's name; None if nothing is."""
    import jsonschema_rs

    from acp_agent import bundled

    schema = bundled.load("config.json")
    try:
        if jsonschema_rs.is_valid(schema, document):
            return None
    except ValueError:
        # TOML knows values that JSON does not, such as dates: the walk below names them.
        pass
    return _walk(schema, document, ()) or "it does not fit schemas/config.json"


def _walk(schema: Mapping[str, Any], value: Any, path: tuple[str, ...]) -> str | None:
    """The first thing wrong, in the order of the file; covers the keywords that schemas/config.json uses."""
    if schema.get("type") != "object":
        return None if _fits(schema, value) else _mismatch(schema, value, path)
    if not isinstance(value, dict):
        return f"{'.'.join(path)} must be a table, not {_name_of(value)}"
    known = schema["properties"]
    for key, member in value.items():
        if key not in known:
            return _unknown(key, known, path)
        problem = _walk(known[key], member, (*path, key))
        if problem is not None:
            return problem
    return None


def _fits(schema: Mapping[str, Any], value: Any) -> bool:
    if "enum" in schema:
        return isinstance(value, str) and value in schema["enum"]
    if schema["type"] == "string":
        import re

        return (
            isinstance(value, str)
            and len(value) >= schema.get("minLength", 0)
            and ("pattern" not in schema or re.fullmatch(schema["pattern"], value) is not None)
        )
    if schema["type"] == "array":
        return isinstance(value, list) and all(_fits(schema["items"], item) for item in value)
    if schema["type"] == "boolean" or isinstance(value, bool):
        return schema["type"] == "boolean" and isinstance(value, bool)
    if not isinstance(value, (int, float)):
        return False
    if schema["type"] == "integer" and (isinstance(value, float) and not value.is_integer()):
        return False
    # In this form a NaN, which compares with nothing, does not fit.
    above = value > schema["exclusiveMinimum"] if "exclusiveMinimum" in schema else value >= schema["minimum"]
    return bool(above and value <= schema["maximum"])


def _mismatch(schema: Mapping[str, Any], value: Any, path: tuple[str, ...]) -> str:
    if "enum" in schema:
        expected = f"one of {_listed(schema['enum'])}"
        found = f'"{value}"' if isinstance(value, str) else _name_of(value)
    else:
        found = _name_of(value)
        if "x-expected" in schema:
            expected = schema["x-expected"]
        elif schema["type"] == "string":
            expected = "a text that is not empty"
        else:
            kind = "a whole number" if schema["type"] == "integer" else "a number"
            low = (
                f"above {schema['exclusiveMinimum']}"
                if "exclusiveMinimum" in schema
                else f"from {schema['minimum']}"
            )
            expected = f"{kind} {low} up to {schema['maximum']}"
    return f"[{'.'.join(path[:-1])}] {path[-1]} must be {expected}, not {found}"


def _unknown(key: str, known: Iterable[str], path: tuple[str, ...]) -> str:
    import difflib

    close = difflib.get_close_matches(key, known, n=1)
    hint = f'did you mean "{close[0]}"?' if close else f"known here: {_listed(known)}"
    where = f"[{'.'.join(path)}] has no" if path else "there is no"
    return f'{where} key "{key}"; {hint}'


def _listed(words: Iterable[str]) -> str:
    return ", ".join(f'"{word}"' for word in words)


def _name_of(value: Any) -> str:
    """What a value is, for a sentence. A text is not shown: somebody may have put a key there."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) >= 10**18:
        return "so large a number"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, str):
        return "this text" if value else "an empty text"
    if isinstance(value, dict):
        return "a table"
    return "a list" if isinstance(value, list) else "a date or time"
