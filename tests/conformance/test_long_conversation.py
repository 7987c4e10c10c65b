"""A conversation one lives with: 200 turns, compressed, saved, killed, loaded; and sessions of 10,000 messages.

The deepest promises about sessions, over the real process: the model gets a valid history each time, nothing that was
answered is lost, a client that does not read costs no more than the limit says.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import settings
from kept_sessions import SESSIONS, directory, load, model_config, next_call, stored, usage
from model_server import ModelCall, ModelServer
from raw_client import Agent, Message, waiting

# By Hypothesis profile, as the store's own test of kills: few while one works, 200 in every full run.
KILLS = {50: 40, 100: 200, 1_000: 200}.get(settings().max_examples, 5_000)

TURNS = 200
KEPT_TURNS = 3
TOO_LONG = {"error": {"message": "maximum context length is 10 tokens", "code": "context_length_exceeded"}}


# -- a long conversation


class LongTalk:
    """A model and a user who talk for long. remembered: what the model has to be sent before the next question."""

    def __init__(self, model: ModelServer) -> None:
        self._model = model
        self.remembered: list[Message] = []
        self.compressed = 0
        self.session = ""

    def turn(self, bob: Agent, number: int) -> None:
        """No round of tools, one or two; now and then a rejection, an overflow, a failure, a cancel."""
        question = {"role": "user", "content": f"question {number} " + "q" * 200}
        prompt = bob.prompt(self.session, question["content"])
        turn: list[Message] = [question]
        for _ in range(number % 3):
            call = self._asked(turn)
            call.text(f"round of {number}")
            call.tool("bash", {"command": f"echo {number}; exit {number % 2}"}, "same", 0)
            call.tool("no_such_tool", {"n": number}, f"other{number}", 1)
            call.finish("tool_calls")
            bob.choose(bob.permission(), "reject" if number % 7 == 0 else "allow")
        call = self._asked(turn)
        if number % 29 == 28:
            call.refuse("400 Bad Request", TOO_LONG)
            self._summarise(next_call(self._model), turn)
            call = self._asked(turn)
        answer = f"answer {number} " + "a" * 200
        if number % 23 == 22:
            call.refuse("500 Oops", {"error": {"message": "tired"}})
            assert "tired" in bob.answer(prompt)["error"]["message"]
            self.remembered += turn if len(turn) > 1 else []  # a question without any answer is forgotten
            return
        call.text(answer)
        self.remembered += [*turn, {"role": "assistant", "content": answer}]
        if number % 17 == 16:
            bob.until(lambda message: answer in str(message))
            bob.cancel(self.session)
            assert bob.answer(prompt)["result"] == {"stopReason": "cancelled"}
            call.wait_gone()
            return
        usage(call, len(json.dumps(call.messages)) // 4)
        call.finish()
        assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}

    def compact(self, bob: Agent) -> None:
        """The command, with something to compress."""
        prompt = bob.prompt(self.session, "/compact")
        self._summarise(next_call(self._model), [])
        assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}

    def _asked(self, turn: list[Message]) -> ModelCall:
        """The next request to go on; what came of the tools since the last one is added to the turn."""
        call = next_call(self._model)
        if "tools" not in call.body:
            self._summarise(call, [])
            call = next_call(self._model)
        known = [*self.remembered, *turn]
        assert call.messages[1 : 1 + len(known)] == known
        new = call.messages[1 + len(known) :]
        assert [one["role"] for one in new] in ([], ["assistant", "tool", "tool"])
        turn += new
        return call

    def _summarise(self, call: ModelCall, turn: Sequence[Message]) -> None:
        assert "tools" not in call.body
        self.compressed += 1
        summary = f"summary {self.compressed}"
        starts = [
            at for at, one in enumerate(self.remembered) if (one["content"] or "").startswith("question ")
        ]
        kept = self.remembered[starts[len(starts) - KEPT_TURNS + len(turn[:1])] :]
        self.remembered = [{"role": "user", "content": summary}, *kept]
        call.text(summary).finish()

    def updates(self) -> int:
        """How many updates a replay takes: each text of user and model, each call with its result."""
        return sum(
            bool(one["content"]) + len(one.get("tool_calls", ()))
            for one in self.remembered
            if one["role"] in {"user", "assistant"}
        )


def test_a_long_conversation_is_saved_compressed_loaded_and_continued(
    start: Callable[..., Agent], own_model: ModelServer, tmp_path: Path
) -> None:
    """200 turns with tools in several processes, some of which are killed: each request to the model is a valid
    history, and exactly what was said before or its summary."""
    context = f"[context]\nthreshold = 2500\nkeepLastTurns = {KEPT_TURNS}\n"
    config = model_config(own_model, SESSIONS + context)
    talk = LongTalk(own_model)
    bob = start(config)
    bob.initialize()
    talk.session = bob.new_session(tmp_path)
    for number in range(TURNS):
        talk.turn(bob, number)
        if number % 60 == 59:
            talk.compact(bob)
        messages = stored(tmp_path, talk.session)["messages"][1:]
        assert [(one["role"], one["content"]) for one in messages] == [
            (one["role"], one["content"]) for one in talk.remembered
        ]
        if number % 25 == 24:
            bob.assert_clean()
            if number % 2:
                bob.kill()
            else:
                assert bob.end() == 0
            bob = start(config)
            bob.initialize()
            assert load(bob, talk.session, tmp_path)["result"] == {}
            assert len(bob.updates(talk.session)) == talk.updates()
    assert talk.compressed > 10
    bob.assert_clean()


# -- killed at any instant

SCRIPT = """\
[[rule]]
regex = 'say (\\d+) (\\d+)'
[[rule.reply]]
parts = [ { text = "{1} " }, { text = "x", times = "{2}" } ]

[[rule]]
default = true
[[rule.reply]]
parts = [ { text = "summary" } ]
"""

State = tuple[str, ...]


def after(state: State, op: str) -> State:
    """What a session holds, as the numbers that were said, when it has done one thing more."""
    if op == "/new":
        return ()
    if op == "/compact":
        said = [one for one in state if one != "summary"]
        return ("summary", *said[-2:]) if len(said) > 2 else state
    return (*state, op.split()[1])


def state_of(messages: list[Message]) -> State:
    """The same from a stored session, each answer whole."""
    state: list[str] = []
    rest = iter(messages[1:])
    for question in rest:
        if question.get("summary"):
            assert question["content"] == "summary"
            state.append("summary")
            continue
        _, number, size = question["content"].split()
        assert next(rest)["content"] == f"{number} " + "x" * int(size)
        state.append(number)
    return tuple(state)


@pytest.mark.timeout(60 + 5 * KILLS)
def test_a_kill_at_any_instant_leaves_valid_sessions_no_older_than_the_last_answer(tmp_path: Path) -> None:
    """By kill -9 at random instants of an agent that writes: turns of all sizes, /new and /compact, sessions that are
    just being made. Each file is valid; each session stands where its client saw it, or at something sent after."""
    chance = random.Random(KILLS)
    script = tmp_path / "script.toml"
    script.write_text(SCRIPT)
    config = tmp_path / "bob.toml"
    config.write_text(f'[model]\nprovider = "scripted"\nscript = "{script}"\n{SESSIONS}')
    session, state, number = "", (), 0
    apart: set[State] = set()
    for _ in range(KILLS):
        bob = Agent(config, stderr=tmp_path / "stderr", judged=False)
        try:
            bob.initialize()
            params = {"cwd": str(tmp_path), "mcpServers": []}
            if not session or chance.random() < 0.2:
                before = set(directory(tmp_path).glob("*.json"))
                new = bob.request("session/new", params)
                if chance.random() < 0.5:
                    time.sleep(chance.random() * 0.003)
                    killed(bob)
                    for answer in bob.answers(new):
                        state_of(stored(tmp_path, answer["result"]["sessionId"])["messages"])
                    for path in set(directory(tmp_path).glob("*.json")) - before:
                        assert state_of(stored(tmp_path, path.stem)["messages"]) == ()
                    continue
                session, state = bob.answer(new)["result"]["sessionId"], ()
            else:
                assert load(bob, session, tmp_path)["result"] == {}
            ops, ids = [], []
            for _ in range(12):
                number += 1
                size = chance.choice([0, 10, 1000, 50_000, 300_000])
                ops.append(chance.choice([f"say {number} {size}"] * 4 + ["/new", "/compact"]))
                ids.append(bob.prompt(session, ops[-1]))
            bob.answer(ids[chance.randrange(4)])
            time.sleep(chance.random() * 0.01)  # the random instant
            killed(bob)
            seen = sum(bool(bob.answers(id_)) for id_ in ids)
        finally:
            bob.kill()
        states = [state]
        for op in ops:
            if op == "/new" and states[-1]:
                apart.add(states[-1])
            states.append(after(states[-1], op))
        state = state_of(stored(tmp_path, session)["messages"])
        assert state in states[seen:]
        others = set(directory(tmp_path).glob("*.json")) - {directory(tmp_path) / f"{session}.json"}
        for path in others:
            state_of(stored(tmp_path, path.stem)["messages"])
    assert "warning" not in (tmp_path / "stderr").read_text()


def killed(bob: Agent) -> None:
    """Kill it, and read what it had written; its last line may be half a one."""
    os.kill(bob.process.pid, signal.SIGKILL)
    with contextlib.suppress(AssertionError):
        bob.exit_code()
    assert bob.process.wait() == -signal.SIGKILL


# -- ten thousand messages

MESSAGES = 10_000
LENGTH = 3_000
LIMIT = 1 << 20
ID = "20260822-093000-0123abcd"


def written(cwd: Path) -> None:
    """A stored session of so many messages."""
    directory(cwd).mkdir(parents=True)
    messages: list[Message] = [{"role": "system", "content": "then"}]
    for number in range(MESSAGES // 4):
        function = {"name": "bash", "arguments": json.dumps({"command": f"echo {number}"})}
        call = {"id": f"c{number}", "type": "function", "function": function}
        messages += [
            {"role": "user", "content": f"q{number} " + "x" * LENGTH},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "y" * LENGTH},
            {"role": "assistant", "content": f"a{number} " + "z" * LENGTH},
        ]
    moment = "2026-08-22T09:30:00Z"
    document = {"version": 1, "id": ID, "cwd": str(cwd), "created": moment, "updated": moment}
    (directory(cwd) / f"{ID}.json").write_text(json.dumps(document | {"messages": messages}))


def at_rest(bob: Agent) -> None:
    """Wait until the agent does nothing more: it waits for its client."""
    quiet, last = 0, -1
    for _ in waiting():
        fields = Path(f"/proc/{bob.process.pid}/stat").read_text().rpartition(")")[2].split()
        used = int(fields[11]) + int(fields[12])
        quiet = quiet + 1 if fields[0] == "S" and used == last else 0
        last = used
        if quiet == 40:
            return
    raise AssertionError("the agent goes on and on")


def test_a_client_that_stalls_while_it_loads_costs_no_more_than_the_limit(
    start: Callable[..., Agent], tmp_path: Path
) -> None:
    """10,000 stored messages, some 35 MB on the wire: an agent whose client does not read needs what one needs whose
    client does, and what may wait in between; when the client reads at last, everything comes, in order."""
    written(tmp_path)
    params = {"sessionId": ID, "cwd": str(tmp_path), "mcpServers": []}
    config = f"{SESSIONS}[limits]\nmaxOutboxBytes = {LIMIT}\n"
    reading = start(config)
    reading.initialize()
    assert reading.call("session/load", params)["result"] == {}
    at_rest(reading)
    needed_kib = reading.rss_kib
    assert reading.end() == 0
    stalled = start(config)
    stalled.initialize()
    at_rest(stalled)
    # Its own measure, which a fault of both can't shift: the conversation in memory takes less than twice its file.
    file_kib = (directory(tmp_path) / f"{ID}.json").stat().st_size >> 10
    allowed_kib = stalled.rss_kib + 2 * file_kib + (LIMIT >> 10)
    loading = stalled.request("session/load", params, while_reading=False)
    at_rest(stalled)
    assert not stalled.answers(loading)
    assert stalled.rss_kib < min(allowed_kib, needed_kib + (LIMIT >> 10) + 2048)
    assert stalled.answer(loading)["result"] == {}
    at_rest(stalled)
    assert stalled.rss_kib < needed_kib + (LIMIT >> 10) + 2048
    for bob in (reading, stalled):
        updates = bob.updates(ID)
        assert len(updates) == MESSAGES * 3 // 4
        numbers = [
            one["content"]["text"].split()[0]
            if "content" in one and isinstance(one["content"], dict)
            else one["toolCallId"]
            for one in updates
        ]
        assert numbers == [f"{kind}{number}" for number in range(MESSAGES // 4) for kind in "qca"]
        bob.assert_clean()
