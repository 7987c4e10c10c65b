"""Defect: an address is looked at before the user has agreed."""

from __future__ import annotations

import sys
import urllib.request
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "harness"))
from raw_client import RawClient, main

BREAKS = {
    "elicitation/url-not-opened": {"R-232"},
}


class Client(RawClient):
    def on_elicitation(self, message: dict[str, Any], params: dict[str, Any]) -> None:
        if params.get("mode") == "url" and params["url"].startswith("http://127.0.0.1:"):
            with urllib.request.urlopen(params["url"], timeout=10) as page:  # noqa: S310 - a page of this machine
                page.read(100)
        super().on_elicitation(message, params)


if __name__ == "__main__":
    main(Client)
