"""Clients against scenarios: a conforming one gets no FAIL, and each bad one fails exactly what it breaks."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from acp_agent.harness.catalogue import all_scenarios

TESTS = Path(__file__).resolve().parents[1]
RAW_CLIENT = TESTS / "harness" / "raw_client.py"
BAD_CLIENTS = sorted((TESTS / "bad_clients").glob("*.py"))
VARIATIONS = sorted((TESTS / "harness" / "variations").glob("*.py"))
SHARDS = 6
OTHERS = 1
THIRDS = 3
WHOLE = "ACP_MATRIX"


def run_forked(
    tasks: Iterable[tuple[Path, list[str]]], directory: Path
) -> dict[tuple[str, str], dict[str, Any]]:
    """Run clients against scenarios; (client's name, scenario's id) -> the line of forked.py."""
    lines = "".join(json.dumps({"client": str(client), "ids": ids}) + "\n" for client, ids in tasks)
    done = subprocess.run(
        [sys.executable, str(TESTS / "harness" / "forked.py"), str(directory)],
        input=lines.encode(),
        stdout=subprocess.PIPE,
        timeout=3600,
        check=True,
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return {(Path(line["client"]).stem, line["id"]): line for line in found}


def read_breaks(path: Path) -> dict[str, set[str]]:
    """BREAKS of a bad client, without running it: it has modules of its own beside it."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "BREAKS":
            breaks: dict[str, set[str]] = ast.literal_eval(node.value)
            return breaks
    raise AssertionError(f"{path.name} does not say what it breaks")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("shard", range(SHARDS))
def test_the_conforming_client_passes(shard: int, tmp_path: Path) -> None:
    """Every rule of every scenario is exercised, the observer finds nothing, and the harness itself is sound."""
    ids = [scenario.id for scenario in all_scenarios()][shard::SHARDS]
    lines = run_forked([(RAW_CLIENT, ids)], tmp_path)
    assert sorted(id_ for _, id_ in lines) == ids
    wrong = {
        id_: line
        for (_, id_), line in lines.items()
        if line["verdict"] != "pass" or line["wrong"] or line["errors"] or line["unproven"]
    }
    assert wrong == {}


def others_of(path: Path, named: Iterable[str]) -> list[str]:
    """Scenarios that a bad client must not fail: one by its name, so that all have their turn; or all."""
    rest = [scenario.id for scenario in all_scenarios() if scenario.id not in set(named)]
    if os.environ.get(WHOLE):
        return rest
    rest.sort(key=lambda id_: hashlib.sha256(f"{path.stem} {id_}".encode()).digest())
    return rest[:OTHERS]


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("shard", range(SHARDS))
def test_each_bad_client_fails_what_it_breaks_and_no_other(shard: int, tmp_path: Path) -> None:
    """Its BREAKS names each scenario that has to catch it, and the rules that are found broken there.

    It plays the first of them here, and one of all the others: many wait for a client that hangs. With ACP_MATRIX=1
    (`tox -e matrix`, an hour or two) it plays everything.
    """
    tasks = []
    for path in BAD_CLIENTS[shard::SHARDS]:
        named = [name for name in read_breaks(path) if name != "*"]
        played = named if os.environ.get(WHOLE) else named[:1]
        tasks.append((path, played + others_of(path, named)))
    lines = run_forked(tasks, tmp_path)
    wrong = []
    for path, ids in tasks:
        breaks = read_breaks(path)
        for id_ in ids:
            line = lines[path.stem, id_]
            wanted, failed = breaks.get(id_, set()), set(line["failed"])
            # What shows in any scenario need not show in each: some end before it comes up.
            as_said = failed == wanted if id_ in breaks else failed <= breaks.get("*", set())
            if not as_said or line["errors"]:
                wrong.append((path.stem, id_, f"should break {sorted(wanted)}", line))
    assert wrong == []


@pytest.mark.timeout(600)
@pytest.mark.parametrize("path", VARIATIONS, ids=[path.stem for path in VARIATIONS])
def test_no_legal_way_to_be_a_client_is_blamed(path: Path, tmp_path: Path) -> None:
    """Odd and right: not every scenario is exercised by each, but none fails. Here each plays a third of them, other
    ones each; all with ACP_MATRIX=1."""
    ids = [scenario.id for scenario in all_scenarios()]
    if not os.environ.get(WHOLE):
        ids = ids[VARIATIONS.index(path) % THIRDS :: THIRDS]
    lines = run_forked([(path, ids)], tmp_path)
    wrong = {id_: line for (_, id_), line in lines.items() if line["failed"] or line["errors"]}
    assert wrong == {}
    assert sum(line["verdict"] == "pass" for line in lines.values()) > len(lines) / 2
