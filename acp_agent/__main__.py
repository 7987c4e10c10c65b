"""`python -m acp_agent`: the same as the command `acp-agent`."""

from __future__ import annotations

import sys

from acp_agent.cli import main

if __name__ == "__main__":
    sys.exit(main())
