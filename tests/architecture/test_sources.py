"""Habits that a machine can check: a test file a module, no module too long, no stray print, no machine's paths."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Module

LONGEST_MODULE_LINES = 500

FUZZING_MODULES = (
    "agent_target",
    "answers",
    "player",
    "program",
    "tried",
)
WITHOUT_OWN_TEST: dict[str, str] = {
    f"acp_agent.fuzzing.{name}": "tests/fuzzing/test_matrix.py: whole agents, right and wrong, use it"
    for name in FUZZING_MODULES
}
"""Modules with behaviour that another file tests -> that file, and why it is the better place."""

SPEAKS_TO_A_PERSON = ("acp_agent.cli", "acp_agent.client.")
"""Standard output is theirs: no protocol runs on it there."""

REGISTRY_HOST = re.compile(r"\b(?:pypi|pythonhosted|npmjs)\.(?:org|com|io)\b")


def has_behaviour(module: Module) -> bool:
    """False for a package's two doors, __init__ and __main__, and for a module without a function: it only declares."""
    return module.path.stem not in {"__init__", "__main__"} and any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in ast.walk(module.tree)
    )


def test_every_module_has_its_test_file(modules: tuple[Module, ...], checkout: Path) -> None:
    """tests/ mirrors acp_agent/: acp_agent/a/b.py is tested by tests/a/test_b.py."""
    missing = []
    for module in modules:
        inside = module.path.relative_to(checkout / "acp_agent")
        expected = checkout / "tests" / inside.parent / f"test_{inside.name}"
        if has_behaviour(module) and module.name not in WITHOUT_OWN_TEST and not expected.is_file():
            missing.append(str(expected.relative_to(checkout)))
    assert not missing, "\n".join(missing)


def test_no_module_is_too_long(modules: tuple[Module, ...]) -> None:
    """Past 500 lines there are two nouns in it."""
    long = {
        module.name: lines
        for module in modules
        if (lines := len(module.path.read_text(encoding="utf-8").splitlines())) > LONGEST_MODULE_LINES
    }
    assert long == {}


def test_every_module_says_what_it_owns(modules: tuple[Module, ...]) -> None:
    """A module opens with a docstring."""
    wrong = [module.name for module in modules if not ast.get_docstring(module.tree)]
    assert not wrong, "\n".join(wrong)


def test_nothing_prints_to_standard_output_by_accident(modules: tuple[Module, ...]) -> None:
    """R-005: a print names its file, except where a person and no client reads standard output."""
    wrong = [
        f"{module.name}:{node.lineno}"
        for module in modules
        if not module.name.startswith(SPEAKS_TO_A_PERSON)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
        and not any(keyword.arg == "file" for keyword in node.keywords)
    ]
    assert not wrong, "\n".join(wrong)


def test_no_file_names_a_place_that_only_one_machine_has(
    carried_files: tuple[Path, ...], checkout: Path
) -> None:
    """No absolute path of a checkout or a home directory, and no package registry's host: clients know their own."""
    places = [str(checkout)]
    home = str(Path.home())
    if len(Path(home).parts) > 1:
        places.append(f"{home}/")
    wrong = []
    for path in carried_files:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), start=1):
            if any(place in line for place in places) or REGISTRY_HOST.search(line):
                wrong.append(f"{path.relative_to(checkout)}:{number}")
    assert not wrong, "\n".join(wrong)
