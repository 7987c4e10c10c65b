"""What one process of the agent has seen of a scenario, as a file: the driver puts the parts together.

A client may start the agent more than once, and the agent may have to die in the middle: each process writes its own
part when it begins and again whenever there is more to say. As long as it lives it holds a lock beside its part,
which the kernel takes from it however it ends. Deliberately absent: the verdict (result.py).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson

from acp_agent.harness.transcript import Entry
from acp_agent.harness.verdict import Check, Origin, Remark

FIRST_PROMPT: Final = "the client goes on to its first prompt"
_MOST_LIVES: Final = 1000
_LOCK: Final = ".lock"


@dataclass(slots=True)
class Part:
    """One life of the agent.

    begun: whether the script had anything to play with. over: whether it has come to its end; died: by ending the
    agent. reason: why what was not exercised was not; reasons: the same for single rules. applicable: whether the
    client offers what the scenario needs. error: what is wrong with the harness itself, "" if nothing is.
    deserted: the rules that are broken if the client has left before the script began and never came back.
    client, capabilities: what the client said in `initialize`. trace: the raw record's file name.
    """

    scenario: str
    life: int
    begun: bool = False
    over: bool = False
    died: bool = False
    applicable: bool = True
    reason: str = ""
    reasons: dict[str, str] = field(default_factory=dict)
    error: str = ""
    checks: list[Check] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    notes: dict[str, Any] = field(default_factory=dict)
    transcript: list[Entry] = field(default_factory=list)
    deserted: list[str] = field(default_factory=list)
    client: dict[str, Any] | None = None
    capabilities: dict[str, Any] = field(default_factory=dict)
    trace: str = ""


class PartFile:
    """The place of one part. Made by `claim`, which gives each process of the agent a life of its own."""

    def __init__(self, path: Path, life: int) -> None:
        """Raises OSError."""
        self.path = path
        self.life = life
        self._lock_path = path.with_suffix(_LOCK)
        self._lock = os.open(self._lock_path, os.O_CREAT | os.O_RDWR, 0o644)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    @classmethod
    def claim(cls, directory: Path) -> PartFile:
        """The next life in this directory, which is made if it is not there. Raises OSError."""
        directory.mkdir(parents=True, exist_ok=True)
        for life in range(1, _MOST_LIVES):
            path = directory / f"part-{life}.json"
            try:
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
            except FileExistsError:
                continue
            return cls(path, life)
        raise OSError(f"the client has started the agent {_MOST_LIVES} times")

    def save(self, part: Part) -> None:
        """Write the part, replacing what was there as a whole."""
        made = {name: getattr(part, name) for name in Part.__slots__}
        made["checks"] = [check._asdict() for check in part.checks]
        made["remarks"] = [remark._asdict() for remark in part.remarks]
        made["transcript"] = [entry.to_object() for entry in part.transcript]
        beside = self.path.with_suffix(".tmp")
        beside.write_bytes(orjson.dumps(made))
        beside.replace(self.path)

    def close(self) -> None:
        """Nothing more is to come."""
        with contextlib.suppress(OSError):
            self._lock_path.unlink()
        os.close(self._lock)


def read_parts(directory: Path) -> list[Part]:
    """All parts in a directory, by life. One that was claimed and never written is left out."""
    paths = sorted(directory.glob("part-*.json"), key=lambda path: int(path.stem.partition("-")[2]))
    return [_read(content) for path in paths if (content := path.read_bytes())]


def agent_runs(directory: Path) -> bool:
    """Whether a process of the agent is still there that has claimed a part in this directory."""
    return any(_is_locked(path) for path in directory.glob(f"part-*{_LOCK}"))


def _is_locked(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def has_begun(parts: Iterable[Part]) -> bool:
    """Whether a script has been played: a client that only looks at the agent and goes away has not."""
    return any(part.begun for part in parts)


def _read(content: bytes) -> Part:
    part = Part(**orjson.loads(content))
    part.checks = [Check(**{**check, "origin": Origin(check["origin"])}) for check in _dicts(part.checks)]
    part.remarks = [Remark(**remark) for remark in _dicts(part.remarks)]
    part.transcript = [Entry(**entry) for entry in _dicts(part.transcript)]
    return part


def _dicts(values: Any) -> list[dict[str, Any]]:
    return list(values)
