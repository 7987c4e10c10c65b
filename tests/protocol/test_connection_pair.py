"""An agent and a client wired together: what is legal when, asserted from both ends and by an observer between.

Every cell is tried twice: as something one side is about to send (it must not get out), and as a line that a
careless peer has sent (it must be recognised).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from acp_agent.jsonrpc.errors import RpcError
from acp_agent.protocol.errors import LocalProtocolError
from acp_agent.protocol.events import NotificationReceived, RequestReceived, ResponseReceived, StreamEnded
from acp_agent.protocol.machines.connection import ConnectionState
from acp_agent.protocol.methods import Side
from acp_agent.protocol.sessions import SessionStatus

if TYPE_CHECKING:
    from conftest import Pair

AGENT, CLIENT = Side.AGENT, Side.CLIENT
TEXT = {"type": "text", "text": "x"}
MODES = {"currentModeId": "m1", "availableModes": [{"id": "m1", "name": "1"}, {"id": "m2", "name": "2"}]}
SELECT = {
    "id": "o1",
    "name": "O",
    "type": "select",
    "currentValue": "a",
    "options": [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}],
}
CANCELLED = RpcError(-32800, "Request cancelled")
Send = Callable[[], object]


@pytest.fixture
def pair(make_pair: Callable[..., Pair]) -> Pair:
    pair = make_pair()
    pair.initialise()
    pair.new_session(modes=MODES, configOptions=[SELECT])
    return pair


def refused(send: Send, pair: Pair, wire: Any) -> str:
    """The slug with which our own guard stops the message; nothing may have changed."""
    before = wire.snapshot(pair.ends)
    with pytest.raises(LocalProtocolError) as caught:
        send()
    assert wire.snapshot(pair.ends) == before
    return caught.value.verdict.reason


# -- the connection machine


def test_both_are_ready_once_the_answer_to_initialize_has_passed(make_pair: Callable[..., Pair]) -> None:
    """K1, K2: the agent when it has handed the answer over, the client when it has read it."""
    pair = make_pair()
    id_, line = pair.ask_line(CLIENT, "initialize", {"protocolVersion": 1})
    assert isinstance(pair.deliver(CLIENT, line)[0], RequestReceived)
    assert {end.state for end in pair.ends.values()} == {ConnectionState.UNINITIALISED}
    answer = pair.agent.respond(id_, {"protocolVersion": 1})
    assert (pair.agent.state, pair.client.state) == (ConnectionState.READY, ConnectionState.UNINITIALISED)
    pair.deliver(AGENT, answer)
    assert pair.client.state is ConnectionState.READY
    assert pair.observer.state is ConnectionState.READY
    assert pair.found == []


def test_a_version_the_client_does_not_speak_closes_the_connection(make_pair: Callable[..., Pair]) -> None:
    """K3, R-029: nothing more is sent but the end."""
    pair = make_pair()
    pair.do(CLIENT, "initialize", {"protocolVersion": 1}, {"protocolVersion": 9999})
    assert {end.state for end in (*pair.ends.values(), pair.observer)} == {ConnectionState.CLOSING}
    with pytest.raises(LocalProtocolError, match="closing"):
        pair.client.request("session/new", {"cwd": "/w", "mcpServers": []})


@pytest.mark.parametrize("code", [-32603, -32800, 5])
def test_after_a_failed_initialize_another_attempt_is_legal(
    make_pair: Callable[..., Pair], code: int
) -> None:
    """K4: whatever the code."""
    pair = make_pair()
    pair.answer(AGENT, pair.ask(CLIENT, "initialize", {"protocolVersion": 1}), RpcError(code, "no"))
    assert pair.client.state is ConnectionState.UNINITIALISED
    pair.initialise()
    assert pair.agent.state is ConnectionState.READY
    assert pair.found == []


def test_nothing_but_initialize_gets_out_before_it_is_answered(
    make_pair: Callable[..., Pair], wire: Any
) -> None:
    """K5, R-022: also not pipelined behind it."""
    pair = make_pair()
    new = partial(pair.client.request, "session/new", {"cwd": "/w", "mcpServers": []})
    assert refused(new, pair, wire) == "not_initialised"
    assert refused(partial(pair.agent.request, "_x", {}), pair, wire) == "not_initialised"
    id_ = pair.ask(CLIENT, "initialize", {"protocolVersion": 1})
    assert refused(new, pair, wire) == "not_initialised"
    assert (
        refused(partial(pair.client.request, "initialize", {"protocolVersion": 1}), pair, wire)
        == "not_initialised"
    )
    pair.tell(CLIENT, "$/cancel_request", {"requestId": id_})
    pair.answer(AGENT, id_, CANCELLED)
    assert pair.found == []


def test_an_elicitation_about_the_open_initialize_is_tolerated(make_pair: Callable[..., Pair]) -> None:
    """Section 3: a login may need it; without an open initialize it is as early as anything."""
    pair = make_pair()
    form = {"mode": "form", "message": "m", "requestedSchema": {"type": "object", "properties": {}}}
    with pytest.raises(LocalProtocolError):
        pair.agent.request("elicitation/create", {**form, "requestId": 0})
    params = {"protocolVersion": 1, "clientCapabilities": {"elicitation": {"form": {}}}}
    id_ = pair.ask(CLIENT, "initialize", params)
    pair.do(AGENT, "elicitation/create", {**form, "requestId": id_}, {"action": "cancel"})
    pair.answer(AGENT, id_, {"protocolVersion": 1})
    assert pair.found == []


def test_initialize_is_sent_once(pair: Pair, wire: Any) -> None:
    """K6, R-041."""
    assert (
        refused(partial(pair.client.request, "initialize", {"protocolVersion": 1}), pair, wire)
        == "already_initialised"
    )
    before = wire.snapshot(pair.agent)
    pair.deliver(CLIENT, wire.line(id="i", method="initialize", params={"protocolVersion": 1}))
    assert pair.reasons == [("agent", "already_initialised"), ("observer", "already_initialised")]
    assert wire.snapshot(pair.agent) == before


@pytest.mark.parametrize("ends", [CLIENT, AGENT])
def test_the_end_of_a_stream_fails_what_was_open_and_forbids_new_requests(
    pair: Pair, wire: Any, ends: Side
) -> None:
    """K8, K10, T15, R15: both sides; the other stream may finish answering and flushing."""
    prompt = pair.prompt()
    turns = [end.conversation.turn_of(prompt) for end in pair.ends.values()]
    permission = pair.permission()
    other = pair.ends[CLIENT if ends is AGENT else AGENT]
    events = other.receive(b"")
    assert events == [StreamEnded((permission,) if ends is CLIENT else (prompt,))]
    assert pair.observer.observe(ends, b"")[-1] == StreamEnded((permission,) if ends is CLIENT else (prompt,))
    assert other.state is pair.observer.state is ConnectionState.CLOSING
    assert other.conversation.turn_of(prompt) is None
    turn = turns[0 if ends is CLIENT else 1]
    assert turn is not None
    assert (turn.state, turn.permissions_open) == ("failed", 1)
    with pytest.raises(LocalProtocolError, match="closing"):
        other.request("_x", {})


def test_an_agent_may_flush_and_answer_after_the_end_of_its_input(pair: Pair, wire: Any) -> None:
    """Section 3, `closing`: updates on their way and answers are no fault; a new turn can't begin."""
    prompt = pair.prompt()
    pair.chunk()
    pair.agent.receive(b"")
    pair.observer.observe(CLIENT, b"")
    pair.chunk("rest")
    pair.update("tool_call", toolCallId="c9", title="t", status="completed")
    pair.end(prompt, "end_turn")
    assert pair.found == []


def test_a_request_into_a_closing_connection_is_answered_and_only_suspect_to_an_observer(
    pair: Pair, wire: Any
) -> None:
    """K10: the sender may not have noticed the end yet."""
    pair.client.receive(b"")
    pair.observer.observe(AGENT, b"")
    request = wire.line(id=50, method="session/prompt", params={"sessionId": "s1", "prompt": []})
    assert [e.verdict.severity for e in pair.observer.observe(CLIENT, request)[:1]] == ["suspect"]  # type: ignore[union-attr]
    assert pair.observer.conversation.turn_of(50) is None


# -- messages in the states of a turn


def idle(pair: Pair) -> None:
    """No turn yet; a call of an earlier turn has ended."""


def ended(pair: Pair) -> None:
    prompt = pair.prompt()
    pair.update("tool_call", toolCallId="known", title="t")
    pair.update("tool_call_update", toolCallId="known", status="completed")
    pair.end(prompt)


def pending(pair: Pair) -> None:
    pair.prompt()


def streaming(pair: Pair) -> None:
    pair.prompt()
    pair.chunk()


def awaiting_permission(pair: Pair) -> None:
    pair.prompt()
    pair.permission("waiting", title="t")


def running_tool(pair: Pair) -> None:
    pair.prompt()
    pair.update("tool_call", toolCallId="running", title="t", status="in_progress")


IDLE = {"idle": idle, "ended": ended}
ACTIVE = {
    "pending": pending,
    "streaming": streaming,
    "awaiting_permission": awaiting_permission,
    "running_tool": running_tool,
}
EVERY = IDLE | ACTIVE
Message = tuple[Side, str, dict[str, Any]]


def in_session(side: Side, method: str, **params: Any) -> Message:
    return side, method, {"sessionId": "s1", **params}


def update(kind: str, **members: Any) -> Message:
    return in_session(AGENT, "session/update", update={"sessionUpdate": kind, **members})


ENTRY = {"content": "c", "priority": "low", "status": "pending"}
# message -> the slug in an idle session, the slug during a turn; None where it is legal
CELLS: dict[str, tuple[Message, str | None, str | None]] = {
    "session/prompt": (in_session(CLIENT, "session/prompt", prompt=[TEXT]), None, "turn_active"),
    "session/cancel": (in_session(CLIENT, "session/cancel"), None, None),
    "session/set_mode": (in_session(CLIENT, "session/set_mode", modeId="m2"), None, None),
    "session/set_config_option": (
        in_session(CLIENT, "session/set_config_option", configId="o1", value="b"),
        None,
        None,
    ),
    "session/close": (in_session(CLIENT, "session/close"), None, None),
    "session/load": (
        in_session(CLIENT, "session/load", cwd="/w", mcpServers=[]),
        "session_already_open",
        "session_already_open",
    ),
    "session/resume": (
        in_session(CLIENT, "session/resume", cwd="/w"),
        "session_already_open",
        "session_already_open",
    ),
    "session/delete": (in_session(CLIENT, "session/delete"), None, None),
    "session/list": ((CLIENT, "session/list", {}), None, None),
    "message chunk": (update("agent_message_chunk", content=TEXT), "update_late", None),
    "thought chunk": (update("agent_thought_chunk", content=TEXT), "update_late", None),
    "user chunk": (update("user_message_chunk", content=TEXT), "update_late", None),
    "plan": (update("plan", entries=[ENTRY]), "update_late", None),
    "tool_call": (update("tool_call", toolCallId="new", title="t"), "update_late", None),
    "available_commands_update": (update("available_commands_update", availableCommands=[]), None, None),
    "current_mode_update": (update("current_mode_update", currentModeId="m2"), None, None),
    "config_option_update": (update("config_option_update", configOptions=[SELECT]), None, None),
    "session_info_update": (update("session_info_update", title="t"), None, None),
    "usage_update": (update("usage_update", used=1, size=2), None, None),
    "notice": (update("notice", severity="info", title="t"), None, None),
    "compaction_update": (update("compaction_update", compactionId="k", status="in_progress"), None, None),
    "session/request_permission": (
        in_session(
            AGENT,
            "session/request_permission",
            toolCall={"toolCallId": "new"},
            options=[{"optionId": "y", "name": "Y", "kind": "allow_once"}],
        ),
        "no_active_turn",
        None,
    ),
    "fs/read_text_file": (in_session(AGENT, "fs/read_text_file", path="/f"), None, None),
    "fs/write_text_file": (in_session(AGENT, "fs/write_text_file", path="/f", content=""), None, None),
    "terminal/create": (in_session(AGENT, "terminal/create", command="c"), None, None),
    "elicitation/create": (
        in_session(
            AGENT,
            "elicitation/create",
            mode="form",
            message="m",
            requestedSchema={"type": "object", "properties": {}},
        ),
        None,
        None,
    ),
    "client extension": ((CLIENT, "_x", {"a": 1}), None, None),
    "agent extension": ((AGENT, "_x", {"a": 1}), None, None),
}
NOTIFICATIONS = {"session/cancel", "session/update"}


@pytest.mark.parametrize("state", EVERY.keys())
@pytest.mark.parametrize("message", CELLS.keys())
def test_every_message_in_every_state_of_a_turn(
    make_pair: Callable[..., Pair], wire: Any, message: str, state: str
) -> None:
    """The table "legal messages per turn state", each cell from both ends."""
    (side, method, params), when_idle, when_active = CELLS[message]
    reason = when_idle if state in IDLE else when_active
    pair = make_pair()
    pair.initialise()
    pair.new_session(modes=MODES, configOptions=[SELECT])
    EVERY[state](pair)
    assert pair.found == []

    def send() -> object:
        end = pair.ends[side]
        return end.notify(method, params) if method in NOTIFICATIONS else end.request(method, params)

    if reason is not None:
        assert refused(send, pair, wire) == reason
    number = {} if method in NOTIFICATIONS else {"id": 99}
    receiver = pair.ends[AGENT if side is CLIENT else CLIENT]
    before = wire.snapshot(receiver)
    events = pair.deliver(side, wire.line(method=method, params=params, **number))
    if reason is None:
        assert pair.found == []
        assert isinstance(events[-1], RequestReceived if number else NotificationReceived)
        if state in ACTIVE and method != "session/close":
            send()  # and our own guard lets it pass
    else:
        assert pair.reasons == [(receiver.role.value, reason), ("observer", reason)]
        assert not any(isinstance(event, RequestReceived) for event in events)
        assert wire.snapshot(receiver) == before


def test_the_prompts_answer_is_the_end_and_open_calls_or_permissions_are_told(pair: Pair, wire: Any) -> None:
    """T10: our own guard stops it; from a peer the turn ends all the same, and the finding is inferred."""
    prompt = pair.prompt()
    permission = pair.permission()
    end = partial(pair.agent.respond, prompt, {"stopReason": "end_turn"})
    early = partial(pair.agent.respond, prompt, {"stopReason": "max_tokens"})
    assert refused(end, pair, wire) == refused(early, pair, wire) == "end_with_open_permission"
    pair.choose(permission)
    assert refused(end, pair, wire) == "end_with_open_call"
    pair.deliver(AGENT, wire.line(id=prompt, result={"stopReason": "end_turn"}))
    assert pair.reasons == [("client", "end_with_open_call"), ("observer", "end_with_open_call")]
    assert {verdict.severity for _, verdict in pair.found} == {"inferred"}
    assert pair.client.conversation.turn_of(prompt) is None
    early()  # an early stop reason may leave calls open


@pytest.mark.parametrize("reason", ["end_turn", "max_tokens", "max_turn_requests", "refusal"])
@pytest.mark.parametrize("state", ["pending", "streaming"])
def test_a_turn_ends_with_any_stop_reason(pair: Pair, state: str, reason: str) -> None:
    """T10: the request has succeeded, the turn is done."""
    ACTIVE[state](pair)
    (turn,) = pair.client.conversation.sessions["s1"].turns
    assert turn.state == state
    events = pair.end(turn.request_id, reason)
    assert events == [ResponseReceived(turn.request_id, "session/prompt", {"stopReason": reason}, None)]
    assert turn.state == "done"
    assert pair.found == []
    assert pair.turn_states(pair.prompt()) == {"pending"}


def test_a_failed_turn_is_failed_on_both_sides(pair: Pair) -> None:
    """T14."""
    prompt = pair.prompt()
    turns = [end.conversation.turn_of(prompt) for end in pair.ends.values()]
    pair.answer(AGENT, prompt, RpcError(-32603, "Internal error: x"))
    assert [turn.state for turn in turns if turn] == ["failed", "failed"]
    assert pair.found == []


def test_an_internal_abort_is_a_cancelled_turn(pair: Pair) -> None:
    """T12, R-171: -32800 with no cancel asked."""
    prompt = pair.prompt()
    turn = pair.client.conversation.turn_of(prompt)
    pair.answer(AGENT, prompt, CANCELLED)
    assert turn is not None
    assert turn.state == "cancelled"
    assert pair.found == []


def test_the_state_of_a_turn_follows_from_its_calls_and_permissions(pair: Pair) -> None:
    """Section 4: the first condition that matches, after every message, for all three alike."""
    prompt = pair.prompt()
    assert pair.turn_states(prompt) == {"pending"}
    pair.update("tool_call", toolCallId="c1", title="t")
    assert pair.turn_states(prompt) == {"streaming"}
    first, second = pair.permission("c1"), pair.permission("c2", title="u")
    assert pair.turn_states(prompt) == {"awaiting_permission"}
    pair.choose(second)
    assert pair.turn_states(prompt) == {"awaiting_permission"}
    pair.update("tool_call_update", toolCallId="c2", status="in_progress")
    pair.chunk()
    assert pair.turn_states(prompt) == {"awaiting_permission"}
    pair.choose(first, "no")
    assert pair.turn_states(prompt) == {"running_tool"}
    pair.update("tool_call_update", toolCallId="c1", status="failed")
    pair.update("tool_call_update", toolCallId="c2", content=[{"type": "content", "content": TEXT}])
    assert pair.turn_states(prompt) == {"running_tool"}
    pair.update("tool_call_update", toolCallId="c2", status="completed")
    assert pair.turn_states(prompt) == {"streaming"}
    pair.end(prompt)
    assert pair.turn_states(prompt) == set()
    assert pair.found == []


def test_turns_of_different_sessions_overlap(pair: Pair) -> None:
    """R-130: one turn at a time is per session."""
    pair.new_session("s2")
    one, two = pair.prompt("s1"), pair.prompt("s2")
    pair.chunk(session_id="s2")
    assert (pair.turn_states(one), pair.turn_states(two)) == ({"pending"}, {"streaming"})
    pair.cancel("s2")
    pair.end(two, "cancelled")
    pair.end(one)
    assert pair.found == []


def test_a_second_prompt_that_is_served_is_a_finding_about_the_agent_too(pair: Pair, wire: Any) -> None:
    """T2: the observer tracks the request and expects an error."""
    pair.prompt()
    pair.observer.observe(
        CLIENT, wire.line(id=70, method="session/prompt", params={"sessionId": "s1", "prompt": []})
    )
    events = pair.observer.observe(AGENT, wire.line(id=70, result={"stopReason": "end_turn"}))
    assert [event.verdict.reason for event in events[:1]] == ["turn_active"]  # type: ignore[union-attr]
    assert pair.turn_states(2) == {"pending"}


# -- 5.1 tool calls

STATUSES = ["pending", "in_progress", "completed", "failed"]
MOVES: dict[tuple[str, str | None], tuple[str, str] | None] = {
    **{("pending", status): None for status in [None, *STATUSES]},
    ("in_progress", None): None,
    ("in_progress", "pending"): ("inferred", "tool_status_backwards"),
    ("in_progress", "in_progress"): None,
    ("in_progress", "completed"): None,
    ("in_progress", "failed"): None,
    **{
        (before, after): ("inferred" if after not in {None, before} else "warning", "tool_status_backwards")
        for before in ["completed", "failed"]
        for after in [None, *STATUSES]
    },
}


@pytest.mark.parametrize(("before", "after"), MOVES.keys())
def test_a_calls_status_moves_forward_only(pair: Pair, wire: Any, before: str, after: str | None) -> None:
    """R-189: steps may be skipped; a change after the end is inferred, content after it a warning."""
    prompt = pair.prompt()
    pair.update("tool_call", toolCallId="c1", title="t", status=before)
    members = {"toolCallId": "c1", **({} if after is None else {"status": after})}
    finding = MOVES[before, after]
    if finding is not None and finding[0] == "inferred":
        send = partial(pair.agent.notify, "session/update", wire.update("tool_call_update", **members))
        assert refused(send, pair, wire) == finding[1]
    pair.deliver(AGENT, wire.line(method="session/update", params=wire.update("tool_call_update", **members)))
    assert {(verdict.severity, verdict.reason) for _, verdict in pair.found} == (
        {finding} if finding else set()
    )
    session = pair.client.conversation.sessions["s1"]
    ended_before = before in {"completed", "failed"}
    assert session.calls["c1"].state == (before if ended_before or after is None else after)
    assert pair.turn_states(prompt) <= {"streaming", "running_tool"}


@pytest.mark.parametrize("status", STATUSES)
def test_a_call_may_start_in_any_status(pair: Pair, status: str) -> None:
    """R-189."""
    pair.prompt()
    pair.update("tool_call", toolCallId="c1", title="t", status=status)
    pair.update("tool_call_update", toolCallId="c1", status=None, title="u") if status == "pending" else None
    assert pair.found == []


def test_a_call_is_announced_once_and_before_it_changes(pair: Pair, wire: Any) -> None:
    """R-184, R-188: ids are unique in the session, for ever."""
    prompt = pair.prompt()
    announce = wire.update("tool_call", toolCallId="c1", title="t", status="failed")
    change = wire.update("tool_call_update", toolCallId="c1", title="t")
    send = partial(pair.agent.notify, "session/update", change)
    assert refused(send, pair, wire) == "tool_call_unknown"
    pair.tell(AGENT, "session/update", announce)
    pair.end(prompt)
    pair.prompt()
    again = partial(pair.agent.notify, "session/update", announce)
    assert refused(again, pair, wire) == "tool_call_duplicate"
    pair.deliver(AGENT, wire.line(method="session/update", params=announce))
    assert pair.reasons == [("client", "tool_call_duplicate"), ("observer", "tool_call_duplicate")]


def test_an_unknown_call_is_created_from_its_update(pair: Pair, wire: Any) -> None:
    """5.1: reported, and the client shows what it has."""
    prompt = pair.prompt()
    data = wire.line(
        method="session/update", params=wire.update("tool_call_update", toolCallId="c1", status="in_progress")
    )
    events = pair.deliver(AGENT, data)
    assert pair.reasons == [("client", "tool_call_unknown"), ("observer", "tool_call_unknown")]
    assert isinstance(events[-1], NotificationReceived)
    turn = pair.client.conversation.turn_of(prompt)
    assert turn is not None
    assert turn.state == "running_tool"


def test_a_call_left_open_does_not_go_on_in_the_next_turn(pair: Pair, wire: Any) -> None:
    """5.1: late, and never attached to the next turn."""
    prompt = pair.prompt()
    pair.update("tool_call", toolCallId="c1", title="t", status="in_progress")
    pair.end(prompt, "max_tokens")
    second = pair.prompt()
    go_on = wire.update("tool_call_update", toolCallId="c1", status="completed")
    send = partial(pair.agent.notify, "session/update", go_on)
    assert refused(send, pair, wire) == "update_late"
    start = wire.update("tool_call_update", toolCallId="c1")
    pair.deliver(AGENT, wire.line(method="session/update", params=start))
    assert pair.reasons == [("client", "update_late"), ("observer", "update_late")]
    turn = pair.client.conversation.turn_of(second)
    assert turn is not None
    assert (turn.state, turn.open_calls) == ("pending", {})


@pytest.mark.parametrize(
    ("kind", "members", "pointer"),
    [
        ("tool_call", {"locations": [{"path": "/a"}, {"path": "b"}]}, "/update/locations/1/path"),
        ("tool_call", {"content": [{"type": "diff", "path": "b", "newText": ""}]}, "/update/content/0/path"),
        ("tool_call_update", {"locations": [{"path": ""}]}, "/update/locations/0/path"),
    ],
)
def test_paths_in_tool_calls_are_absolute(
    pair: Pair, wire: Any, kind: str, members: dict[str, Any], pointer: str
) -> None:
    """R-020, R-193."""
    pair.prompt()
    pair.update("tool_call", toolCallId="c1", title="t")
    params = wire.update(kind, toolCallId="c1" if kind == "tool_call_update" else "c2", title="t", **members)
    assert refused(partial(pair.agent.notify, "session/update", params), pair, wire) == "params_invalid"
    pair.deliver(AGENT, wire.line(method="session/update", params=params))
    assert {verdict.where["path"] for _, verdict in pair.found} == {pointer}


# -- 5.2 and 5.3 permissions


def test_a_tool_does_not_run_while_its_permission_is_open_or_refused(pair: Pair, wire: Any) -> None:
    """R-179, R-180: `failed` is the normal end of a refused call."""
    prompt = pair.prompt()
    permission = pair.permission("c1", title="t")

    def move(status: str) -> Send:
        params = wire.update("tool_call_update", toolCallId="c1", status=status)
        return partial(pair.agent.notify, "session/update", params)

    assert refused(move("in_progress"), pair, wire) == "permission_not_awaited"
    assert refused(move("completed"), pair, wire) == "permission_not_awaited"
    pair.choose(permission, "no")
    assert refused(move("in_progress"), pair, wire) == "permission_not_awaited"
    assert refused(move("completed"), pair, wire) == "permission_not_awaited"
    early = partial(
        pair.agent.notify,
        "session/update",
        wire.update("tool_call", toolCallId="c1", title="t", status="completed"),
    )
    assert refused(early, pair, wire) == "permission_not_awaited"
    pair.update("tool_call_update", toolCallId="c1", status="failed")
    pair.end(prompt)
    assert pair.found == []


@pytest.mark.parametrize("status", ["in_progress", "completed"])
def test_the_question_itself_does_not_start_the_tool(pair: Pair, wire: Any, status: str) -> None:
    """R-180: the call in a permission request is not announced as running or done."""
    pair.prompt()
    params = wire.permission("c1", status=status)
    assert (
        refused(partial(pair.agent.request, "session/request_permission", params), pair, wire)
        == "permission_not_awaited"
    )
    pair.update("tool_call", toolCallId="c1", title="t", status="in_progress")
    if status == "in_progress":  # a tool that runs may ask on the way
        pair.permission("c1", status="in_progress")
        assert pair.found == []


@pytest.mark.parametrize(
    ("call", "reason", "pointer"),
    [
        ({"locations": [{"path": "rel"}]}, "params_invalid", "/toolCall/locations/0/path"),
        (
            {"content": [{"type": "terminal", "terminalId": "t"}]},
            "terminal_unknown",
            "/toolCall/content/0/terminalId",
        ),
        ({"status": "in_progress"}, "permission_not_awaited", "/toolCall/status"),
    ],
)
def test_what_is_wrong_with_the_call_in_a_question_is_told_and_the_question_is_asked(
    pair: Pair, wire: Any, call: dict[str, Any], reason: str, pointer: str
) -> None:
    """R-020, R-180, R-194: ours is not sent; of a sloppy agent the person is asked all the same."""
    prompt = pair.prompt()
    params = wire.permission("c1", **call)
    assert refused(partial(pair.agent.request, "session/request_permission", params), pair, wire) == reason
    events = pair.deliver(AGENT, wire.line(id="q", method="session/request_permission", params=params))
    assert [(who, v.reason, v.where["path"]) for who, v in pair.found] == [
        ("client", reason, pointer),
        ("observer", reason, pointer),
    ]
    assert isinstance(events[-1], RequestReceived)
    pair.observer.observe(CLIENT, pair.client.respond("q", OFFERED))
    for end in (pair.client, pair.observer):
        turn = end.conversation.turn_of(prompt)
        assert turn is not None
        assert turn.permissions_open == 0


def test_permissions_may_be_answered_in_any_order_and_one_is_open_per_call(pair: Pair, wire: Any) -> None:
    """R-181, 5.2."""
    prompt = pair.prompt()
    asked = [pair.permission(f"c{n}", title="t") for n in range(3)]
    second = partial(pair.agent.request, "session/request_permission", wire.permission("c1"))
    assert refused(second, pair, wire) == "permission_not_awaited"
    for id_ in reversed(asked):
        pair.choose(id_)
    for n in range(3):
        pair.update("tool_call_update", toolCallId=f"c{n}", status="completed")
    pair.end(prompt)
    assert pair.found == []


def test_who_is_asked_again_and_agrees_has_agreed(pair: Pair) -> None:
    """5.2: each request is judged on its own; the last answer counts."""
    pair.prompt()
    pair.choose(pair.permission("c1", title="t"), "no")
    pair.choose(pair.permission("c1"), "yes")
    pair.update("tool_call_update", toolCallId="c1", status="in_progress")
    assert pair.found == []


def test_an_ended_call_is_not_asked_about(pair: Pair, wire: Any) -> None:
    """5.2."""
    pair.prompt()
    pair.update("tool_call", toolCallId="c1", title="t", status="failed")
    ask = partial(pair.agent.request, "session/request_permission", wire.permission("c1"))
    assert refused(ask, pair, wire) == "permission_not_awaited"


def nothing(pair: Pair, prompt: Any, permission: Any) -> None:
    """No cancel of any kind."""


def agent_cancelled(pair: Pair, prompt: Any, permission: Any) -> None:
    pair.tell(AGENT, "$/cancel_request", {"requestId": permission})


def prompt_cancelled(pair: Pair, prompt: Any, permission: Any) -> None:
    pair.tell(CLIENT, "$/cancel_request", {"requestId": prompt})


def client_cancelled(pair: Pair, prompt: Any, permission: Any) -> None:
    pair.cancel()


def client_closed(pair: Pair, prompt: Any, permission: Any) -> None:
    pair.ask(CLIENT, "session/close", {"sessionId": "s1"})


OFFERED: dict[str, Any] = {"outcome": {"outcome": "selected", "optionId": "yes"}}
FOREIGN: dict[str, Any] = {"outcome": {"outcome": "selected", "optionId": "maybe"}}
GIVEN_UP: dict[str, Any] = {"outcome": {"outcome": "cancelled"}}
NOT_CANCELLED = ("violation", "permission_not_cancelled")
ANSWERS: list[tuple[Any, dict[str, Any] | RpcError, tuple[str, str] | None]] = [
    (nothing, OFFERED, None),
    (nothing, FOREIGN, ("violation", "permission_option_foreign")),
    (nothing, GIVEN_UP, ("warning", "permission_not_cancelled")),
    (nothing, CANCELLED, None),
    *((nothing, RpcError(code, "m"), None) for code in (-32600, -32601, -32602, -32603, -32002)),
    (agent_cancelled, OFFERED, None),
    (agent_cancelled, GIVEN_UP, None),
    (agent_cancelled, CANCELLED, None),
    (agent_cancelled, RpcError(-32603, "m"), None),
    (prompt_cancelled, GIVEN_UP, None),
    (prompt_cancelled, OFFERED, None),
    (client_cancelled, OFFERED, NOT_CANCELLED),
    (client_cancelled, FOREIGN, NOT_CANCELLED),
    (client_cancelled, GIVEN_UP, None),
    (client_cancelled, CANCELLED, NOT_CANCELLED),
    (client_cancelled, RpcError(-32603, "m"), NOT_CANCELLED),
    (client_closed, OFFERED, NOT_CANCELLED),
    (client_closed, GIVEN_UP, None),
    (client_closed, CANCELLED, NOT_CANCELLED),
]


@pytest.mark.parametrize(("situation", "answer", "finding"), ANSWERS)
def test_what_a_permission_answer_may_be(
    pair: Pair, wire: Any, situation: Any, answer: dict[str, Any] | RpcError, finding: tuple[str, str] | None
) -> None:
    """5.3, R-154, R-170, R-175, R-177, R-178: judged when sent and when received."""
    prompt = pair.prompt()
    permission = pair.permission("c1", title="t")
    situation(pair, prompt, permission)

    def send() -> object:
        if isinstance(answer, RpcError):
            return pair.client.respond_error(permission, answer)
        return pair.client.respond(permission, answer)

    if finding is not None and finding[0] == "violation":
        assert refused(send, pair, wire) == finding[1]
    members = {"error": answer.to_object()} if isinstance(answer, RpcError) else {"result": answer}
    pair.deliver(CLIENT, wire.line(id=permission, **members))
    assert [(who, v.severity, v.reason) for who, v in pair.found] == (
        [("agent", *finding), ("observer", *finding)] if finding else []
    )
    call = pair.agent.conversation.sessions["s1"].calls["c1"]
    granted = answer == OFFERED and situation is not agent_cancelled
    assert (call.permission_open, call.denied) == (0, not granted)


def test_an_answer_nobody_waits_for_is_a_response_to_nobody(pair: Pair, wire: Any) -> None:
    """A permission answer outside `awaiting_permission`: the id is not open."""
    pair.prompt()
    pair.deliver(CLIENT, wire.line(id=5, result=OFFERED))
    assert pair.reasons == [("agent", "response_unknown_id"), ("observer", "response_unknown_id")]


# -- cancel


def test_a_cancelled_turn_can_end_in_no_other_way(pair: Pair, wire: Any) -> None:
    """R-156, R-157: our own guard knows no way around it."""
    prompt = pair.prompt()
    pair.chunk()
    pair.cancel()

    def end(reason: str) -> Send:
        return partial(pair.agent.respond, prompt, {"stopReason": reason})

    for reason in ("end_turn", "max_tokens", "max_turn_requests", "refusal"):
        assert refused(end(reason), pair, wire) == "stop_reason_not_cancelled"
    for code in (-32800, -32603, -32000, -32600, 1):
        error = partial(pair.agent.respond_error, prompt, RpcError(code, "m"))
        assert refused(error, pair, wire) == "cancel_as_error"
    pair.end(prompt, "cancelled")
    assert pair.turn_states(prompt) == set()
    assert pair.found == []


def test_a_cancelled_turn_closes_its_calls_and_permissions_first(pair: Pair, wire: Any) -> None:
    """Ours: every announced call gets a final status before the answer."""
    prompt = pair.prompt()
    permission = pair.permission("c1", title="t")
    pair.cancel()
    end = partial(pair.agent.respond, prompt, {"stopReason": "cancelled"})
    assert refused(end, pair, wire) == "end_with_open_permission"
    pair.answer(CLIENT, permission, GIVEN_UP)
    assert refused(end, pair, wire) == "end_with_open_call"
    pair.update("tool_call_update", toolCallId="c1", status="failed")
    pair.end(prompt, "cancelled")
    assert pair.found == []


def test_a_peer_may_leave_calls_open_when_cancelled(pair: Pair, wire: Any) -> None:
    """T11: they become locally cancelled; no finding for a receiver."""
    prompt = pair.prompt()
    pair.update("tool_call", toolCallId="c1", title="t", status="in_progress")
    pair.cancel()
    pair.deliver(AGENT, wire.line(id=prompt, result={"stopReason": "cancelled"}))
    assert pair.found == []


def test_cancelled_needs_a_cancel(pair: Pair, wire: Any) -> None:
    """R-139, T11."""
    prompt = pair.prompt()
    end = partial(pair.agent.respond, prompt, {"stopReason": "cancelled"})
    assert refused(end, pair, wire) == "stop_reason_unasked"
    pair.deliver(AGENT, wire.line(id=prompt, result={"stopReason": "cancelled"}))
    assert [(who, v.severity, v.reason) for who, v in pair.found] == [
        ("client", "inferred", "stop_reason_unasked"),
        ("observer", "inferred", "stop_reason_unasked"),
    ]


def test_a_cancel_that_crosses_the_answer_lets_it_stand(pair: Pair, wire: Any) -> None:
    """R1, R2, R-161: only suspect from outside, and the next turn is not touched."""
    prompt = pair.prompt()
    answer = pair.agent.respond(prompt, {"stopReason": "end_turn"})
    cancel = pair.client.notify("session/cancel", {"sessionId": "s1"})
    pair.deliver(CLIENT, cancel)
    events = pair.deliver(AGENT, answer)
    assert [(who, v.severity, v.reason) for who, v in pair.found] == [
        ("client", "suspect", "stop_reason_not_cancelled"),
        ("observer", "suspect", "stop_reason_not_cancelled"),
    ]
    assert isinstance(events[-1], ResponseReceived)
    second = pair.prompt()
    turn = pair.agent.conversation.turn_of(second)
    assert turn is not None
    assert turn.cancel == set()
    pair.end(second)
    assert len(pair.found) == 2


def test_a_cancel_right_behind_its_prompt_finds_it(pair: Pair) -> None:
    """R3, R10: registered before anything else is read; no update at all is needed."""
    id_, prompt = pair.ask_line(CLIENT, "session/prompt", {"sessionId": "s1", "prompt": []})
    cancel = pair.client.notify("session/cancel", {"sessionId": "s1"})
    pair.deliver(CLIENT, prompt + cancel)
    pair.end(id_, "cancelled")
    assert pair.found == []


def test_a_question_that_crosses_the_cancel_is_answered_cancelled(pair: Pair, wire: Any) -> None:
    """R4: legal for the agent to have sent; but nothing new is asked once the cancel was read."""
    prompt = pair.prompt()
    permission, question = pair.ask_line(
        AGENT, "session/request_permission", wire.permission("c1", title="t")
    )
    pair.cancel()
    assert isinstance(pair.deliver(AGENT, question)[-1], RequestReceived)
    pair.answer(CLIENT, permission, GIVEN_UP)
    pair.update("tool_call_update", toolCallId="c1", status="failed")
    ask = partial(pair.agent.request, "session/request_permission", wire.permission("c2"))
    assert refused(ask, pair, wire) == "cancelled"
    pair.end(prompt, "cancelled")
    assert pair.found == []


def test_a_choice_before_the_cancel_stands(pair: Pair) -> None:
    """R5: both legal; the tool may have started."""
    prompt = pair.prompt()
    permission = pair.permission("c1", title="t")
    pair.choose(permission)
    pair.cancel()
    pair.update("tool_call_update", toolCallId="c1", status="in_progress")
    pair.update("tool_call_update", toolCallId="c1", status="failed")
    pair.end(prompt, "cancelled")
    assert pair.found == []


def test_cancelling_a_question_just_answered_is_ignored(pair: Pair) -> None:
    """R6: the id is no longer open."""
    pair.prompt()
    permission, answer = pair.permission("c1", title="t"), OFFERED
    line = pair.client.respond(permission, answer)
    withdrawal = pair.agent.notify("$/cancel_request", {"requestId": permission})
    pair.deliver(AGENT, withdrawal)
    pair.deliver(CLIENT, line)
    assert pair.found == []


def test_a_withdrawn_question_does_not_hold_up_the_end(pair: Pair) -> None:
    """R7: the turn ends before the answer, which is then taken without a word."""
    prompt = pair.prompt()
    permission = pair.permission("c1", title="t")
    pair.cancel()
    pair.tell(AGENT, "$/cancel_request", {"requestId": permission})
    pair.update("tool_call_update", toolCallId="c1", status="failed")
    pair.end(prompt, "cancelled")
    pair.answer(CLIENT, permission, GIVEN_UP)
    assert pair.found == []
    assert len(pair.agent.conversation.open[AGENT]) == 0


def test_both_cancels_at_once_end_as_the_stronger_one(pair: Pair, wire: Any) -> None:
    """R8, R11: `cancelled`, not -32800; a second cancel changes nothing."""
    prompt = pair.prompt()
    pair.tell(CLIENT, "$/cancel_request", {"requestId": prompt})
    pair.cancel()
    pair.cancel()
    error = partial(pair.agent.respond_error, prompt, CANCELLED)
    assert refused(error, pair, wire) == "cancel_as_error"
    pair.end(prompt, "cancelled")
    assert pair.found == []


@pytest.mark.parametrize("answer", [{"stopReason": "cancelled"}, CANCELLED])
def test_a_prompt_cancelled_by_its_id_ends_either_way(pair: Pair, answer: dict[str, Any] | RpcError) -> None:
    """R-169, T12."""
    prompt = pair.prompt()
    turn = pair.client.conversation.turn_of(prompt)
    pair.tell(CLIENT, "$/cancel_request", {"requestId": prompt})
    pair.answer(AGENT, prompt, answer)
    assert turn is not None
    assert turn.state == "cancelled"
    assert pair.found == []


def test_our_own_answer_to_a_prompt_cancelled_by_its_id_is_no_other_error(pair: Pair, wire: Any) -> None:
    """R-166: `cancelled` or -32800. A peer's failure may have crossed the cancel."""
    prompt = pair.prompt()
    pair.tell(CLIENT, "$/cancel_request", {"requestId": prompt})
    failure = RpcError(-32603, "m")
    assert refused(partial(pair.agent.respond_error, prompt, failure), pair, wire) == "cancel_as_error"
    pair.deliver(AGENT, wire.line(id=prompt, error={"code": -32603, "message": "m"}))
    assert pair.found == []


def test_a_peer_may_finish_a_prompt_cancelled_by_its_id(pair: Pair, wire: Any) -> None:
    """R-167: it may have been finished before the cancel was read."""
    prompt = pair.prompt()
    pair.tell(CLIENT, "$/cancel_request", {"requestId": prompt})
    pair.deliver(AGENT, wire.line(id=prompt, result={"stopReason": "end_turn"}))
    assert pair.found == []


def test_closing_a_session_cancels_its_turn_first(pair: Pair) -> None:
    """R9, R-072: the prompt gets `cancelled`, then close its result; then the session is as if unknown."""
    prompt = pair.prompt()
    close = pair.ask(CLIENT, "session/close", {"sessionId": "s1"})
    assert {session.status for session in pair.sessions() if session} == {SessionStatus.CLOSING}
    pair.chunk("last words")
    pair.end(prompt, "cancelled")
    pair.answer(AGENT, close, {})
    assert {session.status for session in pair.sessions() if session} == {SessionStatus.CLOSED}
    with pytest.raises(LocalProtocolError, match="no such session"):
        pair.prompt()
    with pytest.raises(LocalProtocolError, match="a session that was opened"):
        pair.chunk()
    assert pair.found == []


def test_a_late_completion_before_the_answer_is_legal(pair: Pair) -> None:
    """R12: the reason is still `cancelled`."""
    prompt = pair.prompt()
    pair.update("tool_call", toolCallId="c1", title="t", status="in_progress")
    pair.cancel()
    pair.update("tool_call_update", toolCallId="c1", status="completed")
    pair.chunk()
    pair.end(prompt, "cancelled")
    assert pair.found == []


@pytest.mark.parametrize(
    ("code", "severity"), [(-32800, "violation"), (-32603, "suspect"), (-32000, "suspect")]
)
def test_an_error_after_the_cancel_is_a_fault_or_a_crossing(
    pair: Pair, wire: Any, code: int, severity: str
) -> None:
    """R13, T13, R-157: the turn is cancelled all the same."""
    prompt = pair.prompt()
    turn = pair.client.conversation.turn_of(prompt)
    pair.cancel()
    pair.deliver(AGENT, wire.line(id=prompt, error={"code": code, "message": "m"}))
    assert [(who, v.severity, v.reason) for who, v in pair.found] == [
        ("client", severity, "cancel_as_error"),
        ("observer", severity, "cancel_as_error"),
    ]
    assert turn is not None
    assert turn.state == "cancelled"


def test_the_answer_to_a_cancelled_request_may_cross_a_cancel_of_the_turn(pair: Pair) -> None:
    """T12, R-167: the agent has read `$/cancel_request`, for which -32800 is the answer, and not yet the other one."""
    prompt = pair.prompt()
    pair.tell(CLIENT, "$/cancel_request", {"requestId": prompt})
    answer = pair.agent.respond_error(prompt, RpcError(-32800, "m"))
    pair.observer.observe(CLIENT, pair.client.notify("session/cancel", {"sessionId": "s1"}))
    pair.deliver(AGENT, answer)
    assert [(who, v.severity, v.reason) for who, v in pair.found] == [
        ("client", "suspect", "cancel_as_error"),
        ("observer", "suspect", "cancel_as_error"),
    ]


def test_a_cancel_while_a_session_is_being_made_has_nothing_to_cancel(pair: Pair) -> None:
    """R14: `session/cancel` is ignored; the request itself may be stopped or not."""
    load = pair.ask(CLIENT, "session/load", {"sessionId": "s9", "cwd": "/w", "mcpServers": []})
    pair.cancel("s9")
    pair.tell(CLIENT, "$/cancel_request", {"requestId": load})
    pair.answer(AGENT, load, {})
    new = pair.ask(CLIENT, "session/new", {"cwd": "/w", "mcpServers": []})
    pair.tell(CLIENT, "$/cancel_request", {"requestId": new})
    pair.answer(AGENT, new, CANCELLED)
    pair.prompt("s9")
    assert pair.found == []


@pytest.mark.parametrize("id_", [77, "77", None])
def test_cancelling_what_is_not_open_is_ignored(pair: Pair, id_: Any) -> None:
    """R-160, R-162, R-167: unknown and finished ids; unknown sessions."""
    prompt = pair.prompt()
    pair.tell(CLIENT, "$/cancel_request", {"requestId": id_})
    pair.tell(AGENT, "$/cancel_request", {"requestId": prompt})
    pair.cancel("never-heard-of")
    pair.end(prompt)
    pair.cancel()
    pair.tell(CLIENT, "$/cancel_request", {"requestId": prompt})
    pair.end(pair.prompt())
    assert pair.found == []


# -- 5.4 late messages


@pytest.mark.parametrize(("reason", "severity"), [("end_turn", "inferred"), ("cancelled", "violation")])
def test_an_update_after_the_answer_is_late(pair: Pair, wire: Any, reason: str, severity: str) -> None:
    """R-158 for a cancelled turn, R-135 for any other; never part of the next turn."""
    prompt = pair.prompt()
    if reason == "cancelled":
        pair.cancel()
    pair.end(prompt, reason)
    late = wire.update("agent_message_chunk", content=TEXT)
    assert refused(partial(pair.agent.notify, "session/update", late), pair, wire) == "update_late"
    events = pair.deliver(AGENT, wire.line(method="session/update", params=late))
    assert [(who, v.severity, v.reason) for who, v in pair.found] == [
        ("client", severity, "update_late"),
        ("observer", severity, "update_late"),
    ]
    assert not any(isinstance(event, NotificationReceived) for event in events)
    assert pair.turn_states(pair.prompt()) == {"pending"}


def test_a_late_question_is_refused(pair: Pair, wire: Any) -> None:
    """5.4: the client answers -32600 `no_active_turn`."""
    pair.end(pair.prompt())
    (violation,) = pair.deliver(
        AGENT, wire.line(id=8, method="session/request_permission", params=wire.permission())
    )
    reply = json.loads(violation.reply or b"")  # type: ignore[union-attr]
    assert (reply["id"], reply["error"]["code"]) == (8, -32600)
    assert reply["error"]["data"] == {"reason": "no_active_turn", "sessionId": "s1", "state": "done"}


def test_the_answer_to_a_question_of_an_ended_turn_is_no_fault_of_the_client(pair: Pair, wire: Any) -> None:
    """The agent was at fault; any answer is accepted."""
    prompt = pair.prompt()
    permission = pair.permission("c1", title="t")
    pair.deliver(AGENT, wire.line(id=prompt, result={"stopReason": "max_tokens"}))
    pair.found.clear()
    pair.client.respond(permission, OFFERED)
    pair.observer.observe(CLIENT, wire.line(id=permission, result=GIVEN_UP))
    assert pair.found == []


def test_a_second_answer_to_a_prompt_is_dropped(pair: Pair, wire: Any) -> None:
    """5.4."""
    prompt = pair.prompt()
    pair.end(prompt)
    events = pair.deliver(AGENT, wire.line(id=prompt, result={"stopReason": "end_turn"}))
    assert pair.reasons == [("client", "response_duplicate"), ("observer", "response_duplicate")]
    assert not any(isinstance(event, ResponseReceived) for event in events)
    assert (
        refused(partial(pair.agent.respond, prompt, {"stopReason": "end_turn"}), pair, wire)
        == "response_unknown_id"
    )


def test_a_turn_that_has_ended_stays_as_it_ended(pair: Pair, wire: Any) -> None:
    """An ended turn never becomes active."""
    prompt = pair.prompt()
    turns = [end.conversation.turn_of(prompt) for end in pair.ends.values()]
    pair.end(prompt)
    second = pair.prompt()
    pair.chunk()
    pair.cancel()
    pair.end(second, "cancelled")
    assert [turn.state for turn in turns if turn] == ["done", "done"]


# -- sessions


def test_no_session_is_named_before_its_answer(pair: Pair, wire: Any) -> None:
    """Our own guard: updates for a session come after the response that opens it."""
    new = pair.ask(CLIENT, "session/new", {"cwd": "/w", "mcpServers": []})
    commands = wire.update("available_commands_update", "s2", availableCommands=[])
    early = partial(pair.agent.notify, "session/update", commands)
    assert refused(early, pair, wire) == "update_session_unknown"
    read = partial(pair.agent.request, "fs/read_text_file", {"sessionId": "s2", "path": "/f"})
    assert refused(read, pair, wire) == "session_unknown"
    events = pair.deliver(AGENT, wire.line(method="session/update", params=commands))
    assert pair.reasons == [("client", "update_session_unknown"), ("observer", "update_session_unknown")]
    assert not any(isinstance(event, NotificationReceived) for event in events)
    pair.answer(AGENT, new, {"sessionId": "s2"})
    early()


def test_the_id_of_a_new_session_is_new(pair: Pair, wire: Any) -> None:
    """R-059: a second session of that id is a fault; the open one keeps its turn."""
    prompt = pair.prompt()
    new = pair.ask(CLIENT, "session/new", {"cwd": "/w", "mcpServers": []})
    again = partial(pair.agent.respond, new, {"sessionId": "s1"})
    assert refused(again, pair, wire) == "result_invalid"
    pair.deliver(AGENT, wire.line(id=new, result={"sessionId": "s1"}))
    assert pair.reasons == [("client", "result_invalid"), ("observer", "result_invalid")]
    pair.chunk()
    pair.end(prompt)
    assert len(pair.found) == 2
