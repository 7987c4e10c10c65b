"""A file gives the settings that it says, within the schema's limits, or one sentence that names it; nothing else.

Documented: ConfigError, whose sentence shows no text of the file that might be a key. A byte order mark is skipped.
"""

from __future__ import annotations

import tempfile
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator
from strategies.damage import damaged
from strategies.json_values import JUNK, NUMBERS, changed
from strategies.text import ENCODABLE
from strategies.toml import DATE, spelled

from acp_agent import bundled, config

_KEY = "sk-very-secret"
_EVERYTHING: dict[str, Any] = {
    "model": {
        "provider": "openai",
        "baseUrl": "http://localhost:11434/v1/",
        "name": "m",
        "apiKeyEnv": "SOME_KEY",
        "temperature": 1,
        "maxTokens": 4096.0,
        "connectTimeout": 2,
        "idleTimeout": 60.5,
        "retries": 0,
        "script": "a/b.toml",
    },
    "limits": {
        "maxSteps": 7,
        "maxLineBytes": 65536,
        "maxOutboxBytes": 5000,
        "loopWarnAt": 2,
        "loopStopAt": 4,
    },
    "tools": {"bash": {"timeout": 0.5, "maxOutputBytes": 256}},
    "context": {"threshold": 10, "keepLastTurns": 0},
    "skills": {"dirs": ["skills", "~/s"]},
    "sessions": {"enabled": True, "dir": "s"},
    "log": {"level": "debug"},
}
_OTHERS = st.one_of(
    JUNK, NUMBERS, ENCODABLE, st.just(_KEY), st.just(DATE), st.sampled_from(["scripted", "offline"])
)


@st.composite
def _documents(draw: st.DrawFn) -> bytes:
    """Some of the keys there are, changed a little."""
    chosen = {
        table: {key: value for key, value in keys.items() if draw(st.booleans())}
        for table, keys in _EVERYTHING.items()
        if draw(st.booleans())
    }
    document = draw(changed(chosen, others=_OTHERS))
    if not isinstance(document, dict):
        document = chosen
    return spelled(document, tables=draw(st.booleans())).encode("utf-8", "replace")


cases = st.fixed_dictionaries({"file": damaged(_documents(), most=2) | st.binary(max_size=40)})


def check(case: Any) -> None:
    """Read it, and what it says by the library and the schema."""
    expected = plain(case["file"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "acp-agent.toml"
        path.write_bytes(case["file"])
        try:
            found = config.read(path)
        except config.ConfigError as error:
            assert str(error).startswith(f"{path}: ")
            assert "\n" not in str(error)
            assert _KEY not in str(error)
            assert expected is None, "the schema takes it"
            return
        assert expected is not None, "the schema refuses it"
        assert found.source == path
        _compare(found, expected, path)


def plain(data: bytes) -> dict[str, Any] | None:
    """The document if it is TOML that fits the schema, and names what its provider needs."""
    try:
        document = tomllib.loads(data.decode("utf-8-sig"))
        if not _validator().is_valid(document):
            return None
    except (ValueError, RecursionError):
        return None
    model = document.get("model", {})
    needed = {"openai": "name", "scripted": "script"}.get(model.get("provider", ""))
    return document if needed is None or needed in model else None


def _compare(found: config.Settings, document: dict[str, Any], path: Path) -> None:
    sections = [
        (found.model, "model", config.MODEL_FIELDS),
        (found.limits, "limits", config.LIMIT_FIELDS),
        (found.context, "context", config.CONTEXT_FIELDS),
        (found.skills, "skills", config.SKILL_FIELDS),
        (found.sessions, "sessions", config.SESSION_FIELDS),
    ]
    said = {name: document.get(name, {}) for _, name, _ in sections}
    sections.append((found.bash, "bash", config.BASH_FIELDS))
    said["bash"] = document.get("tools", {}).get("bash", {})
    for settings, name, fields in sections:
        defaults = type(settings)()._asdict()
        for key, field in fields.items():
            value = getattr(settings, field)
            if key not in said[name]:
                assert value == defaults[field] or (
                    key == "apiKeyEnv" and value == config.DEFAULT_API_KEY_ENV
                )
                continue
            wanted = said[name][key]
            if key == "baseUrl":
                wanted = wanted.rstrip("/")
            elif key == "script":
                wanted = path.parent / wanted
            elif isinstance(wanted, list):
                wanted = tuple(wanted)
            assert value == wanted
            default = defaults[field]
            assert default is None or isinstance(value, type(default)), f"{field} has another type"
    assert found.log_level == document.get("log", {}).get("level", "info")


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(bundled.load("config.json"))
