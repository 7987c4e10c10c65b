"""A directory of the script's own inside the session's: for files that the client is asked to read, write or run.

Made when it is asked for and gone at the end, so that nothing stays in the project of a person who watches.
Deliberately absent: what is put there.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from acp_agent.harness.endings import NotExercised
from acp_agent.harness.stage import Stage
from acp_agent.harness.turn import StagedTurn

_PREFIX: Final = "acp-harness-files-"


@contextlib.contextmanager
def scratch(stage: Stage, turn: StagedTurn) -> Iterator[Path]:
    """A new directory below the cwd of the turn's session, gone afterwards.

    Raises NotExercised when none can be made there: the client may be on another machine.
    """
    session = stage.wire.observer.connection.conversation.sessions.get(turn.session_id)
    if session is None or not session.cwd:
        raise NotExercised("the session's directory is not known")
    try:
        directory = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=os.path.realpath(session.cwd)))
    except OSError as error:
        raise NotExercised(f"no files can be put into the session's directory: {error}") from error
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)
