"""`python -m acp_agent.harness ...`: the harness by itself; a driven client starts its agent this way."""

import sys

from acp_agent.harness.commands import main

if __name__ == "__main__":
    sys.exit(main())
