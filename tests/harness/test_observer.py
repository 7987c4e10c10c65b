"""Everything the client sends is judged: what breaks which rule, what is only remarked, what the agent has caused."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from acp_agent.harness.observer import Observer, Seen
from acp_agent.jsonrpc.framing import LineTooLong
from acp_agent.protocol.rules import RULES

SESSION = "session-1"
PROMPT = {"sessionId": SESSION, "prompt": [{"type": "text", "text": "Hello."}]}


class Observed:
    """A connection up to its first prompt (id 2), observed from both ends."""

    def __init__(self, agent: dict[str, Any] | None = None, *, upto: int = 3) -> None:
        self.observer = Observer()
        self._number = 0
        agent = {"protocolVersion": 1, "agentCapabilities": agent or {}}
        steps = [
            (0, "initialize", {"protocolVersion": 1, "clientCapabilities": {"terminal": True}}, agent),
            (1, "session/new", {"cwd": "/project", "mcpServers": []}, {"sessionId": SESSION}),
            (2, "session/prompt", PROMPT, None),
        ]
        for id_, method, params, result in steps[:upto]:
            seen = self.client(id=id_, method=method, params=params)
            assert (seen.checks, seen.refusal) == ((), None)
            if result is not None:
                self.agent(id=id_, result=result)

    def agent(self, **message: Any) -> list[Any]:
        made = {"jsonrpc": "2.0", **message}
        self.observer.note_agent_message(made)
        return self.observer.sent(orjson.dumps(made) + b"\n")

    def client(self, **message: Any) -> Seen:
        return self.line(orjson.dumps({"jsonrpc": "2.0", **message}))

    def line(self, line: bytes) -> Seen:
        self._number += 1
        return self.observer.received(line, self._number)


def broken(seen: Seen) -> set[str]:
    return {check.rule for check in seen.checks if not check.ok}


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        (b"DEBUG starting", "R-006"),
        (b'{"jsonrpc":"2.0","method":"x"', "R-004"),
        (b'"\xff"', "R-001"),
        (b'{"id":9,"result":{}}', "R-013"),
        (b'{"jsonrpc":"2.0","id":501,"result":1,"error":{"code":1,"message":"x"}}', "R-014"),
        (b'{"jsonrpc":"2.0","id":501}', "R-014"),
        (b'{"jsonrpc":"2.0","id":{},"result":1}', "R-016"),
        (b'{"jsonrpc":"2.0","id":777,"result":{}}', "R-016"),
        (b'{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"x"}}', "R-015"),
        (b'{"jsonrpc":"2.0","id":5,"method":"session/dance","params":{}}', "R-250"),
    ],
)
def test_a_line_that_is_no_good_message_breaks_the_rule_it_is_about(line: bytes, rule: str) -> None:
    """With the number of the line, in words of ours."""
    seen = Observed().line(line)
    assert broken(seen) == {rule}
    assert [(check.expected, check.at) for check in seen.checks] == [(RULES[rule].sentence, 4)]


@pytest.mark.parametrize(
    ("method", "params", "rule"),
    [
        ("session/new", {"cwd": "project", "mcpServers": []}, "R-075"),
        ("session/new", {"cwd": "/project"}, "R-058"),
        ("session/load", {"sessionId": "x", "cwd": "/a", "mcpServers": []}, "R-060"),
        ("session/list", {}, "R-089"),
        ("session/set_mode", {"sessionId": SESSION, "modeId": "x"}, "R-108"),
        ("session/prompt", {"sessionId": "another", "prompt": []}, "R-074"),
        ("initialize", {"protocolVersion": 1}, "R-041"),
    ],
)
def test_an_illegal_request_breaks_its_rule_and_has_to_be_refused(
    method: str, params: dict[str, Any], rule: str
) -> None:
    """The stand-in gives it its error."""
    seen = Observed().client(id=9, method=method, params=params)
    assert broken(seen) == {rule}
    assert seen.refusal is not None


def test_a_prompt_over_a_running_turn_is_found_unless_it_was_cancelled() -> None:
    """R-316; the core lets prompts wait in a queue."""
    first = Observed()
    assert broken(first.client(id=3, method="session/prompt", params=PROMPT)) == {"R-316"}
    second = Observed()
    second.client(method="session/cancel", params={"sessionId": SESSION})
    assert broken(second.client(id=3, method="session/prompt", params=PROMPT)) == set()


def test_an_answer_that_does_not_fit_its_request_breaks_the_rule_of_the_method() -> None:
    """Whatever the client was asked."""
    observed = Observed()
    options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
    params = {"sessionId": SESSION, "toolCall": {"toolCallId": "t"}, "options": options}
    observed.agent(id=501, method="session/request_permission", params=params)
    observed.agent(id=502, method="terminal/create", params={"sessionId": SESSION, "command": "ls"})
    other = {"outcome": {"outcome": "selected", "optionId": "other"}}
    assert broken(observed.client(id=501, result=other)) == {"R-175"}
    assert broken(observed.client(id=502, result={})) == {"R-215"}


def test_a_choice_that_is_sent_after_the_cancel_is_found() -> None:
    """R-154: what was still open is cancelled, in the order of the client's own messages."""
    observed = Observed()
    call = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "A tool"}
    observed.agent(method="session/update", params={"sessionId": SESSION, "update": call})
    options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
    params = {"sessionId": SESSION, "toolCall": {"toolCallId": "t"}, "options": options}
    observed.agent(id=501, method="session/request_permission", params=params)
    observed.client(method="session/cancel", params={"sessionId": SESSION})
    chosen = {"outcome": {"outcome": "selected", "optionId": "yes"}}
    assert broken(observed.client(id=501, result=chosen)) == {"R-154", "R-177"}


@pytest.mark.parametrize("stranger", [["yes"], {"id": "yes"}, None, 7, "yes"])
def test_a_choice_beside_the_outcome_cancelled_is_no_choice(stranger: Any) -> None:
    """A member that the outcome does not have may be of any type; the tool is not allowed by it."""
    observed = Observed()
    call = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "A tool", "status": "pending"}
    observed.agent(method="session/update", params={"sessionId": SESSION, "update": call})
    options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
    params = {"sessionId": SESSION, "toolCall": {"toolCallId": "t"}, "options": options}
    observed.agent(id=501, method="session/request_permission", params=params)
    observed.client(method="session/cancel", params={"sessionId": SESSION})
    seen = observed.client(id=501, result={"outcome": {"outcome": "cancelled", "optionId": stranger}})
    assert broken(seen) <= {"R-249"}
    done = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "in_progress"}
    assert observed.agent(method="session/update", params={"sessionId": SESSION, "update": done})


def test_what_the_agent_has_caused_is_not_held_against_the_client() -> None:
    """A line that is no message may be answered with an error of no id, once."""
    observed = Observed()
    observed.observer.broken_lines_sent = 1
    error = {"code": -32700, "message": "Parse error"}
    assert broken(observed.client(id=None, error=error)) == set()
    assert broken(observed.client(id=None, error=error)) == {"R-015"}
    observed.observer.asked.add((str, "raw"))
    assert broken(observed.client(id="raw", result={})) == set()


def test_a_session_that_the_agent_has_named_is_one_until_it_is_closed() -> None:
    """An agent may claim a session in a way that the core does not take; closing it takes it back."""
    observed = Observed({"sessionCapabilities": {"close": {}}})
    observed.observer.note_agent_message({"id": 7, "result": {"sessionId": "claimed"}})
    claimed = {"sessionId": "claimed", "prompt": []}
    assert broken(observed.client(id=3, method="session/prompt", params=claimed)) == set()
    observed.agent(id=2, result={"stopReason": "end_turn"})
    observed.client(id=4, method="session/close", params={"sessionId": SESSION})
    observed.agent(id=4, result={})
    assert broken(observed.client(id=5, method="session/prompt", params=PROMPT)) == {"R-074"}


def test_a_warning_is_a_remark() -> None:
    """Nobody is blamed for what is not settled, or for a line too long for us."""
    observer = Observer()
    seen = observer.received(LineTooLong(limit=10), 0)
    assert (seen.checks, seen.event) == ((), None)
    assert "more than 10 bytes" in seen.remarks[0].sentence


def test_a_connection_is_ready_between_initialize_and_its_end() -> None:
    """Only then a client has to answer requests."""
    assert not Observer().is_ready
    observed = Observed(upto=1)
    assert observed.observer.is_ready
    assert observed.observer.client_capabilities == {"terminal": True}
    observed.observer.client_ended()
    observed.observer.agent_ended()
    assert not observed.observer.is_ready
