"""Shows the client harness on real clients: installs each from its registry, runs all scenarios, writes docs/peers.md.

    tox -e peers                                      all peers, all scenarios: the better part of an hour
    python tests/peers/run.py --peers acpx --scenario permission --page /tmp/page.md

Owns who is run and with which command. The reports stay in bench/.peers/reports. Exit code 1 if our own client fails a
scenario, or a peer could not be had; what others do wrong is what the page is for. Deliberately absent: installing
(bench/contestants.py), driving (acp_agent.harness), the page (peer_page.py).
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from acp_agent import __version__

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
from contestants import (
    PEERS,
    PYTHON_SDK,
    TYPESCRIPT_SDK,
    CannotInstall,
    node_and_npm,
    npm_environment,
    npm_versions,
    python_environment,
    python_versions,
)
from peer_page import PeerRun, page, read_causes

HERE = Path(__file__).resolve().parent
ACPX = "acpx@0.19.1"
ACPX_NEEDS_NODE = (22, 13)
REPORTS = PEERS / "reports"
PAGE = HERE.parents[1] / "docs" / "peers.md"
OWN = "own"


@dataclass(frozen=True, slots=True)
class Peer:
    """A client ready to run. command: words before those of the run. versions: package or program -> version."""

    title: str
    adapter: str
    command: tuple[str, ...]
    versions: dict[str, str]


def own_client() -> Peer:
    """Ours, as it is in the environment that runs this."""
    versions = {"acp-agent": __version__, "python": sys.version.split()[0]}
    return Peer("acp_agent.client", "own_client.py", (sys.executable, str(HERE / "own_client.py")), versions)


def python_sdk() -> Peer:
    """The environment that the bench uses, too."""
    python = python_environment("python", PYTHON_SDK, "orjson")
    kept = ("agent-client-protocol", "pydantic", "python")
    versions = {name: version for name, version in python_versions(python).items() if name in kept}
    command = (python, str(HERE / "python_sdk_client.py"))
    return Peer("Python SDK (agent-client-protocol)", "python_sdk_client.py", command, versions)


def typescript_sdk() -> Peer:
    """The directory that the bench uses, too."""
    node, npm = node_and_npm()
    home = npm_environment("typescript", TYPESCRIPT_SDK, npm)
    # An ES module is resolved from where it lies, so the adapter has to lie beside node_modules.
    adapter = home / "ts_sdk_client.mjs"
    shutil.copyfile(HERE / adapter.name, adapter)
    versions = npm_versions(home, node, "@agentclientprotocol/sdk", "zod")
    return Peer("TypeScript SDK (@agentclientprotocol/sdk)", adapter.name, (node, str(adapter)), versions)


def acpx() -> Peer:
    """It wants a newer Node than many machines have; PyPI has one."""
    node, npm = node_and_npm(ACPX_NEEDS_NODE)
    home = npm_environment("acpx", ACPX, npm)
    program = home / "node_modules" / "acpx"
    start = program / json.loads((program / "package.json").read_text())["bin"]["acpx"]
    command = (sys.executable, str(HERE / "acpx_client.py"), node, str(start))
    versions = npm_versions(home, node, "acpx", "@agentclientprotocol/sdk")
    return Peer("acpx", "acpx_client.py", command, versions)


CLIENTS: dict[str, Callable[[], Peer]] = {
    OWN: own_client,
    "python-sdk": python_sdk,
    "typescript-sdk": typescript_sdk,
    "acpx": acpx,
}


def main(arguments: list[str] | None = None) -> int:
    """Run the peers one after the other, then write the page; returns the exit code."""
    parser = argparse.ArgumentParser(description="Real clients against the client harness.")
    parser.add_argument("--peers", default=",".join(CLIENTS), help=f"which, of {', '.join(CLIENTS)}")
    parser.add_argument("--scenario", action="append", default=[], help="an id, an area or a pattern")
    parser.add_argument("--jobs", type=int, default=None, help="scenarios at once")
    parser.add_argument("--page", type=Path, default=PAGE, help="where the page goes (docs/peers.md)")
    parser.add_argument("--page-only", action="store_true", help="write the page from reports that are there")
    options = parser.parse_args(arguments)
    names = options.peers.split(",")
    if unknown := [name for name in names if name not in CLIENTS]:
        parser.error(f"no peer called {unknown[0]!r}; there are {', '.join(CLIENTS)}")
    failed = False
    for name in [] if options.page_only else names:
        try:
            run(name, CLIENTS[name](), options.scenario, options.jobs)
        except CannotInstall as error:
            print(f"{name}: not run: {error}", flush=True)
            failed = True
    runs = [read_run(REPORTS / name) for name in names if (REPORTS / name / "peer.json").is_file()]
    options.page.write_text(page(runs, read_causes(HERE / "causes.toml")), encoding="utf-8", newline="\n")
    print(f"written: {options.page}")
    return 1 if failed or any(one.name == OWN and one.report["counts"]["fail"] for one in runs) else 0


def run(name: str, peer: Peer, scenarios: list[str], jobs: int | None) -> None:
    """Run the scenarios; the report and what the page has to know of the peer stay in its directory."""
    directory = REPORTS / name
    shutil.rmtree(directory, ignore_errors=True)
    print(
        f"== {peer.title}: {', '.join(f'{key} {value}' for key, value in peer.versions.items())}", flush=True
    )
    started = time.monotonic()
    command = [sys.executable, "-P", "-m", "acp_agent.harness", "run", "--report", str(directory)]
    command += ["--client", f"{shlex.join(peer.command)} {{agent}} {{prompt}} {{cwd}}"]
    command += ["--jobs", str(jobs)] if jobs else []
    for scenario in scenarios:
        command += ["--scenario", scenario]
    subprocess.run(command, check=False)
    described = {"name": name, "title": peer.title, "adapter": peer.adapter, "versions": peer.versions}
    (directory / "peer.json").write_text(json.dumps(described))
    print(f"== {time.monotonic() - started:.0f} s\n", flush=True)


def read_run(directory: Path) -> PeerRun:
    """What is left of a run."""
    described = json.loads((directory / "peer.json").read_text())
    return PeerRun(**described, report=json.loads((directory / "report.json").read_bytes()))


if __name__ == "__main__":
    sys.exit(main())
