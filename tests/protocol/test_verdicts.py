"""Verdicts: severities, slugs, and the error a refused request gets; docs/verdicts.md says the same."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from acp_agent.protocol import verdicts
from acp_agent.protocol.errors import STANDARD_TEXT
from acp_agent.protocol.verdicts import REASONS, Severity, Verdict, inferred, suspect, violation, warning

CHECKOUT = Path(__file__).resolve().parents[2]

# Slugs that are for whoever handles a request (an agent, a client, a harness), not for the core.
OF_HANDLERS = {"file_not_found", "auth_required"}


@pytest.mark.parametrize(
    ("make", "severity"),
    [
        (violation, Severity.VIOLATION),
        (inferred, Severity.INFERRED),
        (suspect, Severity.SUSPECT),
        (warning, Severity.WARNING),
    ],
)
def test_each_severity_has_its_maker(make: object, severity: Severity) -> None:
    """The where is what was given, by the names that `data` has."""
    verdict = make("turn_active", "sentence", sessionId="s", state="streaming")  # type: ignore[operator]
    assert verdict == Verdict(severity, "turn_active", "sentence", {"sessionId": "s", "state": "streaming"})


@pytest.mark.parametrize("reason", [reason for reason, code in REASONS.items() if code is not None])
def test_an_error_has_the_code_of_its_slug_and_a_standard_beginning(reason: str) -> None:
    """Section 6: `<standard text>: <sentence>`, the slug in `data.reason`, where it is beside it."""
    error = violation(reason, "one short sentence", method="m").to_error()
    assert error.code == REASONS[reason]
    assert error.message == f"{STANDARD_TEXT[error.code]}: one short sentence"
    assert error.data == {"reason": reason, "method": "m"}


def test_a_policy_may_choose_another_code() -> None:
    """-32002 or -32602 for an unknown session is not the protocol's to say."""
    error = violation("session_unknown", "no such session", code=-32602, sessionId="s").to_error()
    assert (error.code, error.message) == (-32602, "Invalid params: no such session")
    assert error.data == {"reason": "session_unknown", "sessionId": "s"}
    assert violation("session_unknown", "x", code=-1).to_error().message == "Error: x"


def test_a_slug_without_a_code_is_an_invalid_request_when_a_request_has_it() -> None:
    """A rule that is our reading is broken by a request that must be answered somehow."""
    assert REASONS["permission_not_awaited"] is None
    assert violation("permission_not_awaited", "x").to_error().code == -32600


def test_every_slug_that_is_made_is_in_the_table_and_every_one_in_the_table_is_made() -> None:
    """No typing error in a slug, and no slug that is only on paper."""
    made: set[str] = set()
    for path in [*(CHECKOUT / "acp_agent/protocol").glob("*.py"), CHECKOUT / "acp_agent/jsonrpc/messages.py"]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            # Those two name slugs to say what they mean, which makes none.
            names_them = path.name in {"verdicts.py", "rules.py"}
            if isinstance(node, ast.Constant) and node.value in REASONS and not names_them:
                made.add(node.value)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                is_maker = node.func.id in {"violation", "inferred", "suspect", "warning", "make"}
                first = node.args[0] if node.args else None
                if is_maker and isinstance(first, ast.Constant):
                    assert first.value in REASONS, f"{path.name}:{node.lineno}"
    assert made | OF_HANDLERS == REASONS.keys()


def test_the_page_about_verdicts_lists_every_slug_with_its_code() -> None:
    """docs/verdicts.md is held against the table."""
    page = (CHECKOUT / "docs/verdicts.md").read_text(encoding="utf-8")
    listed: dict[str, str] = {}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("| `"):
            listed[cells[0].strip("`")] = cells[1]
    assert listed == {reason: "-" if code is None else str(int(code)) for reason, code in REASONS.items()}


def test_all_makers_are_listed_here() -> None:
    """A new severity needs a maker and a test."""
    assert {severity.value for severity in Severity} <= set(vars(verdicts))
