"""Modes and config options: what is on offer, and what may be set."""

from __future__ import annotations

from typing import Any

import pytest

from acp_agent.protocol.offers import (
    judge_options,
    judge_set_mode,
    judge_set_option,
    note_options,
    note_setup,
)
from acp_agent.protocol.sessions import Session, SessionStatus

MODES = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "A"}, {"id": "code", "name": "C"}]}
SELECT = {
    "id": "model",
    "name": "M",
    "type": "select",
    "currentValue": "a",
    "options": [{"value": "a", "name": "A"}],
}
GROUPS = {
    "id": "grouped",
    "name": "G",
    "type": "select",
    "currentValue": "x",
    "options": [
        {"group": "g", "name": "G", "options": [{"value": "x", "name": "X"}]},
        {"group": "h", "name": "H", "options": []},
    ],
}
EMPTY = {"id": "empty", "name": "E", "type": "select", "currentValue": "", "options": []}
SWITCH = {"id": "web", "name": "W", "type": "boolean", "currentValue": True}


def session(**result: Any) -> Session:
    made = Session("s", SessionStatus.OPEN)
    note_setup(made, result)
    return made


def test_the_setup_result_says_what_is_on_offer() -> None:
    """R-104, R-109: absent and null are none."""
    made = session(modes=MODES, configOptions=[SELECT, GROUPS, EMPTY, SWITCH])
    assert made.modes == {"ask", "code"}
    assert made.options == {"model": {"a"}, "grouped": {"x"}, "empty": set(), "web": None}
    for result in ({}, {"modes": None, "configOptions": None}, {"configOptions": []}):
        made = session(**result)
        assert (made.modes, made.options) == (None, None)


def test_a_newer_list_is_the_whole_list() -> None:
    """R-124, R-125: also when it is empty; and an update may be the first list."""
    made = session(configOptions=[SELECT])
    note_options(made, [SWITCH])
    assert made.options == {"web": None}
    note_options(made, [])
    assert made.options == {}
    made = session()
    note_options(made, [SELECT])
    assert made.options == {"model": {"a"}}


@pytest.mark.parametrize(
    ("mode", "finding"),
    [("code", None), ("other", ("params_invalid", -32602)), ("", ("params_invalid", -32602))],
)
def test_a_mode_is_one_of_the_available_ones(mode: str, finding: Any) -> None:
    """R-106."""
    found = list(judge_set_mode(session(modes=MODES), {"sessionId": "s", "modeId": mode}))
    assert [(v.reason, v.to_error().code) for v in found] == ([finding] if finding else [])


def test_without_modes_or_options_there_is_nothing_to_set() -> None:
    """R-108: -32601."""
    (verdict,) = judge_set_mode(session(), {"modeId": "ask"})
    assert (verdict.reason, verdict.to_error().code) == ("capability_missing", -32601)
    (verdict,) = judge_set_option(session(), {"configId": "model", "value": "a"}, certain=True)
    assert (verdict.reason, verdict.to_error().code) == ("capability_missing", -32601)


@pytest.mark.parametrize(
    ("params", "pointer"),
    [
        ({"configId": "model", "value": "a"}, None),
        ({"configId": "model", "value": "a", "type": "id"}, None),
        ({"configId": "model", "value": "a", "type": []}, None),
        ({"configId": "model", "value": "b"}, "/value"),
        ({"configId": "model", "value": "a", "type": "boolean"}, "/value"),
        ({"configId": "model", "value": True, "type": "boolean"}, "/value"),
        ({"configId": "grouped", "value": "x"}, None),
        ({"configId": "grouped", "value": "g"}, "/value"),
        ({"configId": "empty", "value": ""}, "/value"),
        ({"configId": "web", "value": False, "type": "boolean"}, None),
        ({"configId": "web", "value": "false", "type": "boolean"}, "/value"),
        ({"configId": "web", "value": "false"}, "/value"),
        ({"configId": "other", "value": "a"}, "/configId"),
    ],
)
@pytest.mark.parametrize("certain", [True, False])
def test_a_value_is_one_of_its_option_and_of_its_kind(
    params: dict[str, Any], pointer: str | None, certain: bool
) -> None:
    """R-123; to an observer a newer list may have crossed, so it is only suspect."""
    made = session(configOptions=[SELECT, GROUPS, EMPTY, SWITCH])
    found = list(judge_set_option(made, params, certain=certain))
    assert [verdict.where["path"] for verdict in found] == ([pointer] if pointer else [])
    assert {verdict.severity for verdict in found} <= {"violation" if certain else "suspect"}


def test_boolean_options_are_for_clients_that_know_them() -> None:
    """R-113: in every payload that has options."""
    capable = {"session": {"configOptions": {"boolean": {}}}}
    for client in (
        {},
        {"session": {"configOptions": {"boolean": None}}},
        {"session": {"configOptions": None}},
    ):
        assert [v.reason for v in judge_options([SELECT, SWITCH], client, "s")] == ["update_ungated"]
    assert list(judge_options([SELECT, SWITCH], capable, "s")) == []
    assert list(judge_options([SELECT], {}, "s")) == []
    assert list(judge_options(None, {}, "s")) == []
