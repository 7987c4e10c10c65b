"""The bad clients are enough and say what they are: each fault that was seen in the field, each group of scenarios.

That each is caught where it says, and nowhere else, is for test_matrix.py.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any, Final

import pytest

from acp_agent.harness.catalogue import all_scenarios
from acp_agent.protocol.rules import RULES

BAD_CLIENTS: Final = sorted((Path(__file__).resolve().parents[1] / "bad_clients").glob("*.py"))
ANYWHERE: Final = "*"

FIELD_FAULTS: Final = {
    "B001": "updates of a session are dropped until the answer to session/new has been handled",
    "B002": "an update before the answer to session/new leaves the client in its start-up",
    "B004": "the end of a turn is handled before the updates that came before it",
    "B006": "nothing is served while a request waits for its answer",
    "B007": "updates that come while no turn runs are dropped",
    "B009": "a list of commands is kept for another session than its own",
    "B011": "the result of a load must carry what it need not carry",
    "B012": "the prompt that was typed is never sent",
    "B014": "the outcome of a permission is misspelt when the turn is cancelled",
    "B016": "an answer is matched to the active prompt, not to the id",
    "B017": "the next prompt is sent over a running turn, without a cancel",
    "B019": "a stopped turn that ends with an error is taken for a crash",
    "B021": "a cancelled turn is put down as a completed one",
    "B022": "updates between the cancel and the end of the turn are dropped",
    "B024": "choices of one kind are collapsed into one",
    "B026": "a refusal is answered as if the turn had been cancelled",
    "B027": "without settings the client approves by itself",
    "B029": "an update of the tool call closes the question about it",
    "B031": "permissions that are open at once overwrite each other",
    "B032": "a permission request is not shown and not answered",
    "B034": "the agent's death is not noticed while a permission is open",
    "B036": "an update of an unknown kind fails the turn",
    "B037": "notifications are answered",
    "B039": "null is not taken for absent",
    "B041": "capabilities that are left out fail the start",
    "B042": "escapes in method names are not read",
    "B044": "a tool call that is announced again loses what it had",
    "B046": "text of no characters breaks the screen",
    "B047": "an unknown terminal makes an update be thrown away",
    "B049": "a mode counts as set only when an update says so",
    "B051": "a file is served as it was, not as it is",
    "B052": "a missing file is read as an empty one",
    "B054": "writing a file is a stub",
    "B056": "a file is served in the name of another session",
    "B057": "terminals are a stub",
    "B059": "output is cut at the wrong end or within a character",
    "B061": "what becomes of a terminal after its release",
    "B062": "commands outlive their terminal, and waiting for one blocks",
    "B064": "long lines break the connection",
    "B066": "slices of a line are decoded one by one",
    "B067": "coding and line ends are those of the platform",
    "B069": "malformed lines and responses are answered, or end the client",
    "B071": "answering a request disturbs the counter of one's own ids",
    "B072": "ids come back with another type, or zero is none",
    "B074": "a dead agent is kept",
    "B076": "the agent's process is left behind",
    "B077": "the agent's standard error is not read",
    "B079": "arguments, variables and directory of a program are not what they should be",
    "B081": "reading stalls after a burst",
    "B082": "methods are called that were not advertised",
    "B084": "a failed load leaves half a session behind",
    "B086": "the data of an error is not read",
    "B087": "a prompt is repeated because of an error that asks for a login",
    "B089": "a client that can run terminals does not say so",
    "B091": "content is sent that was not advertised",
    "B092": "long sessions fill the memory",
}
"""Faults of real clients, each with the number that it has in our notes; a bad client names those that it shows."""

NOT_SHOWN_BY_ANY_CLIENT: Final = {
    "B027": "what a client answers without settings is its own affair: permission/default-policy only notes it",
    "B089": "what a client could do and does not say, its agent cannot know",
    "B092": "the memory of a client is not in sight of its agent",
}


def constants_of(path: Path) -> dict[str, Any]:
    """The constants of a bad client that are literals, without running it."""
    found = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                continue
    return found


CONSTANTS: Final = {path.stem: constants_of(path) for path in BAD_CLIENTS}


@pytest.mark.parametrize("path", BAD_CLIENTS, ids=[path.stem for path in BAD_CLIENTS])
def test_a_bad_client_says_what_is_wrong_with_it_and_what_that_breaks(path: Path) -> None:
    """One defect in a sentence; at least one scenario that has to catch it; scenarios and rules that there are."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    assert docstring.startswith("Defect: ")
    assert docstring.endswith(".")
    breaks = CONSTANTS[path.stem]["BREAKS"]
    scenarios = {scenario.id for scenario in all_scenarios()}
    assert set(breaks) - {ANYWHERE} <= scenarios
    assert set(breaks) - {ANYWHERE}
    assert all(rules and set(rules) <= set(RULES) for rules in breaks.values())


def test_every_group_of_scenarios_catches_a_bad_client() -> None:
    """A group that catches nobody might as well not look."""
    caught = {id_.partition("/")[0] for known in CONSTANTS.values() for id_ in known["BREAKS"]}
    assert {scenario.area for scenario in all_scenarios()} <= caught


def test_every_fault_from_the_field_is_shown_by_a_bad_client_or_says_why_not() -> None:
    """And none is both."""
    shown = {fault for known in CONSTANTS.values() for fault in known.get("FIELD_FAULTS", ())}
    assert shown <= set(FIELD_FAULTS)
    assert set(FIELD_FAULTS) - shown == set(NOT_SHOWN_BY_ANY_CLIENT)


def test_there_are_bad_clients_enough() -> None:
    """The promise is sixty."""
    assert len(BAD_CLIENTS) >= 60
