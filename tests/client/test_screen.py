"""What reaches a terminal, and what must not."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_agent.client.screen import Screen, Style, visible


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def on(out: io.StringIO, **environ: str) -> Screen:
    return Screen.on(out, environ)


@given(st.text())
def test_no_text_can_command_a_terminal(text: str) -> None:
    """Escape sequences, bells, carriage returns, C1 controls and turned writing are spelled out."""
    out = Terminal()
    screen = on(out, NO_COLOR="1")
    screen.stream(text)
    screen.line(text)
    for character in out.getvalue():
        assert character.isprintable() or character in "\n\t" or ord(character) >= 0xA0
    assert not set(out.getvalue()) & set("\x1b\r\x07\x08\x7f\x9b\u202e\u2066")


def test_line_ends_of_windows_are_line_ends_also_when_cut_in_two() -> None:
    out = Terminal()
    screen = on(out)
    for piece in ("a\r", "\nb\r\nc\rd"):
        screen.stream(piece)
    assert out.getvalue() == "a\nb\nc\\x0dd"


def test_a_pipe_gets_the_text_as_it_is() -> None:
    out = io.StringIO()
    screen = on(out)
    screen.stream("a\x1b[1mb")
    assert out.getvalue() == "a\x1b[1mb"


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colours_can_be_refused(environ: dict[str, str]) -> None:
    out = Terminal()
    on(out, **environ).line("x", Style.BOLD)
    assert out.getvalue() == "x\n"


def test_a_terminal_gets_colours_and_a_pipe_does_not() -> None:
    terminal, pipe = Terminal(), io.StringIO()
    for out in (terminal, pipe):
        on(out).line("x", Style.BAD)
    assert (terminal.getvalue(), pipe.getvalue()) == ("\x1b[31mx\x1b[0m\n", "x\n")


def test_lines_start_at_the_start_and_are_all_indented() -> None:
    out = io.StringIO()
    screen = on(out)
    screen.stream("text")
    screen.line("one\n\ntwo", indent="  ")
    screen.fresh_line()
    assert out.getvalue() == "text\n  one\n  \n  two\n"


def test_a_question_keeps_the_cursor_behind_it() -> None:
    """On a terminal the person's Enter ends the line; in a pipe nobody does."""
    terminal, pipe = Terminal(), io.StringIO()
    for out in (terminal, pipe):
        screen = on(out)
        screen.ask("? ")
        screen.line("x")
    assert (terminal.getvalue(), pipe.getvalue()) == ("? x\n", "? \nx\n")


def test_visible_leaves_ordinary_text_alone() -> None:
    assert visible("Grüße\t€ 😀\n") == "Grüße\t€ 😀\n"
