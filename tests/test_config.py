"""Configuration: where it is looked for, what it sets, and the one sentence for each mistake."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acp_agent import bundled, config
from acp_agent.config import ConfigError, LogLevel, Provider, Settings, load

SCHEMA: dict[str, Any] = bundled.load("config.json")

EVERYTHING = """
[model]
provider = "openai"
baseUrl = "http://localhost:11434/v1/"
name = "some-model"
apiKeyEnv = "SOME_KEY"
temperature = 1
maxTokens = 4096.0
connectTimeout = 2
idleTimeout = 60.5
retries = 0
script = "scripts/turn.model"

[limits]
maxSteps = 7
maxLineBytes = 65536
maxOutboxBytes = 100000

[tools.bash]
timeout = 5
maxOutputBytes = 1000

[log]
level = "debug"
"""


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def refusal(tmp_path: Path, text: str) -> str:
    """The sentence for a file with this text, without the file's name, which must come first."""
    path = write(tmp_path / "my.toml", text)
    with pytest.raises(ConfigError) as caught:
        load(path, tmp_path, {})
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.startswith(f"{path}: ")
    return sentence.removeprefix(f"{path}: ")


# Where it is looked for


def test_no_file_anywhere_gives_the_defaults(tmp_path: Path) -> None:
    """The built-in model answers without any configuration."""
    settings = load(None, tmp_path, {"HOME": str(tmp_path)})
    assert settings == Settings()
    assert settings.model.provider == "offline"
    assert settings.source is None
    assert load(None, tmp_path, {}) == Settings(), "no home directory is no error"


def test_the_first_file_wins(tmp_path: Path) -> None:
    """Order: --config, then the environment, then the working directory, then the user's directory."""
    steps = {name: f"[limits]\nmaxSteps = {number}\n" for number, name in enumerate("abcd", start=1)}
    home, cwd = tmp_path / "home", tmp_path / "cwd"
    cwd.mkdir()
    users = write(home / ".config" / "acp-agent" / "config.toml", steps["d"])
    environ = {"HOME": str(home)}
    assert (load(None, cwd, environ).source, load(None, cwd, environ).limits.max_steps) == (users, 4)
    here = write(cwd / "acp-agent.toml", steps["c"])
    assert load(None, cwd, environ).source == here
    named = write(tmp_path / "named.toml", steps["b"])
    environ["ACP_AGENT_CONFIG"] = str(named)
    assert load(None, cwd, environ).source == named
    explicit = write(tmp_path / "explicit.toml", steps["a"])
    assert load(explicit, cwd, environ).limits.max_steps == 1


def test_xdg_config_home_moves_the_users_file(tmp_path: Path) -> None:
    """The base directory specification: an absolute $XDG_CONFIG_HOME counts, a relative one is ignored."""
    write(tmp_path / "xdg" / "acp-agent" / "config.toml", "[limits]\nmaxSteps = 5")
    write(tmp_path / "home" / ".config" / "acp-agent" / "config.toml", "[limits]\nmaxSteps = 6")
    environ = {"HOME": str(tmp_path / "home"), "XDG_CONFIG_HOME": str(tmp_path / "xdg")}
    assert load(None, tmp_path, environ).limits.max_steps == 5
    assert load(None, tmp_path, {**environ, "XDG_CONFIG_HOME": "xdg"}).limits.max_steps == 6


def test_the_users_file_is_where_platformdirs_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The short way on Linux and the package used elsewhere agree."""
    import platformdirs

    for home in ("", str(tmp_path)):
        monkeypatch.setenv("XDG_CONFIG_HOME", home)
        expected = platformdirs.user_config_path("acp-agent", appauthor=False) / "config.toml"
        assert config.user_file(os.environ) == str(expected)


def test_relative_paths_count_from_the_working_directory(tmp_path: Path) -> None:
    """--config and $ACP_AGENT_CONFIG mean what the person who typed them sees."""
    write(tmp_path / "sub" / "a.toml", "")
    assert load(Path("sub/a.toml"), tmp_path, {}).source == tmp_path / "sub" / "a.toml"
    assert load(None, tmp_path, {"ACP_AGENT_CONFIG": "sub/a.toml"}).source == tmp_path / "sub" / "a.toml"
    assert load(None, tmp_path, {"ACP_AGENT_CONFIG": ""}).source is None


def test_a_start_without_a_file_imports_nothing_for_it(tmp_path: Path) -> None:
    """Start-up stays lean: no TOML reader, no schema, no directory package without a file."""
    program = (
        "import sys; from pathlib import Path; from acp_agent import config\n"
        "config.load(None, Path.cwd(), {'HOME': '/nonexistent'})\n"
        "print([m for m in ('tomllib', 'platformdirs', 'jsonschema', 'jsonschema_rs', 'orjson', 'difflib', 'json')"
        " if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True, cwd=tmp_path
    )
    assert done.stdout == "[]\n"


# What it sets


def test_every_key_sets_its_field(tmp_path: Path) -> None:
    """Keys in camelCase, times in seconds, whole numbers whole, paths relative to the file."""
    path = write(tmp_path / "conf" / "all.toml", EVERYTHING)
    settings = load(path, tmp_path, {})
    assert settings == Settings(
        model=config.ModelSettings(
            provider=Provider.OPENAI,
            base_url="http://localhost:11434/v1",
            name="some-model",
            api_key_env="SOME_KEY",
            temperature=1.0,
            max_tokens=4096,
            connect_timeout_s=2.0,
            idle_timeout_s=60.5,
            retries=0,
            script=tmp_path / "conf" / "scripts" / "turn.model",
        ),
        limits=config.LimitSettings(max_steps=7, max_line_bytes=65536, max_outbox_bytes=100_000),
        bash=config.BashSettings(timeout_s=5.0, max_output_bytes=1000),
        log_level=LogLevel.DEBUG,
        source=path,
    )
    assert isinstance(settings.model.max_tokens, int)
    assert isinstance(settings.bash.timeout_s, float)


def test_the_schema_and_the_settings_name_the_same_things() -> None:
    """Each key of the schema sets one field, each field has its key, and the defaults told are the real ones."""
    tables = SCHEMA["properties"]
    pairs = [
        (tables["model"], config.MODEL_FIELDS, config.ModelSettings()),
        (tables["limits"], config.LIMIT_FIELDS, config.LimitSettings()),
        (tables["tools"]["properties"]["bash"], config.BASH_FIELDS, config.BashSettings()),
        (tables["context"], config.CONTEXT_FIELDS, config.ContextSettings()),
        (tables["skills"], config.SKILL_FIELDS, config.SkillSettings()),
        (tables["sessions"], config.SESSION_FIELDS, config.SessionSettings()),
        (tables["log"], {"level": "log_level"}, Settings()),
    ]
    for table, names, defaults in pairs:
        assert list(table["properties"]) == list(names)
        if names != {"level": "log_level"}:
            assert list(names.values()) == list(defaults._fields)
        for key, schema in table["properties"].items():
            assert schema["description"]
            default = getattr(defaults, names[key])
            assert schema.get("default") == (list(default) if isinstance(default, tuple) else default), key


def test_whole_number_settings_are_the_schemas_integers() -> None:
    """A setting of a count never becomes a float."""
    tables = SCHEMA["properties"]
    integers = {
        names[key]
        for table, names in (
            (tables["model"], config.MODEL_FIELDS),
            (tables["limits"], config.LIMIT_FIELDS),
            (tables["tools"]["properties"]["bash"], config.BASH_FIELDS),
            (tables["context"], config.CONTEXT_FIELDS),
        )
        for key, schema in table["properties"].items()
        if schema.get("type") == "integer"
    }
    assert integers == config._INTEGERS


@pytest.mark.parametrize(
    ("keys", "variable"),
    [
        ("", "OPENAI_API_KEY"),
        ('baseUrl = "http://localhost:8080/v1"', None),
        ('apiKeyEnv = "MY_KEY"', "MY_KEY"),
        ('baseUrl = "https://example.org/v1"\napiKeyEnv = "MY_KEY"', "MY_KEY"),
    ],
)
def test_the_default_key_goes_to_the_default_server_only(
    tmp_path: Path, keys: str, variable: str | None
) -> None:
    """A key is sent to another server only when the file names it."""
    path = write(tmp_path / "a.toml", f'[model]\nprovider = "openai"\nname = "m"\n{keys}\n')
    assert load(path, tmp_path, {}).model.api_key_env == variable


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    """Some editors write one."""
    (tmp_path / "a.toml").write_bytes(b"\xef\xbb\xbf[log]\r\nlevel = 'debug'\r\n")
    assert load(tmp_path / "a.toml", tmp_path, {}).log_level is LogLevel.DEBUG


# Mistakes


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[model]\ntempratur = 1", '[model] has no key "tempratur"; did you mean "temperature"?'),
        ("[modle]\nname = 'x'", 'there is no key "modle"; did you mean "model"?'),
        (
            "zzz = 1",
            'there is no key "zzz"; known here: "model", "limits", "tools", '
            '"context", "skills", "sessions", "log"',
        ),
        ("[tools.bash]\ntimeOut = 1", '[tools.bash] has no key "timeOut"; did you mean "timeout"?'),
        ("[tools.python]", '[tools] has no key "python"; known here: "bash"'),
        ("model = 'gpt'", "model must be a table, not this text"),
        ("[tools]\nbash = [1]", "tools.bash must be a table, not a list"),
        (
            "[model]\nretries = 'three'",
            "[model] retries must be a whole number from 0 up to 20, not this text",
        ),
        ("[model]\nretries = 2.5", "[model] retries must be a whole number from 0 up to 20, not 2.5"),
        ("[model]\nretries = true", "[model] retries must be a whole number from 0 up to 20, not true"),
        ("[model]\nretries = -1", "[model] retries must be a whole number from 0 up to 20, not -1"),
        ("[model]\ntemperature = nan", "[model] temperature must be a number from 0 up to 2, not nan"),
        ("[model]\nidleTimeout = inf", "[model] idleTimeout must be a number above 0 up to 86400, not inf"),
        ("[model]\nconnectTimeout = 0", "[model] connectTimeout must be a number above 0 up to 3600, not 0"),
        ("[model]\nname = ''", "[model] name must be a text that is not empty, not an empty text"),
        ("[model]\nname = {a = 1}", "[model] name must be a text that is not empty, not a table"),
        ("[model]\nname = 2024-01-01", "[model] name must be a text that is not empty, not a date or time"),
        (
            "[model]\nbaseUrl = 'localhost:11434'",
            "[model] baseUrl must be an address that starts with http:// or https://, not this text",
        ),
        (
            "[model]\napiKeyEnv = 'sk-secret'",
            "[model] apiKeyEnv must be the name of an environment variable (a key itself does not belong in the file),"
            " not this text",
        ),
        (
            "[model]\nprovider = 'ollama'",
            '[model] provider must be one of "offline", "scripted", "openai", not "ollama"',
        ),
        ("[log]\nlevel = 3", '[log] level must be one of "info", "debug", not 3'),
        (
            "[limits]\nmaxSteps = 0x" + "f" * 5000,
            "[limits] maxSteps must be a whole number from 1 up to 100000, not so large a number",
        ),
        (
            '[model]\nprovider = "openai"',
            '[model] provider "openai" needs a name: the model\'s name as the server knows it',
        ),
        (
            '[model]\nprovider = "scripted"',
            '[model] provider "scripted" needs a script: the path of the file to play',
        ),
    ],
)
def test_a_mistake_is_one_sentence_with_the_key_and_what_was_expected(
    tmp_path: Path, text: str, sentence: str
) -> None:
    """File, key, what was expected, what was found; never a text, which might be a secret in the wrong place."""
    assert refusal(tmp_path, text) == sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "[model\n",
            "the configuration file is not valid TOML: Expected ']' at the end of a table declaration",
        ),
        ("a = " + "9" * 5000, "the configuration file is not valid TOML: "),
        ("a = " + "[" * 5000, "the configuration file is nested too deeply"),
    ],
)
def test_what_is_not_toml_is_said_with_its_place(tmp_path: Path, text: str, sentence: str) -> None:
    """The parser's words, with line and column, in our sentence."""
    assert refusal(tmp_path, text).startswith(sentence)


def test_bytes_that_are_not_utf8_are_said_with_their_line(tmp_path: Path) -> None:
    """Latin-1 from an old editor."""
    path = tmp_path / "a.toml"
    path.write_bytes(b"[model]\nname = 'caf\xe9'\n")
    with pytest.raises(ConfigError) as caught:
        load(path, tmp_path, {})
    assert str(caught.value) == f"{path}: the configuration file is not UTF-8 text (line 2)"


def test_a_file_that_was_asked_for_and_is_not_there_is_an_error(tmp_path: Path) -> None:
    """A misspelt --config must not silently start the built-in model."""
    with pytest.raises(ConfigError, match=r"^.*/nope\.toml: there is no such configuration file$"):
        load(Path("nope.toml"), tmp_path, {})
    with pytest.raises(ConfigError, match=r"^\$ACP_AGENT_CONFIG names .*/nope\.toml: there is no such"):
        load(None, tmp_path, {"ACP_AGENT_CONFIG": "nope.toml"})
    (tmp_path / "acp-agent.toml").symlink_to("gone")
    with pytest.raises(ConfigError, match="there is no such configuration file"):
        load(None, tmp_path, {})


def test_a_directory_in_the_files_place_is_an_error(tmp_path: Path) -> None:
    """What cannot be read is said, with the system's reason."""
    (tmp_path / "acp-agent.toml").mkdir()
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        load(None, tmp_path, {})
    with pytest.raises(ConfigError, match="cannot be read: embedded null"):
        load(Path("a\0b"), tmp_path, {})


# The schema decides, the walk explains: they must agree

VALUES = st.one_of(
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from([0, 1, 20, 21, 3.0, 4096, 65536, 10**10]),
    st.text(max_size=8),
    st.sampled_from(
        ["offline", "openai", "scripted", "info", "http://x", "https://x/v1", "http:// x", "KEY\n", "_K9"]
    ),
    st.lists(st.integers(), max_size=1),
)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    def table(schema: dict[str, Any]) -> dict[str, Any]:
        known = list(schema["properties"])
        result: dict[str, Any] = {}
        for key in draw(st.lists(st.sampled_from([*known, "other"]), max_size=4, unique=True)):
            inner = schema["properties"].get(key, {})
            if inner.get("type") == "object" and draw(st.integers(0, 9)):
                result[key] = table(inner)
            else:
                result[key] = draw(VALUES)
        return result

    return table(SCHEMA)


@given(documents())
@example({"model": {"apiKeyEnv": "KEY\n"}})
@example({"model": {"temperature": float("nan")}})
def test_what_the_schema_refuses_is_always_explained(document: dict[str, Any]) -> None:
    """One truth: a sentence exactly when the schema says no, and never the general one."""
    problem = config.explain(document)
    assert (problem is None) == jsonschema_rs.is_valid(SCHEMA, document)
    assert (problem is None) == (config._walk(SCHEMA, document, ()) is None)
    assert problem is None or "schemas/config.json" not in problem
