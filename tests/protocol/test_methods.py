"""The method table against one written by hand from the protocol."""

from __future__ import annotations

import pytest

from acp_agent.protocol import schema
from acp_agent.protocol.methods import METHODS, Kind, Method, Side, gate_is_open

# What each side handles; `!` marks a notification.
BY_HAND = {
    Side.AGENT: "initialize authenticate logout session/new session/load session/resume session/list session/delete"
    " session/close session/set_mode session/set_config_option session/prompt session/cancel!",
    Side.CLIENT: "session/update! session/request_permission fs/read_text_file fs/write_text_file terminal/create"
    " terminal/output terminal/wait_for_exit terminal/kill terminal/release elicitation/create elicitation/complete!",
    Side.BOTH: "$/cancel_request!",
}
GATES: dict[str, dict[str, object]] = {
    "logout": {"agentCapabilities": {"auth": {"logout": {}}}},
    "session/load": {"agentCapabilities": {"loadSession": True}},
    "session/resume": {"agentCapabilities": {"sessionCapabilities": {"resume": {}}}},
    "session/list": {"agentCapabilities": {"sessionCapabilities": {"list": {}}}},
    "session/delete": {"agentCapabilities": {"sessionCapabilities": {"delete": {}}}},
    "session/close": {"agentCapabilities": {"sessionCapabilities": {"close": {}}}},
    "fs/read_text_file": {"clientCapabilities": {"fs": {"readTextFile": True}}},
    "fs/write_text_file": {"clientCapabilities": {"fs": {"writeTextFile": True}}},
    **{
        f"terminal/{verb}": {"clientCapabilities": {"terminal": True}}
        for verb in ("create", "output", "wait_for_exit", "kill", "release")
    },
    "elicitation/create": {"clientCapabilities": {"elicitation": {"form": {}}}},
    "elicitation/complete": {"clientCapabilities": {"elicitation": {"url": {}}}},
}


def test_the_table_is_the_25_stable_methods_as_written_by_hand() -> None:
    """Requirement: the 25 stable methods with direction and kind."""
    table = {(method.name, method.handled_by, method.kind) for method in METHODS.values()}
    expected = {
        (name.rstrip("!"), side, Kind.NOTIFICATION if name.endswith("!") else Kind.REQUEST)
        for side, names in BY_HAND.items()
        for name in names.split()
    }
    assert table == expected
    assert len(table) == 25


@pytest.mark.parametrize("method", METHODS.values(), ids=str)
def test_params_and_result_name_bundled_definitions(method: Method) -> None:
    """A result goes with a request and only with one."""
    assert method.params in schema.definitions()
    assert (method.result in schema.definitions()) if method.is_request else method.result is None


@pytest.mark.parametrize("method", METHODS.values(), ids=str)
def test_a_gate_opens_with_its_own_capability_only(method: Method) -> None:
    """R-060, R-207, R-213, R-224 and their like: without the capability the method does not exist."""
    opens = GATES.get(method.name)
    assert gate_is_open(method, {}) == (opens is None)
    if opens is not None:
        assert gate_is_open(method, opens)
    for name, other in GATES.items():
        either_mode = method.name == "elicitation/create" and name == "elicitation/complete"
        assert gate_is_open(method, other) == (opens is None or other == opens or either_mode)


@pytest.mark.parametrize("value", [False, None, "true", 1, [], 0])
def test_only_true_or_an_object_opens_a_gate(value: object) -> None:
    """Booleans: only true counts. Switch objects: present and not null."""
    assert not gate_is_open(METHODS["session/load"], {"agentCapabilities": {"loadSession": value}})
    assert not gate_is_open(METHODS["session/load"], {"agentCapabilities": value})


def test_an_empty_elicitation_object_opens_nothing() -> None:
    """Unlike MCP, where {} stands for forms."""
    assert not gate_is_open(METHODS["elicitation/create"], {"clientCapabilities": {"elicitation": {}}})
    assert gate_is_open(METHODS["elicitation/create"], {"clientCapabilities": {"elicitation": {"url": {}}}})


def test_a_method_is_sent_by_the_side_that_does_not_handle_it() -> None:
    """A method in the other direction is an unknown one."""
    assert METHODS["session/prompt"].sent_by(Side.CLIENT)
    assert not METHODS["session/prompt"].sent_by(Side.AGENT)
    assert METHODS["session/update"].sent_by(Side.AGENT)
    assert METHODS["$/cancel_request"].sent_by(Side.AGENT)
    assert METHODS["$/cancel_request"].sent_by(Side.CLIENT)


def test_the_table_cannot_be_changed() -> None:
    """It is the one truth for both sides of a connection in one process."""
    with pytest.raises(TypeError):
        METHODS["x"] = METHODS["logout"]  # type: ignore[index]
    with pytest.raises(AttributeError):
        METHODS["logout"].name = "x"  # type: ignore[misc]
