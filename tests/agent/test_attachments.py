"""`@path` in a prompt: which mentions become attachments, and which text is left alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_agent.agent import attachments
from acp_agent.agent.attachments import MAX_LOOKUPS, attach

FILES = (
    "a.py",
    "b.py",
    "src/a.py",
    "src/deep/c.txt",
    "a b.txt",
    "it's.txt",
    'say "hi".txt',
    "back\\slash.txt",
    "what?",
    "end.",
    "wow!.md",
    "v1.2/notes",
    "Makefile",
    "app/main.py",
    "a@b.c",
    "node_modules/@types/x.ts",
    "@scope/pkg.json",
    "grüße.txt",
    "世界.txt",
    "(draft).md",
    "[id]/page.tsx",
    "~backup",
    "--flag",
    "x:12",
    ".env",
    "C++.md",
    "100%.txt",
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds `project`, the working directory, `home`, and a file beside them."""
    root = tmp_path_factory.mktemp("root").resolve()
    for name in FILES:
        path = root / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (root / "home" / "notes").mkdir(parents=True)
    (root / "home" / "notes" / "todo.md").write_text("")
    (root / "outside.txt").write_text("")
    return root


def attached(text: str, root: Path) -> list[str]:
    """What a text attaches, relative to the root; the added lines are checked here for all tests."""
    result, paths = attach(text, root / "project", root / "home")
    kinds = ["directory" if Path(path).is_dir() else "file" for path in paths]
    lines = [f"\n[attached {kind}: {path}]" for kind, path in zip(kinds, paths, strict=True)]
    assert result == text + "".join(lines)
    assert all(os.path.isabs(path) for path in paths)  # noqa: PTH117 - it is text
    return [os.path.relpath(path, root / "project") for path in paths]


def test_a_file_and_a_directory_are_named_in_the_order_of_the_text(root: Path) -> None:
    """The lines as the model gets them, and the paths for the log."""
    text, paths = attach("compare @src/deep and @a.py", root / "project", root / "home")
    assert text == (
        f"compare @src/deep and @a.py\n[attached directory: {root}/project/src/deep]"
        f"\n[attached file: {root}/project/a.py]"
    )
    assert paths == [f"{root}/project/src/deep", f"{root}/project/a.py"]


@pytest.mark.parametrize("name", [*FILES, "src", "v1.2", "node_modules/@types"])
def test_every_name_can_be_mentioned(root: Path, name: str) -> None:
    """In quotes of a kind it does not hold, or with everything unusual escaped; most as they are."""
    for quote in ('"', "'"):
        if quote not in name:
            assert attached(f"see @{quote}{name}{quote} please", root) == [name]
    escaped = "".join(c if c.isalnum() or c in "./_" else f"\\{c}" for c in name)
    assert attached(f"see @{escaped}", root) == [name]
    if " " not in name and not name.startswith("@"):
        assert attached(f"see @{name} please", root) == [name]


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("see @src/a.py.", ["src/a.py"]),
        ("(@a.py)", ["a.py"]),
        ("@a.py, @b.py; @src: and @Makefile!", ["a.py", "b.py", "src", "Makefile"]),
        ("is it @b.py?", ["b.py"]),
        ("[@a.py] {@b.py} <@src/a.py>", ["a.py", "b.py", "src/a.py"]),
        ("**@a.py** and *@b.py*", ["a.py", "b.py"]),
        ("\"@a.py\" and '@b.py'", ["a.py", "b.py"]),
        ("«@a.py» “@b.py” 「@src」", ["a.py", "b.py", "src"]),
        ("@a.py... @b.py?!)", ["a.py", "b.py"]),
        ("…@a.py…", ["a.py"]),
        ("@a.py,@b.py|@src/a.py", ["a.py", "b.py", "src/a.py"]),
        ("@a.py's tests", ["a.py"]),
        ("@a.py\u2019s tests", ["a.py"]),
        ("@a.py:12 @b.py:3:4 @src/a.py#L10-L12", ["a.py", "b.py", "src/a.py"]),
        ("@src/", ["src"]),
        ("@src/deep/. @src...", ["src/deep", "src"]),
        ("@./a.py @src//a.py @src/../b.py", ["a.py", "src/a.py", "b.py"]),
        ("key=@a.py", ["a.py"]),
        ("see...@a.py", ["a.py"]),
        ("\t@a.py\r\n@b.py\u00a0@src", ["a.py", "b.py", "src"]),
    ],
)
def test_what_stands_around_a_path_is_not_its_name(root: Path, text: str, paths: list[str]) -> None:
    """Punctuation, brackets, emphasis, line numbers."""
    assert attached(text, root) == paths


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("@what?", ["what?"]),
        ("@end.", ["end."]),
        ("(see @end.).", ["end."]),
        ("@wow!.md!", ["wow!.md"]),
        ("@a@b.c", ["a@b.c"]),
        ("@x:12", ["x:12"]),
        ("@(draft).md)", ["(draft).md"]),
        ("@[id]/page.tsx", ["[id]/page.tsx"]),
        ("@C++.md++", ["C++.md"]),
        ("@node_modules/@types/x.ts", ["node_modules/@types/x.ts"]),
    ],
)
def test_the_longest_name_that_exists_wins(root: Path, text: str, paths: list[str]) -> None:
    """A name may end in punctuation or hold it."""
    assert attached(text, root) == paths


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ('@"a b.txt".', ["a b.txt"]),
        ("@'a b.txt'", ["a b.txt"]),
        ("@“a b.txt” and @‘a b.txt’", ["a b.txt"]),
        ("@a\\ b.txt,", ["a b.txt"]),
        ('@"say \\"hi\\".txt"', ['say "hi".txt']),
        ("@'it\\'s.txt'", ["it's.txt"]),
        ('@"./src/../a b.txt"', ["a b.txt"]),
        ('@"a.py",@"b.py"', ["a.py", "b.py"]),
        ('@"a b.txt', []),
        ('@"a.py."', []),
        ("@\"\" @''", []),
        ('@"a\nb.txt"', []),
        ("@a b.txt", []),
        ('@"none of these" @a.py "', ["a.py"]),
        ("@back\\slash.txt", ["back\\slash.txt"]),
    ],
)
def test_spaces_need_quotes_or_escapes(root: Path, text: str, paths: list[str]) -> None:
    """What is quoted is the whole name, and on one line."""
    assert attached(text, root) == paths


@pytest.mark.parametrize(
    "text",
    [
        "",
        "@",
        "a @ b",
        "@@a.py",
        "@@ -1,3 +1,4 @@ a.py",
        "\\@a.py",
        "mail me@a.py now",
        "mail jörg@a.py or é@a.py, 7@a.py, x_@a.py, x+@a.py, x-@a.py",
        "https://example.com/@a.py",
        "git@a.py:src",
        "@property",
        "@app.route('/')",
        "@dataclass(frozen=True)",
        "@nobody",
        "@src/none.py",
        "@a.py/x",
        "@a.pyc",
        "@none/../../outside.txt",
        "@" + "x" * 300,
        "@" + "x/" * 3_000,
        "@a\0b",
        '@"a\0b"',
        "@\udc80 @\ud800",
        "@.",
        "@./",
        "@..",
        "@../outside.txt",
        "@../project-other",
        '@"../outside.txt"',
        "@/dev/null",
    ],
)
def test_what_is_no_path_of_the_session_is_left_alone(root: Path, text: str) -> None:
    """Addresses, handles, decorators, names of nothing, what lies outside and the working directory itself."""
    assert attached(text, root) == []


@pytest.mark.parametrize(
    "text",
    [
        "`@a.py`",
        "``x ` @a.py``",
        "`two\nlines @a.py`",
        "```\n@a.py\n```",
        "```python\n@app\ndef f(): ...\n```",
        "~~~\n@a.py\n```\n@a.py\n~~~",
        "````\n```\n@a.py\n```\n````",
        "> ```\n> @a.py\n> ```",
        "1. x\n    ```\n    @a.py\n    ```",
        "```\nnever closed @a.py",
        "```\r\n@a.py\r\n```\r\n",
        "`a\\` b @ `@a.py`",
    ],
)
def test_nothing_in_code_is_attached(root: Path, text: str) -> None:
    """Fenced blocks and spans between backticks are quoted text, not mentions."""
    assert attached(text, root) == []
    assert attached(f"{text}\n\n@b.py", root) == ([] if "never" in text else ["b.py"])
    assert attached(f"@b.py\n\n{text}", root) == ["b.py"]


@pytest.mark.parametrize(
    "text",
    [
        "` @a.py",
        "`` ` @a.py",
        "`x\n\n@a.py`",
        "\\`@a.py\\`",
        "`x` @a.py `y`",
        "```x``` @a.py",
        "``` `x` ```\n@a.py",
        "    @a.py",
        "~~ @a.py ~~",
    ],
)
def test_what_only_looks_like_code_is_text(root: Path, text: str) -> None:
    """Backticks without a partner in their paragraph begin nothing."""
    assert attached(text, root) == ["a.py"]


def test_a_decorator_is_left_alone_unless_a_file_has_its_name(root: Path) -> None:
    """Outside of code existence decides."""
    assert attached("@app\n@property\ndef main(): ...", root) == ["app"]


def test_each_path_is_named_once(root: Path) -> None:
    """However it is written."""
    assert attached("@a.py @./a.py @'a.py' @src/../a.py, @b.py @a.py", root) == ["a.py", "b.py"]


def test_absolute_and_home_paths_go_anywhere(root: Path) -> None:
    """Whoever writes the whole path means it."""
    assert attached(f"@{root}/outside.txt.", root) == ["../outside.txt"]
    assert attached(f"@{root}/project/../outside.txt @//{root}/outside.txt", root) == ["../outside.txt"]
    assert attached("@~/notes/todo.md, @~/notes @~", root) == [
        "../home/notes/todo.md",
        "../home/notes",
        "../home",
    ]
    assert attached("@~backup @~root", root) == ["~backup"]


def test_the_root_as_working_directory(root: Path) -> None:
    """Everything but itself is below it."""
    name = str(root / "outside.txt")[1:]
    assert attach(f"@{name} @. @..", Path("/"), root)[1] == [f"/{name}"]


def test_a_resource_link_is_not_attached_again(root: Path) -> None:
    """Clients send a mention both as text and as a link, which the text before this names already."""
    link = f"\n[attached file: {root}/project/[id]/page.tsx] please"
    assert attached(f"look at @[id]/page.tsx{link}", root) == []
    assert attached(f"@src\n[attached file: {root}/project/src]", root) == []
    assert attached(f"@a.py{link}", root) == ["a.py"]
    assert attached("\n[attached file: /x/(@a.py)]", root) == []


def test_attaching_twice_adds_nothing(root: Path) -> None:
    """The lines that are added count as links."""
    once, _ = attach("@a.py @src @[id]/page.tsx", root / "project", root / "home")
    assert attach(once, root / "project", root / "home") == (once, [])


def test_scripts_without_spaces_need_none(root: Path) -> None:
    """A mention may stand in the middle of a sentence."""
    assert attached("请看@src/a.py的内容，还有@b.py。", root) == ["src/a.py", "b.py"]
    assert attached("@世界.txtを@grüße.txt", root) == ["世界.txt", "grüße.txt"]
    assert attached("@a.py를 @grüße.txt", root) == ["a.py", "grüße.txt"]


def test_links_count_as_what_they_lead_to(tmp_path: Path) -> None:
    """The name is the link's, also when it leads out; one that leads nowhere is nothing."""
    (tmp_path / "cwd").mkdir()
    (tmp_path / "outside").mkdir()
    for name, target in (("out", tmp_path / "outside"), ("gone", "nowhere"), ("loop", "loop")):
        (tmp_path / "cwd" / name).symlink_to(target)
    text, paths = attach("@out @gone @loop", tmp_path / "cwd", tmp_path)
    assert (text, paths) == (
        f"@out @gone @loop\n[attached directory: {tmp_path}/cwd/out]",
        [f"{tmp_path}/cwd/out"],
    )


def test_pipes_are_no_files(tmp_path: Path) -> None:
    """Reading one would wait for ever."""
    os.mkfifo(tmp_path / "pipe")
    assert attach("@pipe", tmp_path, tmp_path) == ("@pipe", [])


def test_what_may_not_be_looked_at_is_left_alone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal of the system is no failure of the prompt."""

    def refuse(path: str) -> os.stat_result:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "stat", refuse)
    assert attach("@a.py", root / "project", root / "home") == ("@a.py", [])


@pytest.mark.parametrize(
    "text",
    [
        " ".join(f"@{number}" for number in range(10_000)),
        "".join(f",@{number}" for number in range(100_000)),
        "(@" * 500_000,
        '@"' * 500_000,
        '@"\\"' * 250_000,
        "@a\\ " * 250_000,
        "@" + "x," * 500_000,
    ],
)
def test_a_long_text_is_looked_up_within_bounds(
    root: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """A paste with ever so many @ does not keep the file system busy."""
    lookups: list[str] = []
    monkeypatch.setattr(attachments, "_kind", lookups.append)
    assert attach(text, root / "project", root / "home") == (text, [])
    assert len(lookups) <= 2 * MAX_LOOKUPS


PIECES = st.sampled_from(
    [
        "@",
        "`",
        "```",
        "\n",
        " ",
        '"',
        "'",
        "\\",
        "/",
        "..",
        "~",
        ".",
        ",",
        "a.py",
        "src",
        "a b.txt",
        "[attached file: ",
    ]
)
TEXTS = st.lists(PIECES | st.text(st.characters(exclude_categories=()), max_size=5)).map("".join)


@given(TEXTS)
def test_whatever_is_typed_the_text_stays_and_lines_follow(root: Path, text: str) -> None:
    """Never an exception; what is attached exists, lies where it may and is named once."""
    result, paths = attach(text, root / "project", root / "home")
    assert result.startswith(text)
    assert result[len(text) :].count("\n[attached ") == len(paths) == len(set(paths))
    assert all(Path(path).exists() for path in paths)
    if "/" not in text.replace("/a", ""):
        assert all(path.startswith(str(root)) for path in paths)


@given(TEXTS)
def test_code_around_a_text_takes_its_attachments_away(root: Path, text: str) -> None:
    """A fence longer than any inside quotes everything."""
    quoted = f"``````````\n{text.replace('`', '')}\n``````````"
    assert attach(quoted, root / "project", root / "home") == (quoted, [])
