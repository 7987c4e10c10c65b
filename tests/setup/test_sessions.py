"""acp-agent sessions: what is listed, shown, exported and deleted, and what is said when that cannot be."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from acp_agent.agent.store import SessionStore
from acp_agent.config import SessionSettings
from acp_agent.setup.sessions import StoredSessions

ID = "20260822-093000-0123abcd"
OTHER = "20260823-093000-0123abcd"
CREATED = datetime(2026, 8, 22, 9, 30, tzinfo=UTC)
DIRECTORY = ".acp-agent/sessions"


class Terminal(io.StringIO):
    """A terminal that does not say how wide it is."""

    def isatty(self) -> bool:
        return True


@dataclass
class Done:
    """What came of one command."""

    code: int
    out: str
    err: str
    questions: list[str]


@pytest.fixture
def store() -> Iterator[SessionStore]:
    """As another process has it: what it has open is locked."""
    one = SessionStore(DIRECTORY)
    yield one
    one.close()


@pytest.fixture
def keep(store: SessionStore, tmp_path: Path) -> Callable[..., Path]:
    """Store a conversation; returns its file."""

    def keep(session_id: str, *texts: str, where: SessionStore = store, cwd: Path = tmp_path) -> Path:
        messages: list[dict[str, Any]] = [{"role": "system", "content": "You are Bob."}]
        messages += [{"role": "user", "content": text} for text in texts]
        where.save(session_id, cwd, messages, CREATED)
        where.release(session_id)
        return where.path(cwd, session_id)

    return keep


@pytest.fixture
def do(tmp_path: Path) -> Callable[..., Done]:
    """Run one command in tmp_path; answers: what the person types at a question before they leave."""

    def do(
        command: str,
        *arguments: Any,
        answers: tuple[str | type[BaseException], ...] = (),
        settings: SessionSettings | None = None,
        out: Any = None,
        **named: Any,
    ) -> Done:
        out, err = out or io.StringIO(), io.StringIO()
        questions: list[str] = []
        typed = iter(answers)

        def ask(question: str) -> str:
            questions.append(question)
            answer = next(typed, EOFError)
            if isinstance(answer, str):
                return answer
            raise answer

        sessions = StoredSessions(settings or SessionSettings(enabled=True), tmp_path, out, err, ask)
        code = getattr(sessions, command)(*arguments, **named)
        said = out.getvalue() if isinstance(out, io.StringIO) else ""
        return Done(code, said, err.getvalue(), questions)

    return do


@pytest.fixture(autouse=True)
def _in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


# -- list


def test_sessions_are_listed_the_newest_first(keep: Callable[..., Path], do: Callable[..., Done]) -> None:
    """Id, when it was saved, how many messages, the first words; columns that a program can split."""
    keep(ID, "Hello 日本", "more")
    keep(OTHER)
    done = do("list")
    assert (done.code, done.err) == (0, "")
    rows = [line.split(maxsplit=4) for line in done.out.splitlines()]
    assert [(row[0], row[3], row[4]) for row in rows] == [
        (OTHER, "0", "(nothing was said)"),
        (ID, "2", "Hello 日本 more"[:8]),
    ]
    assert datetime.fromisoformat(f"{rows[0][1]} {rows[0][2]}")


def test_a_damaged_session_is_listed_with_what_is_wrong(
    keep: Callable[..., Path], do: Callable[..., Done]
) -> None:
    path = keep(ID, "Hello")
    path.write_text("{", encoding="utf-8")
    done = do("list")
    assert done.code == 0
    assert f"  -  the file of session {ID} is damaged: it is not JSON" in done.out


def test_a_terminal_gets_heads_and_a_pipe_does_not(
    keep: Callable[..., Path], do: Callable[..., Done]
) -> None:
    keep(ID, "Hello")
    assert do("list", out=Terminal()).out.splitlines()[0].split() == ["ID", "SAVED", "MESSAGES", "TITLE"]
    assert len(do("list").out.splitlines()) == 1


@pytest.mark.parametrize("title", ["x" * 80, "日本語" * 26, "é\u0301" * 40])
def test_a_line_is_no_wider_than_its_terminal(
    keep: Callable[..., Path], do: Callable[..., Done], title: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted in the cells that characters take; a line that is cut says so."""
    keep(ID, title)
    out = Terminal()
    monkeypatch.setattr(out, "fileno", lambda: 1)
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((70, 24)))
    line = do("list", out=out).out.splitlines()[1]
    assert line.startswith(ID)
    assert line.endswith("…")
    cells = sum({"日": 2, "本": 2, "語": 2, "\u0301": 0}.get(char, 1) for char in line)
    assert cells in (69, 70)


def test_a_directory_for_all_projects_tells_whose_each_session_is(
    keep: Callable[..., Path],
    do: Callable[..., Done],
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    shared = tmp_path_factory.mktemp("shared")
    where = SessionStore(str(shared))
    keep(ID, "Hello", where=where, cwd=tmp_path)
    done = do("list", settings=SessionSettings(enabled=True, dir=str(shared)))
    assert done.out.endswith(f"Hello  ({tmp_path})\n")


@pytest.mark.parametrize(("enabled", "why"), [(True, False), (False, True)])
def test_where_there_is_nothing_it_says_so_beside_an_empty_output(
    do: Callable[..., Done], tmp_path: Path, enabled: bool, why: bool
) -> None:
    """And why, if they are not kept at all."""
    done = do("list", settings=SessionSettings(enabled=enabled))
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith(f"acp-agent: no sessions are stored in {tmp_path / DIRECTORY}")
    assert ("[sessions] enabled = true" in done.err) is why


def test_what_is_stored_is_listed_though_nothing_new_is_kept(
    keep: Callable[..., Path], do: Callable[..., Done]
) -> None:
    keep(ID, "Hello")
    assert ID in do("list", settings=SessionSettings(enabled=False)).out


def test_a_directory_that_cannot_be_read_is_a_sentence(do: Callable[..., Done], tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    done = do("list", settings=SessionSettings(enabled=True, dir="loop"))
    assert (done.code, done.out) == (1, "")
    assert done.err.count("\n") == 1
    assert "cannot be listed" in done.err


# -- show and export


def test_a_session_is_shown_as_text(keep: Callable[..., Path], do: Callable[..., Done]) -> None:
    keep(ID, "Hello")
    done = do("show", ID)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Session {ID} in ")
    assert done.out.endswith("\n\n> Hello\n")


@pytest.mark.parametrize("output", [None, Path("-")])
def test_a_session_is_exported_as_markdown(
    keep: Callable[..., Path], do: Callable[..., Done], output: Path | None
) -> None:
    keep(ID, "Hello")
    done = do("export", ID, output)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("# Hello\n")


def test_an_export_makes_a_file_and_replaces_none(
    keep: Callable[..., Path], do: Callable[..., Done], tmp_path: Path
) -> None:
    """Nothing that somebody has is lost."""
    keep(ID, "Hello 日本")
    output = tmp_path / "hello.md"
    done = do("export", ID, output)
    assert (done.code, done.out, done.err) == (0, f"Wrote {output}\n", "")
    text = output.read_text(encoding="utf-8")
    assert text.startswith("# Hello 日本\n")
    done = do("export", ID, output)
    assert (done.code, done.out) == (1, "")
    assert f"{output} exists already" in done.err
    assert output.read_text(encoding="utf-8") == text


def test_an_export_that_cannot_be_written_is_a_sentence(
    keep: Callable[..., Path], do: Callable[..., Done], tmp_path: Path
) -> None:
    keep(ID, "Hello")
    done = do("export", ID, tmp_path / "missing" / "hello.md")
    assert (done.code, done.out) == (1, "")
    assert (
        done.err == f"acp-agent: {tmp_path}/missing/hello.md cannot be written: No such file or directory\n"
    )


@pytest.mark.parametrize("command", ["show", "export", "delete"])
@pytest.mark.parametrize(
    ("session_id", "sentence"),
    [
        (ID, f"there is no session {ID} in "),
        ("../../etc/passwd", '"../../etc/passwd" is not a session id'),
        ("\x1b[31m", '"\ufffd[31m" is not a session id'),
    ],
)
def test_an_unknown_session_is_a_sentence(
    do: Callable[..., Done], tmp_path: Path, command: str, session_id: str, sentence: str
) -> None:
    """And nothing is made on disk for it."""
    more = {"export": {"output": None}, "delete": {"sure": True}}.get(command, {})
    done = do(command, session_id, **more)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"acp-agent: {sentence}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["show", "export"])
def test_a_damaged_session_is_not_shown_in_part(
    keep: Callable[..., Path], do: Callable[..., Done], command: str
) -> None:
    keep(ID, "Hello").write_text("{", encoding="utf-8")
    done = do(command, ID, **({"output": None} if command == "export" else {}))
    assert (done.code, done.out) == (1, "")
    assert "is damaged" in done.err


# -- delete


@pytest.mark.parametrize("answer", ["y", "Yes "])
def test_a_session_is_deleted_when_the_person_agrees(
    keep: Callable[..., Path], do: Callable[..., Done], answer: str
) -> None:
    """The question names it."""
    path = keep(ID, "Hello")
    done = do("delete", ID, sure=False, answers=(answer,))
    assert (done.code, done.out, done.err) == (0, f"Deleted {ID}.\n", "")
    assert done.questions == [f'Delete session {ID}, 1 message, "Hello"? [y/N] ']
    assert [one.name for one in path.parent.iterdir()] == [".gitignore"]


@pytest.mark.parametrize(("answers", "code"), [(("",), 1), (("n",), 1), ((), 1), ((KeyboardInterrupt,), 130)])
def test_without_a_yes_it_stays(
    keep: Callable[..., Path], do: Callable[..., Done], answers: tuple[Any, ...], code: int
) -> None:
    """An empty answer, a no, the end of the input, Ctrl-C; and nobody is kept from opening it afterwards."""
    path = keep(ID, "Hello")
    done = do("delete", ID, sure=False, answers=answers)
    assert done.code == code
    assert done.out.endswith("Nothing was deleted.\n")
    assert {one.name for one in path.parent.iterdir()} == {path.name, ".gitignore"}


def test_who_is_sure_is_not_asked(keep: Callable[..., Path], do: Callable[..., Done]) -> None:
    path = keep(ID, "Hello")
    done = do("delete", ID, sure=True)
    assert (done.code, done.questions, path.exists()) == (0, [], False)


def test_a_damaged_session_can_be_deleted(keep: Callable[..., Path], do: Callable[..., Done]) -> None:
    path = keep(ID, "Hello")
    path.write_text("{", encoding="utf-8")
    done = do("delete", ID, sure=False, answers=("y",))
    assert (done.code, path.exists()) == (0, False)
    assert done.questions == [f"Delete session {ID}, which cannot be loaded? [y/N] "]


def test_a_session_that_is_open_elsewhere_stays(
    keep: Callable[..., Path], do: Callable[..., Done], store: SessionStore, tmp_path: Path
) -> None:
    """Nobody is even asked."""
    path = keep(ID, "Hello")
    store.acquire(tmp_path, ID)
    done = do("delete", ID, sure=False)
    assert (done.code, done.out, done.questions) == (1, "", [])
    assert done.err == f"acp-agent: session {ID} is open in another process (pid {os.getpid()})\n"
    assert path.exists()


def test_a_session_whose_file_cannot_be_removed_is_a_sentence(
    keep: Callable[..., Path], do: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(ID, "Hello")

    def refused(path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("acp_agent.agent.session_files.remove", refused)
    done = do("delete", ID, sure=True)
    assert (done.code, done.out) == (1, "")
    assert done.err == f"acp-agent: session {ID} cannot be deleted: Permission denied\n"
