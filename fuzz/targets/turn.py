"""Whatever model, tools and client do: one answer that fits, permission first, each call ended, no word after it.

Whole turns of Bob with a strict client that reads along. Documented: a model's error is the turn's, in one sentence; a
cancel that was read before the answer makes it `cancelled`; a library's bug is an error that says so.
"""

from __future__ import annotations

import asyncio
from typing import Any

from bob.clock import run
from bob.ends import Ends
from bob.models import PlainModel
from bob.tools import PlainTool
from hypothesis import strategies as st
from reference.chat import assert_valid
from strategies.text import ENCODABLE

from acp_agent.config import ContextSettings, LimitSettings
from acp_agent.protocol.events import NotificationReceived, RequestReceived, ResponseReceived
from acp_agent.tools.registry import ToolRegistry

_TEXTS = ENCODABLE.filter(bool)
_WHAT = st.sampled_from(["done", "done", "failed", "error", "bug", "diff", "wait", "odd"])
_CALLS = st.one_of(
    st.builds(
        lambda name, what: ["call", name, f'{{"what": "{what}"}}'],
        st.sampled_from(["ask", "free", "ask", "none"]),
        _WHAT,
    ),
    st.builds(
        lambda arguments: ["call", "ask", arguments], st.sampled_from(["", "[", '{"what": 1}', "null"])
    ),
)
_STEPS = st.one_of(
    st.builds(lambda text: ["text", text], _TEXTS),
    st.builds(lambda text: ["thought", text], _TEXTS),
    _CALLS,
    _CALLS,
    st.builds(lambda seconds: ["wait", seconds], st.sampled_from([0, 1, 100])),
)
_ENDS = st.one_of(
    st.builds(
        lambda reason, tokens: ["finish", reason, tokens],
        st.sampled_from(["stop", "tool_calls", "length", "content_filter"]),
        st.sampled_from([0, 10, 1000]),
    ),
    st.sampled_from(
        [["error", "timeout"], ["error", "overflow"], ["bug"], ["swallow"], ["text", "and no end"]]
    ),
)
_REPLIES = st.builds(lambda steps, end: [*steps, end], st.lists(_STEPS, max_size=4), _ENDS)
_PERMISSIONS = st.sampled_from(
    ["allow", "allow", "allow_always", "reject", "cancelled", "error", "unknown", "late", "never"]
)

cases = st.fixed_dictionaries(
    {
        "replies": st.lists(_REPLIES, max_size=5),
        "prompts": st.lists(
            st.sampled_from(["q", "/compact", "/new", "", "/nothing"]), min_size=1, max_size=3
        ),
        "permissions": st.lists(_PERMISSIONS, max_size=4),
        # At which looks at the wire the client cancels, and how long it waits between two of them.
        "cancels": st.lists(st.integers(0, 25), max_size=2),
        "pace": st.integers(0, 3),
        "steps": st.integers(1, 4),
        "threshold": st.sampled_from([0, 5]),
        "outbox": st.sampled_from([1 << 20, 1 << 20, 200]),
    }
)


def check(case: Any) -> None:
    """Lead the turns, then one more that has to go well."""
    run(_Conversation(case).lead())


class _Conversation:
    def __init__(self, case: Any) -> None:
        self._case = case
        self._model = PlainModel(case["replies"])
        self._ran: list[str] = []
        self._allowed: set[str] = set()  # for good
        self._granted = 0
        self._cancelled: set[Any] = set()  # prompts that Bob had not answered when he read of it
        self._given_up: set[Any] = set()  # those that the client had no answer to
        self._calls: dict[str, str] = {}
        self._open: dict[Any, str] = {}  # the prompts without an answer
        self._permissions = list(case["permissions"])
        self._late: list[tuple[RequestReceived, str]] = []
        tools = [
            PlainTool("ask", needs_permission=True, ran=self._on_run),
            PlainTool("free", needs_permission=False, ran=self._ran.append),
        ]
        self._ends = Ends(
            self._model,
            ToolRegistry(tools),
            limits=LimitSettings(max_steps=case["steps"]),
            context=ContextSettings(threshold=case["threshold"], keep_last_turns=1),
            outbox_bytes=case["outbox"],
        )

    def _on_run(self, name: str) -> None:
        assert name in self._allowed or self._granted > 0, "a tool runs without permission"
        self._granted = 0
        self._ran.append(name)

    async def lead(self) -> None:
        for text in self._case["prompts"]:
            self._open[self._ends.prompt(text)] = text
        quiet = looks = 0
        while self._open:
            for _ in range(self._case["pace"]):
                await asyncio.sleep(0)
            if looks in self._case["cancels"]:
                self._cancel()
            looks += 1
            events = self._look()
            quiet = 0 if events else quiet + 1
            await asyncio.sleep(0)
            if quiet > 30:
                # Nothing more comes by itself: time passes, and at last the person gives up.
                await asyncio.sleep(30.0 if quiet < 34 else 200.0)
                if quiet > 36:
                    self._cancel()
            assert quiet < 60, "the turn does not end"
        await self._one_more()

    def _cancel(self) -> None:
        self._given_up |= self._open.keys()
        self._cancelled |= {id_ for id_ in self._open if self._ends.is_unanswered(id_)}
        self._ends.cancel()
        for request, option in self._late:
            self._answer(request, option)
        self._late.clear()

    def _look(self) -> list[Any]:
        events = self._ends.read()
        for event in events:
            if isinstance(event, RequestReceived):
                self._asked(event)
            elif isinstance(event, ResponseReceived):
                self._ended(event)
            elif isinstance(event, NotificationReceived) and "toolCallId" in event.params.get("update", ()):
                update = event.params["update"]
                self._calls[update["toolCallId"]] = update["status"]
        return events

    def _asked(self, request: RequestReceived) -> None:
        assert request.method == "session/request_permission"
        wish = self._permissions.pop(0) if self._permissions else "allow"
        if wish == "late":
            self._late.append((request, "allow"))
        elif wish != "never":
            self._answer(request, wish)

    def _answer(self, request: RequestReceived, wish: str) -> None:
        if self._given_up & self._open.keys() and wish != "error":
            wish = "cancelled"  # as a client has to, once it has cancelled
        if wish == "error":
            self._ends.answer(request.id, None)
            return
        option = "reject" if wish == "unknown" else wish
        outcome = (
            {"outcome": "cancelled"} if wish == "cancelled" else {"outcome": "selected", "optionId": option}
        )
        if wish in ("allow", "allow_always"):
            self._granted = 1
        if wish == "allow_always":
            self._allowed.add("ask")
        self._ends.answer(request.id, {"outcome": outcome})

    def _ended(self, answer: ResponseReceived) -> None:
        assert answer.id in self._open, "an answer to nothing, or a second one"
        is_running = answer.id == next(iter(self._open))  # those behind it wait, and have no calls
        text = self._open.pop(answer.id)
        if answer.error is not None:
            assert answer.id not in self._cancelled, "a cancelled turn has failed"
            assert answer.error.code == -32603
            assert answer.error.message.startswith("error: ")
            assert "\n" not in answer.error.message
            internal = "internal error" in answer.error.message
            assert not internal or "ZeroDivisionError: a bug of a library" in answer.error.message
        elif answer.id in self._cancelled:
            assert answer.result == {"stopReason": "cancelled"}
        else:
            assert answer.result["stopReason"] in ("end_turn", "max_tokens", "max_turn_requests", "refusal")
            assert text not in ("/new", "/compact") or answer.result["stopReason"] == "end_turn"
        if is_running:
            assert set(self._calls.values()) <= {"completed", "failed"}, "a call has no end"
        if not self._open:
            assert_valid(self._ends.session.history.messages())

    async def _one_more(self) -> None:
        """After all that a plain turn is answered as ever."""
        self._model._replies.clear()
        before = len(self._ends.updates())
        id_ = self._ends.prompt("once more")
        async with asyncio.timeout(60.0):
            while not self._ends.answers(id_):
                await asyncio.sleep(0.01)
                self._ends.read()
        (answer,) = self._ends.answers(id_)
        assert answer.result == {"stopReason": "end_turn"}
        said = [update for update in self._ends.updates()[before:] if "content" in update]
        assert said[-1]["content"] == {"type": "text", "text": "ok"}
        assert self._ends.session.history.messages()[-1] == {"role": "assistant", "content": "ok"}
        unexpected = [line for line in self._ends.log.unexpected if "a bug of a tool" not in line]
        assert not unexpected, unexpected
