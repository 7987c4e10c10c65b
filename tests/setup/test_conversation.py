"""Stored conversations as text and as Markdown: in order, complete, and harmless to a terminal and to their reader."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from acp_agent.agent.stored_session import StoredSession
from acp_agent.setup.conversation import as_markdown, as_text

CREATED = datetime(2026, 8, 22, 9, 30, tzinfo=UTC)
UPDATED = datetime(2026, 8, 22, 9, 31, 12, tzinfo=UTC)

SYSTEM = {"role": "system", "content": "You are Bob."}


def user(text: str, **marks: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **marks}


def bob(text: str | None, *calls: tuple[str, str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {
                "id": id_,
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": given if isinstance(given, str) else json.dumps(given),
                },
            }
            for id_, name, given in calls
        ]
    return message


def tool(call_id: str, output: str, **marks: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": output, **marks}


def stored(*messages: dict[str, Any], updated: datetime = UPDATED, cwd: str = "/home/ada/project") -> Any:
    return StoredSession("20260822-093000-0123abcd", Path(cwd), CREATED, updated, [SYSTEM, *messages])


@pytest.fixture(autouse=True)
def _in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


CONVERSATION = stored(
    user("How many files\nare there?"),
    bob(None, ("c1", "bash", {"command": "ls | wc -l"})),
    tool("c1", "12\n"),
    bob("Twelve."),
    user("Note it."),
    bob(
        "I will.",
        ("c2", "write_file", {"path": "n.txt", "content": "12\n13"}),
        ("c3", "read_file", {"path": "x"}),
    ),
    tool("c2", "[command rejected by the user]", failed=True),
)


def test_a_conversation_reads_as_the_chat_showed_it() -> None:
    """Prompts, text, calls with what their title does not say, output, and how a call ended; no system prompt."""
    assert "".join(as_text(CONVERSATION)) == (
        "Session 20260822-093000-0123abcd in /home/ada/project\n"
        "2026-08-22 09:30 to 09:31, 7 messages\n"
        "\n"
        "> How many files\n"
        "> are there?\n"
        "\n"
        "* bash: ls | wc -l\n"
        "  | 12\n"
        "\n"
        "Twelve.\n"
        "\n"
        "> Note it.\n"
        "\n"
        "I will.\n"
        "\n"
        "* write_file: n.txt\n"
        "  content:\n"
        "  | 12\n"
        "  | 13\n"
        "  failed\n"
        "  | [command rejected by the user]\n"
        "\n"
        "* read_file: x\n"
        "  no result was recorded\n"
    )


def test_markdown_has_a_heading_a_speaker_and_fences_for_what_tools_got_and_gave() -> None:
    assert "".join(as_markdown(CONVERSATION)) == (
        "# How many files are there?\n"
        "\n"
        "- Session: `20260822-093000-0123abcd`\n"
        "- Directory: `/home/ada/project`\n"
        "- When: 2026-08-22 09:30 to 09:31 UTC\n"
        "- Length: 7 messages\n"
        "\n"
        "## You\n"
        "\n"
        "> How many files\n"
        "> are there?\n"
        "\n"
        "## Bob\n"
        "\n"
        "Tool call: `bash: ls | wc -l`\n"
        "\n"
        "Result:\n"
        "\n"
        "```\n12\n```\n"
        "\n"
        "Twelve.\n"
        "\n"
        "## You\n"
        "\n"
        "> Note it.\n"
        "\n"
        "## Bob\n"
        "\n"
        "I will.\n"
        "\n"
        "Tool call: `write_file: n.txt`\n"
        "\n"
        "`content`:\n"
        "\n"
        "```\n12\n13\n```\n"
        "\n"
        "Result (failed):\n"
        "\n"
        "```\n[command rejected by the user]\n```\n"
        "\n"
        "Tool call: `read_file: x`\n"
        "\n"
        "No result was recorded.\n"
    )


def test_a_summary_is_called_one_and_bobs_own_words_are_not() -> None:
    """Also where Bob's words begin with the mark that a summary is shown with."""
    session = stored(user("Ada wants tests.", summary=True), user("Go on"), bob("🗜️ zip it"))
    assert "".join(as_markdown(session)).partition("messages\n")[2] == (
        "\n## Summary of what came before\n\nAda wants tests.\n\n## You\n\n> Go on\n\n## Bob\n\n🗜️ zip it\n"
    )
    assert "🗜️ Ada wants tests.\n" in "".join(as_text(session))


def test_nothing_in_it_is_obeyed_by_a_terminal() -> None:
    """Escape sequences, carriage returns, marks of direction: in prompts, answers, titles, inputs, output, paths."""
    evil = "a\x1b[31mb\rc\x9bd\u202ee\x07"
    session = stored(
        user(evil),
        bob(evil, ("c", "write_file", {"path": evil, "content": evil})),
        tool("c", evil),
        cwd=f"/{evil}",
    )
    for text in ("".join(as_text(session)), "".join(as_markdown(session))):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)
        assert text.count(r"a\x1b[31mb\x0dc\x9bd\u202ee\x07") >= 5


def test_wide_characters_and_joined_emoji_stay_what_they_are() -> None:
    text = "日本語 👨‍👩‍👧 ü"
    for form in (as_text, as_markdown):
        assert text in "".join(form(stored(bob(text))))


def test_a_call_that_no_tool_could_read_is_shown_as_the_model_made_it() -> None:
    session = stored(
        user("x"), bob(None, ("c", "frobnicate", "{not json")), tool("c", "no such tool", failed=True)
    )
    assert "* frobnicate\n  arguments:\n  | {not json\n  failed\n  | no such tool\n" in "".join(
        as_text(session)
    )


def test_a_command_of_several_lines_is_whole() -> None:
    session = stored(user("x"), bob(None, ("c", "bash", {"command": "a\nb", "timeout": 5})), tool("c", ""))
    assert "* bash: a\n  | b\n  timeout:\n  | 5\n" in "".join(as_text(session))
    markdown = "".join(as_markdown(session))
    assert "Tool call:\n\n```\nbash: a\nb\n```\n" in markdown
    assert "Result: none.\n" in markdown


def test_backticks_do_not_end_the_code_they_are_in() -> None:
    session = stored(user("x"), bob(None, ("c", "bash", {"command": "echo `id`"})), tool("c", "```\nx\n````"))
    markdown = "".join(as_markdown(session))
    assert "Tool call: `` bash: echo `id` ``\n" in markdown
    assert "`````\n```\nx\n````\n`````\n" in markdown


@pytest.mark.parametrize(
    ("said", "ending"),
    [
        ("```python\nx = 1", "x = 1\n```\n"),
        ("~~~~\n```\n~~~", "~~~\n~~~~\n"),
        ("```\nx\n```", "x\n```\n"),
        ("```js\n```still inside", "```still inside\n```\n"),
        ("``` a `b` c", "``` a `b` c\n"),
    ],
)
def test_an_answer_that_was_cut_off_in_a_fence_does_not_swallow_the_rest(said: str, ending: str) -> None:
    markdown = "".join(as_markdown(stored(bob(said), user("next"))))
    assert markdown.partition("\n\n## You\n")[0].endswith(ending.rstrip("\n"))


def test_a_title_is_no_markup() -> None:
    assert "".join(as_markdown(stored(user("<!-- hi")))).startswith("# \\<!-- hi\n")


def test_a_session_in_which_nothing_was_said_has_its_id_for_a_title() -> None:
    session = stored(updated=CREATED)
    assert "".join(as_text(session)).endswith("in /home/ada/project\n2026-08-22 09:30, 0 messages\n")
    assert "".join(as_markdown(session)).startswith("# Session 20260822-093000-0123abcd\n")


def test_a_conversation_over_midnight_names_both_days() -> None:
    session = stored(user("x"), updated=datetime(2026, 8, 23, 0, 1, tzinfo=UTC))
    assert "2026-08-22 09:30 to 2026-08-23 00:01, 1 message\n" in "".join(as_text(session))
