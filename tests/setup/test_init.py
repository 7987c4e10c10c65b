"""acp-agent init: what a person sees, what is written, and what never is."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acp_agent import config
from acp_agent.setup.snippets import SNIPPETS, Command

KEY = "sk-very-secret-0123456789"
QWEN = {"qwen3:8b": ["completion", "tools"], "nomic-embed-text": ["embedding"], "gemma3": ["completion"]}


def test_a_model_is_chosen_by_its_number(
    serve: Callable[..., Any], converse: Callable[..., Any], products: Any, tmp_path: Path
) -> None:
    """The models are listed with numbers; the chosen one is in a file that the agent can read."""
    server = serve(products.ollama(QWEN))
    played = converse("2", ports=(server.port,))
    assert played.code == 0
    settings = config.read(tmp_path / "acp-agent.toml")
    assert settings.model.provider is config.Provider.OPENAI
    assert settings.model.base_url == f"http://127.0.0.1:{server.port}/v1"
    assert settings.model.name == "gemma3"
    assert settings.model.api_key_env is None
    assert re.search(
        r"1  qwen3:8b +calls tools\n +2  gemma3 +cannot call tools\n +3  nomic-embed-text +not for",
        played.out,
    )
    assert f"Ollama 0.12.3 at http://127.0.0.1:{server.port}/v1" in played.out


@pytest.mark.parametrize(
    ("answers", "name"),
    [(("",), "qwen3:8b"), (("gemma3",), "gemma3"), (("0", "99", "no such", "1"), "qwen3:8b")],
)
def test_enter_takes_the_first_and_a_name_is_as_good_as_a_number(
    serve: Callable[..., Any],
    converse: Callable[..., Any],
    products: Any,
    tmp_path: Path,
    answers: tuple[str, ...],
    name: str,
) -> None:
    """A wrong answer is asked again."""
    played = converse(*answers, ports=(serve(products.ollama(QWEN)).port,))
    assert played.code == 0
    assert played.out.count("There is no such model") == len(answers) - 1
    assert config.read(tmp_path / "acp-agent.toml").model.name == name


def test_yes_asks_nothing_and_takes_what_can_call_tools(
    serve: Callable[..., Any], converse: Callable[..., Any], products: Any, tmp_path: Path
) -> None:
    """--yes is for scripts; Bob needs tools, so a server without is not the first choice."""
    poor = serve(products.ollama({"gemma3": ["completion"]}))
    good = serve(products.llama_cpp())
    played = converse(ports=(poor.port, good.port), yes=True)
    assert (played.code, played.questions) == (0, [])
    assert config.read(tmp_path / "acp-agent.toml").model.base_url == f"http://127.0.0.1:{good.port}/v1"


def test_nothing_found_says_what_to_start_and_writes_nothing(
    converse: Callable[..., Any], closed_port: int, tmp_path: Path
) -> None:
    """Exit code 1, with the five products and how to start them."""
    played = converse(ports=(closed_port,), yes=True)
    assert played.code == 1
    for product in ("ollama pull", "llama-server", "lms server start", "vllm serve", "docker model pull"):
        assert product in played.out
    assert list(tmp_path.iterdir()) == []


def test_a_server_without_a_model_is_said_to_have_none(
    serve: Callable[..., Any], converse: Callable[..., Any], products: Any, tmp_path: Path
) -> None:
    """The person learns that the server is there and a model is missing."""
    server = serve(products.ollama({}))
    played = converse(ports=(server.port,))
    assert played.code == 1
    assert f"Ollama at http://127.0.0.1:{server.port}/v1 has no model yet" in re.sub(
        r" 0\.12\.3", "", played.out
    )
    assert "Load or pull a model first" in played.out
    assert list(tmp_path.iterdir()) == []


def test_only_embeddings_is_as_good_as_nothing(
    serve: Callable[..., Any], converse: Callable[..., Any], products: Any
) -> None:
    """An embedding model cannot talk."""
    played = converse("1", ports=(serve(products.ollama({"nomic-embed-text": ["embedding"]})).port,))
    assert (played.code, played.questions) == (1, [])
    assert "None of these models is for chat" in played.out


@pytest.mark.parametrize(
    ("answer", "replaced"), [("y", True), ("YES", True), ("", False), ("n", False), ("maybe", False)]
)
def test_a_file_is_replaced_only_after_a_yes(
    serve: Callable[..., Any],
    converse: Callable[..., Any],
    products: Any,
    tmp_path: Path,
    answer: str,
    replaced: bool,
) -> None:
    """Never overwrites without asking."""
    path = tmp_path / "acp-agent.toml"
    path.write_text("# mine\n", encoding="utf-8")
    played = converse("1", answer, ports=(serve(products.vllm()).port,))
    assert played.questions[-1] == f"{path} exists already. Replace it? [y/N] "
    assert played.code == (0 if replaced else 1)
    assert (path.read_text(encoding="utf-8") == "# mine\n") is not replaced


def test_yes_refuses_to_overwrite_before_it_asks_anybody(
    serve: Callable[..., Any], converse: Callable[..., Any], products: Any, tmp_path: Path
) -> None:
    """Exit code 2, one sentence on standard error, no request to any server; --force replaces."""
    path = tmp_path / "acp-agent.toml"
    path.write_text("# mine\n", encoding="utf-8")
    server = serve(products.vllm())
    played = converse(ports=(server.port,), yes=True)
    assert (played.code, played.out) == (2, "")
    assert played.err == f"acp-agent: {path} exists already; add --force to replace it\n"
    assert server.asked == []
    assert path.read_text(encoding="utf-8") == "# mine\n"
    assert converse(ports=(server.port,), yes=True, force=True).code == 0
    assert config.read(path).model.name == "Qwen/Qwen3-8B"


@pytest.mark.parametrize(("leaves", "code"), [(EOFError, 1), (KeyboardInterrupt, 130)])
def test_leaving_writes_nothing(
    serve: Callable[..., Any],
    converse: Callable[..., Any],
    products: Any,
    tmp_path: Path,
    leaves: type[BaseException],
    code: int,
) -> None:
    """Ctrl-D and Ctrl-C."""
    played = converse(leaves, ports=(serve(products.vllm()).port,))
    assert played.code == code
    assert played.out.endswith("\nNothing was written.\n")
    assert list(tmp_path.iterdir()) == []


def test_the_key_is_named_and_nowhere_shown_or_written(
    serve: Callable[..., Any], converse: Callable[..., Any], products: Any, tmp_path: Path
) -> None:
    """Only apiKeyEnv; even a server that repeats the key as a model's name does not get it into the file."""
    server = serve({"GET /v1/models": products.model_list(KEY, f"x-{KEY}", "good-model")})
    environ = {"OPENAI_BASE_URL": f"http://127.0.0.1:{server.port}/v1", "OPENAI_API_KEY": KEY}
    played = converse("", environ=environ)
    assert played.code == 0
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    text = (tmp_path / "acp-agent.toml").read_text(encoding="utf-8")
    assert KEY not in played.out + played.err + text
    assert "Bob reads the key from OPENAI_API_KEY, which your editor has to pass on" in played.out
    assert config.read(tmp_path / "acp-agent.toml").model.api_key_env == "OPENAI_API_KEY"
    assert config.read(tmp_path / "acp-agent.toml").model.name == "good-model"


def test_a_key_goes_to_no_server_but_its_own(
    serve: Callable[..., Any], converse: Callable[..., Any], products: Any
) -> None:
    """What is found by looking around is asked without the key."""
    own, other = serve(products.vllm()), serve(products.ollama(QWEN))
    environ = {"OPENAI_BASE_URL": f"http://127.0.0.1:{own.port}/v1", "OPENAI_API_KEY": KEY}
    assert converse("", ports=(other.port,), environ=environ).code == 0
    assert other.asked
    assert all("authorization" not in asked.headers for asked in other.asked)


@pytest.mark.parametrize("url", ["http://me:secret@127.0.0.1:1/v1", "https://127.0.0.1:1/v1?key=secret"])
def test_an_address_with_a_secret_in_it_is_not_written(
    converse: Callable[..., Any], tmp_path: Path, url: str
) -> None:
    """A password in OPENAI_BASE_URL would end up in the file."""
    played = converse(environ={"OPENAI_BASE_URL": url}, yes=True)
    assert played.code == 1
    assert "$OPENAI_BASE_URL holds more than an address" in played.out
    assert "secret" not in played.out + played.err
    assert list(tmp_path.iterdir()) == []


def test_several_models_that_cost_money_are_not_guessed_among(
    converse: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """--yes takes a local model; elsewhere --model has to name it."""
    from acp_agent.setup import init
    from acp_agent.setup.models import ModelEntry
    from acp_agent.setup.servers import Server

    async def found(*_: object, **__: object) -> list[Server]:
        return [Server("https://models.example/v1", models=(ModelEntry("a"), ModelEntry("b")))]

    monkeypatch.setattr(init, "find_servers", found)
    played = converse(yes=True)
    assert played.code == 1
    assert played.err == "acp-agent: https://models.example/v1 offers several models; name one with --model\n"
    assert converse(yes=True, model="b").code == 0
    assert config.read(tmp_path / "acp-agent.toml").model.name == "b"
    assert converse(yes=True, force=True, model="c").err == (
        'acp-agent: no model server that was found offers "c"\n'
    )


def test_the_snippets_name_the_program_and_the_file(
    serve: Callable[..., Any], converse: Callable[..., Any], products: Any, tmp_path: Path
) -> None:
    """By absolute path, since an editor has another PATH and another working directory."""
    played = converse("", ports=(serve(products.vllm()).port,))
    command = Command("/opt/bin/acp-agent", ("serve", "--config", str(tmp_path / "acp-agent.toml")))
    for snippet in SNIPPETS:
        assert f"--- {snippet.editor}: {snippet.where}\n\n{snippet.text(command)}\n" in played.out


@pytest.mark.parametrize(
    ("output", "options"),
    [
        (None, ""),
        ("acp-agent.toml", ""),
        ("home/.config/acp-agent/config.toml", ""),
        ("a b.toml", " --config '{}'"),
    ],
)
def test_the_last_thing_said_is_what_to_do_next(
    serve: Callable[..., Any],
    converse: Callable[..., Any],
    products: Any,
    tmp_path: Path,
    output: str | None,
    options: str,
) -> None:
    """With the file, unless it is found without being named."""
    (tmp_path / "home" / ".config").mkdir(parents=True)
    path = Path(output) if output else None
    played = converse(ports=(serve(products.ollama(QWEN)).port,), yes=True, output=path)
    options = options.format(tmp_path / (output or ""))
    assert played.out.endswith(
        f"\nNext: `acp-agent doctor{options}` checks it,\n"
        f"`acp-agent chat{options}` talks to Bob here in the terminal.\n"
    )


def test_the_persons_own_file_needs_no_naming(
    serve: Callable[..., Any],
    converse: Callable[..., Any],
    products: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In the user's configuration directory, which is made, Bob finds the file from everywhere."""
    environ = {"XDG_CONFIG_HOME": str(tmp_path)}
    own = config.user_file(environ)
    assert own is not None
    played = converse("", ports=(serve(products.vllm()).port,), environ=environ, output=Path(own))
    assert played.code == 0, played.err
    assert config.load(None, tmp_path / "elsewhere", environ).model.name == "Qwen/Qwen3-8B"
    assert "--config" not in played.out


@pytest.mark.parametrize(
    ("output", "code", "sentence"),
    [
        ("/dev/null/x.toml", 1, "cannot be written: Not a directory"),
        (".", 2, "is a directory; --output takes the name of a file"),
    ],
)
def test_a_place_that_cannot_be_written_is_one_sentence(
    serve: Callable[..., Any],
    converse: Callable[..., Any],
    products: Any,
    tmp_path: Path,
    output: str,
    code: int,
    sentence: str,
) -> None:
    """With the path; nothing is left behind."""
    played = converse("", ports=(serve(products.vllm()).port,), output=Path(output))
    assert played.code == code
    assert played.err.startswith("acp-agent: ")
    assert played.err.endswith(f"{sentence}\n")
    assert list(tmp_path.iterdir()) == []


def test_a_long_list_is_cut_and_every_name_can_be_typed(
    serve: Callable[..., Any], converse: Callable[..., Any], products: Any, tmp_path: Path
) -> None:
    """A provider with hundreds of models does not scroll the rest away."""
    server = serve({"GET /v1/models": products.model_list(*(f"model-{n:03}" for n in range(200)))})
    played = converse("model-199", ports=(server.port,))
    assert "and 160 more, to be picked by name" in played.out
    assert config.read(tmp_path / "acp-agent.toml").model.name == "model-199"


def test_what_a_server_says_cannot_play_with_the_terminal(
    serve: Callable[..., Any], converse: Callable[..., Any], products: Any
) -> None:
    """Control characters in a model's name or a version are not shown."""
    routes = products.ollama({"evil\x1b[2J": ["completion"], "good": ["completion"]}, version="1\x1b]0;x\x07")
    played = converse("1", ports=(serve(routes).port,))
    assert played.code == 0
    assert "\x1b" not in played.out
    assert "evil" not in played.out


def test_the_real_process_reads_its_answers_from_a_pipe(
    serve: Callable[..., Any], products: Any, tmp_path: Path
) -> None:
    """From sys.argv to the file: the surroundings of a process are what run needs."""
    server = serve(products.llama_cpp())
    program = (
        "import sys\n"
        "from acp_agent.setup import init\n"
        "from acp_agent.setup.servers import Place, Product\n"
        f"places = [Place(Product.LLAMA_CPP, {server.port})]\n"
        "sys.exit(init.run(init.InitOptions(), init.Surroundings.of_this_process(), places))\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]},
        input="1\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert config.read(tmp_path / "acp-agent.toml").model.name == "qwen3.gguf"
    zed = json.loads(done.stdout.split("--- Zed")[1].split("\n\n")[1])["agent_servers"]["Bob"]
    assert Path(zed["command"]).is_absolute()
    assert zed["args"][-2:] == ["--config", str(tmp_path / "acp-agent.toml")]


def test_a_file_that_appears_meanwhile_is_not_replaced_by_a_script(
    serve: Callable[..., Any], converse: Callable[..., Any], products: Any, tmp_path: Path
) -> None:
    """--yes checks first; what came after that is still nobody's to lose, and nobody is there to ask."""
    path = tmp_path / "acp-agent.toml"
    routes = products.vllm()
    models = routes["GET /v1/models"]

    def meanwhile(_: object) -> Any:
        path.write_text("# mine\n", encoding="utf-8")
        return models

    routes["GET /v1/models"] = meanwhile
    played = converse(ports=(serve(routes).port,), yes=True)
    assert (played.code, played.questions) == (1, [])
    assert played.err == f"acp-agent: {path} exists already; run init again to decide what becomes of it\n"
    assert path.read_text(encoding="utf-8") == "# mine\n"
