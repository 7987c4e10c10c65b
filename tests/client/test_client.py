"""The client role against a raw agent that does right and wrong on purpose, over real pipes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import pytest

from acp_agent.client.client import Limits
from acp_agent.client.errors import (
    AgentGone,
    AgentSilent,
    CancelIgnored,
    TurnRunning,
    UnsupportedVersion,
    explain,
)
from acp_agent.client.events import (
    AgentEnded,
    ClientEvent,
    PermissionAnswered,
    PermissionAsked,
    SessionOpened,
    UpdateReceived,
)
from acp_agent.client.permissions import PermissionRequest
from acp_agent.jsonrpc.errors import RpcError
from acp_agent.protocol.errors import LocalProtocolError

if TYPE_CHECKING:
    from conftest import Talk

Until = Callable[[Callable[[], bool]], Awaitable[None]]


def methods(talk: Talk) -> list[str]:
    return [message.get("method", "answer") for message in talk.sent() if message != "EOF"]


# -- the handshake and calls


def test_initialize_states_what_this_client_can_do(talk: Talk) -> None:
    """R-022, R-023, R-024, R-034: version 1, capabilities said outright, and who we are."""

    async def scenario() -> None:
        async with talk.session("plain"):
            pass

    talk.run(scenario)
    first, second, last = talk.sent()
    assert first["params"]["protocolVersion"] == 1
    assert first["params"]["clientCapabilities"] == {
        "fs": {"readTextFile": False, "writeTextFile": False},
        "terminal": False,
    }
    assert first["params"]["clientInfo"]["name"] == "acp-agent"
    assert second["method"] == "session/new"
    assert second["params"] == {"cwd": str(talk.cwd), "mcpServers": []}
    assert last == "EOF"


def test_an_unknown_version_is_told_and_nothing_more_is_sent(talk: Talk) -> None:
    """R-029."""

    async def scenario() -> None:
        async with talk.client("version_99") as client:
            with pytest.raises(UnsupportedVersion, match="version 99"):
                await client.initialize()
            with pytest.raises(LocalProtocolError):
                await client.new_session(talk.cwd)

    talk.run(scenario)
    assert methods(talk) == ["initialize"]


def test_a_relative_directory_is_refused_before_it_is_sent(talk: Talk) -> None:
    """R-075."""

    async def scenario() -> None:
        async with talk.client("plain") as client:
            await client.initialize()
            with pytest.raises(LocalProtocolError, match="absolute"):
                await client.call("session/new", {"cwd": "here", "mcpServers": []})

    talk.run(scenario)
    assert methods(talk) == ["initialize"]


def test_a_method_the_agent_did_not_advertise_is_not_called(talk: Talk) -> None:
    """B082."""

    async def scenario() -> None:
        async with talk.session("plain") as (client, session_id):
            with pytest.raises(LocalProtocolError):
                await client.call("session/close", {"sessionId": session_id})

    talk.run(scenario)
    assert methods(talk) == ["initialize", "session/new"]


def test_a_silent_agent_is_given_up_on_in_time(talk: Talk) -> None:
    """R-301, R-305: no call waits for ever."""

    async def scenario() -> None:
        async with talk.client("silent", limits=Limits(answer_s=0.05, exit_grace_s=5)) as client:
            with pytest.raises(AgentSilent, match=r"initialize within 0\.05 s"):
                await client.initialize()

    talk.run(scenario)


# -- turns


def test_a_turn_gives_its_text_and_its_stop_reason(talk: Talk) -> None:
    async def scenario() -> None:
        async with talk.session("plain") as (client, session_id):
            result = await client.prompt(session_id, "hello\n")
            assert (result.stop_reason, result.turn) == ("end_turn", 1)
            blocks = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
            result = await client.prompt(session_id, blocks)
            assert (result.stop_reason, result.turn) == ("end_turn", 2)

    talk.run(scenario)
    assert (talk.text(1), talk.text(2)) == ("hello\n", "ab")


def test_every_update_has_been_seen_when_prompt_returns(talk: Talk) -> None:
    """B004, R-308: 500 chunks and the answer in one write."""

    async def scenario() -> None:
        async with talk.session("burst") as (client, session_id):
            for turn in (1, 2, 3):
                await client.prompt(session_id, "go")
                assert talk.text(turn) == "".join(f"{number}," for number in range(500))

    talk.run(scenario)


def test_a_second_prompt_of_a_session_waits_for_nobody_and_is_refused(talk: Talk) -> None:
    """R-316, R-130."""

    async def scenario() -> None:
        async with talk.session("plain") as (client, session_id):
            first = asyncio.ensure_future(client.prompt(session_id, "cancel me"))
            await asyncio.sleep(0)
            with pytest.raises(TurnRunning):
                await client.prompt(session_id, "me too")
            client.cancel(session_id)
            assert (await first).stop_reason == "cancelled"

    talk.run(scenario)
    assert methods(talk).count("session/prompt") == 1


def test_blocks_the_agent_did_not_advertise_are_not_sent(talk: Talk) -> None:
    """B091, R-127."""

    async def scenario() -> None:
        async with talk.session("plain") as (client, session_id):
            with pytest.raises(LocalProtocolError, match="image"):
                await client.prompt(session_id, [{"type": "image", "data": "", "mimeType": "image/png"}])
            assert (await client.prompt(session_id, "still fine")).turn == 1

    talk.run(scenario)


def test_an_error_is_told_with_its_data_and_the_session_goes_on(talk: Talk) -> None:
    """B086, B019, R-258: an error for a cancelled prompt is a cancel; any other is told whole."""

    async def scenario() -> None:
        async with talk.session("error_for_cancel") as (client, session_id):
            first = asyncio.ensure_future(client.prompt(session_id, "one"))
            await asyncio.sleep(0)
            client.cancel(session_id)
            assert (await first).stop_reason == "cancelled"
            with pytest.raises(RpcError) as caught:
                await client.prompt(session_id, "two")
            assert explain(caught.value) == 'Internal error (code -32603): {"details":"no key"}'
            assert (await client.prompt(session_id, "three")).stop_reason == "end_turn"

    talk.run(scenario)


# -- order at the start of a session


def test_updates_before_their_session_is_known_are_given_after_it(talk: Talk) -> None:
    """B001, B002, B009: each session gets its own, after SessionOpened; one for nobody is reported."""

    async def scenario() -> None:
        async with talk.client("early_updates") as client:
            await client.initialize()
            assert await client.new_session(talk.cwd) == "S1"
            assert await client.new_session(talk.cwd) == "S2"

    talk.run(scenario)
    seen: list[Any] = []
    for event in talk.events:
        if isinstance(event, SessionOpened):
            seen.append(event.session_id)
        elif isinstance(event, UpdateReceived):
            seen.append((event.session_id, event.update["availableCommands"][0]["name"]))
    assert seen == ["S1", ("S1", "of-S1"), "S2", ("S2", "of-S2")]
    assert talk.misbehaviour() == ["update_session_unknown"] * 2


def test_late_text_is_given_outside_any_turn(talk: Talk) -> None:
    """Section 5.4 of the state machines: shown, never attached to the next turn; B007 for idle kinds."""

    async def scenario() -> None:
        async with talk.session("late_text") as (client, session_id):
            await client.prompt(session_id, "one")
            await client.prompt(session_id, "two")

    talk.run(scenario)
    # The late chunk may meet the second prompt under way, and then nobody can tell that it was late.
    assert talk.text(None) + talk.text(2) == "late"
    assert len(talk.updates("current_mode_update")) == 1


# -- cancel


def test_a_cancel_without_a_turn_sends_nothing(talk: Talk) -> None:
    async def scenario() -> None:
        async with talk.session("plain") as (client, session_id):
            client.cancel(session_id)
            await client.prompt(session_id, "x")
            client.cancel(session_id)

    talk.run(scenario)
    assert "session/cancel" not in methods(talk)


def test_a_cancel_that_is_ignored_is_given_up_on_and_the_session_stays_usable(
    talk: Talk, until: Until
) -> None:
    """R-305: the wait is bounded, and another prompt goes out."""

    async def scenario() -> None:
        limits = Limits(cancel_s=0.05, exit_grace_s=5)
        async with talk.session("ignores_cancel", limits=limits) as (client, session_id):
            prompt = asyncio.ensure_future(client.prompt(session_id, "one"))
            await until(lambda: talk.text() == "busy")
            client.cancel(session_id)
            with pytest.raises(CancelIgnored, match=r"within 0\.05 s"):
                await prompt
            await until(lambda: talk.text() == "busystill busy")
            second = asyncio.ensure_future(client.prompt(session_id, "two"))
            await until(lambda: methods(talk).count("session/prompt") == 2)
            second.cancel()

    talk.run(scenario)


def test_a_late_answer_to_a_cancelled_prompt_is_not_the_next_one_s(talk: Talk, until: Until) -> None:
    """B016: matched by id; the second turn keeps its own text and end."""

    async def scenario() -> None:
        limits = Limits(cancel_s=0.05, exit_grace_s=5)
        async with talk.session("late_answer", limits=limits) as (client, session_id):
            first = asyncio.ensure_future(client.prompt(session_id, "one"))
            await until(lambda: talk.text() == "one")
            client.cancel(session_id)
            with pytest.raises(CancelIgnored):
                await first
            result = await client.prompt(session_id, "two")
            assert (result.stop_reason, result.turn) == ("end_turn", 2)

    talk.run(scenario)
    assert talk.text(2) == "two"


def test_cancelling_who_waits_cancels_the_turn(talk: Talk, until: Until) -> None:
    async def scenario() -> None:
        async with talk.session("plain") as (client, session_id):
            prompt = asyncio.ensure_future(client.prompt(session_id, "cancel me"))
            await until(lambda: talk.text() == "cancel me")
            prompt.cancel()
            with pytest.raises(asyncio.CancelledError):
                await prompt
            assert (await client.prompt(session_id, "again")).stop_reason == "end_turn"

    talk.run(scenario)
    assert methods(talk)[2:] == ["session/prompt", "session/cancel", "session/prompt"]


# -- what is unknown or broken


def test_what_a_later_protocol_brings_is_ignored_and_unknown_requests_are_refused(talk: Talk) -> None:
    """R-303, R-253, R-302, B036, B037, B069, B071: unknown kinds, members, notifications and lines that are none."""

    async def scenario() -> None:
        async with talk.session("unknown_things") as (client, session_id):
            assert (await client.prompt(session_id, "go")).stop_reason == "end_turn"

    talk.run(scenario)
    assert talk.text() == "fine"
    assert len(talk.updates("tool_call")) == 1
    assert {id_: answer["code"] for id_, answer in talk.answers().items()} == dict.fromkeys(range(4), -32601)
    assert "update_kind_not_allowed" not in talk.misbehaviour()
    assert talk.misbehaviour().count("parse_error") == 2
    assert methods(talk).count("answer") == 4


def test_a_line_of_16_mib_is_read(talk: Talk) -> None:
    """R-312, B064."""

    async def scenario() -> None:
        async with talk.session("huge_line") as (client, session_id):
            await client.prompt(session_id, "go")

    talk.run(scenario)
    assert len(talk.text()) == 16 * 1024 * 1024


def test_text_that_arrives_byte_by_byte_stays_whole(talk: Talk) -> None:
    """B066, R-001, R-315: characters cut in the middle, CR LF at the end."""

    async def scenario() -> None:
        async with talk.session("split_text") as (client, session_id):
            await client.prompt(session_id, "go")

    talk.run(scenario)
    assert talk.text() == "ä€😀"


def test_standard_error_is_drained_forwarded_and_kept_within_bounds(talk: Talk) -> None:
    """R-309, B077: more than a pipe holds, before the handshake and in a turn."""

    async def scenario() -> None:
        async with talk.session("noisy") as (client, session_id):
            assert (await client.prompt(session_id, "go")).stop_reason == "end_turn"
            assert len(client.stderr_tail.encode()) <= 64 * 1024

    talk.run(scenario)
    assert talk.stderr.endswith(b"the end")
    assert len(talk.stderr) == len("noise ") * 200_000 + len("more ") * 200_000 + len("the end")


def test_an_agent_that_asks_and_never_reads_costs_no_memory_without_bound(talk: Talk, until: Until) -> None:
    """R-314: with enough unread answers we stop listening; the end still works."""

    async def scenario() -> None:
        limits = Limits(cancel_s=0.05, exit_grace_s=0.05)
        async with talk.session("asks_without_reading", limits=limits) as (client, session_id):
            prompt = asyncio.ensure_future(client.prompt(session_id, "go"))
            agent = client._agent
            assert agent is not None
            await until(lambda: agent._reading_paused)
            prompt.cancel()

    talk.run(scenario)


# -- the end of the agent


@pytest.mark.parametrize(
    ("conduct", "how"),
    [
        ("dies_in_turn", "exit code 7"),
        ("dies_with_permission_open", "SIGKILL"),
        ("closes_stdout", "closed its output"),
    ],
)
def test_the_death_of_the_agent_ends_the_turn_with_an_error(talk: Talk, conduct: str, how: str) -> None:
    """R-301, B034: at once, whatever was open."""

    async def never(request: PermissionRequest) -> str | None:
        return await asyncio.get_running_loop().create_future()

    async def scenario() -> None:
        async with talk.session(conduct, permission=never) as (client, session_id):
            with pytest.raises(AgentGone, match=how):
                await client.prompt(session_id, "go")
            with pytest.raises(AgentGone, match=how):
                await client.prompt(session_id, "again")

    talk.run(scenario)
    assert [type(event) for event in talk.events[-1:]] == [AgentEnded]


def test_an_agent_that_dies_at_once_is_told_with_its_last_words(talk: Talk) -> None:
    """R-301: the reason stands on standard error as a rule."""

    async def scenario() -> None:
        async with talk.client("dies_at_once") as client:
            with pytest.raises(AgentGone, match="exit code 3") as caught:
                await client.initialize()
            assert caught.value.exit_code == 3
            assert caught.value.stderr == "no such model: banana\n"

    talk.run(scenario)


def test_who_shows_events_and_fails_is_told(talk: Talk) -> None:
    """A broken display must not look like an agent that never ends its turn."""

    def broken(event: ClientEvent) -> None:
        if isinstance(event, UpdateReceived):
            raise BrokenPipeError("nobody reads")

    async def scenario() -> None:
        async with talk.session("plain", on_event=broken) as (client, session_id):
            with pytest.raises(BrokenPipeError):
                await client.prompt(session_id, "x")

    talk.run(scenario)


def test_a_display_that_fails_at_the_end_does_not_keep_the_agent_alive(talk: Talk, until: Until) -> None:
    """Its cancelled question is told in `close`, and cannot be shown."""

    def broken(event: ClientEvent) -> None:
        talk.events.append(event)
        if isinstance(event, PermissionAnswered):
            raise BrokenPipeError("nobody reads")

    async def never(request: PermissionRequest) -> str | None:
        return await asyncio.get_running_loop().create_future()

    async def scenario() -> None:
        options = {"on_event": broken, "permission": never, "limits": Limits(exit_grace_s=0.2)}
        async with talk.session("cancel_with_permissions", **options) as (client, session_id):
            prompt = asyncio.ensure_future(client.prompt(session_id, "go"))
            await until(lambda: any(isinstance(event, PermissionAsked) for event in talk.events))
            assert await client.close() is not None
            with pytest.raises(BrokenPipeError):
                await prompt

    talk.run(scenario)


def test_a_decision_that_fails_at_once_is_told(talk: Talk) -> None:
    def broken(request: PermissionRequest) -> str | None:
        raise LookupError("no such person")

    async def scenario() -> None:
        async with talk.session("odd_options", permission=broken) as (client, session_id):
            with pytest.raises(LookupError):
                await client.prompt(session_id, "go")

    talk.run(scenario)


def test_closing_ends_calls_that_still_wait(talk: Talk, until: Until) -> None:
    async def scenario() -> None:
        async with talk.session("plain") as (client, session_id):
            prompt = asyncio.ensure_future(client.prompt(session_id, "cancel me"))
            await until(lambda: talk.text() == "cancel me")
            assert await client.close() == 0
            assert (await prompt).stop_reason == "cancelled"
            with pytest.raises(AgentGone):
                await client.prompt(session_id, "x")

    talk.run(scenario)
    assert talk.sent()[-2:] == [
        {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "S1"}},
        "EOF",
    ]
    assert not any(isinstance(event, PermissionAnswered) for event in talk.events)
