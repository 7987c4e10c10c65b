"""Whatever fails or ends a save, at any step: the file is whole, and no older than the last save that was completed.

A step is a call of the system that changes something on disk. One fails, writes only a part, or is the last that the
process does (`crash`), or that the machine does (`power`), which loses what was not synced as well. Documented:
StoreError.
"""

from __future__ import annotations

import asyncio
import errno
import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis import strategies as st

from acp_agent.agent.store import SessionStore, StoreError

_ID = "20261201-120000-0123abcd"
_CREATED = datetime(2026, 12, 1, tzinfo=UTC)
_CODES = ("ENOSPC", "EIO", "EROFS", "EINTR", "EACCES", "EMFILE", "EDQUOT")
_FAULTS = st.fixed_dictionaries(
    {
        "step": st.integers(0, 16),
        "how": st.sampled_from(["fail", "fail for good", "part", "crash", "power", "crash", "power"]),
        "code": st.sampled_from(_CODES),
        # Of what was written and not synced, so much is left after a power cut.
        "left": st.integers(0, 400),
        "undone": st.booleans(),
    }
)

cases = st.fixed_dictionaries(
    {
        "saves": st.lists(
            st.fixed_dictionaries(
                {
                    "text": st.sampled_from(["a", "é" * 50, "", "\ud83d", "x" * 300]),
                    "soon": st.booleans(),
                    "fault": st.none() | _FAULTS,
                }
            ),
            min_size=1,
            max_size=5,
        )
    }
)


class _Ended(BaseException):
    """The process is gone: nothing more is done, not even what it would do on its way out."""


def check(case: Any) -> None:
    """Save after save, each with its fault, and a new process after each end of one."""
    with tempfile.TemporaryDirectory() as place:
        _Process(Path(place)).live(case["saves"])


class _Process:
    def __init__(self, cwd: Path) -> None:
        self._cwd = cwd
        self._store = SessionStore("kept")
        self._may_be: set[str | None] = {None}
        self._files: dict[int, Path] = {}

    def live(self, saves: list[Any]) -> None:
        for number, save in enumerate(saves):
            text = f"{number} {save['text']}"
            disk = _Disk(self._files, save["fault"])
            try:
                with disk.watched():
                    self._save(text, soon=save["soon"] and not disk.ends)
            except StoreError as error:
                assert save["fault"] is not None, error
                assert "\n" not in str(error)
                # Only where the folder could not be synced the new one stands already.
                self._may_be |= {_whole(text)}
                self._look()
            except _Ended:
                disk.end()
                self._may_be |= {_whole(text)}
                self._store = SessionStore("kept")
                self._look()
            else:
                self._may_be = {_whole(text)}
                self._look()
        self._store.close()
        self._last()

    def _save(self, text: str, *, soon: bool) -> None:
        messages: list[dict[str, object]] = [{"role": "user", "content": text}]
        if soon:
            asyncio.run(self._store.save_soon(_ID, self._cwd, messages, _CREATED))
        else:
            self._store.save(_ID, self._cwd, messages, _CREATED)

    def _look(self) -> None:
        """Read it as another process would, without its lock."""
        found = SessionStore("kept").list(self._cwd)
        if not found:
            assert None in self._may_be, "what was saved is gone"
            self._may_be = {None}
            return
        ((info),) = found
        assert info.problem is None, info.problem
        (message,) = self._store.load(self._cwd, _ID).messages
        assert message["content"] in self._may_be, "what was saved is older now"
        self._may_be = {str(message["content"])}

    def _last(self) -> None:
        """A new process has the session, and can save it."""
        store = SessionStore("kept")
        if None not in self._may_be:
            store.open(self._cwd, _ID)
        store.save(_ID, self._cwd, [{"role": "user", "content": "last"}], _CREATED)
        assert store.load(self._cwd, _ID).messages[0]["content"] == "last"
        store.close()
        assert {path.name for path in (self._cwd / "kept").iterdir()} <= {f"{_ID}.json", ".gitignore"}


class _Disk:
    """The system's calls, one of which does not do what it should."""

    def __init__(self, files: dict[int, Path], fault: Any) -> None:
        """files: what the process has open, kept from one save to the next."""
        self._fault = fault
        self._step = 0
        self._over = False
        self._files = files
        self._synced: dict[Path, int] = {}
        self._renamed: tuple[Path, bytes | None] | None = None

    @property
    def ends(self) -> bool:
        """Whether it is the end of the process."""
        return self._fault is not None and self._fault["how"] in ("crash", "power")

    @contextmanager
    def watched(self) -> Iterator[None]:
        """All that is done to a disk in here goes through this one."""
        real = {
            name: getattr(os, name)
            for name in ("open", "write", "fsync", "rename", "unlink", "mkdir", "close")
        }

        def open_(path: Any, flags: int, mode: int = 0o777, **more: Any) -> int:
            if flags & os.O_CREAT:
                self._step_of("open")
            descriptor: int = real["open"](path, flags, mode, **more)
            self._files[descriptor] = Path(path)
            if flags & os.O_CREAT and flags & os.O_EXCL:
                self._synced[Path(path)] = 0
            return descriptor

        def write(descriptor: int, data: Any) -> int:
            if descriptor not in self._files:
                return int(real["write"](descriptor, data))  # of the event loop
            part = self._step_of("write")
            if part:
                data = data[: max(1, len(data) // 2)]
            return int(real["write"](descriptor, data))

        def fsync(descriptor: int) -> None:
            self._step_of("fsync")
            path = self._files[descriptor]
            if path.is_dir():
                self._renamed = None
            else:
                self._synced[path] = path.stat().st_size  # it is not made to wait for a real disk

        def rename(source: Any, target: Any) -> None:
            self._step_of("rename")
            old = Path(target).read_bytes() if Path(target).exists() else None
            real["rename"](source, target)
            self._renamed = Path(target), old
            self._synced[Path(target)] = self._synced.pop(Path(source), 0)

        def unlink(path: Any, **more: Any) -> None:
            self._step_of("unlink")
            real["unlink"](path, **more)

        def mkdir(path: Any, *rest: Any, **more: Any) -> None:
            self._step_of("mkdir")
            real["mkdir"](path, *rest, **more)

        def close(descriptor: int) -> None:
            self._files.pop(descriptor, None)
            real["close"](descriptor)

        def open_file(file: Any, mode: str = "r", *rest: Any, **more: Any) -> Any:
            assert not set(mode) & set("wax+"), "what is written like this is seen by nobody here"
            return real_open(file, mode, *rest, **more)

        real_open = io.open
        with (
            patch.object(io, "open", open_file),
            patch.multiple(
                os,
                open=open_,
                write=write,
                fsync=fsync,
                rename=rename,
                unlink=unlink,
                mkdir=mkdir,
                close=close,
            ),
        ):
            yield

    def _step_of(self, what: str) -> bool:
        """One step; true if it is to be done in part. Raises what the fault says."""
        if self._over:
            raise _Ended
        step, self._step = self._step, self._step + 1
        if self._fault is None or step < self._fault["step"]:
            return False
        how = self._fault["how"]
        if how == "part":
            return what == "write"
        if how in ("crash", "power"):
            self._over = True
            raise _Ended
        if how == "fail for good" or step == self._fault["step"]:
            code = getattr(errno, self._fault["code"])
            raise OSError(code, os.strerror(code))
        return False

    def end(self) -> None:
        """The kernel closes what the process had open; a power cut takes what was not synced."""
        for descriptor in self._files:
            os.close(descriptor)
        self._files.clear()
        if self._fault["how"] == "power":
            if self._renamed is not None and self._fault["undone"]:
                target, old = self._renamed
                target.unlink()
                if old is not None:
                    target.write_bytes(old)
                    self._synced.pop(target)
            for path, size in self._synced.items():
                if path.is_file() and path.stat().st_size > size:
                    os.truncate(path, size + self._fault["left"] % (path.stat().st_size - size + 1))


def _whole(text: str) -> str:
    return text.replace("\ud83d", "\ufffd")
