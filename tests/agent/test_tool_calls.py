"""One tool call: announced, allowed, run, reported; and what comes of everything that goes wrong."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from acp_agent.agent.tool_calls import CANCELLED, REJECTED, Tally, ToolCalls
from acp_agent.tools.base import Counted, FileDiff, ToolError, ToolResult


def calls_of(wired: Any) -> ToolCalls:
    wired.prompt()
    wired.session.allowed.add("work")
    return ToolCalls(wired.peer, wired.session, wired.tools, wired.log)


def statuses(wired: Any) -> list[str]:
    wired.take()
    return [update["status"] for update in wired.updates]


def test_a_call_goes_its_way(kit: Any, wired: Any, tmp_path: Path) -> None:
    """pending, in_progress, completed; the model is told what the tool said."""

    async def scenario() -> None:
        calls = calls_of(wired)
        assert await calls.run(kit.wish("file")) == ToolResult("done")
        assert statuses(wired) == ["pending", "in_progress", "completed"]
        announced, _, ended = wired.updates
        assert announced["title"] == "work: file"
        assert announced["locations"] == [{"path": str(tmp_path / "file")}]
        assert announced["rawInput"] == {"what": "file"}
        assert ended["rawOutput"] == {"output": "done"}

    kit.run(scenario())


def test_ids_are_numbered_for_the_whole_process(kit: Any, wired: Any) -> None:
    """call_N, never reset, whatever becomes of the call."""

    async def scenario() -> None:
        calls = calls_of(wired)
        for wish in (kit.wish(), kit.wish(name="unknown"), kit.wish(arguments="{")):
            await calls.run(wish)
        other = ToolCalls(wired.peer, wired.session, wired.tools, wired.log)
        await other.run(kit.wish())
        wired.take()
        ids = [update["toolCallId"] for update in wired.updates if update["sessionUpdate"] == "tool_call"]
        numbers = [int(re.fullmatch(r"call_(\d+)", id_)[1]) for id_ in ids]  # type: ignore[index]
        assert numbers == list(range(numbers[0], numbers[0] + 4))

    kit.run(scenario())


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ToolError("There is no such file."), "There is no such file."),
        (ValueError("a bug"), "a bug"),
        (RecursionError(), "RecursionError"),
        (asyncio.InvalidStateError("odd"), "odd"),
    ],
)
def test_whatever_a_tool_raises_is_its_result(kit: Any, wired: Any, error: Exception, said: str) -> None:
    """A failing tool is a result, not an exception; a bug is said in the log."""

    async def scenario() -> None:
        async def fail(_: object) -> ToolResult:
            raise error

        wired.tool.act = fail
        result = await calls_of(wired).run(kit.wish())
        assert result.failed
        assert said in result.output
        assert statuses(wired) == ["pending", "in_progress", "failed"]
        assert wired.updates[-1]["rawOutput"] == {"output": result.output}
        assert bool(wired.log.lines) is not isinstance(error, ToolError)

    kit.run(scenario())


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("work", "{"),
        ("work", "[]"),
        ("work", '{"what": 7}'),
        ("", "{}"),
        ("x" * 5000, "{}"),
        ("work\ud800", "{}"),
    ],
)
def test_a_call_that_cannot_be_made_fails_without_a_question(
    kit: Any, wired: Any, name: str, arguments: str
) -> None:
    """Unknown tool, malformed arguments: announced, failed, told to the model; never asked for, never run."""

    async def scenario() -> None:
        result = await calls_of(wired).run(kit.wish(name=name, arguments=arguments))
        assert result.failed
        assert result.output
        assert statuses(wired) == ["pending", "failed"]
        assert wired.tool.ran == []
        assert not [message for message in wired.sent if "id" in message]

    kit.run(scenario())


def test_an_id_that_a_replay_has_shown_is_left_out(kit: Any, wired: Any) -> None:
    """Live ids never collide with replayed ones in that session."""

    async def scenario() -> None:
        calls = calls_of(wired)
        await calls.run(kit.wish())
        wired.take()
        number = int(wired.updates[0]["toolCallId"].removeprefix("call_"))
        wired.session.replayed_ids |= {f"call_{number + 1}", f"call_{number + 2}"}
        await calls.run(kit.wish())
        wired.take()
        assert wired.updates[-1]["toolCallId"] == f"call_{number + 3}"

    kit.run(scenario())


def test_a_tool_that_needs_no_permission_is_not_asked_for(kit: Any, wired: Any) -> None:
    """read_skill: never a permission."""

    async def scenario() -> None:
        calls = calls_of(wired)
        wired.session.allowed.clear()
        wired.tool.needs_permission = False
        await calls.run(kit.wish())
        assert statuses(wired) == ["pending", "in_progress", "completed"]

    kit.run(scenario())


def test_a_rejected_call_does_not_run(kit: Any, wired: Any) -> None:
    """Its call ends failed, the model receives the rejection, and it is not counted."""

    async def scenario() -> None:
        calls = calls_of(wired)
        wired.session.allowed.clear()
        running = asyncio.ensure_future(calls.run(kit.wish()))
        wired.choose(await wired.permission(), "reject")
        assert await running == ToolResult(REJECTED, failed=True)
        assert REJECTED == "[command rejected by the user]"
        assert statuses(wired) == ["pending", "failed"]
        assert wired.tool.ran == []
        assert str(calls.tally).startswith("0 command(s)")

    kit.run(scenario())


def test_a_diff_is_shown_in_place_of_the_text(kit: Any, wired: Any) -> None:
    """`content` is a diff for file changes; rawOutput.output is there too."""

    async def scenario() -> None:
        async def change(_: object) -> ToolResult:
            return ToolResult("changed", diff=FileDiff("/f", None, "new"))

        wired.tool.act = change
        await calls_of(wired).run(kit.wish())
        wired.take()
        assert wired.updates[-1]["content"] == [{"type": "diff", "path": "/f", "newText": "new"}]
        assert wired.updates[-1]["rawOutput"] == {"output": "changed"}

    kit.run(scenario())


def test_closing_ends_a_call_that_is_open(kit: Any, wired: Any) -> None:
    """Every announced tool call gets a final status, once."""

    async def scenario() -> None:
        async def hang(_: object) -> ToolResult:
            await asyncio.Event().wait()
            raise AssertionError

        wired.tool.act = hang
        calls = calls_of(wired)
        running = asyncio.ensure_future(calls.run(kit.wish()))
        await wired.until(
            lambda message: message.get("params", {}).get("update", {}).get("status") == "in_progress"
        )
        running.cancel()
        await asyncio.wait([running])
        await calls.close(0)
        await calls.close(0)
        assert statuses(wired) == ["pending", "in_progress", "failed"]
        assert wired.updates[-1]["rawOutput"] == {"output": CANCELLED}

    kit.run(scenario())


def test_closing_when_the_client_has_gone_sends_nothing(kit: Any, wired: Any) -> None:
    """After the end of the input nothing is said."""

    async def scenario() -> None:
        calls = calls_of(wired)
        wired.session.allowed.clear()
        running = asyncio.ensure_future(calls.run(kit.wish()))
        await wired.permission()
        running.cancel()
        await asyncio.wait([running])
        wired.connection.end_of_stream()
        await calls.close(0)
        assert wired.take() == []

    kit.run(scenario())


def test_the_tally_counts_by_kind() -> None:
    """N command(s) · N file op(s) · N skill(s)."""
    tally = Tally()
    counted: list[Counted] = ["command", "file operation", "file operation", "command", "skill"]
    for what in counted:
        tally.count(what)
    assert str(tally) == "2 command(s) · 2 file op(s) · 1 skill(s)"


@pytest.mark.parametrize(("counts_as", "counted"), [("command", 1), ("file operation", 1), ("skill", 0)])
def test_a_skill_counts_once_it_is_read_and_anything_else_once_it_ran(
    kit: Any, wired: Any, counts_as: Counted, counted: int
) -> None:
    """A command that failed was carried out; a skill that could not be read was not loaded."""

    async def scenario() -> None:
        async def fail(_: object) -> ToolResult:
            raise ToolError("no such thing")

        calls = calls_of(wired)
        wired.tool.counts_as = counts_as
        wired.tool.act = fail
        await calls.run(kit.wish())
        tally = calls.tally
        assert tally.commands + tally.file_operations + tally.skills == counted

    kit.run(scenario())
