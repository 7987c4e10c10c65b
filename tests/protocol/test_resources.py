"""Terminals, elicitations and compactions, and the capabilities that gate them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from acp_agent.jsonrpc.errors import RpcError
from acp_agent.protocol.errors import LocalProtocolError
from acp_agent.protocol.events import NotificationReceived, RequestReceived, StreamEnded
from acp_agent.protocol.methods import Side, declares

if TYPE_CHECKING:
    from conftest import Pair

AGENT, CLIENT = Side.AGENT, Side.CLIENT
TEXT = {"type": "text", "text": ""}


@pytest.mark.parametrize(
    ("capabilities", "declared"),
    [
        ({"a": {"b": True}}, True),
        ({"a": {"b": {}}}, True),
        ({"a": {"b": {"c": 1}}}, True),
        ({"a": {"b": False}}, False),
        ({"a": {"b": None}}, False),
        ({"a": {}}, False),
        ({"a": None}, False),
        ({}, False),
        ({"a": True}, False),
    ],
)
def test_a_capability_is_on_when_it_is_true_or_an_object(
    capabilities: dict[str, Any], declared: bool
) -> None:
    """R-036: absent and null mean no, `{}` means yes."""
    assert declares(capabilities, ("a", "b")) is declared


# -- terminals


def create(pair: Pair, terminal_id: str = "t1", session_id: str = "s1") -> None:
    pair.do(AGENT, "terminal/create", {"sessionId": session_id, "command": "c"}, {"terminalId": terminal_id})


USES = {
    "terminal/output": {"output": "", "truncated": False},
    "terminal/wait_for_exit": {"exitCode": 0},
    "terminal/kill": {},
    "terminal/release": {},
}


@pytest.mark.parametrize("method", USES.keys())
def test_a_terminal_is_used_after_it_was_created_and_before_its_release(
    pair: Pair, wire: Any, method: str
) -> None:
    """R-222: afterwards, and for an id of another session, -32002."""
    params = {"sessionId": "s1", "terminalId": "t1"}

    def refused(receiver_is: str = "client") -> None:
        with pytest.raises(LocalProtocolError, match="no such terminal"):
            pair.agent.request(method, params)
        pair.found.clear()
        (violation,) = pair.deliver(AGENT, wire.line(id="raw", method=method, params=params))
        assert violation.verdict.to_error().code == -32002  # type: ignore[union-attr]
        assert pair.reasons == [("client", "terminal_unknown"), ("observer", "terminal_unknown")]
        pair.observer.observe(CLIENT, wire.line(id="raw", error={"code": -32002, "message": "m"}))
        pair.found.clear()

    pair.new_session("s2")
    refused()
    create(pair)
    pair.do(AGENT, method, params, USES[method])
    assert pair.found == []
    if method != "terminal/release":
        pair.do(AGENT, method, params, USES[method])
        pair.do(AGENT, "terminal/release", params, {})
    refused()
    create(pair, "t2", "s2")
    params["terminalId"] = "t2"
    refused()


def test_a_wait_may_stay_open_across_the_release_and_the_end_of_the_turn(pair: Pair) -> None:
    """Answered all the same."""
    prompt = pair.prompt()
    create(pair)
    params = {"sessionId": "s1", "terminalId": "t1"}
    wait = pair.ask(AGENT, "terminal/wait_for_exit", params)
    pair.end(prompt)
    pair.do(AGENT, "terminal/release", params, {})
    pair.answer(CLIENT, wait, {"signal": "SIGKILL"})
    assert pair.found == []


def test_an_embedded_terminal_was_created_before(pair: Pair, wire: Any) -> None:
    """R-194; it stays embedded after its release."""
    pair.prompt()
    content = [{"type": "terminal", "terminalId": "t1"}]
    embed = wire.update("tool_call", toolCallId="c1", title="t", content=content)
    with pytest.raises(LocalProtocolError, match="embedded terminal"):
        pair.agent.notify("session/update", embed)
    create(pair)
    pair.tell(AGENT, "session/update", embed)
    pair.do(AGENT, "terminal/release", {"sessionId": "s1", "terminalId": "t1"}, {})
    pair.update("tool_call_update", toolCallId="c1", content=content)
    assert pair.found == []
    pair.update("tool_call_update", toolCallId="c1", status="completed")


def test_an_unreleased_terminal_is_told_at_the_end_of_the_agents_stream(pair: Pair) -> None:
    """K11, R-221: by whoever sees the agent end; the client's own end proves nothing."""
    create(pair, "t1")
    create(pair, "t2")
    pair.do(AGENT, "terminal/release", {"sessionId": "s1", "terminalId": "t1"}, {})
    for end in (pair.client.receive(b""), pair.observer.observe(AGENT, b"")):
        assert [event.verdict.where for event in end[:-1]] == [{"sessionId": "s1", "terminalId": "t2"}]  # type: ignore[union-attr]
        assert end[0].verdict.reason == "terminal_not_released"  # type: ignore[union-attr]
        assert isinstance(end[-1], StreamEnded)
    assert pair.agent.receive(b"") == [StreamEnded(())]


def test_an_unreleased_terminal_is_told_when_its_session_is_closed(pair: Pair, wire: Any) -> None:
    """R-221: our own agent can't answer the close before."""
    create(pair)
    close = pair.ask(CLIENT, "session/close", {"sessionId": "s1"})
    with pytest.raises(LocalProtocolError, match="releases every terminal"):
        pair.agent.respond(close, {})
    pair.deliver(AGENT, wire.line(id=close, result={}))
    assert pair.reasons == [("client", "terminal_not_released"), ("observer", "terminal_not_released")]


def test_a_terminal_answered_after_its_session_was_closed_is_no_crash(pair: Pair) -> None:
    """The session may be closed, loaded, and forgotten again while the call is open."""
    call = pair.ask(AGENT, "terminal/create", {"sessionId": "s1", "command": "c"})
    pair.do(CLIENT, "session/close", {"sessionId": "s1"}, {})
    load = pair.ask(CLIENT, "session/load", {"sessionId": "s1", "cwd": "/w", "mcpServers": []})
    pair.answer(AGENT, load, RpcError(-32002, "gone"))
    pair.answer(CLIENT, call, {"terminalId": "t1"})
    assert pair.found == []
    assert pair.sessions() == [None, None, None]


# -- elicitations

FORM: dict[str, Any] = {
    "mode": "form",
    "message": "m",
    "requestedSchema": {"type": "object", "properties": {}},
}
URL: dict[str, Any] = {"mode": "url", "message": "m", "elicitationId": "e1", "url": "https://example.org"}
OWN: dict[str, Any] = {"mode": "_own", "message": "m"}


@pytest.mark.parametrize(
    ("advertised", "params", "reason", "code"),
    [
        ({"form": {}}, FORM, None, None),
        ({"url": {}}, URL, None, None),
        ({"form": {}}, URL, "mode_not_supported", -32602),
        ({"url": {}, "form": None}, FORM, "mode_not_supported", -32602),
        ({"form": {}, "url": {}}, OWN, "mode_not_supported", -32602),
        ({}, FORM, "capability_missing", -32601),
        (None, FORM, "capability_missing", -32601),
    ],
)
def test_an_elicitation_uses_a_mode_that_was_advertised(
    make_pair: Callable[..., Pair],
    wire: Any,
    advertised: Any,
    params: dict[str, Any],
    reason: str | None,
    code: int,
) -> None:
    """R-224, R-225."""
    pair = make_pair()
    pair.initialise(client={} if advertised is None else {"elicitation": advertised})
    pair.new_session()
    params = {**params, "sessionId": "s1"}
    events = pair.deliver(AGENT, wire.line(id=9, method="elicitation/create", params=params))
    if reason is None:
        assert pair.found == []
        return
    error = events[0].verdict.to_error()  # type: ignore[union-attr]
    assert (error.code, error.data["reason"]) == (code, reason)
    with pytest.raises(LocalProtocolError):
        pair.agent.request("elicitation/create", params)


@pytest.mark.parametrize(
    ("scope", "reason"),
    [
        ({"sessionId": "s1"}, None),
        ({"sessionId": "s1", "toolCallId": "c"}, None),
        ({"requestId": "open"}, None),
        ({"requestId": "answered"}, "params_invalid"),
        ({"requestId": 5}, "params_invalid"),
        ({"sessionId": "s1", "requestId": "open"}, "params_invalid"),
        ({}, "params_invalid"),
        ({"sessionId": "gone"}, "session_unknown"),
        ({"sessionId": None, "requestId": "open"}, "params_invalid"),
    ],
)
def test_an_elicitation_is_about_one_session_or_one_open_request(
    pair: Pair, wire: Any, scope: dict[str, Any], reason: str | None
) -> None:
    """R-227, D-18."""
    open_ = pair.ask(CLIENT, "_long", {})
    names = {"open": open_, "answered": 0}
    scope = {key: names.get(value, value) if key == "requestId" else value for key, value in scope.items()}
    events = pair.deliver(AGENT, wire.line(id=9, method="elicitation/create", params={**FORM, **scope}))
    assert [v.reason for who, v in pair.found if who == "client"][-1:] == ([reason] if reason else [])
    assert isinstance(events[-1], RequestReceived) is (reason is None)


def test_completing_needs_the_url_mode(make_pair: Callable[..., Pair], wire: Any) -> None:
    """The gate of `elicitation/complete`; before `initialize` it is early first of all."""
    pair = make_pair()
    complete = wire.line(method="elicitation/complete", params={"elicitationId": "e"})
    pair.client.request("initialize", {"protocolVersion": 1})
    pair.deliver(AGENT, complete)
    assert pair.reasons == [("client", "not_initialised"), ("observer", "not_initialised")]
    pair = make_pair()
    pair.initialise(client={"elicitation": {"form": {}}})
    pair.deliver(AGENT, complete)
    assert pair.reasons == [("client", "capability_missing"), ("observer", "capability_missing")]
    with pytest.raises(LocalProtocolError, match="not advertised"):
        pair.agent.notify("elicitation/complete", {"elicitationId": "e"})


def test_an_elicitation_id_is_free_again_when_it_is_over(pair: Pair, wire: Any) -> None:
    """R-240, R-239: accept is consent, not completion; decline, cancel, an error and `complete` are the end."""
    params = {**URL, "sessionId": "s1"}

    def in_use() -> bool:
        try:
            pair.agent.request("elicitation/create", params)
        except LocalProtocolError as error:
            return error.verdict.reason == "elicitation_duplicate"
        return False

    for answer in ({"action": "decline"}, {"action": "cancel"}, {"action": "_own"}, RpcError(-32603, "m")):
        pair.answer(CLIENT, pair.ask(AGENT, "elicitation/create", params), answer)
    pair.answer(CLIENT, pair.ask(AGENT, "elicitation/create", params), {"action": "accept"})
    assert in_use()
    pair.tell(AGENT, "elicitation/complete", {"elicitationId": "unheard-of"})
    assert in_use()
    pair.tell(AGENT, "elicitation/complete", {"elicitationId": "e1"})
    pair.tell(AGENT, "elicitation/complete", {"elicitationId": "e1"})
    assert not in_use()
    assert pair.found == []


# -- gated updates


@pytest.mark.parametrize(
    "update",
    [
        {"sessionUpdate": "notice", "severity": "info", "title": "t"},
        {"sessionUpdate": "compaction_update", "compactionId": "k", "status": "in_progress"},
        {"sessionUpdate": "compaction_summary_chunk", "compactionId": "k", "content": TEXT},
        {
            "sessionUpdate": "config_option_update",
            "configOptions": [{"id": "o", "name": "O", "type": "boolean", "currentValue": True}],
        },
    ],
)
def test_gated_updates_need_the_clients_capability(
    make_pair: Callable[..., Pair], wire: Any, update: dict[str, Any]
) -> None:
    """R-113, R-147, R-150: ours is not sent, a peer's is dropped."""
    pair = make_pair()
    pair.initialise(client={})
    pair.new_session()
    params = {"sessionId": "s1", "update": update}
    with pytest.raises(LocalProtocolError) as caught:
        pair.agent.notify("session/update", params)
    assert caught.value.verdict.reason == "update_ungated"
    events = pair.deliver(AGENT, wire.line(method="session/update", params=params))
    assert {reason for _, reason in pair.reasons} == {"update_ungated"} | (
        {"compaction_order"} if update["sessionUpdate"] == "compaction_summary_chunk" else set()
    )
    assert not any(isinstance(event, NotificationReceived) for event in events)


def test_a_compaction_begins_goes_on_and_ends_once(pair: Pair, wire: Any) -> None:
    """R-151."""

    def step(status: str) -> dict[str, Any]:
        return wire.update("compaction_update", compactionId="k", status=status)  # type: ignore[no-any-return]

    chunk = wire.update("compaction_summary_chunk", compactionId="k", content=TEXT)

    def refused(params: dict[str, Any]) -> None:
        with pytest.raises(LocalProtocolError) as caught:
            pair.agent.notify("session/update", params)
        assert caught.value.verdict.reason == "compaction_order"

    refused(chunk)
    pair.tell(AGENT, "session/update", step("in_progress"))
    pair.tell(AGENT, "session/update", chunk)
    pair.tell(AGENT, "session/update", step("in_progress"))
    pair.tell(AGENT, "session/update", step("completed"))
    refused(chunk)
    refused(step("in_progress"))
    refused(step("failed"))
    assert pair.found == []
