"""Skills as a person uses them: listed for the model, asked for by name, read by the model alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from kept_sessions import log_line, log_lines, next_call, said, talk, work, write_skill
from model_server import ModelServer
from raw_client import Agent

BODY = "Say hello in three languages."


@pytest.fixture
def greetings(tmp_path: Path) -> Path:
    """A directory with one skill."""
    write_skill(tmp_path / "skills" / "greetings", "Greet somebody politely.", f"{BODY}\n")
    return tmp_path


def tool_names(body: dict[str, object]) -> list[str]:
    tools = body["tools"]
    assert isinstance(tools, list)
    return [tool["function"]["name"] for tool in tools]


def test_the_system_prompt_lists_names_and_descriptions(
    bob: Agent, model: ModelServer, greetings: Path
) -> None:
    """Not bodies; and the model has a tool to read them with."""
    write_skill(greetings / ".claude" / "skills" / "deploy", "Bring it out.", "Push the button.\n")
    session = bob.new_session(greetings)
    call = talk(bob, model, session)
    system = call.messages[0]["content"]
    assert "- greetings: Greet somebody politely." in system
    assert "- deploy: Bring it out." in system
    assert "three languages" not in str(call.body)
    assert "Push the button" not in str(call.body)
    assert "read_skill" in tool_names(call.body)


def test_without_skills_there_is_no_word_of_them(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """Neither in the prompt nor among the tools."""
    call = talk(bob, model, bob.new_session(tmp_path))
    assert "skill" not in call.messages[0]["content"].replace(str(tmp_path), "").lower()
    assert "read_skill" not in tool_names(call.body)


def test_a_skill_is_read_without_permission(bob: Agent, model: ModelServer, greetings: Path) -> None:
    """Kind, title and the two updates as for any call; nobody is asked; counted as a skill in the last log line."""
    session = bob.new_session(greetings)
    since = len(bob.messages)
    told = work(bob, model, session, "read_skill", {"name": "greetings"})
    assert BODY in told
    assert "description:" not in told
    assert str(greetings / "skills" / "greetings") in told
    assert not any(one.get("method") == "session/request_permission" for one in bob.messages[since:])
    announced, running, ended = bob.updates(session, since)[:3]
    assert announced["sessionUpdate"] == "tool_call"
    assert (announced["title"], announced["kind"], announced["status"]) == (
        "read_skill: greetings",
        "read",
        "pending",
    )
    assert announced["rawInput"] == {"name": "greetings"}
    assert running["status"] == "in_progress"
    assert (ended["status"], ended["rawOutput"]) == ("completed", {"output": told})
    log_line(bob, "turn done: 0 command(s) · 0 file op(s) · 1 skill(s)")


def test_a_skill_is_read_as_it_is_now(bob: Agent, model: ModelServer, greetings: Path) -> None:
    """The body is loaded when the model asks, not before."""
    session = bob.new_session(greetings)
    path = greetings / "skills" / "greetings" / "SKILL.md"
    path.write_text(path.read_text().replace("three", "four"))
    assert "four languages" in work(bob, model, session, "read_skill", {"name": "greetings"})


@pytest.mark.parametrize("name", ["unknown", "", "../greetings", "GREETINGS"])
def test_a_skill_that_is_not_there_is_a_failed_call(
    bob: Agent, model: ModelServer, greetings: Path, name: str
) -> None:
    """The model is told which there are, and goes on."""
    session = bob.new_session(greetings)
    since = len(bob.messages)
    told = work(bob, model, session, "read_skill", {"name": name})
    assert "name" in told if not name else "greetings" in told
    assert bob.updates(session, since)[-2]["status"] == "failed"


# -- asked for by name


@pytest.mark.parametrize(
    "parameters", [" Bob", "", "   Bob and  Eve ", "\nBob", " 'a b' --x", " $deploy /new", " привет"]
)
def test_stroke_and_dollar_are_the_same(
    bob: Agent, model: ModelServer, greetings: Path, parameters: str
) -> None:
    """`/greetings Bob` and `$greetings Bob` send the model the same text, which names tool, skill and parameters;
    the body comes only with read_skill."""
    texts = []
    for sign in ("/", "$"):
        session = bob.new_session(greetings)
        call = talk(bob, model, session, f"{sign}greetings{parameters}")
        texts.append(said(call)[0][1])
        assert BODY not in str(call.body)
    assert texts[0] == texts[1]
    assert "read_skill" in texts[0]
    assert '"greetings"' in texts[0]
    assert parameters.strip() in texts[0]


@pytest.mark.parametrize(
    "text",
    [
        *("/unknown Bob", "$unknown Bob", "/greetingsBob", "/Greetings Bob", "//greetings", "/ greetings"),
        *("say /greetings Bob", "$HOME/bin", "/greetings/x", "/etc/hosts", "$5 for greetings", "/"),
    ],
)
def test_anything_else_is_left_as_typed(bob: Agent, model: ModelServer, greetings: Path, text: str) -> None:
    """`/unknown ...` reaches the model character by character."""
    session = bob.new_session(greetings)
    assert said(talk(bob, model, session, text)) == [("user", text)]


def test_a_skill_runs_an_ordinary_turn(bob: Agent, model: ModelServer, greetings: Path) -> None:
    """From `/greetings Bob` to the answer: one skill is counted, the conversation goes on."""
    session = bob.new_session(greetings)
    prompt = bob.prompt(session, "/greetings Bob")
    next_call(model).tool("read_skill", {"name": "$greetings"}).finish("tool_calls")
    call = next_call(model)
    assert BODY in call.messages[-1]["content"]
    call.text("Hello, salut, hola Bob!").finish()
    assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}
    assert bob.text_of(session) == "Hello, salut, hola Bob!"
    assert len(said(talk(bob, model, session, "again"))) == 5


def test_parameters_may_be_files(bob: Agent, model: ModelServer, greetings: Path) -> None:
    """Both notations attach what they point at."""
    (greetings / "names.txt").write_text("Bob\n")
    texts = [
        said(talk(bob, model, bob.new_session(greetings), f"{sign}greetings @names.txt"))[0][1]
        for sign in "/$"
    ]
    assert texts[0] == texts[1]
    assert texts[0].endswith(f"@names.txt\n[attached file: {greetings / 'names.txt'}]")


# -- where they are


def test_the_first_of_one_name_wins_and_broken_ones_are_left_out(
    bob: Agent, model: ModelServer, tmp_path: Path
) -> None:
    """Each is a warning with its file and the reason; what is sound stays."""
    write_skill(tmp_path / "skills" / "twice", "The first.")
    write_skill(tmp_path / ".agents" / "skills" / "twice", "The second.")
    write_skill(tmp_path / ".claude" / "skills" / "fine", "Fine.")
    for name, text in {
        "no-front-matter": "just text\n",
        "no-description": "---\nname: no-description\n---\n",
        "no-yaml": "---\nname: [\n---\n",
        "another": "---\nname: name\ndescription: x\n---\n",
        "Capitals": "---\nname: Capitals\ndescription: x\n---\n",
    }.items():
        folder = tmp_path / "skills" / name
        folder.mkdir()
        (folder / "SKILL.md").write_text(text)
    session = bob.new_session(tmp_path)
    system = talk(bob, model, session).messages[0]["content"]
    listed = [line for line in system.splitlines() if line.startswith("- ")]
    assert listed == ["- twice: The first.", "- fine: Fine."]
    warnings = [line for line in log_lines(bob, session) if line.startswith("warning: ")]
    assert len(warnings) == 6
    for name in (
        "no-front-matter",
        "no-description",
        "no-yaml",
        "another",
        "Capitals",
        ".agents/skills/twice",
    ):
        assert sum(f"{name}/SKILL.md" in line for line in warnings) == 1


def test_the_directories_can_be_chosen(
    start: Callable[..., Agent], tmp_path: Path, own_model: ModelServer
) -> None:
    """`skills.dirs`: instead of the usual ones, in that order, relative to the session's cwd, or `~`."""
    home = tmp_path / "home"
    write_skill(home / "mine" / "of-the-user")
    write_skill(tmp_path / "work" / "procedures" / "of-the-project")
    write_skill(tmp_path / "work" / "skills" / "not-looked-at")
    bob = start('[skills]\ndirs = ["~/mine", "procedures"]\n', environ={**os.environ, "HOME": str(home)})
    bob.initialize()
    bob.new_session(tmp_path / "work")
    (update,) = [one["params"]["update"] for one in bob.messages if "update" in one.get("params", {})]
    assert [one["name"] for one in update["availableCommands"][2:]] == ["of-the-user", "of-the-project"]


def test_the_users_own_folder_counts_everywhere(start: Callable[..., Agent], tmp_path: Path) -> None:
    """Behind those of the project."""
    write_skill(tmp_path / "home" / ".agents" / "skills" / "of-the-user", "From home.")
    write_skill(tmp_path / "home" / ".agents" / "skills" / "both", "From home.")
    write_skill(tmp_path / "work" / "skills" / "both", "From here.")
    bob = start(environ={**os.environ, "HOME": str(tmp_path / "home")})
    bob.initialize()
    bob.new_session(tmp_path / "work")
    (update,) = [one["params"]["update"] for one in bob.messages if "update" in one.get("params", {})]
    assert [(one["name"], one["description"]) for one in update["availableCommands"][2:]] == [
        ("both", "From here."),
        ("of-the-user", "From home."),
    ]
