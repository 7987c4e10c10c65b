"""Legal: nothing is advertised, and nothing but permissions is served."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from raw_client import Failed, Message, RawClient, main


class Client(RawClient):
    capabilities: ClassVar[Message] = {}

    def initialize(self) -> None:
        client = {"name": "little", "version": "1"}
        result = self.call("initialize", {"protocolVersion": 1, "clientInfo": client})
        if result["protocolVersion"] != 1:
            raise Failed(0, "another version")
        self.capabilities_of_agent = result.get("agentCapabilities") or {}
        self.auth_methods = result.get("authMethods") or []

    def handle_request(self, message: Message) -> None:
        if message["method"] == "session/request_permission":
            super().handle_request(message)
        else:
            self.respond_error(message, -32601, "Method not found")


if __name__ == "__main__":
    main(Client)
