"""The arrows between the rooms of the package: who may import whom, and what the pure rooms may not know."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Module

EVERYTHING = None

ARROWS: dict[str, set[str] | None] = {
    "bundled": set(),
    "jsonrpc": set(),
    "protocol": {"jsonrpc"},
    "transport": set(),
    "process": set(),
    "config": set(),
    "printable": set(),
    "llm": set(),
    "tools": {"process"},
    # config is a leaf of plain values: the agent reads its settings rather than a dozen arguments.
    "agent": {"jsonrpc", "protocol", "transport", "process", "llm", "tools", "config"},
    "client": {"jsonrpc", "protocol", "transport", "process"},
    "harness": {"jsonrpc", "protocol", "transport", "process"},
    "fuzzing": {"jsonrpc", "protocol", "transport", "process", "client", "harness"},
    # It shows people what the agent has stored, under the titles of its tools, on the screen of the chat.
    "setup": {"config", "llm", "process", "agent", "client", "tools", "jsonrpc"},
    "cli": EVERYTHING,
    "__main__": {"cli"},
    "hall": set(),
}
"""Room -> the rooms it may import beside itself and those of everybody."""

EVERYBODYS = {"hall", "bundled", "printable"}
"""`acp_agent` itself, which holds the version, and what has no room of its own."""

PURE = {"jsonrpc", "protocol"}
"""Rooms whose bytes and times are arguments, so that one test can be both ends."""

OUTSIDE_WORLD = {
    "asyncio",
    "concurrent",
    "datetime",
    "httpx",
    "logging",
    "multiprocessing",
    "os",
    "queue",
    "random",
    "select",
    "selectors",
    "signal",
    "socket",
    "subprocess",
    "threading",
    "time",
    "uuid",
}


HEAVY = {"httpx", "httpx_sse", "hypothesis", "jsonschema", "platformdirs", "tomllib"}
"""What a start with the built-in model has no use for; together these take longer to import than all the rest."""


def room_of(name: str) -> str:
    """`acp_agent.llm.client` is in room `llm`; `acp_agent` itself is the hall."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 else "hall"


def test_no_room_imports_against_the_arrows(modules: tuple[Module, ...]) -> None:
    """Arrows are one-way; one that is not listed here is a decision to be made, not an accident."""
    rooms = {room_of(module.name) for module in modules}
    assert rooms <= ARROWS.keys(), "a new room needs its arrows listed"
    wrong = []
    for module in modules:
        room = room_of(module.name)
        allowed = ARROWS[room]
        for target, line in module.imports():
            # `from acp_agent import __version__` names something in the hall, not a room.
            if not target.startswith("acp_agent.") or room_of(target) not in rooms:
                continue
            if allowed is not EVERYTHING and room_of(target) not in {room, *EVERYBODYS, *allowed}:
                wrong.append(f"{module.path.name}:{line}: {room} -> {target}")
    assert not wrong, "\n".join(wrong)


def test_the_pure_rooms_know_no_clock_no_environment_and_no_loop(modules: tuple[Module, ...]) -> None:
    """Sans-IO: time and ids are arguments; nothing in there can wait, log or read the environment."""
    wrong = [
        f"{module.name}:{line}: {target}"
        for module in modules
        if room_of(module.name) in PURE
        for target, line in module.imports()
        if target.split(".")[0] in OUTSIDE_WORLD
    ]
    assert not wrong, "\n".join(wrong)


def test_a_start_loads_nothing_that_only_other_starts_need() -> None:
    """An editor waits for the first answer: httpx comes with a real model, jsonschema with a refusal to explain."""
    program = (
        f"import sys, acp_agent.agent.server, acp_agent.config\nprint(sorted({HEAVY!r} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "[]\n"
