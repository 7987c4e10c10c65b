"""What the fuzzer says of states and transitions is what the machines have, and what was seen of them."""

from __future__ import annotations

import json

from acp_agent.fuzzing.coverage import Coverage, measures, possible
from acp_agent.protocol.connection import Connection, Role
from acp_agent.protocol.machines.turn import TurnState
from acp_agent.protocol.methods import Side
from acp_agent.protocol.policy import Policy


def test_what_is_possible_is_what_the_tables_allow() -> None:
    """Every state can be reached, nothing leads out of a final one, and no edge leads nowhere."""
    edges = possible()
    assert {after for name, _, after in edges if name == "turn"} >= {str(s) for s in TurnState} - {"pending"}
    assert not [edge for edge in edges if edge[0] == "turn" and edge[1] in {"done", "cancelled", "failed"}]
    assert ("connection", "uninitialised", "ready") in edges
    assert ("tool call", "completed", "pending") not in edges


def test_a_conversation_is_measured_as_it_moves() -> None:
    """A turn that streams and ends: two states of the connection, three of the turn."""
    connection = Connection(Role.OBSERVER, Policy())
    coverage = Coverage(connection.conversation)
    text = {"type": "text", "text": "x"}
    chunk = {"sessionUpdate": "agent_message_chunk", "content": text}
    wire = [
        (Side.CLIENT, {"id": 0, "method": "initialize", "params": {"protocolVersion": 1}}),
        (Side.AGENT, {"id": 0, "result": {"protocolVersion": 1}}),
        (Side.CLIENT, {"id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}}),
        (Side.AGENT, {"id": 1, "result": {"sessionId": "s"}}),
        (Side.CLIENT, {"id": 2, "method": "session/prompt", "params": {"sessionId": "s", "prompt": [text]}}),
        (Side.AGENT, {"method": "session/update", "params": {"sessionId": "s", "update": chunk}}),
        (Side.AGENT, {"id": 2, "result": {"stopReason": "end_turn"}}),
    ]
    for side, message in wire:
        connection.observe(side, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        coverage.look()
    assert coverage.edges == {
        ("connection", "uninitialised", "uninitialised"),
        ("connection", "uninitialised", "ready"),
        ("turn", "pending", "pending"),
        ("turn", "pending", "streaming"),
        ("turn", "streaming", "done"),
    }
    measured = measures(coverage.edges)
    assert (measured["turn"].states, measured["turn"].transitions) == (3, 2)
    assert measured["turn"].states_possible == len(TurnState)
    assert measured["tool call"].states == 0
