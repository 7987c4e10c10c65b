"""A scenario: one situation an agent can put a client into, as data and a short script.

    @scenario(
        "permission/cancel-while-open",
        "The turn is cancelled while a permission is being asked for",
        rules=("R-154", "R-177"),
        user=(on_permission("cancel"),),
        ask="Press Stop while you are asked for permission.",
    )
    async def cancel_while_open(stage: Stage) -> None:
        turn = await stage.prompt()
        ...

Owns the shape and the registry that `@scenario` fills. Deliberately absent: the scenarios (scenarios/), what a script
can do (stage.py, turn.py), and what the steps of a plan mean (docs/harness.md).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from acp_agent.protocol.rules import RULES

if TYPE_CHECKING:
    from acp_agent.harness.aftermath import Aftermath
    from acp_agent.harness.stage import Stage

Step = dict[str, Any]
"""One step of a plan; schemas/harness-plan.json says which there are."""

NOTHING_TO_DO: Final = "Nothing: just let the turn run."
DEFAULT_DEADLINE_S: Final = 120.0
"""Longer than all that a script may have to wait for, one thing after the other, of a client that hangs."""
_ENDINGS: Final = frozenset({"die", "close_output"})
_NO_CODE: Final = (lambda: None).__code__
_ID: Final = re.compile(r"[a-z][a-z0-9-]*/[a-z0-9][a-z0-9-]*")


@dataclass(frozen=True, slots=True)
class Offer:
    """What the agent of a scenario advertises and offers; the default is the least an agent can be.

    capabilities: `agentCapabilities`. auth_methods: `authMethods`. modes, config_options: in every setup result.
    """

    capabilities: Mapping[str, Any] = field(default_factory=dict)
    auth_methods: tuple[Mapping[str, Any], ...] = ()
    modes: Mapping[str, Any] | None = None
    config_options: tuple[Mapping[str, Any], ...] | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario. id: `area/name`. title: a sentence without its full stop.

    rules: what it exercises; a PASS needs a check of each. display_rules: the same for what needs the client's display
    record; without one they are not exercised, and the scenario can pass.
    needs: what the client must have advertised, as paths below `clientCapabilities` ("fs.readTextFile").
    user: the plan a driver carries out. ask: the same as a sentence to a person. prompt: the first prompt's text.
    deadline_s: for the whole script. offer: what the agent is.
    plays: the methods that the script answers itself; all others the stand-in answers at once (standin.py).
    survives: the rules that a client breaks if it ends the connection before the script has.
    aftermath: judges what is only known when the client has ended: its exit code, its hanging, its display record.
    lives: how many processes of the agent play the script; in later ones the stand-in is alone.
    """

    id: str
    title: str
    rules: tuple[str, ...]
    play: Callable[[Stage], Awaitable[None]]
    display_rules: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    user: tuple[Step, ...] = ()
    ask: str = NOTHING_TO_DO
    prompt: str = "Hello."
    deadline_s: float = DEFAULT_DEADLINE_S
    offer: Offer = Offer()
    plays: frozenset[str] = frozenset({"session/prompt"})
    survives: tuple[str, ...] = ()
    aftermath: Callable[[Aftermath], None] | None = None
    lives: int = 1

    @property
    def area(self) -> str:
        """The group it belongs to."""
        return self.id.partition("/")[0]

    @property
    def command(self) -> str:
        """Its name in an editor's menu, without the slash."""
        return self.id.replace("/", "-")

    @property
    def fits_in_a_session(self) -> bool:
        """Whether it can be played in a session that is open already, among others: it needs no agent of its own."""
        return self.plays == {"session/prompt"} and self.offer == Offer() and self.lives == 1

    @property
    def wants_person(self) -> bool:
        """Whether somebody has to do something beyond the first prompt."""
        return bool(self.user) or self.ask != NOTHING_TO_DO

    @property
    def ends_agent(self) -> bool:
        """Whether nothing can be played after it in the same process. Read off its script, which cannot forget it."""
        return not _ENDINGS.isdisjoint(getattr(self.play, "__code__", _NO_CODE).co_names)

    @property
    def all_rules(self) -> tuple[str, ...]:
        """The rules of both kinds."""
        return self.rules + self.display_rules


REGISTERED: Final[dict[str, Scenario]] = {}
"""Every scenario whose module has been imported, by id."""


def scenario(
    id_: str, title: str, *, rules: tuple[str, ...], plays: tuple[str, ...] = (), **members: Any
) -> Callable[[Callable[[Stage], Awaitable[None]]], Scenario]:
    """Make the decorated script a scenario and register it. Other members: see Scenario.

    plays: methods beside `session/prompt`. Raises ValueError for an id or a rule that does not exist, or exists twice.
    """

    def register(play: Callable[[Stage], Awaitable[None]]) -> Scenario:
        played = frozenset({"session/prompt", *plays})
        made = Scenario(id_, title, rules, play, plays=played, **members)
        if not _ID.fullmatch(id_) or id_ in REGISTERED:
            raise ValueError(f"{id_} is not a new id of the form area/name")
        unknown = [rule for rule in made.all_rules + made.survives if rule not in RULES]
        if unknown or not made.all_rules:
            raise ValueError(f"{id_} names no rules, or some that do not exist: {unknown}")
        REGISTERED[id_] = made
        return made

    return register


# -- Plan steps, as scenarios write them


def choose(option: str) -> Step:
    """At the next permission: this option id or kind; it stays in force for later ones."""
    return {"on": "permission", "choose": option}


def on_permission(do: str) -> Step:
    """At the next permission: `cancel` the turn, or `hold` the answer back."""
    return {"on": "permission", "do": do}


def cancel_after(what: str) -> Step:
    """Cancel the turn after `chunk:3`, `thought:1`, `tool_call:1`, `update:5` or `ms:500`."""
    return {"after": what, "do": "cancel"}


def on_elicitation(do: str | None = None, content: Mapping[str, Any] | None = None) -> Step:
    """At the next elicitation: `decline` or `cancel` it, or accept it with this content."""
    step: Step = {"on": "elicitation"}
    if do is not None:
        step["do"] = do
    if content is not None:
        step["content"] = dict(content)
    return step


def on_start(do: str, session_id: str | None = None) -> Step:
    """Instead of a new session: `load`, `resume` or `list`. session_id: an id, or `first` for the first listed."""
    return {"on": "start", "do": do} | ({} if session_id is None else {"sessionId": session_id})


def on_ready(do: str, **members: Any) -> Step:
    """When the session is there, before the prompt: `set_mode` (mode=), `set_config` (configId=, value=)."""
    return {"on": "ready", "do": do, **members}


def on_end(do: str, **members: Any) -> Step:
    """At the end of a turn: `prompt` (text=), `set_mode`, `set_config`, load, resume, list, new, close, ..."""
    return {"on": "end", "do": do, **members}
