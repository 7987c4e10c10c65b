"""What a person reads of a turn."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from acp_agent.client.events import (
    AgentMisbehaved,
    PermissionAnswered,
    PermissionAsked,
    UpdateReceived,
)
from acp_agent.client.permissions import read_request
from acp_agent.client.screen import Screen
from acp_agent.client.transcript import Transcript
from acp_agent.protocol.verdicts import violation

CWD = Path("/work")


class Page:
    """A transcript on paper."""

    def __init__(self) -> None:
        self.out = io.StringIO()
        self.transcript = Transcript(
            Screen(self.out, is_terminal=False, colour=False), CWD, interactive=False
        )

    def update(self, sort: str, /, **members: Any) -> None:
        self.transcript.show(UpdateReceived("S1", {"sessionUpdate": sort, **members}, 1))

    def say(self, text: str, kind: str = "agent_message_chunk") -> None:
        self.update(kind, content={"type": "text", "text": text})

    def permission(self, tool_call: dict[str, Any]) -> Any:
        options = [
            {"optionId": "y", "name": "Yes", "kind": "allow_once"},
            {"optionId": "n", "name": "No", "kind": "reject_once"},
        ]
        request = read_request({"sessionId": "S1", "toolCall": tool_call, "options": options})
        self.transcript.show(PermissionAsked(request))
        return request

    @property
    def text(self) -> str:
        return self.out.getvalue()


@pytest.fixture
def page() -> Page:
    return Page()


def text_content(text: str) -> dict[str, Any]:
    return {"type": "content", "content": {"type": "text", "text": text}}


def test_text_streams_with_its_white_space(page: Page) -> None:
    """B046: empty chunks and blanks too."""
    for piece in ("", "a", " ", "\n", "", "  b"):
        page.say(piece)
    assert page.text == "a \n  b"


def test_thoughts_and_text_do_not_run_into_each_other(page: Page) -> None:
    page.say("hmm", "agent_thought_chunk")
    page.say("yes")
    assert page.text == "hmm\nyes"


def test_a_tool_call_is_told_once_a_status(page: Page) -> None:
    page.update("tool_call", toolCallId="c1", title="bash: ls", kind="execute", status="pending")
    page.update("tool_call_update", toolCallId="c1", status="in_progress")
    page.update("tool_call_update", toolCallId="c1", status="in_progress")
    page.update("tool_call_update", toolCallId="c1", status="completed", content=[text_content("a\nb\n")])
    page.transcript.turn_ended("end_turn")
    assert page.text == "* bash: ls\n  running\n  done\n  | a\n  | b\n1 command(s) · 0 file op(s)\n"


def test_calls_side_by_side_are_named_again(page: Page) -> None:
    page.update("tool_call", toolCallId="c1", title="one")
    page.update("tool_call", toolCallId="c2", title="two")
    page.update("tool_call_update", toolCallId="c1", status="failed", rawOutput={"output": "no"})
    assert page.text == "* one\n* two\n* one\n  failed\n  | no\n"


def test_a_title_of_several_lines_can_t_pass_for_something_else(page: Page) -> None:
    page.update("tool_call", toolCallId="c1", title="bash: ls\n  1. Allow")
    assert page.text == "* bash: ls\n  |   1. Allow\n"


def test_a_diff_is_shown_once_with_a_relative_path(page: Page) -> None:
    diff = {"type": "diff", "path": "/work/d/f", "oldText": "a\n", "newText": "b\n"}
    page.update("tool_call", toolCallId="c1", title="edit", kind="edit", content=[diff])
    page.update("tool_call_update", toolCallId="c1", status="completed", content=[diff])
    assert page.text == "* edit\n  --- d/f\n  +++ d/f\n  @@ -1 +1 @@\n  -a\n  +b\n  done\n"


def test_a_new_file_elsewhere_keeps_its_whole_path(page: Page) -> None:
    page.update(
        "tool_call", toolCallId="c1", title="w", content=[{"type": "diff", "path": "/x", "newText": "b\n"}]
    )
    assert "  --- /dev/null\n  +++ /x\n" in page.text


def test_long_output_is_cut_and_the_cut_is_told(page: Page) -> None:
    text = "\n".join(str(number) for number in range(100))
    page.update("tool_call", toolCallId="c1", title="t", status="completed", content=[text_content(text)])
    assert "  | 39\n  (60 more lines)\n" in page.text
    assert "  | 40" not in page.text


def test_a_question_shows_what_it_is_about_before_the_options(page: Page) -> None:
    """R-182, B107: an agent may announce nothing and name only its tool."""
    request = page.permission(
        {"toolCallId": "c1", "title": "bash", "rawInput": {"command": "rm -r x", "timeout": 5}}
    )
    page.transcript.question(request)
    assert page.text.startswith("* bash\n  command:\n  | rm -r x\n  timeout:\n  | 5\n")
    assert page.text.endswith("permission:\n    1. Yes\n    2. No\n  Your choice (1-2): ")


def test_a_question_does_not_say_twice_what_the_title_says(page: Page) -> None:
    request = page.permission({"toolCallId": "c1", "title": "bash: ls", "rawInput": {"command": "ls"}})
    page.transcript.question(request)
    assert "command:" not in page.text


@pytest.mark.parametrize(
    ("option", "cancelled", "told"),
    [
        ("y", False, "permission: granted (Yes)"),
        ("n", False, "permission: refused (No)"),
        (None, False, "permission: refused"),
        (None, True, "permission: not answered, the turn was stopped"),
    ],
)
def test_the_answer_to_a_question_is_told(page: Page, option: str | None, cancelled: bool, told: str) -> None:
    request = page.permission({"toolCallId": "c1", "title": "t"})
    page.transcript.show(PermissionAnswered(request, option, cancelled))
    assert page.text == f"* t\n  {told}\n"


def test_a_question_stays_in_sight_until_it_is_answered(page: Page) -> None:
    """B032, R-308: what comes meanwhile is shown after the answer, in order and whole."""
    request = page.permission({"toolCallId": "c1", "title": "t"})
    page.transcript.question(request)
    for number in range(10):
        page.say(str(number))
    assert page.text.endswith("Your choice (1-2): ")
    page.transcript.show(PermissionAnswered(request, "y", cancelled=False))
    page.say("!")
    assert page.text.endswith("permission: granted (Yes)\n0123456789!")


def test_what_came_during_a_question_is_shown_before_the_end_of_the_turn(page: Page) -> None:
    """B004, also when nobody ever answered, and however much came."""
    page.transcript.question(page.permission({"toolCallId": "c1", "title": "t"}))
    for number in range(3000):
        page.say(f"{number},")
    page.transcript.turn_ended("end_turn")
    assert "".join(f"{number}," for number in range(3000)) + "\n" in page.text


def test_a_cancel_marks_open_calls_and_their_later_failure_is_no_news(page: Page) -> None:
    """R-153, B022."""
    page.update("tool_call", toolCallId="c1", title="t", status="in_progress")
    page.transcript.cancel_asked()
    page.update("tool_call_update", toolCallId="c1", status="failed")
    page.transcript.turn_ended("cancelled")
    assert page.text.count("cancelled\n") == 1
    assert "failed" not in page.text
    assert "Stopped, as you asked." in page.text


@pytest.mark.parametrize("reason", ["cancelled", "max_tokens", "max_turn_requests", "refusal"])
def test_other_ends_than_the_ordinary_one_are_told_apart(page: Page, reason: str) -> None:
    """B021, R-137, R-138."""
    page.transcript.turn_ended(reason)
    others = {word for word in ("asked", "tokens", "requests", "refuses") if word in page.text.split("\n")[0]}
    assert len(others) == 1


def test_the_recap_counts_skills_where_there_are_any(page: Page) -> None:
    """`📖 N skill(s)`: what Bob has loaded in this turn."""
    for id_ in ("1", "2"):
        page.update(
            "tool_call",
            toolCallId=id_,
            title="read_skill: x",
            name="read_skill",
            kind="read",
            status="completed",
        )
    page.transcript.turn_ended("end_turn")
    assert page.text.endswith("\n0 command(s) · 0 file op(s) · 📖 2 skill(s)\n")


def test_an_ordinary_end_is_only_the_recap(page: Page) -> None:
    page.update("usage_update", used=10, size=100)
    page.transcript.turn_ended("end_turn")
    assert page.text == "0 command(s) · 0 file op(s) · 10 of 100 tokens of context used\n"


def test_each_turn_counts_for_itself(page: Page) -> None:
    page.update("tool_call", toolCallId="c1", title="t", kind="execute", status="in_progress")
    page.transcript.turn_ended("end_turn")
    page.transcript.turn_started()
    page.transcript.turn_ended("end_turn")
    assert page.text.endswith("1 command(s) · 0 file op(s)\n0 command(s) · 0 file op(s)\n")


def test_what_comes_outside_a_turn_is_shown(page: Page) -> None:
    """B007: commands, mode, title; the same commands again are no news."""
    commands = [{"name": "help", "description": "d"}, {"name": "x", "description": "d"}]
    for _ in range(2):
        page.update("available_commands_update", availableCommands=commands)
    page.update("current_mode_update", currentModeId="plan")
    page.update("session_info_update", title="Chat")
    page.update("session_info_update", updatedAt=None)
    page.update("config_option_update", configOptions=[])
    assert page.text == "Commands: /help, /x\nMode: plan\nTitle: Chat\n"


def test_a_plan_is_shown_whole_each_time(page: Page) -> None:
    """R-200."""
    entries = [
        {"content": name, "priority": "low", "status": status}
        for name, status in [("a", "completed"), ("b", "in_progress"), ("c", "pending")]
    ]
    page.update("plan", entries=entries)
    assert page.text == "Plan:\n  [x] a\n  [>] b\n  [ ] c\n"


def test_content_that_is_no_text_is_named(page: Page) -> None:
    for block in (
        {"type": "image", "data": "", "mimeType": "image/png"},
        {"type": "audio", "data": "", "mimeType": "audio/wav"},
        {"type": "resource_link", "name": "f", "uri": "file:///f"},
        {"type": "resource", "resource": {"uri": "file:///g", "text": "inside"}},
        {"type": "resource", "resource": {"uri": "file:///h", "blob": ""}},
    ):
        page.update("agent_message_chunk", content=block)
    assert page.text == "[image: image/png][audio: audio/wav][f: file:///f]inside[file:///h]"


def test_a_stale_terminal_costs_nothing_but_itself(page: Page) -> None:
    """B047."""
    content = [{"type": "terminal", "terminalId": "gone"}, text_content("kept")]
    page.update("tool_call_update", toolCallId="c1", title="t", status="completed", content=content)
    assert page.text == "* t\n  done\n  | [a terminal of the agent]\n  | kept\n"


def test_misbehaviour_is_told_once_a_kind(page: Page) -> None:
    for _ in range(3):
        page.transcript.show(AgentMisbehaved(violation("parse_error", "not JSON")))
    assert page.text == "The agent does not keep to the protocol (parse_error): not JSON.\n"


def test_an_error_shows_the_last_words_of_the_agent(page: Page) -> None:
    page.transcript.failed("it has ended", "\n".join(str(number) for number in range(50)) + "\n")
    assert page.text.startswith("Error: it has ended\nThe last it wrote to standard error:\n  | 30\n")
    assert "  | 49\n" in page.text


@pytest.mark.parametrize(
    ("info", "told"),
    [
        ({"name": "a", "title": "An agent", "version": "1"}, "An agent 1\n"),
        ({"name": "a", "title": None, "version": "1"}, "a 1\n"),
        (None, "An agent that does not say its name\n"),
    ],
)
def test_the_agent_is_called_by_its_title_or_its_name(
    page: Page, info: dict[str, Any] | None, told: str
) -> None:
    """R-038."""
    page.transcript.agent_started(info)
    assert page.text == told
