"""All scenarios: every module in scenarios/ registers its own, and people choose among them by id, area or pattern."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from acp_agent.harness import scenarios
from acp_agent.harness.scenario import REGISTERED, Scenario


class UnknownScenario(Exception):
    """A name that fits no scenario; the text is one sentence."""


def all_scenarios() -> list[Scenario]:
    """Every scenario, by id."""
    for module in pkgutil.iter_modules(scenarios.__path__):
        importlib.import_module(f"{scenarios.__name__}.{module.name}")
    return [REGISTERED[id_] for id_ in sorted(REGISTERED)]


@cache
def unexercised() -> dict[str, str]:
    """The rules that bind clients and that no scenario exercises, each with the reason."""
    import tomllib  # only whoever asks about a rule wants to know

    text = Path(__file__).with_name("unexercised.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def select(names: Iterable[str]) -> list[Scenario]:
    """The scenarios that are named: an id, an area, a menu command, or a pattern such as `*/cancel-*`. None: all.

    Raises UnknownScenario for a name that fits none.
    """
    every = all_scenarios()
    chosen: dict[str, Scenario] = {}
    asked = list(names)
    for name in asked:
        found = [one for one in every if name in {one.id, one.area, one.command} or fnmatchcase(one.id, name)]
        if not found:
            raise UnknownScenario(f"there is no scenario {name!r}; `harness list` shows them")
        chosen |= {one.id: one for one in found}
    return [chosen[id_] for id_ in sorted(chosen)] if asked else every
