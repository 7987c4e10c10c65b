"""Files: what the protocol leaves open is open, and what it says is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acp_agent.harness.verdict import Verdict

BOTH = {"fs": {"readTextFile": True, "writeTextFile": True}}
READING = [
    "fs/read",
    "fs/read-missing",
    "fs/read-lines",
    "fs/read-again-after-a-change",
    "fs/many-at-once",
    "fs/unknown-session",
    "fs/outside-the-session",
]
WRITING = ["fs/write-new", "fs/write-over", "fs/write-then-read"]


class Disk:
    """fs/* below a directory, for one session. keeps_ends: whether the last line of a slice keeps its line end."""

    def __init__(self, root: Path, *, keeps_ends: bool, code: int) -> None:
        self.root = root
        self.session = ""
        self.keeps_ends = keeps_ends
        self.error = {"error": {"code": code, "message": "no"}}

    def read(self, params: Any) -> Any:
        path = Path(params["path"])
        inside = path.resolve().is_relative_to(self.root)
        if params["sessionId"] != self.session or not inside or not path.is_file():
            return self.error
        text = path.read_bytes().decode()
        line, limit = params.get("line"), params.get("limit")
        if line is not None or limit is not None:
            rows = text.splitlines(keepends=True)[(line or 1) - 1 :]
            if not rows:
                return self.error
            text = "".join(rows[:limit])
            if limit is not None and limit < 1000 and not self.keeps_ends:
                text = text.removesuffix("\n")
        return {"result": {"content": text}}

    def write(self, params: Any) -> Any:
        Path(params["path"]).write_bytes(params["content"].encode())
        return {"result": {}}


def serves(disk: Disk, **changes: Callable[[Any], Any]) -> Any:
    """A script of a client with these files; changes: other answers, by the last word of the method."""

    async def script(puppet: Any) -> None:
        puppet.answers["fs/read_text_file"] = changes.get("read", disk.read)
        puppet.answers["fs/write_text_file"] = changes.get("write", disk.write)
        await puppet.hello(**BOTH)
        answer = await puppet.call("session/new", {"cwd": str(disk.root), "mcpServers": []})
        puppet.session = disk.session = answer["result"]["sessionId"]
        await puppet.prompt()

    return script


@pytest.mark.parametrize("scenario", READING + WRITING)
@pytest.mark.parametrize(("keeps_ends", "code"), [(True, -32002), (False, -32603)], ids=["usual", "unusual"])
def test_files_may_be_served_in_several_ways(
    play: Any, tmp_path: Path, scenario: str, keeps_ends: bool, code: int
) -> None:
    """R-209, R-210: any error code, with or without the last line end of a slice, an error beyond the end."""
    disk = Disk(tmp_path.resolve(), keeps_ends=keeps_ends, code=code)
    assert play(scenario, serves(disk)).verdict is Verdict.PASS
    assert list(tmp_path.iterdir()) == []


def test_an_editor_may_be_a_little_behind_the_disk(play: Any, tmp_path: Path) -> None:
    """B051: it has to notice a change, not at once."""
    disk = Disk(tmp_path.resolve(), keeps_ends=True, code=-32002)
    kept: list[Any] = []

    def stale(params: Any) -> Any:
        kept.append(disk.read(params))
        return kept[0] if len(kept) < 5 else kept[-1]

    assert play("fs/read-again-after-a-change", serves(disk, read=stale)).verdict is Verdict.PASS


def test_the_result_of_a_write_may_be_null(play: Any, tmp_path: Path) -> None:
    """D-01: the documentation shows null where the schema has an object."""
    disk = Disk(tmp_path.resolve(), keeps_ends=True, code=-32002)

    def writes(params: Any) -> Any:
        disk.write(params)
        return {"result": None}

    assert play("fs/write-new", serves(disk, write=writes)).verdict is Verdict.PASS


@pytest.mark.parametrize("scenario", READING + WRITING)
def test_who_offers_no_files_is_not_asked(play: Any, scenario: str) -> None:
    """R-207: then the scenario does not apply."""

    async def script(puppet: Any) -> None:
        await puppet.hello(fs={"readTextFile": False})
        await puppet.open()
        await puppet.prompt()
        assert puppet.asked == []

    assert play(scenario, script).verdict is Verdict.NOT_APPLICABLE
