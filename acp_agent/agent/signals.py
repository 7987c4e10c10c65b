"""The signals that end the agent, and the exit code of each.

Deliberately absent: an end in order, which takes an event loop (server.py).
"""

from __future__ import annotations

import os
import signal
from typing import Final

EXIT_CODES: Final = {
    signal.SIGTERM: 0,
    signal.SIGINT: 128 + signal.SIGINT,
    # A terminal that is gone hangs up.
    signal.SIGHUP: 128 + signal.SIGHUP,
}


def leave_at_once() -> None:
    """From now on these signals end the process on the spot: right as long as nothing has been read or begun."""
    for number, code in EXIT_CODES.items():
        signal.signal(number, lambda *_, code=code: os._exit(code))
