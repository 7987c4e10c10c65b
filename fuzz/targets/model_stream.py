"""However a model server's stream is dropped, doubled, merged, split and cut, the turn ends, and the next one works.

Whole turns with the real client of model servers, its answers given in this process. Documented: an error of one
sentence. What is asked next is a conversation that any server takes: valid, with sound names, arguments and ids.
"""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx
from bob.clock import run
from bob.ends import Ends
from bob.tools import PlainTool
from hypothesis import strategies as st
from reference.chat import assert_valid
from strategies.json_values import JUNK, changed
from strategies.slices import CUTS, cut

from acp_agent.config import LimitSettings, ModelSettings
from acp_agent.llm.client import OpenAIModel, Timeouts
from acp_agent.llm.retry import RetryPolicy
from acp_agent.tools.registry import ToolRegistry

_TEXTS = st.sampled_from(["a", " ", "é", "😀", "\ud83d", "\ude00", "two words", "\n", ""])
_ARGUMENTS = st.sampled_from(
    ['{"what": "done"}', '{"what": "é😀"}', "{}", "", '{"what": "error"}', "[1]", "{", "null"]
)
_STEPS = 3


@st.composite
def _calls(draw: st.DrawFn, index: int) -> list[Any]:
    """The deltas of one call: whole, or its arguments in pieces."""
    arguments = draw(_ARGUMENTS)
    name = draw(st.sampled_from(["work", "work", "other", "none", "", "w\u00f6rk 2"]))
    pieces = cut(arguments.encode(), draw(CUTS)) if arguments.isascii() else [arguments.encode()]
    first = {
        "index": index,
        "id": draw(st.sampled_from([f"id{index}", "same", "", "work"])),
        "type": "function",
    }
    texts = [piece.decode() for piece in pieces] or [""]
    deltas = [{**first, "function": {"name": name, "arguments": texts[0]}}]
    deltas += [{"index": index, "function": {"arguments": text}} for text in texts[1:]]
    return [{"tool_calls": [delta]} for delta in deltas]


@st.composite
def _chunks(draw: st.DrawFn) -> list[Any]:
    """An answer as a good server streams it."""
    deltas: list[Any] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": text} for text in draw(st.lists(_TEXTS, max_size=2))]
    deltas += [{"content": text} for text in draw(st.lists(_TEXTS, max_size=4))]
    for index in range(draw(st.integers(0, 3))):
        deltas += draw(_calls(index))
    has_calls = any("tool_calls" in delta for delta in deltas)
    reason = draw(
        st.sampled_from(["tool_calls" if has_calls else "stop"] * 3 + ["stop", "length", "content_filter"])
    )
    chunks = [
        {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    chunks.append({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    chunks.append({"id": "c", "choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 2}})
    return chunks


@st.composite
def _disordered(draw: st.DrawFn) -> list[Any]:
    """The same with deltas dropped, doubled, merged, split and moved, and members changed."""
    chunks = draw(_chunks())
    for _ in range(draw(st.integers(0, 3))):
        if not chunks:
            break
        at = draw(st.integers(0, len(chunks) - 1))
        match draw(st.sampled_from(["drop", "double", "merge", "split", "move", "cut off"])):
            case "drop":
                del chunks[at]
            case "double":
                chunks.insert(at, copy.deepcopy(chunks[at]))
            case "merge" if at:
                chunks[at - 1 : at + 1] = [_merged(chunks[at - 1], chunks[at])]
            case "split":
                chunks[at : at + 1] = _split(chunks[at], draw(st.integers(0, 5)))
            case "move":
                chunks.insert(draw(st.integers(0, len(chunks) - 1)), chunks.pop(at))
            case "cut off":
                del chunks[at:]
    if draw(st.booleans()):
        chunks = draw(changed(chunks, most=2, others=JUNK | _TEXTS | _ARGUMENTS))
    return chunks if isinstance(chunks, list) else [chunks]


def _delta(chunk: Any) -> dict[str, Any]:
    return dict(chunk["choices"][0]["delta"]) if chunk.get("choices") else {}


def _merged(one: Any, other: Any) -> Any:
    """Two chunks as one: texts joined, calls in one list."""
    if not one.get("choices") or not other.get("choices"):
        return {**one, **other}
    merged = copy.deepcopy(other)
    delta = _delta(one)
    for name, value in _delta(other).items():
        before = delta.get(name)
        delta[name] = before + value if before and type(before) is type(value) else value
    merged["choices"][0]["delta"] = delta
    return merged


def _split(chunk: Any, at: int) -> list[Any]:
    """A chunk as two: each text of its delta, and of its calls, cut in two."""
    pair = []
    for side in (slice(None, at), slice(at, None)):
        half = copy.deepcopy(chunk)
        delta = _delta(half)
        for name in ("content", "reasoning_content"):
            if name in delta:
                delta[name] = delta[name][side]
        for call in delta.get("tool_calls", ()):
            call["function"] = {name: value[side] for name, value in call["function"].items()}
        if half.get("choices"):
            half["choices"][0]["delta"] = delta
        pair.append(half)
    return pair


_ANSWERS = st.fixed_dictionaries(
    {
        "chunks": _disordered(),
        "status": st.sampled_from([200, 200, 200, 200, 200, 200, 400, 429, 500]),
        "end": st.sampled_from(["done", "done", "closed", "broken", "twice"]),
        "cuts": CUTS,
        "line": st.sampled_from(["\n\n", "\r\n\r\n", "\n", "\n\n: ping\n\n"]),
        "whole": st.sampled_from([False, False, False, False, True]),
    }
)

cases = st.fixed_dictionaries({"answers": st.lists(_ANSWERS, min_size=1, max_size=3)})


def check(case: Any) -> None:
    """A turn with these answers, and one after it with a plain one."""
    run(_two_turns(case["answers"]))


async def _two_turns(answers: list[Any]) -> None:
    server = _Server(answers)
    model = OpenAIModel(
        "http://localhost:1/v1",
        "m",
        api_key="sk-secret",
        timeouts=Timeouts(1.0, 1.0),
        retry=RetryPolicy(ModelSettings().retries),
        sleep=_no_wait,
    )
    model._client = httpx.AsyncClient(transport=httpx.MockTransport(server.answer))
    tools = [PlainTool(name, needs_permission=False) for name in ("work", "other")]
    ends = Ends(model, ToolRegistry(tools), limits=LimitSettings(max_steps=_STEPS))
    try:
        first = await _turn(ends)
        if first.error is None:
            assert first.result["stopReason"] in ("end_turn", "max_tokens", "max_turn_requests", "refusal")
        else:
            assert first.error.message.startswith("error: ")
            assert "\n" not in first.error.message
            assert "internal error" not in first.error.message
            assert "sk-secret" not in first.error.message
        assert_valid(ends.session.history.messages())
        server.answers.clear()
        second = await _turn(ends)
        assert second.error is None
        assert second.result == {"stopReason": "end_turn"}
        assert ends.session.history.messages()[-1] == {"role": "assistant", "content": "ok"}
        assert not ends.log.unexpected
    finally:
        await model.aclose()


async def _turn(ends: Ends) -> Any:
    id_ = ends.prompt("q")
    async with asyncio.timeout(600.0):
        while not ends.answers(id_):
            await asyncio.sleep(0.01)
            ends.read()
    (answer,) = ends.answers(id_)
    open_calls = {
        update["toolCallId"]: update["status"] for update in ends.updates() if "toolCallId" in update
    }
    assert set(open_calls.values()) <= {"completed", "failed"}
    return answer


async def _no_wait(seconds: float) -> None:
    assert 0 <= seconds <= 60


class _Server:
    """Gives one answer after the other, then plain ones, and looks at what it is asked."""

    def __init__(self, answers: list[Any]) -> None:
        self.answers = list(answers)

    def answer(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        assert_valid(body["messages"])
        ids: list[str] = []
        for message in body["messages"]:
            for call in message.get("tool_calls", ()):
                ids.append(call["id"])
                assert call["type"] == "function"
                name = call["function"]["name"]
                assert name
                assert set(name) <= _IN_NAMES
                assert isinstance(json.loads(call["function"]["arguments"]), dict)
        assert len(set(ids)) == len(ids)
        assert all(ids)
        if not self.answers:
            delta = {"choices": [{"index": 0, "delta": {"content": "ok"}, "finish_reason": "stop"}]}
            return httpx.Response(200, content=f"data: {json.dumps(delta)}\n\ndata: [DONE]\n\n".encode())
        answer = self.answers.pop(0)
        return httpx.Response(answer["status"], content=_body(answer))


_IN_NAMES = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


async def _body(answer: Any) -> AsyncIterator[bytes]:
    for piece in cut(_text(answer).encode(), answer["cuts"]):
        yield piece
        await asyncio.sleep(0)
    if answer["end"] == "broken":
        raise httpx.ReadError("reset by peer")


def _text(answer: Any) -> str:
    chunks: Sequence[Any] = answer["chunks"]
    if answer["whole"] or answer["status"] != 200:
        return json.dumps(chunks[0] if chunks else None)
    lines = [f"data: {json.dumps(chunk)}" for chunk in chunks]
    if answer["end"] in ("done", "twice"):
        lines.append("data: [DONE]")
    if answer["end"] == "twice":
        lines += lines
    return "".join(line + answer["line"] for line in lines)
