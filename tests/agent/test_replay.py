"""The replay of a stored conversation: one update for each thing said or done, in order, as it was live."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, overload

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_agent.agent.replay import replay
from acp_agent.agent.tool_calls import ToolCalls
from acp_agent.jsonrpc.codec import decode, encode
from acp_agent.llm.model import ToolCallReady
from acp_agent.protocol import schema, validation
from acp_agent.protocol.connection import Connection, Role
from acp_agent.protocol.events import NotificationReceived, RequestReceived, ResponseReceived
from acp_agent.protocol.policy import Policy
from acp_agent.tools.builtin import default_tools

CWD = Path("/home/ada/project")
TOOLS = default_tools(environ={}, bash_timeout_s=9, bash_max_output_bytes=99)


def call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def bash(call_id: str, command: str = "ls") -> dict[str, Any]:
    return call(call_id, "bash", json.dumps({"command": command}))


def answer(*calls: dict[str, Any], text: str | None = None) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **({"tool_calls": list(calls)} if calls else {})}


def result(call_id: str, output: str, **marks: bool) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": output, **marks}


def said(text: str, **marks: bool) -> dict[str, Any]:
    return {"role": "user", "content": text, **marks}


def updates(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    """The whole replay, each update checked as strictly as an update can be."""
    found = list(replay(messages, CWD, TOOLS))
    for update in found:
        assert schema.is_valid("SessionUpdate", update), update
        assert validation.unknown_members("SessionUpdate", update) == []
    return found


def chunk(kind: str, text: str) -> dict[str, Any]:
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}}


def test_a_conversation_is_shown_in_its_order_with_all_its_parts() -> None:
    """User, summary, text before calls, results with their calls; the system prompt is not sent."""
    assert updates(
        {"role": "system", "content": "You are Bob."},
        said("What was said before.", summary=True),
        said("List the files"),
        answer(bash("c1"), call("c2", "read_file", '{"path": "notes.txt"}'), text="Let me look."),
        result("c1", "a.txt\n"),
        result("c2", "notes.txt does not exist", failed=True),
        answer(text="One file."),
    ) == [
        chunk("agent_message_chunk", "🗜️ What was said before."),
        chunk("user_message_chunk", "List the files"),
        chunk("agent_message_chunk", "Let me look."),
        {
            "sessionUpdate": "tool_call",
            "toolCallId": "c1",
            "title": "bash: ls",
            "name": "bash",
            "kind": "execute",
            "status": "completed",
            "rawInput": {"command": "ls"},
            "rawOutput": {"output": "a.txt\n"},
            "content": [{"type": "content", "content": {"type": "text", "text": "a.txt\n"}}],
        },
        {
            "sessionUpdate": "tool_call",
            "toolCallId": "c2",
            "title": "read_file: notes.txt",
            "name": "read_file",
            "kind": "read",
            "status": "failed",
            "locations": [{"path": "/home/ada/project/notes.txt"}],
            "rawInput": {"path": "notes.txt"},
            "rawOutput": {"output": "notes.txt does not exist"},
            "content": [{"type": "content", "content": {"type": "text", "text": "notes.txt does not exist"}}],
        },
        chunk("agent_message_chunk", "One file."),
    ]


def test_a_call_without_a_result_has_failed_without_content() -> None:
    """The program ended, or was killed, while the tool ran."""
    (update,) = updates(answer(bash("c1")))
    assert update == {
        "sessionUpdate": "tool_call",
        "toolCallId": "c1",
        "title": "bash: ls",
        "name": "bash",
        "kind": "execute",
        "status": "failed",
        "rawInput": {"command": "ls"},
    }


def test_an_empty_output_is_an_output() -> None:
    """A command that printed nothing is not a command that never ended."""
    (update,) = updates(answer(bash("c1")), result("c1", ""))
    assert (update["status"], update["rawOutput"]) == ("completed", {"output": ""})


@pytest.mark.parametrize(
    "message", [answer(), answer(text=""), {"role": "system", "content": "x"}, result("c9", "lost")]
)
def test_what_shows_nothing_sends_nothing(message: dict[str, Any]) -> None:
    """An answer without a word, and a result whose call is not there: there is no call to put it into."""
    assert updates(message) == []


def test_an_empty_prompt_is_shown() -> None:
    """It was a turn: what follows answers it."""
    assert updates(said("")) == [chunk("user_message_chunk", "")]


def test_results_belong_to_the_answer_before_them() -> None:
    """A later result of the same id is another call's."""
    first, second, third = updates(
        answer(bash("c1", "one")), said("again"), answer(bash("c1", "two")), result("c1", "of two")
    )
    assert (first["status"], "rawOutput" in first) == ("failed", False)
    assert second == chunk("user_message_chunk", "again")
    assert (third["status"], third["rawOutput"]) == ("completed", {"output": "of two"})


def test_results_may_come_in_another_order_than_their_calls() -> None:
    """The id decides, not the place."""
    one, two = updates(answer(bash("c1"), bash("c2")), result("c2", "of c2"), result("c1", "of c1"))
    assert [one["rawOutput"]["output"], two["rawOutput"]["output"]] == ["of c1", "of c2"]


def test_ids_that_are_missing_or_were_there_get_one_of_ours() -> None:
    """Some servers number the calls of each answer anew; on the wire an id names one call for ever."""
    found = updates(
        answer(bash("call_0", "a"), bash("call_0", "b"), bash("", "c"), bash("replayed_2", "d")),
        result("call_0", "of a"),
        result("call_0", "of b"),
        result("", "of c"),
        result("replayed_2", "of d"),
        answer(bash("call_0", "e")),
        result("call_0", "of e"),
    )
    ids = [update["toolCallId"] for update in found]
    assert ids == ["call_0", "replayed_1", "replayed_2", "replayed_3", "replayed_4"]
    assert [update["rawOutput"]["output"] for update in found] == [f"of {name}" for name in "abcde"]


class Recorder:
    """As much of a Peer as a tool call needs."""

    def __init__(self) -> None:
        self.updates: list[dict[str, Any]] = []
        self.is_open = True

    def update(self, _session_id: str, update: dict[str, Any]) -> None:
        self.updates.append(update)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("read_file", '{"path": "missing.txt"}'),
        ("read_file", '{"path": "/missing/\\u00e9", "limit": 3.0, "offset": null}'),
        ("read_file", '{"file": "x"}'),
        ("bash", "{"),
        ("bash", ""),
        ("bash", '{"command": "\\ud83d"}'),
        ("", "{}"),
        ("no_such_tool", '{"a": 1}'),
    ],
)
def test_a_call_is_replayed_as_it_was_announced(name: str, arguments: str, tmp_path: Path) -> None:
    """Title, kind, input and places are those of the live call, for unknown tools and malformed arguments too."""
    peer = Recorder()
    session: Any = SimpleNamespace(
        id="s", cwd=tmp_path, allowed={"bash", "read_file"}, replayed_ids=set(), live_ids={}
    )
    calls = ToolCalls(peer, session, TOOLS, SimpleNamespace(say=print))  # type: ignore[arg-type]
    output = asyncio.run(calls.run(ToolCallReady("c1", name, arguments)))
    live = peer.updates[0]
    ended = peer.updates[-1]
    messages = [answer(call("c1", name, arguments)), result("c1", output.output, failed=True)]
    (update,) = replay(messages, tmp_path, TOOLS)
    assert ended["status"] == "failed"
    assert update == {
        **live,
        "toolCallId": "c1",
        **{name: ended[name] for name in ("status", "content", "rawOutput")},
    }


_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_ids = st.sampled_from(["", "c1", "c2", "replayed_1", "replayed_2"]) | _texts
_arguments = (
    st.sampled_from(["", "{", "[]", '{"command": "ls"}', '{"path": "a/../b"}', '{"path": 1}']) | _texts
)
_calls = st.builds(call, _ids, st.sampled_from(["bash", "read_file", "edit_file", "x"]) | _texts, _arguments)
_messages = st.one_of(
    st.builds(said, _texts),
    st.builds(lambda text: said(text, summary=True), _texts),
    st.builds(
        lambda calls, text: answer(*calls, text=text), st.lists(_calls, max_size=3), st.none() | _texts
    ),
    st.builds(result, _ids, _texts),
    st.builds(lambda id_, text: result(id_, text, failed=True), _ids, _texts),
)


@given(st.lists(_messages, max_size=12))
def test_any_conversation_gives_legal_updates_one_for_each_thing(messages: list[dict[str, Any]]) -> None:
    """As many as there are user messages, texts and calls; every id once; every call ended."""
    found = updates({"role": "system", "content": "x"}, *messages)
    calls = [one for one in found if one["sessionUpdate"] == "tool_call"]
    answers = [message for message in messages if message["role"] == "assistant"]
    assert len(calls) == sum(len(message.get("tool_calls", ())) for message in answers)
    chunks = sum(message["role"] == "user" for message in messages) + sum(
        bool(message["content"]) for message in answers
    )
    assert len(found) == len(calls) + chunks
    ids = [one["toolCallId"] for one in calls]
    assert len(set(ids)) == len(ids)
    assert all(ids)
    assert {one["status"] for one in calls} <= {"completed", "failed"}


LOAD = {"sessionId": "s", "cwd": "/home/ada/project", "mcpServers": []}


def test_a_strict_connection_carries_the_replay_between_a_load_and_its_answer() -> None:
    """From both ends: nothing that Bob sends is illegal there, and the client gets all of it."""
    agent = Connection(Role.AGENT, Policy(strict=True))
    client = Connection(Role.CLIENT, Policy(strict=True))

    def ask(method: str, params: dict[str, Any]) -> RequestReceived:
        (event,) = agent.receive(client.request(method, params)[1])
        assert isinstance(event, RequestReceived)
        return event

    opened = ask("initialize", {"protocolVersion": 1})
    ready = {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}}
    client.receive(agent.respond(opened.id, ready))
    load = ask("session/load", LOAD)
    sent = updates(
        said("before", summary=True),
        said("go"),
        answer(bash("c1"), bash("c1"), call("c3", "nope", "{"), text="Going."),
        result("c1", "out"),
        answer(text="Gone."),
    )
    received = []
    for update in sent:
        (event,) = client.receive(agent.notify("session/update", {"sessionId": "s", "update": update}))
        assert isinstance(event, NotificationReceived)
        received.append(event.params["update"])
    assert received == sent
    (answered,) = client.receive(agent.respond(load.id, {}))
    assert isinstance(answered, ResponseReceived)
    assert answered.error is None


class Watched(Sequence[dict[str, Any]]):
    """A conversation made message by message, which notes how far it has been read."""

    def __init__(self, length: int) -> None:
        self._length = length
        self.read = 0

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        assert isinstance(index, int)
        if index >= self._length:
            raise IndexError
        self.read = max(self.read, index + 1)
        turn = index // 4
        return [
            said(f"question {turn}"),
            answer(bash(f"c{turn}"), text="x" * 1000),
            result(f"c{turn}", "y" * 1000),
            answer(text="z" * 1000),
        ][index % 4]


def test_updates_are_made_when_they_are_asked_for() -> None:
    """The pace is the client's: a conversation is never turned into updates ahead of it."""
    messages = Watched(10_000)
    found = replay(messages, CWD, TOOLS)
    assert messages.read == 0
    assert next(found) == chunk("user_message_chunk", "question 0")
    assert messages.read == 1
    for _ in range(3):
        next(found)
    assert messages.read == 4


def test_ten_thousand_messages_need_little_memory() -> None:
    """Some 8 MB of text pass; what is kept is the ids that were given out."""

    def lines() -> Iterator[bytes]:
        return map(encode, replay(Watched(10_000), CWD, TOOLS))

    assert sum(1 for _ in lines()) == 10_000
    tracemalloc.start()
    try:
        passed = sum(map(len, lines()))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert passed > 8_000_000
    assert peak < 2_000_000
    assert decode(next(lines())) == chunk("user_message_chunk", "question 0")
