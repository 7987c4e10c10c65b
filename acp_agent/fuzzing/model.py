"""The stateful model: plans for whole conversations, drawn to follow the protocol's state machines, or not to.

A plan is a list of independent steps, which Hypothesis shrinks by leaving out and simplifying; the player leaves out
what has no object, so that every list is a legal one. In the hostile level legal and illegal steps are mixed, since
most faults need a conversation that has got somewhere.
Deliberately absent: what a step does (player.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
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
from acp_agent.fuzzing.strategies.text import ANY, ENCODABLE, PIECES
from acp_agent.fuzzing.strategies.wire import BROKEN_LINES, SPELLINGS
from acp_agent.protocol.methods import METHODS, Side

DEFAULT_PROMPTS: Final = ("hello",)
MOST_STEPS: Final = 6
"""Of them, some are whole passages."""

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
    step, reaction = valid_steps(prompts), st.sampled_from(LEGAL_REACTIONS)
    passage = weighted((2, step.map(lambda one: (one,))), (1, passages(prompts)))
    early: st.SearchStrategy[tuple[Step, ...]] = st.just(())
    if level is Level.HOSTILE:
        hostile = hostile_steps(prompts)
        before = weighted(
            (1, st.just(Step(Call("session/new", {"cwd": "/", "mcpServers": []})))), (2, hostile)
        )
        early = weighted((14, early), (1, st.lists(before, min_size=1, max_size=2).map(tuple)))
        step = weighted((1, step), (1, hostile))
        passage = weighted((2, step.map(lambda one: (one,))), (1, passages(prompts)))
        reaction = weighted((2, reaction), (1, st.sampled_from(tuple(Reaction))))
    return st.builds(
        Program,
        steps=st.lists(passage, max_size=MOST_STEPS).map(
            lambda passages: tuple(chain.from_iterable(passages))
        ),
        reactions=st.lists(reaction, max_size=4).map(tuple),
        capabilities=weighted((7, st.none()), (1, capability_sets())),
        version=weighted((39, st.just(1)), (1, st.sampled_from(_VERSIONS))),
        early=early,
        probe=st.booleans(),
        probe_text=st.just(prompts[0]),
    )


def weighted(*choices: tuple[int, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    """One of several, each as often as its weight says; the first is what it shrinks to.

    `one_of` has no weights: it takes what is there twice, or nested, for one and the same choice.
    """
    table = [choice for weight, choice in choices for _ in range(weight)]
    return st.integers(0, len(table) - 1).flatmap(lambda number: table[number])


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


def passages(prompts: Sequence[str]) -> st.SearchStrategy[tuple[Step, ...]]:
    """Steps that belong together, since one alone leads nowhere: what single steps would hit upon too late."""
    prompt = st.builds(Prompt, _SESSIONS, st.sampled_from(prompts))
    held = st.builds(Prompt, _SESSIONS, st.sampled_from(prompts), hold=st.just(True))
    asked, choose = (
        st.just(Await(Boundary.ASKED)),
        st.builds(Choose, _SESSIONS, st.booleans(), st.integers(0, 7)),
    )
    boundary = st.builds(Await, st.sampled_from((Boundary.UPDATE, Boundary.TOOL_CALL, Boundary.ASKED)))
    cancel, close = st.builds(Cancel, _SESSIONS, st.booleans()), st.just(Life("session/close"))
    reopen = st.sampled_from((Life("session/load"), Life("session/resume")))
    over, ping = st.just(Await()), st.just(Extension())
    delete = st.just(Life("session/delete"))
    listing = st.builds(ListSessions, st.booleans())
    return st.one_of(
        *(
            st.tuples(*(st.builds(Step, action) for action in actions))
            for actions in (
                (prompt, boundary, cancel),
                (prompt, cancel, ping, over),
                (prompt, boundary, cancel, over, prompt),
                (prompt, boundary, close),
                (prompt, over, close, reopen, listing),
                (st.just(Open()), close, delete, delete, listing),
                (st.just(Open()), prompt, prompt, over),
                (held, asked, cancel),
                (held, asked, cancel, over, prompt),
                (st.just(Open()), choose, choose),
            )
        )
    )


def valid_steps(prompts: Sequence[str]) -> st.SearchStrategy[Step]:
    """Steps of a client that keeps the rules."""
    return st.builds(Step, _valid_actions(prompts), SPELLINGS)


def _valid_actions(prompts: Sequence[str]) -> st.SearchStrategy[Action]:
    return weighted(
        (2, st.builds(Open, st.integers(0, 1))),
        (12, _prompts(prompts)),
        (6, st.builds(Await, st.sampled_from(tuple(Boundary)))),
        (6, st.builds(Cancel, _SESSIONS, st.booleans())),
        (3, st.builds(Extension, st.booleans())),
        (4, st.builds(Life, st.sampled_from(_LIVES), _SESSIONS)),
        (3, st.builds(Choose, _SESSIONS, st.booleans(), st.integers(0, 7))),
        (2, st.builds(Release, st.integers(0, 2))),
        (2, st.builds(ListSessions, st.booleans())),
        (1, st.builds(Prompt, _SESSIONS, st.just("a"), size=st.sampled_from(_SIZES))),
        (1, st.builds(Stall, st.sampled_from((10, 100)))),
        (1, weighted((2, st.builds(Stall)), (1, st.just(EndInput())))),
    )


def _prompts(prompts: Sequence[str]) -> st.SearchStrategy[Prompt]:
    odd = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join)
    text = weighted((4, st.sampled_from(prompts)), (2, odd), (1, ENCODABLE))
    kinds = weighted(
        (2, st.just(())), (1, st.lists(st.sampled_from(_KINDS), min_size=1, max_size=2).map(tuple))
    )
    return st.builds(Prompt, _SESSIONS, text, kinds)


def hostile_steps(prompts: Sequence[str]) -> st.SearchStrategy[Step]:
    """Steps that break a rule, or may."""
    legal = _valid_actions(prompts)
    changed = st.builds(Step, legal, SPELLINGS, st.lists(changes(), min_size=1, max_size=2).map(tuple))
    sizes = weighted((5, st.sampled_from(_SIZES)), (1, st.sampled_from(_HUGE_SIZES)))
    return weighted(
        (6, st.builds(Step, st.builds(Line, BROKEN_LINES), SPELLINGS)),
        (6, changed),
        (9, st.builds(Step, _calls(), SPELLINGS)),
        (2, st.builds(Step, st.builds(Stray, st.sampled_from(ID_FORMS), st.booleans()))),
        (1, st.builds(Step, st.builds(Prompt, _SESSIONS, st.sampled_from(prompts), overlap=st.just(True)))),
        (1, st.builds(Step, st.builds(Prompt, _SESSIONS, ANY))),
        (
            1,
            st.builds(Step, st.builds(ListSessions, st.booleans(), st.sampled_from(("nonsense", "0", "-1")))),
        ),
        (1, st.builds(Step, st.builds(Prompt, st.just(0), st.just("a"), size=sizes))),
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
    return weighted((4, made_up), (2, strange), (1, wrong_form), (1, as_notification), (2, st.one_of(drawn)))
