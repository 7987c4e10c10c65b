"""One turn of the scripted agent: what it sends, what it counts as said, how it is cancelled and ended."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Any

import orjson
import pytest

from acp_agent.harness.endings import NotExercised
from acp_agent.harness.scenario import Scenario
from acp_agent.harness.stage import Stage
from acp_agent.harness.standin import StandIn
from acp_agent.harness.turn import StagedTurn
from acp_agent.harness.wire import IllegalMove, Wire


class Sent:
    """A Port that keeps messages."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    def post(self, data: bytes) -> None:
        self.messages += [orjson.loads(line) for line in data.splitlines()]

    async def flushed(self) -> None: ...

    async def fetched(self) -> None: ...

    def close_output(self) -> None: ...


class Scene:
    """A turn that has begun, with the id 2 in session-1."""

    def __init__(self) -> None:
        self.port = Sent()
        self.wire = Wire(self.port)
        scenario = Scenario("area/name", "A situation", ("R-304",), play=_nothing)
        self.stage = Stage(scenario, self.wire)
        self._stand_in = StandIn(self.wire, scenario.offer)

    async def turn(self) -> StagedTurn:
        self.say(id=0, method="initialize", params={"protocolVersion": 1})
        self.say(id=1, method="session/new", params={"cwd": "/project", "mcpServers": []})
        prompt = [{"type": "text", "text": "Hello, "}, {"type": "text", "text": "agent."}]
        self.say(id=2, method="session/prompt", params={"sessionId": "session-1", "prompt": prompt})
        self.port.messages.clear()
        return await self.stage.prompt()

    def say(self, **message: Any) -> None:
        for heard in self.wire.feed(orjson.dumps({"jsonrpc": "2.0", **message}) + b"\n"):
            if not self.stage.take(heard):
                self._stand_in.take(heard)

    def cancel(self, method: str = "session/cancel") -> None:
        params = {"sessionId": "session-1"} if method == "session/cancel" else {"requestId": 2}
        self.say(method=method, params=params)


async def _nothing(stage: Stage) -> None: ...


def test_updates_are_what_the_protocol_calls_them() -> None:
    """In the session of the turn, in order."""

    async def play() -> list[dict[str, Any]]:
        scene = Scene()
        turn = await scene.turn()
        assert turn.text == "Hello, agent."
        turn.say("One.", messageId="m")
        turn.think("Hm.")
        turn.plan("Do it", {"content": "Rest", "priority": "low", "status": "completed"})
        turn.tool_call("t", "A tool", kind="edit", status="pending")
        turn.tool_update("t", "completed", content=[])
        assert all(message["params"]["sessionId"] == "session-1" for message in scene.port.messages)
        return [message["params"]["update"] for message in scene.port.messages]

    message, thought, plan, call, update = asyncio.run(play())
    content = {"type": "text", "text": "One."}
    assert message == {"sessionUpdate": "agent_message_chunk", "content": content, "messageId": "m"}
    assert thought["sessionUpdate"] == "agent_thought_chunk"
    assert [entry["status"] for entry in plan["entries"]] == ["pending", "completed"]
    assert (call["title"], call["status"]) == ("A tool", "pending")
    assert update == {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "t",
        "status": "completed",
        "content": [],
    }


def test_what_was_said_is_counted_and_no_thoughts() -> None:
    """As size and hash, however long it is; raw lines are counted by who writes them."""

    async def play() -> dict[str, Any]:
        turn = await Scene().turn()
        turn.say_all(("ü", "", "€"))
        turn.think("Hm.")
        turn.note_said("\ud800")
        assert turn.said["ended"] is False
        turn.end()
        return turn.said

    spelled = "ü€\ud800".encode("utf-8", "surrogatepass")
    said = asyncio.run(play())
    assert said == {"bytes": len(spelled), "sha256": hashlib.sha256(spelled).hexdigest(), "ended": True}


@pytest.mark.parametrize("method", ["session/cancel", "$/cancel_request"])
def test_a_turn_that_was_cancelled_ends_so(method: str) -> None:
    """By either way to cancel it, and the number tells which came first."""

    async def play() -> None:
        scene = Scene()
        turn = await scene.turn()
        asked = turn.say("Working ...")
        assert not turn.is_cancelled
        scene.cancel(method)
        assert await turn.cancel(1.0) > asked
        assert turn.cancelled_by == method
        turn.end()
        assert scene.port.messages[-1]["result"] == {"stopReason": "cancelled"}

    asyncio.run(play())


def test_a_cancel_of_nothing_cancels_nothing() -> None:
    """Not of another session, and not once the turn has ended."""

    async def play() -> None:
        scene = Scene()
        turn = await scene.turn()
        scene.say(method="session/cancel", params={"sessionId": "another"})
        with pytest.raises(NotExercised):
            await turn.cancel(0.01)
        turn.end("max_tokens")
        scene.cancel()
        assert (turn.is_ended, turn.is_cancelled) == (True, False)
        assert scene.port.messages[-1]["result"] == {"stopReason": "max_tokens"}

    asyncio.run(play())


def test_what_is_illegal_is_not_sent_unless_it_is_on_purpose() -> None:
    """A script that goes on after the end of its turn is wrong, or means it."""

    async def play() -> None:
        scene = Scene()
        turn = await scene.turn()
        turn.fail(-32603, "Internal error", {"details": "x"})
        assert scene.port.messages[-1]["error"]["data"] == {"details": "x"}
        before = len(scene.port.messages)
        with pytest.raises(IllegalMove):
            turn.tool_call("late")
        assert len(scene.port.messages) == before
        turn.end(on_purpose=True)
        assert scene.port.messages[-1] == {"jsonrpc": "2.0", "id": 2, "result": {"stopReason": "end_turn"}}

    asyncio.run(play())


def test_an_end_that_would_be_illegal_is_still_owed() -> None:
    """Whoever cleans up after the script ends the turn, and the client does not wait for ever."""

    async def play() -> None:
        scene = Scene()
        turn = await scene.turn()
        turn.ask_permission("t")
        with pytest.raises(IllegalMove):
            turn.end()
        assert not turn.is_ended
        turn.end(on_purpose=True)
        assert (turn.is_ended, scene.port.messages[-1]["id"]) == (True, 2)

    asyncio.run(play())
