"""What counts as an absolute path on the wire, whatever system the peer runs on (R-020).

Deliberately absent: whether such a path exists, or means anything here.
"""

from __future__ import annotations

import re
from typing import Final

_WINDOWS: Final = re.compile(r"[A-Za-z]:[\\/]|\\\\")


def is_absolute(path: str) -> bool:
    """Whether a path starts at a root: `/x`, `C:\\x`, `C:/x` or `\\\\server\\x`."""
    return path.startswith("/") or _WINDOWS.match(path) is not None
