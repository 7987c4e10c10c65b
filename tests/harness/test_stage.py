"""The stage: what a script waits for, and what it may conclude when nothing comes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import orjson
import pytest

from acp_agent.harness.asked import ANSWER_S
from acp_agent.harness.endings import ClientGone, NotApplicable, NotExercised
from acp_agent.harness.scenario import Scenario
from acp_agent.harness.stage import HANGS_S, PROMPT_S, Stage
from acp_agent.harness.standin import StandIn
from acp_agent.harness.wire import Wire

RULES = ("R-016", "R-304")


class Client:
    """The client's end, driven by a test: what it hears, and what it says. The Port of the agent.

    answers_barriers: whether it answers what every client answers at once.
    """

    def __init__(self, **members: Any) -> None:
        scenario = Scenario("area/name", "A situation", RULES, play=_nothing, **members)
        self.wire = Wire(self)
        self.stage = Stage(scenario, self.wire)
        self.answers_barriers = True
        self.heard: list[dict[str, Any]] = []
        self._stand_in = StandIn(self.wire, scenario.offer)

    def say(self, **message: Any) -> None:
        for heard in self.wire.feed(orjson.dumps({"jsonrpc": "2.0", **message}) + b"\n"):
            if not self.stage.take(heard):
                self._stand_in.take(heard)

    def leave(self) -> None:
        for _ in self.wire.feed(b""):
            pass
        self.stage.wake()

    def open(self, **capabilities: Any) -> None:
        """Up to the first prompt."""
        params = {"protocolVersion": 1, "clientCapabilities": capabilities}
        self.say(id=0, method="initialize", params=params)
        self.say(id=1, method="session/new", params={"cwd": "/project", "mcpServers": []})

    def prompt(self, id_: int = 2) -> None:
        prompt = [{"type": "text", "text": "Hello."}]
        self.say(id=id_, method="session/prompt", params={"sessionId": "session-1", "prompt": prompt})

    def post(self, data: bytes) -> None:
        for line in data.splitlines():
            message = orjson.loads(line)
            self.heard.append(message)
            if str(message.get("method")).startswith("_barrier/") and self.answers_barriers:
                asyncio.get_running_loop().call_soon(self._refuse, message["id"])

    def _refuse(self, id_: Any) -> None:
        self.say(id=id_, error={"code": -32601, "message": "Method not found"})

    async def flushed(self) -> None:
        await asyncio.sleep(0)

    async def fetched(self) -> None:
        await asyncio.sleep(0)

    def close_output(self) -> None: ...


async def _nothing(stage: Stage) -> None: ...


def later(seconds: float, do: Callable[..., None], *args: Any) -> None:
    asyncio.get_running_loop().call_later(seconds, do, *args)


async def took(waiting: Awaitable[Any]) -> tuple[Any, float]:
    """What came of it, and how long it took."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    return await waiting, loop.time() - start


def test_what_comes_in_time_is_not_asked_for(run_in_no_time: Any) -> None:
    """The client is left alone."""

    async def play() -> None:
        client = Client()
        client.open()
        later(3.0, client.prompt)
        turn, seconds = await took(client.stage.prompt(or_breaks="R-304"))
        assert (turn.text, seconds) == ("Hello.", pytest.approx(3.0))
        assert not any("_barrier/" in str(message) for message in client.heard)

    run_in_no_time(play())


def test_what_comes_late_on_a_slow_machine_is_not_missing(run_in_no_time: Any) -> None:
    """A client that is too busy to answer anything may still be about to send it."""

    async def play() -> None:
        client = Client()
        client.open()
        client.answers_barriers = False
        later(PROMPT_S + HANGS_S - 1, client.prompt)
        turn, _ = await took(client.stage.prompt(or_breaks="R-304"))
        assert turn.text == "Hello."
        assert client.stage.checks == []

    run_in_no_time(play())


def test_who_answers_something_else_instead_has_not_sent_it(run_in_no_time: Any) -> None:
    """The client reads and answers; there is no need to wait any longer."""

    async def play() -> float:
        client = Client()
        client.open()
        with pytest.raises(NotExercised):
            await client.stage.prompt(or_breaks="R-304")
        assert [(check.rule, check.ok) for check in client.stage.checks] == [("R-304", False)]
        return asyncio.get_running_loop().time()

    assert run_in_no_time(play()) == pytest.approx(PROMPT_S, abs=1.0)


def test_who_answers_nothing_hangs_and_is_not_waited_for_so_long_again(run_in_no_time: Any) -> None:
    """A script may have many questions; each of them has its own short wait then."""

    async def play() -> None:
        client = Client()
        client.open(fs={"readTextFile": True})
        client.answers_barriers = False
        client.prompt()
        turn = await client.stage.prompt()
        for expected in (ANSWER_S + HANGS_S, ANSWER_S, ANSWER_S):
            answer, seconds = await took(turn.call("fs/read_text_file", path="/a").answer())
            assert (answer.arrived, seconds) == (False, pytest.approx(expected, abs=0.1))
        assert await client.stage.check_alive("R-304") is False

    run_in_no_time(play())


def test_a_short_wait_gives_a_moment_and_proves_nothing(run_in_no_time: Any) -> None:
    """The client is asked nothing for it."""

    async def play() -> None:
        client = Client()
        client.open()
        client.prompt()
        turn = await client.stage.prompt()
        answer, seconds = await took(turn.ask_permission("t").answer(3.0))
        assert (answer.arrived, seconds) == (False, pytest.approx(3.0))
        assert not any("_barrier/" in str(message) for message in client.heard)

    run_in_no_time(play())


def test_before_initialize_nothing_can_be_asked_and_the_wait_is_longer(run_in_no_time: Any) -> None:
    """No request may come before it, so nothing would be proven by one."""

    async def play() -> None:
        client = Client()
        came, seconds = await took(client.stage.surely(lambda: False, 5.0))
        assert (came, seconds) == (False, pytest.approx(5.0 + HANGS_S))
        assert client.heard == []

    run_in_no_time(play())


def test_a_client_that_leaves_is_not_waited_for(run_in_no_time: Any) -> None:
    """Whatever the script waits for."""

    async def play() -> None:
        client = Client()
        client.open()
        later(1.0, client.leave)
        with pytest.raises(ClientGone):
            await client.stage.surely(lambda: False, 100.0)
        assert await client.stage.client_leaves(1.0) is True

    run_in_no_time(play())


def test_a_barrier_separates_what_was_sent_before_from_what_comes_after(run_in_no_time: Any) -> None:
    """And is no message that a script counts."""

    async def play() -> None:
        client = Client()
        client.open()
        client.prompt()
        turn = await client.stage.prompt()
        since = turn.say("Something.")
        assert await client.stage.barrier()
        assert client.stage.said_since(since) == []
        assert client.stage.check_silent("R-016", since, "a chunk")
        client.say(id=99, result={})
        assert not client.stage.check_silent("R-016", since, "a chunk")

    run_in_no_time(play())


@pytest.mark.parametrize(("capabilities", "applies"), [({}, False), ({"terminal": True}, True)])
def test_a_client_that_lacks_what_is_needed_is_not_played_with(
    run_in_no_time: Any, capabilities: dict[str, Any], applies: bool
) -> None:
    """Its prompt is left to the stand-in."""

    async def play() -> None:
        client = Client(needs=("terminal",))
        client.open(**capabilities)
        client.prompt()
        if applies:
            assert (await client.stage.prompt()).text == "Hello."
        else:
            with pytest.raises(NotApplicable, match="does not advertise terminal"):
                await client.stage.prompt()
            assert [request.method for request in client.stage.leftover_requests()] == ["session/prompt"]

    run_in_no_time(play())


def test_a_check_of_a_rule_that_the_scenario_does_not_name_is_a_bug(run_in_no_time: Any) -> None:
    """It would not be shown to have been looked for."""

    async def play() -> None:
        with pytest.raises(ValueError, match="checks R-001 and does not name it"):
            Client().stage.check("R-001", True, "this", "that")

    run_in_no_time(play())


def test_open_permissions_are_taken_back_at_the_end(run_in_no_time: Any) -> None:
    """Those that are answered are not."""

    async def play() -> None:
        client = Client()
        client.open()
        client.prompt()
        turn = await client.stage.prompt()
        answered, left = turn.ask_permission("one"), turn.ask_permission("two")
        client.say(id=answered.id, result={"outcome": {"outcome": "selected", "optionId": "yes"}})
        client.stage.withdraw_all()
        taken = [m["params"] for m in client.heard if m.get("method") == "$/cancel_request"]
        assert taken == [{"requestId": left.id}]

    run_in_no_time(play())
