"""`/new` and `/compact`: carried out by Bob, without the model for the first."""

from __future__ import annotations

from typing import Any

import pytest

from acp_agent.agent.commands import DESCRIPTIONS, carry_out, command_in
from acp_agent.agent.turn import PromptTurn
from acp_agent.llm.errors import ModelUnreachable


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/new", "new"),
        ("  /compact\n", "compact"),
        ("/new now", None),
        ("new", None),
        ("//new", None),
        ("/New", None),
        ("/", None),
        ("", None),
        ("say /new", None),
        ("/new/compact", None),
    ],
)
def test_a_command_is_the_whole_prompt(text: str, command: str | None) -> None:
    """Intercepted when the flattened prompt text, trimmed, is exactly the command."""
    assert command_in(text) == command


def test_what_is_advertised() -> None:
    """Names and descriptions, word for word."""
    assert DESCRIPTIONS == {
        "new": "Clear the history and start a new session",
        "compact": "Compress the history now, keeping the last turns",
    }


def talk(wired: Any, turns: int) -> None:
    for number in range(turns):
        wired.session.history.begin_turn(f"question {number}")
        wired.session.history.add_answer(f"answer {number}" * 50)
        wired.session.history.end_turn("")


def test_new_resets_the_history_and_keeps_what_is_allowed(kit: Any, wired: Any) -> None:
    """The history is the system prompt alone, the token count forgotten; grants are kept; the model is not asked."""

    async def scenario() -> None:
        talk(wired, 3)
        wired.session.input_tokens = 99
        wired.session.allowed.add("bash")
        model = kit.HandModel()
        assert (
            await carry_out("new", wired.session, wired.engine(model))
            == "🆕 New session: 6 message(s) forgotten."
        )
        assert wired.session.history.messages() == [{"role": "system", "content": "system"}]
        assert wired.session.input_tokens is None
        assert wired.session.allowed == {"bash"}
        assert model.asked == []
        assert wired.log.lines == ["session s1: new session, 6 message(s) forgotten"]

    kit.run(scenario())


def test_compact_says_what_came_of_it(kit: Any, wired: Any) -> None:
    """Compressed, nothing to do, failed: one line each, and the log has it too."""

    async def scenario() -> None:
        model = kit.HandModel([kit.text("in short"), kit.stop()], [ModelUnreachable("gone")])
        engine = wired.engine(model)
        said = await carry_out("compact", wired.session, engine)
        assert said == "🗜️ nothing to compact: 0 message(s), no turn older than the last 2"
        talk(wired, 5)
        wired.session.input_tokens = 1000
        said = await carry_out("compact", wired.session, engine)
        assert said.startswith("🗜️ compressed 6 messages → 1 summary + 4 kept (1000 → ")
        assert wired.session.input_tokens is None
        talk(wired, 2)
        before = wired.session.history.records()
        wired.session.input_tokens = 5
        said = await carry_out("compact", wired.session, engine)
        assert said == "[compact: failed, history kept: gone]"
        assert wired.session.history.records() == before
        assert wired.session.input_tokens == 5
        assert wired.log.lines[-1] == f"session s1: /compact — {said}"

    kit.run(scenario())


@pytest.mark.parametrize("text", ["/new", " /compact "])
def test_a_command_is_a_turn_like_others(kit: Any, wired: Any, text: str) -> None:
    """One chunk, then `end_turn`; the command itself is no part of the history."""

    async def scenario() -> None:
        wired.prompt()
        model = kit.HandModel()
        await PromptTurn("p1", wired.session, text, wired.peer, wired.engine(model)).run()
        wired.take()
        assert len(wired.updates) == 1
        assert wired.sent[-1]["result"] == {"stopReason": "end_turn"}
        assert len(wired.session.history) == 0
        assert model.asked == []

    kit.run(scenario())
