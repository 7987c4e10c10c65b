"""The checks that need no model: the configuration, the skills, the sessions directory.

Each gives one finding and changes nothing that stays. Absent: what the model server says (model_checks.py), and the
reading of skills and sessions, whose results are arguments.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from acp_agent import config
from acp_agent.config import Settings
from acp_agent.setup.findings import Finding, State


def configuration(
    explicit: Path | None, cwd: Path, environ: Mapping[str, str]
) -> tuple[Settings | None, Finding]:
    """The settings as `serve` would read them here, None if it could not; and where they come from."""
    try:
        settings = config.load(explicit, cwd, environ)
    except config.ConfigError as error:
        return None, Finding(State.TO_DO, "configuration", str(error))
    if settings.source is not None:
        return settings, Finding(State.OK, "configuration", str(settings.source))
    places = [str(cwd / config.FILE_NAME), config.user_file(environ)]
    looked = " and ".join(place for place in places if place)
    return settings, Finding(State.OK, "configuration", f"no file, so the defaults; looked for {looked}")


def skills(found: Sequence[str], warnings: Sequence[str]) -> Finding:
    """found: the names of the skills that Bob will use. warnings: a sentence on each that he will not, and on each
    that is not as it seems."""
    names = f"{len(found)} found: {', '.join(found)}" if found else "none found"
    return Finding(State.TO_DO if warnings else State.OK, "skills", "; ".join([names, *warnings]))


def sessions_directory(path: Path) -> Finding:
    """Whether conversations can be kept in this directory, which need not exist yet."""
    place = path
    while not os.path.lexists(place) and place != place.parent:
        place = place.parent
    try:
        # Tried, not deduced from modes: a full or read-only file system does not show in them.
        with tempfile.NamedTemporaryFile(dir=place, prefix=".acp-agent-") as file:
            file.write(b"x")
            file.flush()
    except OSError as error:
        reason = error.strerror or str(error)
        return Finding(
            State.TO_DO,
            "sessions",
            f"conversations cannot be kept in {path}: {reason} ({place}); make it writable",
        )
    return Finding(State.OK, "sessions", f"{path} {'is writable' if place == path else 'can be made'}")
