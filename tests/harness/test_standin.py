"""The stand-in: a correct agent with nothing in it, so that a client gets on until the script has its turn."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from acp_agent.harness.scenario import Offer
from acp_agent.harness.standin import StandIn
from acp_agent.harness.wire import Wire
from acp_agent.jsonrpc.errors import ErrorCode

MODES = {
    "currentModeId": "ask",
    "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}],
}
OPTION = {
    "id": "model",
    "name": "Model",
    "type": "select",
    "currentValue": "small",
    "options": [{"value": "small", "name": "Small"}, {"value": "large", "name": "Large"}],
}
EVERYTHING = Offer(
    capabilities={
        "loadSession": True,
        "auth": {"logout": {}},
        "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}},
    },
    auth_methods=({"id": "token", "name": "Token"},),
    modes=MODES,
    config_options=(OPTION,),
)


class Conversation:
    """A client that calls the stand-in. The Port."""

    def __init__(self, offer: Offer) -> None:
        self.sent: list[dict[str, Any]] = []
        self.wire = Wire(self)
        self.stand_in = StandIn(self.wire, offer)
        self._id = 0

    def post(self, data: bytes) -> None:
        self.sent.append(orjson.loads(data))

    async def flushed(self) -> None: ...

    async def fetched(self) -> None: ...

    def close_output(self) -> None: ...

    def line(self, data: bytes) -> dict[str, Any] | None:
        """What it says to a line, None for nothing."""
        before = len(self.sent)
        for heard in self.wire.feed(data):
            self.stand_in.take(heard)
        return self.sent[-1] if len(self.sent) > before else None

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        self._id += 1
        answer = self.line(
            orjson.dumps({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}) + b"\n"
        )
        assert answer is not None
        assert answer["id"] == self._id
        return answer


def opened(offer: Offer) -> Conversation:
    conversation = Conversation(offer)
    conversation.call("initialize", protocolVersion=1)
    return conversation


def test_a_whole_conversation_gets_legal_answers() -> None:
    """Nothing in it is refused, and what was offered is there to be set."""
    conversation = opened(EVERYTHING)
    session = conversation.call("session/new", cwd="/project", mcpServers=[])["result"]
    assert (session["modes"], session["configOptions"]) == (MODES, [OPTION])
    named = {"sessionId": session["sessionId"]}
    assert conversation.call("session/set_mode", **named, modeId="code")["result"] == {}
    chosen = conversation.call("session/set_config_option", **named, configId="model", value="large")
    assert chosen["result"]["configOptions"][0]["currentValue"] == "large"
    prompt = [{"type": "text", "text": "Hello."}]
    assert conversation.call("session/prompt", **named, prompt=prompt)["result"] == {"stopReason": "end_turn"}
    loaded = conversation.call("session/load", sessionId="old", cwd="/other", mcpServers=[])
    assert loaded["result"]["modes"] == MODES
    listed = conversation.call("session/list")["result"]["sessions"]
    assert [(one["sessionId"], one["cwd"]) for one in listed] == [
        ("session-1", "/project"),
        ("old", "/other"),
    ]
    for method in ("session/close", "session/delete"):
        assert conversation.call(method, sessionId="old")["result"] == {}
    assert conversation.call("authenticate", methodId="token")["result"] == {}


def test_it_advertises_what_the_scenario_offers_and_no_more() -> None:
    """The least an agent can be, unless it says otherwise."""
    hello = Conversation(Offer()).call("initialize", protocolVersion=1)["result"]
    assert (hello["agentCapabilities"], hello["authMethods"]) == ({}, [])
    assert Conversation(EVERYTHING).call("initialize", protocolVersion=1)["result"]["authMethods"] == [
        {"id": "token", "name": "Token"}
    ]


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"id": 9, "method": "session/list", "params": {}}, ErrorCode.METHOD_NOT_FOUND),
        ({"id": 9, "method": "_example.org/ask", "params": {}}, ErrorCode.METHOD_NOT_FOUND),
        ({"id": 9, "method": "session/new", "params": {}}, ErrorCode.INVALID_PARAMS),
    ],
)
def test_what_is_not_offered_or_wrong_is_refused(message: dict[str, Any], code: int) -> None:
    """As an agent owes it."""
    answer = opened(Offer()).line(orjson.dumps({"jsonrpc": "2.0", **message}) + b"\n")
    assert answer is not None
    assert (answer["id"], answer["error"]["code"]) == (9, code)


@pytest.mark.parametrize(
    ("line", "answered"),
    [
        (b"noise\n", True),
        (b"[]\n", True),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}\n', False),
        (b'{"jsonrpc":"2.0","method":"session/cancel","params":{}}\n', False),
        (b'{"jsonrpc":"2.0","method":"nobody/knows"}\n', False),
    ],
)
def test_lines_that_are_no_requests(line: bytes, answered: bool) -> None:
    """An error of no id for what cannot be read; nothing for answers and notifications."""
    answer = opened(Offer()).line(line)
    assert (answer is not None) is answered
    assert answer is None or (answer["id"], "error" in answer) == (None, True)


def test_a_client_that_asks_for_sessions_without_end_is_stopped() -> None:
    """Its memory is ours."""
    conversation = opened(Offer())
    answers = [conversation.call("session/new", cwd="/p", mcpServers=[]) for _ in range(1001)]
    assert all("result" in answer for answer in answers[:1000])
    assert "error" in answers[1000]
