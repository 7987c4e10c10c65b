"""The stateful model: plans for whole conversations, drawn to follow the protocol's state machines, or not to.

A plan is a list of independent steps, which Hypothesis shrinks by leaving out and simplifying; the player leaves out
what has no object, so that every list is a legal one. In the hostile level legal and illegal steps are mixed, since
most faults need a conversation that has got somewhere.
Deliberately absent: what a step does (player.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from hypothesis import strategies as st

from acp_agent.fuzzing.program import (
    FULL_CAPABILITIES,
    LEGAL_REACTIONS,
    Action,
    Await,
    Boundary,
    Call,
    Cancel,
    Choose,
    EndInput,
    Extension,
    Level,
    Life,
    Line,
    ListSessions,
    Open,
    Program,
    Prompt,
    Reaction,
    Release,
    Stall,
    Step,
    Stray,
)
from acp_agent.fuzzing.strategies.changes import ID_FORMS, JUNK, changes
from acp_agent.fuzzing.strategies.instances import instances
from acp_agent.fuzzing.strategies.text import ANY, ENCODABLE
from acp_agent.fuzzing.strategies.wire import BROKEN_LINES, SPELLINGS
from acp_agent.protocol.methods import METHODS, Side

DEFAULT_PROMPTS: Final = ("hello",)
MOST_STEPS: Final = 8

_SIZES: Final = (65_000, 65_535, 65_536, 65_537, 70_000, 131_072, 1_048_576)
_HUGE_SIZES: Final = (4 * 1024 * 1024, 16 * 1024 * 1024)
_KINDS: Final = ("resource_link", "text", "image", "audio", "resource")
_LIVES: Final = ("session/close", "session/load", "session/resume", "session/delete")
_SESSIONS: Final = st.integers(0, 2)
_VERSIONS: Final = (0, 2, 65535)
_METHODS: Final = tuple(method for method in METHODS.values() if method.handled_by is not Side.CLIENT)
_NO_METHODS: Final = (
    "ping",
    "session/nothing",
    "session/update",
    "fs/read_text_file",
    "",
    "rpc.discover",
    "_x",
)


def programs(level: Level, prompts: Sequence[str] = DEFAULT_PROMPTS) -> st.SearchStrategy[Program]:
    """Whole plans. prompts: texts that get the agent to do things; others are drawn beside them."""
    step = (
        valid_steps(prompts)
        if level is Level.VALID
        else st.one_of(valid_steps(prompts), hostile_steps(prompts))
    )
    legal = st.sampled_from(LEGAL_REACTIONS)
    reaction = legal if level is Level.VALID else st.one_of(legal, st.sampled_from(tuple(Reaction)))
    early = st.just(())
    versions = st.one_of(*[st.just(1)] * 19, st.sampled_from(_VERSIONS))
    if level is Level.HOSTILE:
        before = st.one_of(
            hostile_steps(prompts), st.just(Step(Call("session/new", {"cwd": "/", "mcpServers": []})))
        )
        early = st.one_of(*[st.just(())] * 9, st.lists(before, max_size=2).map(tuple))
    return st.builds(
        Program,
        steps=st.lists(step, min_size=1, max_size=MOST_STEPS).map(tuple),
        reactions=st.lists(reaction, max_size=4).map(tuple),
        capabilities=st.one_of(*[st.none()] * 14, capability_sets()),
        version=versions,
        early=early,
        probe=st.booleans(),
        probe_text=st.sampled_from(prompts),
    )


def capability_sets() -> st.SearchStrategy[dict[str, Any]]:
    """What a client may advertise: any of its switches, off by absence, or by false."""
    fs = st.fixed_dictionaries({}, optional={"readTextFile": st.booleans(), "writeTextFile": st.booleans()})
    option = st.sampled_from(({}, {"configOptions": {}}, {"configOptions": {"boolean": {}}}))
    # One strategy to whoever chooses between several, however many it is made of.
    return st.one_of(
        st.just({}),
        st.just(FULL_CAPABILITIES),
        st.fixed_dictionaries({}, optional={"fs": fs, "terminal": st.booleans(), "session": option}),
    ).map(dict)


def valid_steps(prompts: Sequence[str]) -> st.SearchStrategy[Step]:
    """Steps of a client that keeps the rules."""
    return st.builds(Step, _valid_actions(prompts), SPELLINGS)


def _valid_actions(prompts: Sequence[str]) -> st.SearchStrategy[Action]:
    prompt = _prompts(prompts)
    cancel = st.builds(Cancel, _SESSIONS, st.booleans())
    await_ = st.builds(Await, st.sampled_from(tuple(Boundary)))
    session_cancel = st.builds(Cancel, _SESSIONS)
    return st.one_of(
        prompt,
        await_,
        session_cancel,
        st.builds(Open, st.integers(0, 1)),
        st.builds(Extension, st.booleans()),
        prompt,
        cancel,
        await_,
        st.builds(Choose, _SESSIONS, st.booleans(), st.integers(0, 7)),
        st.builds(Life, st.sampled_from(_LIVES), _SESSIONS),
        st.builds(Release, st.integers(0, 2)),
        st.builds(ListSessions, st.booleans()),
        st.builds(Life, st.sampled_from(_LIVES), _SESSIONS),
        prompt,
        st.one_of(
            st.builds(Stall, st.sampled_from((10, 100))),
            st.builds(Prompt, _SESSIONS, st.just("a"), size=st.sampled_from(_SIZES)),
            st.builds(Stall, st.sampled_from((10, 100))),
            st.builds(Prompt, _SESSIONS, st.just("a"), size=st.sampled_from(_SIZES)),
            st.just(EndInput()),
        ),
    )


def _prompts(prompts: Sequence[str]) -> st.SearchStrategy[Prompt]:
    text = st.one_of(st.sampled_from(prompts), st.sampled_from(prompts), ENCODABLE)
    kinds = st.one_of(st.just(()), st.just(()), st.lists(st.sampled_from(_KINDS), max_size=2).map(tuple))
    return st.builds(Prompt, _SESSIONS, text, kinds)


def hostile_steps(prompts: Sequence[str]) -> st.SearchStrategy[Step]:
    """Steps that break a rule, or may."""
    legal = _valid_actions(prompts)
    changed = st.builds(Step, legal, SPELLINGS, st.lists(changes(), min_size=1, max_size=2).map(tuple))
    return st.one_of(
        st.builds(Step, st.builds(Line, BROKEN_LINES), SPELLINGS),
        changed,
        st.builds(Step, _calls(), SPELLINGS),
        changed,
        st.builds(Step, st.builds(Stray, st.sampled_from(ID_FORMS), st.booleans())),
        st.builds(Step, st.builds(Prompt, _SESSIONS, st.sampled_from(prompts), overlap=st.just(True))),
        st.builds(Step, st.builds(Prompt, _SESSIONS, ANY)),
        st.builds(Step, st.builds(ListSessions, st.booleans(), st.sampled_from(("nonsense", "0", "-1")))),
        st.builds(
            Step, st.builds(Prompt, st.just(0), st.just("a"), size=st.sampled_from((*_SIZES, *_HUGE_SIZES)))
        ),
    )


def _calls() -> st.SearchStrategy[Call]:
    """Calls of every kind: valid params that mean nothing, other ids, unknown sessions, unknown methods."""
    ids = st.one_of(st.just("fresh"), st.just("fresh"), st.sampled_from(ID_FORMS))
    strange = st.builds(Call, st.sampled_from(_NO_METHODS), st.sampled_from(({}, None, [], "x")), id_=ids)
    unknown = {"sessionId": "no such session", "prompt": [{"type": "text", "text": "x"}]}
    made_up = st.sampled_from(
        (
            Call("session/prompt", unknown, session=False),
            Call("session/cancel", {"sessionId": "no such session"}, session=False, notify=True),
            Call("session/set_mode", {"sessionId": "no such session", "modeId": "x"}, session=False),
            Call("session/close", {"sessionId": "no such session"}, session=False),
            Call(
                "session/load", {"sessionId": "no such session", "cwd": "/", "mcpServers": []}, session=False
            ),
            Call("session/delete", {"sessionId": "no such session"}, session=False),
            Call("session/new", {"cwd": "relative", "mcpServers": []}, session=False),
            Call("session/new", {"cwd": "", "mcpServers": []}, session=False),
            Call("session/new", {}, session=False),
            Call("initialize", {"protocolVersion": 1}, session=False),
            Call("initialize", {"protocolVersion": "one"}, session=False),
            Call("authenticate", {"methodId": "no such method"}, session=False),
            Call("$/cancel_request", {"requestId": 999_999}, session=False, notify=True),
            Call("$/cancel_request", {"requestId": "0"}, session=False, notify=True),
            Call("$/cancel_request", {"requestId": {}}, session=False, notify=True),
            Call("session/prompt", {"prompt": []}),
            Call("session/prompt", {"prompt": [{"type": "future"}]}),
            Call("session/prompt", {"prompt": [{"type": "image"}]}),
        )
    )
    drawn = [
        st.builds(
            Call,
            st.just(method.name),
            instances(method.params),
            st.booleans(),
            st.just(not method.is_request),
        )
        for method in _METHODS
    ]
    wrong_form = st.builds(
        Call, st.sampled_from([method.name for method in _METHODS]), st.sampled_from(JUNK), id_=ids
    )
    as_notification = st.builds(
        Call, st.sampled_from(("session/new", "session/prompt", "ping")), st.just({}), notify=st.just(True)
    )
    return st.one_of(made_up, strange, made_up, wrong_form, as_notification, st.one_of(drawn))
