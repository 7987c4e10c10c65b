"""What is held against an agent, and what is not: bytes of both sides in the order of the wire, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from acp_agent.fuzzing.judge import Judge

TEXT = {"type": "text", "text": "x"}
CLIENT, AGENT = "client", "agent"
Written = tuple[str, Any]

INITIALIZE: list[Written] = [
    (CLIENT, {"id": 0, "method": "initialize", "params": {"protocolVersion": 1, "clientCapabilities": {}}}),
    (AGENT, {"id": 0, "result": {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}}}),
]
OPENED: list[Written] = [
    *INITIALIZE,
    (CLIENT, {"id": 1, "method": "session/new", "params": {"cwd": "/w", "mcpServers": []}}),
    (AGENT, {"id": 1, "result": {"sessionId": "s"}}),
]
PROMPTED: list[Written] = [
    *OPENED,
    (CLIENT, {"id": 2, "method": "session/prompt", "params": {"sessionId": "s", "prompt": [TEXT]}}),
]
CANCEL: Written = (CLIENT, {"method": "session/cancel", "params": {"sessionId": "s"}})
PING: list[Written] = [
    (CLIENT, {"id": 3, "method": "_ping", "params": {}}),
    (AGENT, {"id": 3, "error": {"code": -32601, "message": "no"}}),
]
ENDED: Written = (AGENT, {"id": 2, "result": {"stopReason": "end_turn"}})
FAILED: Written = (AGENT, {"id": 2, "error": {"code": -32603, "message": "cancelled"}})
ASKED: Written = (
    AGENT,
    {
        "id": 0,
        "method": "session/request_permission",
        "params": {
            "sessionId": "s",
            "toolCall": {"toolCallId": "c"},
            "options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"}],
        },
    },
)
ANSWERED: Written = (CLIENT, {"id": 0, "result": {"outcome": {"outcome": "cancelled"}}})


def update(kind: str, **members: Any) -> Written:
    params = {"sessionId": "s", "update": {"sessionUpdate": kind, **members}}
    return AGENT, {"method": "session/update", "params": params}


def judged(*written: Written) -> Judge:
    """A judge that has seen all of this. A message that is bytes is written as it is."""
    judge = Judge()
    for sender, message in written:
        data = message
        if not isinstance(message, bytes):
            data = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        (judge.client_wrote if sender == CLIENT else judge.agent_wrote)(data)
    return judge


def rules(*written: Written) -> list[str]:
    return [finding.rule for finding in judged(*written).findings]


def test_a_plain_conversation_has_no_finding_and_is_legal() -> None:
    """Lines may come in any slices."""
    judge = judged(*PROMPTED, update("agent_message_chunk", content=TEXT), ENDED)
    assert (judge.findings, judge.own) == ([], [])
    assert judge.messages == 7
    assert {"R-016", "R-132", "R-059"} <= judge.tried


@pytest.mark.parametrize(
    ("written", "rule"),
    [
        ([(AGENT, b"INFO ready\n")], "R-005"),
        ([(AGENT, b'{"jsonrpc":"2.0","x":"\xff"}\n')], "R-001"),
        ([(AGENT, b"{\n")], "R-004"),
        ([(AGENT, b"[]\n")], "R-009"),
        ([(AGENT, b'{"id":9,"result":{}}\n')], "R-013"),
        ([(AGENT, {"id": 9, "result": {}})], "R-016"),
        ([(AGENT, {"id": None, "result": {}})], "R-015"),
        ([(AGENT, {"id": None, "error": {"code": -32700, "message": "x"}})], "R-320"),
        ([update("future")], "R-019"),
        ([update("plan", entries=[{"content": "x"}])], "R-199"),
        ([update("agent_message_chunk", content=TEXT, extra=1)], "R-249"),
        ([update("agent_message_chunk", content=TEXT, _meta=[])], "R-246"),
        ([update("tool_call", toolCallId="c", title="x", locations=[{"path": "x"}])], "R-193"),
        (
            [(AGENT, {"id": 5, "method": "fs/read_text_file", "params": {"sessionId": "s", "path": "/x"}})],
            "R-207",
        ),
        (
            [(AGENT, {"id": 5, "method": "terminal/create", "params": {"sessionId": "s", "command": "x"}})],
            "R-213",
        ),
        ([(AGENT, {"id": 2, "result": {"stopReason": "stop"}})], "R-137"),
        ([ENDED, update("agent_message_chunk", content=TEXT)], "R-135"),
    ],
)
def test_what_an_agent_does_wrong_is_laid_to_its_rule(written: list[Written], rule: str) -> None:
    """In the middle of a turn."""
    assert rules(*PROMPTED, *written)[:1] == [rule]


@pytest.mark.parametrize("ending", [ENDED, FAILED])
def test_the_end_of_a_cancelled_turn_may_have_crossed_the_cancel(ending: Written) -> None:
    """Nobody can tell."""
    assert rules(*PROMPTED, CANCEL, ending) == []


@pytest.mark.parametrize(("ending", "rule"), [(ENDED, "R-156"), (FAILED, "R-157")])
def test_it_cannot_have_crossed_when_something_later_was_answered_before(ending: Written, rule: str) -> None:
    """The agent has read past the cancel."""
    assert rules(*PROMPTED, CANCEL, *PING, ending) == [rule]


@pytest.mark.parametrize(("ending", "rule"), [(ENDED, "R-156"), (FAILED, "R-157")])
def test_it_cannot_have_crossed_when_the_turn_waited_for_the_client(ending: Written, rule: str) -> None:
    """What ended it is the cancel."""
    call = update("tool_call", toolCallId="c", title="x")
    done = update("tool_call_update", toolCallId="c", status="failed")
    assert rules(*PROMPTED, call, ASKED, CANCEL, ANSWERED, done, ending) == [rule]


def test_no_tool_begins_after_a_cancel_that_was_read() -> None:
    """R-155; before it was read one may."""
    call = update("tool_call", toolCallId="c", title="x")
    done = (AGENT, {"id": 2, "result": {"stopReason": "cancelled"}})
    assert rules(*PROMPTED, CANCEL, call, *PING) == []
    assert rules(*PROMPTED, CANCEL, *PING, call, done) == ["R-155"]


@pytest.mark.parametrize(
    ("broken", "answer"),
    [
        (b"{\n", {"id": None, "error": {"code": -32700, "message": "x"}}),
        (b'{"id":7,"method":"session/new"}\n', {"id": 7, "error": {"code": -32600, "message": "x"}}),
        (b'[{"jsonrpc":"2.0","id":8,"method":"_x"}]\n', {"id": 8, "error": {"code": -32601, "message": "x"}}),
        (b'{"jsonrpc":"2.0","id":2,"method":"_x"}\n', {"id": 2, "error": {"code": -32600, "message": "x"}}),
    ],
)
def test_what_our_own_broken_lines_lead_to_is_excused_once(broken: bytes, answer: dict[str, Any]) -> None:
    """A line that is no message, an envelope without its version, a batch, an id that is in use."""
    judge = judged(*PROMPTED, (CLIENT, broken), (AGENT, answer))
    assert judge.own != []
    assert judge.findings == []


def test_a_session_that_a_broken_message_was_about_is_judged_less_strictly() -> None:
    """Whether an agent runs a prompt that is not valid is not known; its form is judged all the same."""
    broken: Written = (
        CLIENT,
        {"id": 2, "method": "session/prompt", "params": {"sessionId": "s", "prompt": "x"}},
    )
    late = update("agent_message_chunk", content=TEXT)
    assert rules(*OPENED, broken, late) == []
    assert rules(*OPENED, late) == ["R-135"]
    assert rules(*OPENED, broken, update("future")) == ["R-019"]


@pytest.mark.parametrize(
    ("request_", "answer", "rule"),
    [
        ({"method": "session/new", "params": {"cwd": "/w", "mcpServers": []}}, -32602, "R-320"),
        ({"method": "session/new", "params": {"cwd": "/w", "mcpServers": []}}, -32601, "R-039"),
        ({"method": "session/new", "params": {"cwd": "w", "mcpServers": []}}, {"sessionId": "t"}, "R-020"),
        (
            {"method": "session/load", "params": {"sessionId": "t", "cwd": "/", "mcpServers": []}},
            -32601,
            "R-319",
        ),
        ({"method": "session/prompt", "params": {"sessionId": "s", "prompt": [TEXT]}}, -32602, "R-128"),
        ({"method": "_own", "params": {}}, -32603, "R-252"),
        ({"method": "ping", "params": {}}, {}, "R-252"),
    ],
)
def test_what_an_answer_means(request_: dict[str, Any], answer: Any, rule: str) -> None:
    """Legal requests are served, impossible ones refused, unknown ones known as such."""
    body = {"error": {"code": answer, "message": "x"}} if isinstance(answer, int) else {"result": answer}
    assert rules(*OPENED, (CLIENT, {"id": 5, **request_}), (AGENT, {"id": 5, **body})) == [rule]


def test_a_session_that_does_not_exist_is_not_served() -> None:
    """R-070."""
    asked = {"id": 5, "method": "session/prompt", "params": {"sessionId": "t", "prompt": [TEXT]}}
    assert rules(*OPENED, (CLIENT, asked), (AGENT, {"id": 5, "result": {"stopReason": "end_turn"}})) == [
        "R-070"
    ]
    assert (
        rules(*OPENED, (CLIENT, asked), (AGENT, {"id": 5, "error": {"code": -32002, "message": "x"}})) == []
    )


def test_half_of_a_surrogate_pair_may_be_refused() -> None:
    """One reader replaces it, another one cannot."""
    text = {"type": "text", "text": "\ud83d"}
    asked = {"id": 5, "method": "session/prompt", "params": {"sessionId": "s", "prompt": [text]}}
    assert (
        rules(*OPENED, (CLIENT, asked), (AGENT, {"id": 5, "error": {"code": -32602, "message": "x"}})) == []
    )


def test_a_terminal_that_is_left_is_a_finding_at_the_end_unless_a_turn_was_cut_off() -> None:
    """R-221: whoever is ended in the middle of a turn cannot put it in order any more."""
    capable = {"protocolVersion": 1, "clientCapabilities": {"terminal": True}}
    begin: list[Written] = [(CLIENT, {"id": 0, "method": "initialize", "params": capable}), *PROMPTED[1:]]
    terminal: list[Written] = [
        (AGENT, {"id": 5, "method": "terminal/create", "params": {"sessionId": "s", "command": "x"}}),
        (CLIENT, {"id": 5, "result": {"terminalId": "t"}}),
    ]
    for written, expected in (([*begin, *terminal, ENDED], ["R-221"]), ([*begin, *terminal], [])):
        judge = judged(*written)
        judge.client_ended()
        judge.agent_ended()
        assert [finding.rule for finding in judge.findings] == expected
