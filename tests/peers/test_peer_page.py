"""docs/peers.md says what the reports say, with the message that proves it, and names no place of the machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from peer_page import COMMAND, PeerRun, page, read_causes

PROMPT = '{"method":"session/prompt"}'
ASKED = (
    '{"jsonrpc":"2.0","id":7,"method":"_x","params":{"cwd":"/tmp/acp-harness-abc1/acp-harness-files-x_2"}}'
)
ANSWERED = '{"jsonrpc":"2.0","id":8,"error":{"code":-32601,"message":"no"}}'


def check(ok: bool, at: int = -1, saw: str = "no answer", expected: str = "one answer") -> dict[str, Any]:
    return {"rule": "R-016", "ok": ok, "expected": expected, "saw": saw, "at": at, "life": 1}


def entry(number: int, sender: str, text: str) -> dict[str, Any]:
    label = "session/prompt" if text == PROMPT else ""
    return {"number": number, "sender": sender, "text": text, "label": label, "t": 0.0, "size": len(text)}


def scenario(
    id_: str, *checks: dict[str, Any], errors: tuple[str, ...] = (), output: str = ""
) -> dict[str, Any]:
    entries = [entry(0, "client", PROMPT), entry(1, "agent", ASKED), entry(2, "client", ANSWERED)]
    return {
        "id": id_,
        "rules": [{"rule": "R-016", "checks": list(checks)}],
        "errors": list(errors),
        "exit": {"output": output},
        "connections": [{"life": 1, "entries": entries}],
    }


def run_with(*scenarios: dict[str, Any], broken: tuple[str, ...] = ("R-016",)) -> PeerRun:
    verdict = "fail" if broken else "pass"
    report = {
        "harness": "1.2.3",
        "started": "2026-01-02T03:04:05Z",
        "counts": {"pass": 1, "fail": len(scenarios), "not exercised": 0, "not applicable": 2},
        "broken": list(broken),
        "conclusion": "not conformant",
        "rules": [
            {"id": "R-016", "tier": "MUST", "sentence": "Each request is answered.", "verdict": verdict}
        ],
        "scenarios": list(scenarios),
    }
    return PeerRun("some", "Some client", "some_client.py", {"some": "4.5"}, report)


def test_a_finding_has_its_rule_its_scenarios_and_the_messages_around_it() -> None:
    """The agent's messages before the evidence, and the evidence; the directory of the run is no fact."""
    bad = check(False, at=2, saw=ANSWERED)
    whole = page([run_with(scenario("a/one", check(True), bad), scenario("a/two", bad))], {})
    assert "### some: R-016, MUST\n\n> Each request is answered.\n" in whole
    assert "Found in `a/one`, `a/two`. In `a/one`:" in whole
    assert f"- seen: `{ANSWERED}`" in whole
    assert (
        f"agent  -> {ASKED.replace('/tmp/acp-harness-abc1/acp-harness-files-x_2', '/project')}\nclient -> {ANSWERED}\n"
        in whole
    )
    assert "some 4.5; harness 1.2.3, 2026-01-02, 5 scenarios" in whole


def test_of_evidence_that_is_no_message_the_turn_and_the_last_words_are_shown() -> None:
    """Of a client that has left, what it wrote last: often the exception that ended it."""
    output = "INFO: started\n\nTraceback:\n  File ...\nTypeError: unhashable type: 'dict'\n"
    whole = page([run_with(scenario("a/one", check(False, at=9), output=output))], {})
    asked = ASKED.replace("/tmp/acp-harness-abc1/acp-harness-files-x_2", "/project")
    told = f"agent  -> {asked}\nclient wrote: TypeError: unhashable type: 'dict'\n```"
    assert f"- expected: one answer\n- seen: no answer\n\n```text\n{told}" in whole


def test_what_was_expected_is_not_told_twice() -> None:
    """Where it is the rule's own sentence."""
    whole = page([run_with(scenario("a/one", check(False, expected="Each request is answered.")))], {})
    assert "Found in `a/one`:\n\n- seen: no answer\n" in whole


def test_long_evidence_is_cut() -> None:
    whole = page([run_with(scenario("a/one", check(False, saw="x" * 5000)))], {})
    assert f"- seen: {'x' * 400}...\n" in whole


def test_a_cause_stands_with_its_finding_and_no_other() -> None:
    finding = run_with(scenario("a/one", check(False)))
    causes = {"some": {"R-016": "It drops the id."}, "other": {"R-016": "Not this."}}
    whole = page([finding], causes)
    assert "\nIt drops the id.\n" in whole
    assert "Not this." not in whole


def test_the_table_has_a_line_for_each_client_and_no_finding_is_said() -> None:
    whole = page([run_with(broken=())], {})
    assert "| Some client | 1 | 0 | 0 | 2 | none | not conformant |" in whole
    assert "No rule was found broken." in whole


def test_a_fault_of_the_harness_is_told() -> None:
    whole = page([run_with(scenario("a/one", errors=("it broke",)), broken=())], {})
    assert "The harness itself broke down in a/one." in whole


def test_the_causes_are_about_clients_that_are_run(checkout: Path) -> None:
    """A cause whose client has another name now would be lost in silence."""
    source = (checkout / "tests" / "peers" / "run.py").read_text(encoding="utf-8")
    causes = read_causes(checkout / "tests" / "peers" / "causes.toml")
    assert [name for name in causes if f'"{name}":' not in source] == []


def test_the_page_shows_every_cause(checkout: Path) -> None:
    """A finding that is gone takes its cause with it; a new page is written by the command it names."""
    written = (checkout / "docs" / "peers.md").read_text(encoding="utf-8")
    causes = read_causes(checkout / "tests" / "peers" / "causes.toml")
    assert COMMAND in written
    for name, rules in causes.items():
        for rule, cause in rules.items():
            assert f"### {name}: {rule}," in written
            assert cause.strip() in written
