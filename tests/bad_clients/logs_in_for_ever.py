"""Defect: a session that is refused after a login leads to the next login, without end."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import Failed, RawClient, main

BREAKS = {
    "auth/session-refused-for-ever": {"R-306"},
    "auth/login-refused-for-ever": {"R-306"},
}


class Client(RawClient):
    def new_session(self) -> None:
        while True:
            try:
                super().new_session()
                return
            except Failed as error:
                if error.code != -32000 or not self.auth_methods:
                    raise


if __name__ == "__main__":
    main(Client)
