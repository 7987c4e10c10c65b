"""Skills: where they are found, which are sound, what the prompt says of them and how a person calls one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from acp_agent.agent import skills as module
from acp_agent.agent.skills import (
    MAX_DESCRIPTION_CHARS,
    MAX_FILE_BYTES,
    MAX_FRONT_MATTER_CHARS,
    MAX_SKILLS,
    Skill,
    Skills,
    load_skills,
    resolve,
)
from acp_agent.config import SkillSettings
from acp_agent.tools.base import ToolError

DEFAULT_DIRS = SkillSettings().dirs


class Place:
    """A working directory and a home in a scratch directory."""

    def __init__(self, root: Path) -> None:
        self.cwd = root / "project"
        self.home = root / "home"
        self.cwd.mkdir()
        self.home.mkdir()

    def write(self, folder: str, content: str | bytes, below: Path | None = None) -> Path:
        path = (below or self.cwd) / folder / "SKILL.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def load(self, *dirs: str) -> Skills:
        return load_skills(self.cwd, dirs or DEFAULT_DIRS, self.home)

    def warning(self) -> str:
        """The one warning about the one skill, which is left out."""
        found = self.load()
        assert list(found) == []
        assert len(found.warnings) == 1
        assert "\n" not in found.warnings[0]
        return found.warnings[0]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def skill(name: str, description: str = "What it is for.", body: str = "Do it.\n") -> str:
    return f"---\nname: {name}\ndescription: {description}\n---\n\n{body}"


GREETINGS = Skill("greetings", "Say hello.", Path("/s/greetings/SKILL.md"))


# -- where


def test_skills_are_found_in_the_projects_folders_and_the_users_own(place: Place) -> None:
    """The default, in this order: skills, .agents/skills, .claude/skills, ~/.agents/skills; inside by name."""
    place.write(".claude/skills/three", skill("three"))
    place.write(".agents/skills/two", skill("two"))
    path = place.write("skills/one", skill("one", "First."))
    place.write("skills/a-one", skill("a-one"))
    place.write(".agents/skills/four", skill("four"), place.home)
    found = place.load()
    assert list(found) == ["a-one", "one", "two", "three", "four"]
    assert found["one"] == Skill("one", "First.", path)
    assert found.warnings == []


def test_directories_can_be_chosen(place: Place, tmp_path: Path) -> None:
    """Relative to the working directory, absolute, or under the home; the order is the order given."""
    place.write("mine/a", skill("a"))
    place.write("b", skill("b"), tmp_path / "elsewhere")
    place.write("c", skill("c"), place.home)
    place.write("team/d", skill("d"), place.home)
    place.write("skills/not-listed", skill("not-listed"))
    found = place.load("~/team", str(tmp_path / "elsewhere"), "mine", "~")
    assert list(found) == ["d", "b", "a", "c"]
    assert found.warnings == []


def test_a_directory_that_is_not_there_is_no_mistake(place: Place) -> None:
    """Most projects have no skills; a file of that name is none either."""
    (place.cwd / "skills").write_text("not a directory")
    found = place.load(*DEFAULT_DIRS, "skills/deeper", "nowhere")
    assert (len(found), found.warnings, found.prompt_section()) == (0, [], "")


def test_only_folders_with_a_skill_file_count(place: Place) -> None:
    """A project may keep other things in its skills directory, and hide a skill by a dot."""
    place.write("skills/.aside", skill("aside"))
    (place.cwd / "skills" / "empty").mkdir()
    (place.cwd / "skills" / "README.md").write_text("about")
    (place.cwd / "skills" / "SKILL.md").write_text(skill("skills"))
    found = place.load()
    assert (list(found), found.warnings) == ([], [])


def test_the_first_of_two_with_one_name_is_taken_and_the_project_hears_of_it(place: Place) -> None:
    """Two different texts in one project are a mistake somebody wants to know of."""
    first = place.write("skills/deploy", skill("deploy", "First."))
    second = place.write(".claude/skills/deploy", skill("deploy", "Second."))
    found = place.load()
    assert found["deploy"].description == "First."
    assert found.warnings == [f"skill left out: {second}: {first} has the same name and comes first"]


def test_a_projects_skill_replaces_the_users_own_silently(place: Place) -> None:
    """That is what a project's version is for."""
    place.write("skills/deploy", skill("deploy", "The project's."))
    place.write(".agents/skills/deploy", skill("deploy", "Mine."), place.home)
    found = place.load()
    assert (found["deploy"].description, found.warnings) == ("The project's.", [])


def test_copies_and_links_for_several_agents_are_no_mistake(place: Place) -> None:
    """The same text twice, a linked directory and a linked folder are the same skill."""
    path = place.write(".agents/skills/deploy", skill("deploy"))
    place.write("skills/deploy", skill("deploy"))
    (place.cwd / ".claude").mkdir()
    (place.cwd / ".claude" / "skills").symlink_to(place.cwd / ".agents" / "skills")
    (place.cwd / "more").mkdir()
    (place.cwd / "more" / "deploy").symlink_to(path.parent)
    found = place.load(*DEFAULT_DIRS, "more", "nothing/../more")
    assert (list(found), found.warnings) == (["deploy"], [])


def test_a_sound_one_takes_the_place_of_a_broken_one(place: Place) -> None:
    """Left out means that a later one of the name counts."""
    place.write("skills/deploy", "no front matter")
    place.write(".agents/skills/deploy", skill("deploy", "Good."))
    found = place.load()
    assert found["deploy"].description == "Good."
    assert len(found.warnings) == 1


def test_there_is_a_limit_to_how_many(place: Place) -> None:
    """Each one is a line of every prompt."""
    for number in range(MAX_SKILLS + 2):
        place.write(f"skills/s-{number:03}", skill(f"s-{number:03}"))
    found = place.load()
    assert len(found) == MAX_SKILLS
    left_out = place.cwd / "skills" / f"s-{MAX_SKILLS}" / "SKILL.md"
    assert found.warnings == [f"skills left out: there are more than {MAX_SKILLS}, from {left_out} on"]


def test_a_directory_that_cannot_be_used_is_a_warning(place: Place) -> None:
    """A name that is no name, and a link that leads to itself."""
    (place.cwd / "loop").symlink_to("loop")
    found = place.load("a\0b", "loop", "x" * 300)
    assert len(found.warnings) == 3
    assert found.warnings[0].startswith(f"skills left out: {place.cwd}/a\\x00b cannot be read: ")


# -- sound or broken


@pytest.mark.parametrize("name", ["a", "2048", "0x10", "on", "pdf-tools-2", "x" * 64])
def test_names_are_what_is_written(place: Place, name: str) -> None:
    """Letters, digits and hyphens, 1 to 64; YAML's ideas of numbers and switches do not count."""
    place.write(f"skills/{name}", skill(name))
    found = place.load()
    assert (list(found), found.warnings) == ([name], [])


@pytest.mark.parametrize("name", ["Greet", "-a", "a-", "a--b", "a_b", "a b", "é", "x" * 65, "a.b"])
def test_other_names_are_refused(place: Place, name: str) -> None:
    """The Agent Skills convention."""
    place.write(f"skills/{name}", skill(name))
    assert f'its name "{name}" must be 1 to 64 lowercase letters (a to z), digits' in place.warning()


def test_the_name_is_the_folders(place: Place) -> None:
    """A copied folder whose front matter was not changed."""
    path = place.write("skills/one", skill("two"))
    assert place.warning() == f'skill left out: {path}: its name "two" must be the name of its folder, "one"'


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "it does not begin with front matter between two lines ---"),
        ("# Title\n---\nname: s\n---\n", "it does not begin with front matter"),
        ("----\nname: s\n----\n", "it does not begin with front matter"),
        ("---\nname: s\ndescription: d\n", "its front matter has no end"),
        ("---\nname: s\ndescription: d\n----\n", "its front matter has no end"),
        (f"---\n{'# long' * MAX_FRONT_MATTER_CHARS}\n---\n", "its front matter has no end"),
        ("---\n---\n", "its front matter has no name"),
        ("---\n# nothing\n---\n", "its front matter has no name"),
        ("---\n- name\n- description\n---\n", "its front matter is not one mapping"),
        ("---\njust text\n---\n", "its front matter is not one mapping"),
        ("---\n*x\n---\n", "its front matter is not one mapping"),
        ("---\nname: s\n...\nname: s\n---\n", "its front matter is not"),
        ("---\nname: s\ndescription: d\n--- {name: t}\n---\n", "its front matter is not one mapping"),
        ("---\nname: s\n---\n", "its front matter has no description"),
        ("---\ndescription: d\n---\n", "its front matter has no name"),
        ("---\nname: s\nname: s\ndescription: d\n---\n", "its front matter has name twice"),
        ("---\nname: s\ndescription: a\ndescription: b\n---\n", "its front matter has description twice"),
        ("---\nname: [s]\ndescription: d\n---\n", "its name is not text"),
        ("---\nname: s\ndescription: {a: b}\n---\n", "its description is not text"),
        ("---\nname: s\ndescription: &d *d\n---\n", "its front matter is not valid YAML"),
        ("---\nx: &d text\nname: s\ndescription: *d\n---\n", "its description is not text"),
        ("---\nname: s\ndescription:\n---\n", "its description is not text"),
        ("---\nname: s\ndescription: ~\n---\n", "its description is not text"),
        ('---\nname: s\ndescription: "  "\n---\n', "its description is empty"),
        ("---\nname: s\ndescription: !!binary aGVsbG8=\n---\n", "its description is not text"),
        ("---\nname: s\ndescription: !!python/name:os.system x\n---\n", "its description is not text"),
        (
            "---\nname: s\ndescription: Use it: always\n---\n",
            "(line 3); a value that holds a colon needs quotes",
        ),
        ("---\nname: s\ndescription: 'open\n---\n", "its front matter is not valid YAML"),
        ("---\nname: s\n\tdescription: d\n---\n", "its front matter is not valid YAML"),
        ("---\nname: s\ndescription: a\x00b\n---\n", "its front matter holds a character"),
        (b"---\nname: s\ndescription: caf\xe9\n---\n", "it is not UTF-8 text (line 3)"),
        (skill("s").encode("utf-16"), "it is not UTF-8 text (line 1)"),
        (skill("s", body="b" * MAX_FILE_BYTES), f"it is larger than {MAX_FILE_BYTES} bytes"),
        (
            skill("s", "d" * (MAX_DESCRIPTION_CHARS + 1)),
            "its description has 1025 characters; 1024 are allowed",
        ),
    ],
)
@pytest.mark.parametrize("parser", ["C", "Python"])
def test_a_broken_one_is_left_out_with_the_reason(
    place: Place, monkeypatch: pytest.MonkeyPatch, content: str | bytes, reason: str, parser: str
) -> None:
    """One sentence that names the file and what to change, with either of YAML's parsers."""
    if parser == "Python":
        monkeypatch.setattr(yaml, "CSafeLoader", yaml.SafeLoader, raising=False)
    path = place.write("skills/s", content)
    warning = place.warning()
    assert warning.startswith(f"skill left out: {path}: ")
    assert reason in warning


@pytest.mark.parametrize(
    ("content", "description"),
    [
        (skill("s", "d" * MAX_DESCRIPTION_CHARS), "d" * MAX_DESCRIPTION_CHARS),
        (skill("s", '"Use it: always # really"'), "Use it: always # really"),
        (skill("s", ">\n  Folded\n  text.\n"), "Folded text."),
        (skill("s", "|\n  Two\n  lines.\n"), "Two lines."),
        (skill("s", "2048"), "2048"),
        (skill("s", "!!str yes"), "yes"),
        (skill("s", '"null"'), "null"),
        (skill("s", '"a\\e[31mb\\x85c"'), "a [31mb c"),
        (skill("s", "Grüße, 世界 👋"), "Grüße, 世界 👋"),
        ("\ufeff" + skill("s", "With a BOM."), "With a BOM."),
        (skill("s", "CRLF.").replace("\n", "\r\n"), "CRLF."),
        ("---  \nname: s\ndescription: Blanks.\n--- \nbody", "Blanks."),
        ("---\nname: s\ndescription: No body.\n---", "No body."),
        ("---\n{name: s, description: Flow.}\n---\n", "Flow."),
        ("---\n---\n---\n".replace("---\n---", "---\nname: s\ndescription: Rule.\n---", 1), "Rule."),
        (
            "---\nname: s\ndescription: Others.\nlicense: MIT\nmetadata:\n  a: [1, {b: c}]\n"
            "allowed-tools: Bash(git:*)\n? [x, y]\n: z\nn: ~\nt: !!python/object:os.system x\n---\n",
            "Others.",
        ),
    ],
)
@pytest.mark.parametrize("parser", ["C", "Python"])
def test_a_sound_one_is_read_as_its_author_meant(
    place: Place, monkeypatch: pytest.MonkeyPatch, content: str, description: str, parser: str
) -> None:
    """Unknown members pass, and nothing in them is ever built; a description is one line."""
    if parser == "Python":
        monkeypatch.setattr(yaml, "CSafeLoader", yaml.SafeLoader, raising=False)
    place.write("skills/s", content)
    found = place.load()
    assert found.warnings == []
    assert found["s"].description == description


def test_aliases_that_would_fill_the_memory_expand_to_nothing(place: Place) -> None:
    """Each line holds the line before ten times; also as merges."""
    lines = ["a0: &a0 {k: v}"]
    lines += [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, 60)]
    place.write("skills/s", "---\nname: s\ndescription: d\n" + "\n".join(lines) + "\n---\n")
    assert list(place.load()) == ["s"]


@pytest.mark.parametrize("deep", ["x: " + "[" * 8_000, "x: " + "[" * 7_000 + "]" * 7_000, "? " * 8_000])
def test_deep_front_matter_is_no_crash(place: Place, deep: str) -> None:
    """Sound or broken, but never the stack."""
    place.write("skills/s", f"---\nname: s\ndescription: d\n{deep}\n---\n")
    found = place.load()
    assert len(found) + len(found.warnings) == 1


def test_what_is_no_regular_file_is_left_out(place: Place) -> None:
    """A pipe would wait for ever; a directory and a dangling link are mistakes."""
    for name in ("pipe", "folder", "dangling"):
        (place.cwd / "skills" / name).mkdir(parents=True)
    os.mkfifo(place.cwd / "skills" / "pipe" / "SKILL.md")
    (place.cwd / "skills" / "folder" / "SKILL.md").mkdir()
    (place.cwd / "skills" / "dangling" / "SKILL.md").symlink_to("nowhere")
    assert [warning.split("SKILL.md")[1] for warning in place.load().warnings] == [
        " does not exist.",
        " is a directory, not a file; list it with bash.",
        " is a named pipe, not a file.",
    ]


def test_names_of_files_cannot_write_on_the_terminal(place: Place) -> None:
    """A banner is one printable line, whatever a folder is called."""
    place.write("skills/\x1b[2J\nx", skill("s"))
    assert "\\x1b[2J\\nx" in place.warning()


def test_the_example_of_the_documentation_is_sound(place: Place) -> None:
    """What a person copies from docs/skills.md works."""
    page = (Path(__file__).parents[2] / "docs" / "skills.md").read_text(encoding="utf-8")
    example = page.partition("```markdown\n")[2].partition("```\n")[0]
    place.write("skills/release-notes", example)
    found = place.load()
    assert (list(found), found.warnings) == (["release-notes"], [])
    assert found.body("release-notes").startswith("1. Run")
    assert str(list(DEFAULT_DIRS)).replace("'", '"') in page


# -- commands


def test_a_skill_named_like_a_command_is_not_in_the_menu(place: Place) -> None:
    """The banner says so; the command stays what it is, and $name still reaches the skill."""
    path = place.write("skills/new", skill("new"))
    place.write("skills/other", skill("other"))
    found = place.load()
    assert [one.name for one in found.commands()] == ["other"]
    assert found.warnings == [
        f"skill not in the menu: {path}: /new is a command of the agent; rename the skill, or ask for it as $new"
    ]
    assert resolve("/new things", found) == "/new things"
    assert resolve("$new things", found).endswith("\n\n$new things")


# -- bodies


def test_a_body_is_read_when_it_is_asked_for(place: Place) -> None:
    """A person may improve a skill while a session is open."""
    path = place.write("skills/s", skill("s", body="# Title\r\n\r\nOld.\r\n"))
    found = place.load()
    assert found.body("s") == "# Title\n\nOld."
    path.write_text(skill("s", body="---\nNew.\n---\n"))
    assert found.body("s") == "---\nNew.\n---"
    assert found.instructions("s") == (
        f"[skill folder: {path.parent}; relative paths below begin there]\n\n---\nNew.\n---"
    )


def test_a_body_that_is_gone_is_a_sentence_for_the_model(place: Place) -> None:
    """Not a broken turn."""
    path = place.write("skills/s", skill("s"))
    found = place.load()
    path.write_bytes(b"\xff")
    with pytest.raises(ToolError, match="it is not UTF-8 text"):
        found.body("s")
    path.unlink()
    with pytest.raises(ToolError, match=r"SKILL\.md does not exist"):
        found.instructions("s")


def test_an_unknown_skill_names_the_known_ones() -> None:
    """The model can choose again."""
    found = Skills([GREETINGS, GREETINGS._replace(name="deploy")])
    with pytest.raises(ToolError, match='There is no skill "greet"; the skills are: greetings, deploy'):
        found.body("greet")
    with pytest.raises(ToolError, match="the skills are: none"):
        Skills().instructions("greet")


def test_the_system_prompt_lists_names_and_descriptions() -> None:
    """No bodies; and how to load one."""
    section = Skills([GREETINGS, GREETINGS._replace(name="deploy", description="Ship it.")]).prompt_section()
    assert section.endswith("\n- greetings: Say hello.\n- deploy: Ship it.")
    assert "read_skill" in section


# -- /name and $name

SKILLS = Skills([GREETINGS, GREETINGS._replace(name="pdf-tools-2")])


def test_both_ways_to_call_a_skill_give_the_model_the_same_text() -> None:
    """The text asks for read_skill with that skill and those parameters."""
    resolved = resolve("/greetings Bob", SKILLS)
    assert resolved == resolve("$greetings Bob", SKILLS) == resolve(" \n/greetings   Bob\n", SKILLS)
    assert resolved == (
        'Call read_skill with the name "greetings" and do what it says. It was called with what follows its name '
        "here as parameters:\n\n$greetings Bob"
    )


def test_a_skill_may_be_called_without_parameters() -> None:
    """The model is told that there are none."""
    assert resolve("/pdf-tools-2", SKILLS) == resolve("$pdf-tools-2\n", SKILLS)
    assert resolve("/pdf-tools-2", SKILLS).endswith("It was called without parameters:\n\n$pdf-tools-2")


def test_parameters_may_span_lines() -> None:
    """What began on a line of its own stays there: it may be a code block."""
    assert resolve("/greetings Bob\n\n- and Eve\n", SKILLS).endswith("\n\n$greetings Bob\n\n- and Eve")
    assert resolve("/greetings\n```\nx\n```", SKILLS).endswith("\n\n$greetings\n```\nx\n```")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/",
        "$",
        "/unknown Bob",
        "$unknown",
        "$PATH",
        "$HOME/bin is missing",
        "/greetings/Bob",
        "/greetings.txt",
        "/greetings: Bob",
        "/Greetings Bob",
        "/greetings-2 Bob",
        "$greetings_x",
        "//greetings Bob",
        "$$greetings Bob",
        "/ greetings Bob",
        "please /greetings Bob",
        "please $greetings Bob",
        "greetings Bob",
        "  /unknown keeps its blanks \n",
    ],
)
def test_anything_else_stays_as_typed(text: str) -> None:
    """Only a known name at the very beginning, and the whole word, is a call."""
    assert resolve(text, SKILLS) == text


@given(st.sampled_from("/$"), st.sampled_from(list(SKILLS)), st.text(st.characters(exclude_categories=())))
def test_a_resolved_call_stays_as_it_is(sign: str, name: str, rest: str) -> None:
    """Resolving twice is resolving once, and the sign makes no difference."""
    text = f"{sign}{name} {rest}"
    resolved = resolve(text, SKILLS)
    assert resolve(resolved, SKILLS) == resolved
    assert resolved == resolve(f"/{name} {rest}", SKILLS) == resolve(f"${name} {rest}", SKILLS)
    gap = "\n" if "\n" in rest[: len(rest) - len(rest.lstrip())] else " "
    assert resolved.endswith(f"\n\n${name}{gap}{rest.strip()}".rstrip())


@given(st.text(st.characters(exclude_categories=())))
def test_resolving_never_raises_and_changes_nothing_else(text: str) -> None:
    """Whatever is typed."""
    resolved = resolve(text, SKILLS)
    assert resolved == text or text.strip()[0] in "/$"
    assert resolve(resolved, SKILLS) == resolved


@given(st.binary() | st.text().map(lambda text: f"---\n{text}\n---\n".encode()))
def test_any_file_is_a_skill_or_a_warning(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    """Nothing that stands in a SKILL.md keeps a session from starting."""
    place = Place(tmp_path_factory.mktemp("place"))
    place.write("skills/s", content)
    found = place.load()
    assert len(found) + len(found.warnings) == 1


def test_a_start_without_skills_does_not_load_yaml(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its import takes longer than everything else a new session does."""
    monkeypatch.setitem(__import__("sys").modules, "yaml", None)
    (place.cwd / "skills" / "other").mkdir(parents=True)
    assert len(place.load()) == 0
    assert not hasattr(module, "yaml")
