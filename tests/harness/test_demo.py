"""The demonstration shows a faulty client being caught, for the fault it has and no other."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def test_the_demo_catches_its_client_and_names_the_report(tmp_path: Path) -> None:
    """As `make harness-demo` runs it, in an empty directory."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "acp_agent.harness.demo"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert '"outcome":"canceled"' in "".join(done.stdout.split())
    assert "Report: acp-harness-report/report.html" in done.stdout
    document = json.loads((tmp_path / "acp-harness-report" / "report.json").read_bytes())
    failed = {scenario["id"] for scenario in document["scenarios"] if scenario["verdict"] == "fail"}
    assert failed == {"permission/cancel-while-open"}
