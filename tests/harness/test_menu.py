"""The harness in an editor: a person with the conforming client types commands and does what the harness asks for."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from acp_agent.harness.scenario import Step, choose, on_permission

# By its path: tests/conformance has another module of this name.
_PLACE = Path(__file__).resolve().parent
sys.path.insert(0, str(_PLACE))
_SPEC = importlib.util.spec_from_file_location("harness_raw_client", _PLACE / "raw_client.py")
assert _SPEC is not None
assert _SPEC.loader is not None
_MODULE = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_MODULE)
AgentGone, RawClient = _MODULE.AgentGone, _MODULE.RawClient
Message = dict[str, Any]


class Person(RawClient):
    """Starts the harness as an editor does, and talks to it. commands: of the menu, name -> description."""

    def __init__(self, report: Path, *options: str) -> None:
        agent = [sys.executable, "-P", "-m", "acp_agent.harness", "serve", "--report", str(report), *options]
        super().__init__(shlex.join(agent), "", str(report.parent))
        self.commands: dict[str, str] = {}
        self.asked = False
        self.reader = threading.Thread(target=self.read_lines, daemon=True)
        self.process = subprocess.Popen(agent, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.reader.start()
        self.initialize()
        self.new_session()

    def say(self, text: str, *plan: Step) -> str:
        """A prompt, and what the person does in its turn; returns all that the agent said in it."""
        self.plan = [dict(step) for step in plan]
        self.prompt(text)
        return "".join(self.texts)

    def on_permission(self, message: Message, params: Message) -> None:
        self.asked = True
        super().on_permission(message, params)

    def on_update(self, update: Message) -> None:
        if update.get("sessionUpdate") == "available_commands_update":
            self.commands = {one["name"]: one["description"] for one in update["availableCommands"]}
        super().on_update(update)

    def leave(self) -> int | None:
        """Close the client, however often."""
        self.end_agent()
        self.reader.join(10)
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()
        return self.process.returncode


Opener = Callable[..., Person]


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return tmp_path / "report"


@pytest.fixture
def open_editor(report: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opener]:
    """Starts the client and the harness in it; each call is another start."""
    monkeypatch.delenv("ACP_HARNESS_PLAN", raising=False)
    monkeypatch.delenv("ACP_HARNESS_DISPLAY", raising=False)
    people: list[Person] = []

    def start(*options: str, client: type[Person] = Person) -> Person:
        people.append(client(report, *options))
        return people[-1]

    yield start
    for person in people:
        person.leave()


def verdicts(text: str) -> dict[str, str]:
    """What the agent said of each scenario."""
    return {id_: verdict for verdict, id_ in re.findall(r"\*\*(pass|FAIL|not \w+)\*\* `([\w/-]+)`", text)}


def results(report: Path) -> dict[str, Any]:
    document = json.loads((report / "report.json").read_bytes())
    return {scenario["id"]: scenario for scenario in document["scenarios"]}


def test_the_menu_has_every_scenario_every_area_and_what_else_there_is(open_editor: Opener) -> None:
    """After a new session, without being asked."""
    person = open_editor("--scenario", "permission", "--scenario", "ids/strings")
    text = person.say("Hello?")
    assert {"all", "report", "stop", "permission", "ids", "ids-strings", "permission-reject"} <= set(
        person.commands
    )
    assert "framing" not in person.commands
    assert "Type `/` and choose" in text
    assert "Did you mean `/permission-reject`" in person.say("/permision-reject")
    assert "Nothing has been played yet." in person.say("/report")
    assert person.leave() == 0


def test_a_command_plays_its_scenario_and_the_verdict_is_said_in_its_turn(
    open_editor: Opener, report: Path
) -> None:
    """The person is told what to do; the report is there with the exchange and the raw record."""
    person = open_editor()
    text = person.say("/permission-cancel-while-open", on_permission("cancel"))
    assert text.index("👉 Press Stop while you are asked for permission") < text.index("✅ **pass**")
    assert (
        "permission/cancel-while-open pass" in person.say("/report") or "last:" in person.commands["report"]
    )
    person.leave()
    (result,) = results(report).values()
    assert (result["id"], result["verdict"]) == ("permission/cancel-while-open", "pass")
    assert (report / result["connections"][0]["trace"]).is_file()
    assert (report / "report.html").is_file()
    assert (report / "junit.xml").is_file()


def test_a_faulty_client_is_told_what_is_wrong(open_editor: Opener) -> None:
    """With the rule, what was expected, what was seen, and a word to whoever did something else."""

    class Faulty(Person):
        def answer_cancelled(self, message: Message) -> None:
            self.respond(message, {"outcome": {"outcome": "canceled"}})

    person = open_editor(client=Faulty)
    text = person.say("/permission-cancel-while-open", on_permission("cancel"))
    assert verdicts(text) == {"permission/cancel-while-open": "FAIL"}
    assert "- **R-154** (MUST) After session/cancel every open permission request" in text
    assert '"outcome":"canceled"' in text
    assert "play it again" in text
    assert "not conformant" in person.say("/report")


def test_what_the_person_does_not_do_is_not_exercised(open_editor: Opener) -> None:
    """The other way of answering a question is no fault of the client; `/stop` ends the waiting for the right one."""
    person = open_editor()
    content = person.prompt_content("/permission-cancel-while-open")
    asked = person.send_request("session/prompt", {"sessionId": person.session, "prompt": content})
    while not person.asked:
        person.pump(0.1)
    first = person.session
    person.new_session()
    assert "`permission/cancel-while-open` is called off" in person.say("/stop")
    assert person.answer_to(asked, 30.0)["stopReason"] == "end_turn"
    person.session = first
    again = person.say("/permission-cancel-while-open", on_permission("cancel"))
    assert verdicts(again) == {"permission/cancel-while-open": "pass"}


def test_an_area_without_a_task_is_one_turn(open_editor: Opener, report: Path) -> None:
    """Scenarios follow each other as long as none needs a prompt or a hand of its own."""
    person = open_editor()
    text = person.say("/ids")
    said = verdicts(text)
    assert {"ids/strings", "ids/whole-numbers", "ids/reused-after-completion"} <= set(said)
    assert set(said.values()) == {"pass"}
    assert person.turn == 1
    assert "Send any message to go on with `ids/" in text
    assert "Called off" in person.say("/stop")
    person.leave()
    assert set(results(report)) == set(said)


def test_scenarios_with_a_task_follow_each_other_prompt_by_prompt(open_editor: Opener) -> None:
    """Any message goes on, `/stop` does not."""
    person = open_editor("--scenario", "permission/cancel-while-open", "--scenario", "permission/reject")
    first = person.say("/all", on_permission("cancel"))
    assert verdicts(first) == {"permission/cancel-while-open": "pass"}
    assert "Send any message to go on with `permission/reject`" in first
    second = person.say("go on", choose("reject_once"))
    assert verdicts(second) == {"permission/reject": "pass"}
    assert "Type `/`" in person.say("go on")


def test_a_verdict_that_came_after_the_turn_is_said_in_the_next(open_editor: Opener) -> None:
    """An agent has no voice between turns."""
    person = open_editor("--scenario", "permission/turn-ends-while-open")
    text = person.say("/permission-turn-ends-while-open", on_permission("hold"))
    assert verdicts(text) == {}
    while "last:" not in person.commands.get("report", ""):
        person.pump(0.1)
    assert verdicts(person.say("And?")) == {"permission/turn-ends-while-open": "pass"}


def test_what_needs_the_agents_start_waits_for_it(open_editor: Opener, report: Path) -> None:
    """The next process of the agent plays it from its first byte, and is the menu again after it."""
    person = open_editor()
    assert "`handshake/first-turn` begins when the agent starts" in person.say("/handshake-first-turn")
    person.leave()
    person = open_editor()
    assert verdicts(person.say("Here I am.")) == {"handshake/first-turn": "pass"}
    assert "Type `/`" in person.say("What now?")
    assert "handshake-first-turn" in person.commands
    person.leave()
    assert results(report)["handshake/first-turn"]["verdict"] == "pass"


def test_a_scenario_that_is_named_is_played_from_the_first_byte(open_editor: Opener) -> None:
    """`serve --scenario ID`: each start of the agent plays it."""
    for _ in range(2):
        person = open_editor("--scenario", "handshake/first-turn")
        assert verdicts(person.say("Hello.")) == {"handshake/first-turn": "pass"}
        person.leave()


def test_an_agent_that_had_to_die_tells_its_verdict_in_its_next_life(open_editor: Opener) -> None:
    """How the client takes it is for the person to see; nothing is held against it here."""
    person = open_editor()
    with pytest.raises(AgentGone):
        person.say("/misbehaviour-dies-in-a-turn")
    person = open_editor()
    assert set(verdicts(person.say("Still there?"))) == {"misbehaviour/dies-in-a-turn"}


def test_another_session_waits_while_a_scenario_is_played(open_editor: Opener) -> None:
    """Editors have many threads on one agent; any of them can stop it."""
    person = open_editor()
    first = person.session
    content = person.prompt_content("/cancel-while-talking")
    asked = person.send_request("session/prompt", {"sessionId": first, "prompt": content})
    person.new_session()
    assert "`cancel/while-talking` is being played in another session" in person.say("/ids-strings")
    assert "called off" in person.say("/stop")
    assert person.answer_to(asked, 30.0)["stopReason"] == "end_turn"
    assert verdicts(person.say("/ids-strings"))["ids/strings"] == "pass"


def test_a_client_that_leaves_in_the_middle_leaves_a_report(open_editor: Opener, report: Path) -> None:
    """Closing the editor is an end like any other."""
    person = open_editor()
    person.send_request(
        "session/prompt",
        {"sessionId": person.session, "prompt": person.prompt_content("/cancel-while-talking")},
    )
    while not person.pump(0.1):
        pass
    assert person.leave() == 0
    assert results(report)["cancel/while-talking"]["verdict"] in {"fail", "not exercised"}
