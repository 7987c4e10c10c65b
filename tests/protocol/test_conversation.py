"""Sessions from their opening to their end, through replays, closes that race, and peers that break the order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from acp_agent.jsonrpc.errors import RpcError
from acp_agent.protocol.conversation import Conversation, forbids, other
from acp_agent.protocol.errors import LocalProtocolError
from acp_agent.protocol.events import NotificationReceived, ProtocolViolation, RequestReceived
from acp_agent.protocol.methods import Side
from acp_agent.protocol.policy import Policy
from acp_agent.protocol.sessions import SessionStatus
from acp_agent.protocol.verdicts import inferred, suspect, violation, warning

if TYPE_CHECKING:
    from conftest import Pair

AGENT, CLIENT = Side.AGENT, Side.CLIENT
LOAD = {"sessionId": "s2", "cwd": "/w", "mcpServers": []}
RESUME = {"sessionId": "s2", "cwd": "/w"}
TEXT = {"type": "text", "text": ""}
NO = RpcError(-32603, "no")


def statuses(pair: Pair, session_id: str) -> set[str | None]:
    return {session.status.value if session else None for session in pair.sessions(session_id)}


def test_findings_forbid_when_a_rule_is_broken_for_certain() -> None:
    """Violation and inferred forbid; suspect and warning are only told."""
    assert forbids([warning("batch", "x"), violation("batch", "x")])
    assert forbids([inferred("batch", "x")])
    assert not forbids([suspect("batch", "x"), warning("batch", "x")])
    assert (other(AGENT), other(CLIENT)) == (CLIENT, AGENT)


def test_a_conversation_starts_with_nothing() -> None:
    """Capabilities are none before `initialize`; every omitted capability is unsupported (R-032)."""
    conversation = Conversation(Policy(), None)
    assert (conversation.client_capabilities, conversation.agent_capabilities) == ({}, {})
    assert conversation.turn_of(0) is None


def test_both_sides_know_what_was_agreed(make_pair: Callable[..., Pair]) -> None:
    """Capabilities, names and login methods, for whoever asks."""
    pair = make_pair()
    info = {"name": "n", "version": "1"}
    params = {"protocolVersion": 1, "clientCapabilities": {"terminal": True}, "clientInfo": info}
    methods = [{"id": "web", "name": "W"}]
    result = {
        "protocolVersion": 1,
        "agentCapabilities": {"loadSession": True},
        "agentInfo": info,
        "authMethods": methods,
    }
    pair.do(CLIENT, "initialize", params, result)
    for end in (*pair.ends.values(), pair.observer):
        known = end.conversation
        assert (known.client_capabilities, known.client_info) == ({"terminal": True}, info)
        assert (known.agent_capabilities, known.agent_info, known.auth_methods) == (
            {"loadSession": True},
            info,
            methods,
        )


@pytest.mark.parametrize(("method", "params"), [("session/load", LOAD), ("session/resume", RESUME)])
def test_a_session_is_opening_until_its_answer(
    pair: Pair, wire: Any, method: str, params: dict[str, Any]
) -> None:
    """Status `opening`: no request may name it, a second load neither; then open, or as if it had never been."""
    id_ = pair.ask(CLIENT, method, params)
    assert statuses(pair, "s2") == {"opening"}
    for again in ("session/load", "session/resume"):
        with pytest.raises(LocalProtocolError) as caught:
            pair.client.request(again, LOAD)
        assert caught.value.verdict.reason == "session_busy_opening"
    for send in (
        lambda: pair.prompt("s2"),
        lambda: pair.ask(AGENT, "fs/read_text_file", {"sessionId": "s2", "path": "/f"}),
    ):
        with pytest.raises(LocalProtocolError) as caught:
            send()
        assert caught.value.verdict.reason == "session_busy_opening"
    pair.answer(AGENT, id_, NO)
    assert statuses(pair, "s2") == {None}
    pair.do(CLIENT, method, params, {})
    assert statuses(pair, "s2") == {"open"}
    pair.end(pair.prompt("s2"))
    assert pair.found == []


REPLAY: dict[str, tuple[dict[str, Any], str | None, str | None]] = {
    # kind: members, the slug in a load, the slug in a resume
    "user_message_chunk": ({"content": TEXT}, None, "update_kind_not_allowed"),
    "agent_message_chunk": ({"content": TEXT}, None, "update_kind_not_allowed"),
    "agent_thought_chunk": ({"content": TEXT}, None, "update_kind_not_allowed"),
    "tool_call": ({"toolCallId": "c", "title": "t", "status": "completed"}, None, "update_kind_not_allowed"),
    "tool_call_update": ({"toolCallId": "c", "status": "in_progress"}, None, "update_kind_not_allowed"),
    "plan": ({"entries": []}, None, "update_kind_not_allowed"),
    "available_commands_update": ({"availableCommands": []}, None, None),
    "current_mode_update": ({"currentModeId": "m"}, None, None),
    "config_option_update": ({"configOptions": []}, None, None),
    "session_info_update": ({"title": "t"}, None, None),
    "usage_update": ({"used": 1, "size": 2}, None, None),
    "notice": ({"severity": "info", "title": "t"}, "update_kind_not_allowed", None),
    "compaction_update": ({"compactionId": "k", "status": "completed"}, None, "update_kind_not_allowed"),
    "compaction_summary_chunk": (
        {"compactionId": "k", "content": TEXT},
        "update_kind_not_allowed",
        "update_kind_not_allowed",
    ),
}


@pytest.mark.parametrize("kind", REPLAY.keys())
@pytest.mark.parametrize("method", ["session/load", "session/resume"])
def test_what_may_be_replayed_before_the_answer(pair: Pair, wire: Any, kind: str, method: str) -> None:
    """The table of update kinds: R-062, R-067, R-148."""
    members, in_load, in_resume = REPLAY[kind]
    expected = in_load if method == "session/load" else in_resume
    pair.ask(CLIENT, method, LOAD if method == "session/load" else RESUME)
    if kind == "compaction_summary_chunk":
        members = {**members, "compactionId": "k2"}
    events = pair.deliver(
        AGENT, wire.line(method="session/update", params=wire.update(kind, "s2", **members))
    )
    found = {reason for _, reason in pair.reasons} - {"compaction_order"}
    assert found == ({expected} if expected else set())
    is_warning = kind == "notice"
    assert {verdict.severity == "warning" for _, verdict in pair.found} <= {is_warning}
    assert isinstance(events[-1], NotificationReceived) is (expected is None or is_warning)


def test_a_replayed_call_is_known_afterwards(pair: Pair) -> None:
    """Its id stays unique in the session."""
    id_ = pair.ask(CLIENT, "session/load", LOAD)
    pair.update("tool_call", "s2", toolCallId="c", title="t", status="completed")
    pair.update("tool_call_update", "s2", toolCallId="d", status="in_progress")
    pair.answer(AGENT, id_, {})
    pair.prompt("s2")
    with pytest.raises(LocalProtocolError, match="announced once"):
        pair.update("tool_call", "s2", toolCallId="c", title="t")
    assert pair.found == []


def test_two_closes_in_flight_close_once(pair: Pair) -> None:
    """The error of the second is the answer to a closed session, and opens nothing."""
    first = pair.ask(CLIENT, "session/close", {"sessionId": "s1"})
    second = pair.ask(CLIENT, "session/close", {"sessionId": "s1"})
    pair.answer(AGENT, first, {})
    pair.answer(AGENT, second, NO)
    assert statuses(pair, "s1") == {"closed"}
    assert pair.found == []


def test_a_failed_close_leaves_the_session_open(pair: Pair) -> None:
    """Back to open; while another close is on its way it stays closing."""
    first = pair.ask(CLIENT, "session/close", {"sessionId": "s1"})
    with pytest.raises(LocalProtocolError) as caught:
        pair.prompt()
    assert caught.value.verdict.reason == "session_closing"
    second = pair.ask(CLIENT, "session/close", {"sessionId": "s1"})
    pair.answer(AGENT, first, NO)
    assert statuses(pair, "s1") == {"closing"}
    pair.answer(AGENT, second, NO)
    assert statuses(pair, "s1") == {"open"}
    pair.end(pair.prompt())
    assert pair.found == []


def test_a_close_that_finds_nothing_forgets_the_session(pair: Pair) -> None:
    """-32002 says that the agent does not know it."""
    pair.answer(AGENT, pair.ask(CLIENT, "session/close", {"sessionId": "s1"}), RpcError(-32002, "gone"))
    assert statuses(pair, "s1") == {None}


def test_a_close_answered_by_nonsense_has_failed(pair: Pair, wire: Any) -> None:
    """A malformed answer is an error like any other."""
    id_ = pair.ask(CLIENT, "session/close", {"sessionId": "s1"})
    pair.deliver(AGENT, wire.line(id=id_, result=5))
    session = pair.client.conversation.sessions["s1"]
    assert session.status is SessionStatus.OPEN


def test_a_closed_session_keeps_nothing(pair: Pair) -> None:
    """R-314: its tables are emptied."""
    prompt = pair.prompt()
    pair.update("tool_call", toolCallId="c", title="t", status="completed")
    pair.update("compaction_update", compactionId="k", status="completed")
    pair.end(prompt)
    pair.do(CLIENT, "session/close", {"sessionId": "s1"}, {})
    for session in pair.sessions():
        assert session is not None
        assert (session.calls, session.compactions, session.terminals) == ({}, {}, {})


def test_an_agent_that_closes_first_and_answers_the_prompt_late_is_survived(pair: Pair, wire: Any) -> None:
    """R9: the prompt's answer finds its turn although the session was closed and loaded again."""
    prompt = pair.prompt()
    turn = pair.client.conversation.turn_of(prompt)
    close = pair.ask(CLIENT, "session/close", {"sessionId": "s1"})
    pair.deliver(AGENT, wire.line(id=close, result={}))
    load = {"sessionId": "s1", "cwd": "/w", "mcpServers": []}
    id_, line = pair.client.request("session/load", load)
    pair.observer.observe(CLIENT, line)
    pair.deliver(AGENT, wire.line(id=id_, result={}))
    pair.deliver(AGENT, wire.line(id=prompt, result={"stopReason": "cancelled"}))
    assert turn is not None
    assert turn.state == "cancelled"
    assert pair.found == []
    assert pair.client.conversation.sessions["s1"].turns == []


@pytest.mark.parametrize("order", ["lc", "cl"])
def test_an_observer_follows_a_close_that_came_too_early(pair: Pair, wire: Any, order: str) -> None:
    """A careless client closes while it loads, and the agent does both."""
    observer = pair.observer
    load = {"sessionId": "s2", "cwd": "/w", "mcpServers": []}
    observer.observe(CLIENT, wire.line(id="l", method="session/load", params=load))
    observer.observe(CLIENT, wire.line(id="c", method="session/close", params={"sessionId": "s2"}))
    for id_ in order:
        observer.observe(AGENT, wire.line(id=id_, result={}))
    assert observer.conversation.sessions["s2"].status is SessionStatus.CLOSED


def test_nothing_is_left_open_after_a_clean_end(pair: Pair) -> None:
    """`open` tables are empty when everything was answered."""
    prompt = pair.prompt()
    pair.choose(pair.permission("c1", title="t"))
    pair.do(AGENT, "fs/read_text_file", {"sessionId": "s1", "path": "/f"}, {"content": ""})
    pair.update("tool_call_update", toolCallId="c1", status="completed")
    pair.end(prompt)
    pair.do(CLIENT, "session/close", {"sessionId": "s1"}, {})
    for end in (*pair.ends.values(), pair.observer):
        assert [len(end.conversation.open[side]) for side in (AGENT, CLIENT)] == [0, 0]


def test_a_thousand_turns_leave_no_more_than_their_calls(pair: Pair) -> None:
    """R-314: nothing grows with past turns but what makes call ids unique."""
    for number in range(50):
        prompt = pair.prompt()
        pair.chunk()
        pair.choose(pair.permission(f"c{number}", title="t"))
        pair.update("tool_call_update", toolCallId=f"c{number}", status="completed")
        pair.end(prompt)
    session = pair.client.conversation.sessions["s1"]
    assert session.turns == []
    assert len(session.calls) == 50
    assert len(pair.client.conversation.open[CLIENT]) == 0


def test_a_relative_path_in_a_list_of_sessions_is_a_finding(pair: Pair, wire: Any) -> None:
    """R-020: SessionInfo.cwd."""
    id_ = pair.ask(CLIENT, "session/list", {})
    result = {"sessions": [{"sessionId": "a", "cwd": "/w"}, {"sessionId": "b", "cwd": "w"}]}
    with pytest.raises(LocalProtocolError):
        pair.agent.respond(id_, result)
    pair.deliver(AGENT, wire.line(id=id_, result=result))
    assert {verdict.where["path"] for _, verdict in pair.found} == {"/sessions/1/cwd"}


def test_options_of_every_result_are_gated(make_pair: Callable[..., Pair], wire: Any) -> None:
    """R-113: setup results and set results alike."""
    pair = make_pair()
    pair.initialise(client={})
    option = {"id": "o", "name": "O", "type": "boolean", "currentValue": True}
    id_ = pair.ask(CLIENT, "session/new", {"cwd": "/w", "mcpServers": []})
    with pytest.raises(LocalProtocolError) as caught:
        pair.agent.respond(id_, {"sessionId": "s", "configOptions": [option]})
    assert caught.value.verdict.reason == "update_ungated"


# -- what an observer makes of peers that are laxer than the protocol


def test_an_observer_follows_a_session_that_should_not_have_been_opened(pair: Pair, wire: Any) -> None:
    """A relative cwd, served all the same: one finding, and the session exists."""
    observer = pair.observer

    def see(side: Side, **message: Any) -> list[str]:
        events = observer.observe(side, wire.line(**message))
        return [event.verdict.reason for event in events if isinstance(event, ProtocolViolation)]

    assert see(CLIENT, id="n", method="session/new", params={"cwd": "w", "mcpServers": []}) == [
        "params_invalid"
    ]
    assert see(AGENT, id="n", result={"sessionId": "s8"}) == []
    assert see(CLIENT, id="p", method="session/prompt", params={"sessionId": "s8", "prompt": []}) == []
    assert see(AGENT, id="p", result={"stopReason": "end_turn"}) == []
    assert see(CLIENT, id="m", method="session/new", params=[]) == ["params_invalid"]
    assert see(AGENT, id="m", result={"sessionId": "s9"}) == []
    assert observer.conversation.sessions["s9"].cwd == ""


def test_an_observer_follows_an_initialize_that_was_served_though_wrong(
    make_pair: Callable[..., Pair], wire: Any
) -> None:
    """One finding for the request; after the answer the connection is ready."""
    observer = make_pair().observer
    observer.observe(CLIENT, wire.line(id=1, method="session/new", params={"cwd": "/w", "mcpServers": []}))
    observer.observe(
        CLIENT, wire.line(id=2, method="initialize", params={"clientCapabilities": {"terminal": True}})
    )
    observer.observe(AGENT, wire.line(id=2, result={"protocolVersion": 1}))
    assert observer.state == "ready"
    assert observer.conversation.client_capabilities == {"terminal": True}


def test_a_refused_request_does_not_stand_in_the_way_of_initialize(
    make_pair: Callable[..., Pair], wire: Any
) -> None:
    """What came too early has no answer yet; initialize is legal all the same."""
    observer = make_pair().observer
    observer.observe(CLIENT, wire.line(id=1, method="session/new", params={"cwd": "/w", "mcpServers": []}))
    events = observer.observe(CLIENT, wire.line(id=2, method="initialize", params={"protocolVersion": 1}))
    assert events == [RequestReceived(2, "initialize", {"protocolVersion": 1})]


def test_an_observer_follows_a_prompt_with_content_nobody_advertised(
    make_pair: Callable[..., Pair], wire: Any
) -> None:
    """One finding about the client; the agent that serves it gets none."""
    pair = make_pair()
    pair.initialise(agent={})
    pair.new_session()
    observer = pair.observer
    prompt = [{"type": "image", "data": "", "mimeType": "image/png"}]
    events = observer.observe(
        CLIENT, wire.line(id="p", method="session/prompt", params={"sessionId": "s1", "prompt": prompt})
    )
    assert [type(event) for event in events] == [ProtocolViolation, RequestReceived]
    update = wire.update("agent_message_chunk", content=TEXT)
    assert [
        type(event) for event in observer.observe(AGENT, wire.line(method="session/update", params=update))
    ] == [NotificationReceived]
    assert len(observer.observe(AGENT, wire.line(id="p", result={"stopReason": "end_turn"}))) == 1


def test_an_observer_follows_loads_and_terminals_without_a_capability(
    make_pair: Callable[..., Pair], wire: Any
) -> None:
    """Served without having been advertised: open, and live."""
    pair = make_pair()
    pair.initialise(client={}, agent={})
    observer = pair.observer
    observer.observe(CLIENT, wire.line(id="l", method="session/load", params=LOAD))
    observer.observe(AGENT, wire.line(id="l", result={}))
    assert observer.conversation.sessions["s2"].status is SessionStatus.OPEN
    params = {"sessionId": "s2", "command": "c"}
    observer.observe(AGENT, wire.line(id="t", method="terminal/create", params=params))
    observer.observe(CLIENT, wire.line(id="t", result={"terminalId": "t1"}))
    assert observer.conversation.sessions["s2"].terminals == {"t1": True}


def test_an_observer_reports_a_notification_of_no_known_name(pair: Pair, wire: Any) -> None:
    """R-250: whoever receives it ignores it, whoever watches knows who is at fault."""
    events = pair.observer.observe(AGENT, wire.line(method="x/y", params={}))
    assert [type(event) for event in events] == [ProtocolViolation, NotificationReceived]
    assert pair.client.receive(wire.line(method="x/y", params={})) == [NotificationReceived("x/y", {})]
    assert pair.observer.observe(AGENT, wire.line(method="$/x", params={})) == [
        NotificationReceived("$/x", {})
    ]


def test_an_observer_lets_the_first_of_two_equal_ids_keep_it(pair: Pair, wire: Any) -> None:
    """The second is reported; the second answer is one too many."""
    observer = pair.observer
    observer.observe(
        CLIENT, wire.line(id="d", method="session/prompt", params={"sessionId": "s1", "prompt": []})
    )
    events = observer.observe(CLIENT, wire.line(id="d", method="logout"))
    assert events[0].verdict.reason == "duplicate_id"  # type: ignore[union-attr]
    assert observer.conversation.turn_of("d") is not None
    assert len(observer.observe(AGENT, wire.line(id="d", result={"stopReason": "end_turn"}))) == 1
    events = observer.observe(AGENT, wire.line(id="d", result={}))
    assert events[0].verdict.reason == "response_duplicate"  # type: ignore[union-attr]
