"""How the agent ends: end of input, signals, a reader that is gone; in every state, in time, with nothing left."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from model_server import ModelServer
from raw_client import Agent, agent_command, pid_in, wait_gone, waiting

BOTH_ENDS = signal.SIGTERM, signal.SIGINT


@pytest.fixture
def model(own_model: ModelServer) -> ModelServer:
    """A model server of the test's own."""
    return own_model


@pytest.fixture
def bob(start: Callable[..., Agent], model: ModelServer) -> Agent:
    """An agent of the test's own, initialised."""
    bob = start(f'[model]\nprovider = "openai"\nbaseUrl = "{model.url}"\nname = "m"\nretries = 5\n')
    bob.initialize()
    return bob


def nothing_sent(bob: Agent, model: ModelServer, cwd: Path) -> list[int]:
    return []


def idle_session(bob: Agent, model: ModelServer, cwd: Path) -> list[int]:
    bob.new_session(cwd)
    return []


def asking_the_model(bob: Agent, model: ModelServer, cwd: Path) -> list[int]:
    bob.prompt(bob.new_session(cwd), "hi")
    model.next()
    return []


def streaming(bob: Agent, model: ModelServer, cwd: Path) -> list[int]:
    bob.prompt(bob.new_session(cwd), "hi")
    model.next().text("a")
    bob.until(lambda message: message.get("method") == "session/update")
    return []


def retrying(bob: Agent, model: ModelServer, cwd: Path) -> list[int]:
    bob.prompt(bob.new_session(cwd), "hi")
    model.next().refuse("503 Service Unavailable", {"error": "busy"}, "retry-after: 20")
    bob.until_stderr(lambda text: "busy" in text)
    return []


def permission_open(bob: Agent, model: ModelServer, cwd: Path) -> list[int]:
    bob.prompt(bob.new_session(cwd), "hi")
    model.next().tool("bash", {"command": "touch ran"}).finish("tool_calls")
    bob.permission()
    return []


def command(text: str) -> Callable[[Agent, ModelServer, Path], list[int]]:
    def running(bob: Agent, model: ModelServer, cwd: Path) -> list[int]:
        bob.prompt(bob.new_session(cwd), "hi")
        model.next().tool("bash", {"command": text}).finish("tool_calls")
        bob.choose(bob.permission())
        return [pid_in(cwd / "pid")]

    return running


def queue(bob: Agent, model: ModelServer, cwd: Path) -> list[int]:
    session = bob.new_session(cwd)
    for _ in range(20):
        bob.prompt(session, "hi")
    model.next()
    return []


def winding_down(bob: Agent, model: ModelServer, cwd: Path) -> list[int]:
    session = bob.new_session(cwd)
    bob.prompt(session, "hi")
    model.next().tool("bash", {"command": "true"}).finish("tool_calls")
    bob.permission()
    bob.cancel(session)
    return []


STATES = {
    "nothing sent": nothing_sent,
    "an idle session": idle_session,
    "asking the model": asking_the_model,
    "streaming": streaming,
    "waiting to ask again": retrying,
    "a permission is open": permission_open,
    "a command runs": command("echo $$ > pid; sleep 600"),
    "a command ignores signals": command(
        "trap '' TERM INT HUP; echo $$ > pid; while true; do sleep 600; done"
    ),
    "a child in the background": command("sleep 600 & echo $! > pid; sleep 600"),
    "turns wait": queue,
    "a cancelled turn winds down": winding_down,
}


@pytest.fixture(params=STATES.values(), ids=STATES)
def pids(request: pytest.FixtureRequest, bob: Agent, model: ModelServer, tmp_path: Path) -> list[int]:
    """The agent is brought into a state; the pids of the children it has."""
    found: list[int] = request.param(bob, model, tmp_path)
    return found


def assert_nothing_left(bob: Agent, model: ModelServer, pids: list[int], cwd: Path) -> None:
    for pid in pids:
        wait_gone(pid)
    assert not (cwd / "ran").exists()
    assert "Traceback" not in bob.stderr_text()
    bob.assert_clean()


def test_the_end_of_input_ends_it(bob: Agent, model: ModelServer, tmp_path: Path, pids: list[int]) -> None:
    """EOF on stdin in every state: exit code 0 within 2 s, no child left (R-313, B134), nothing more said
    to a client that has gone."""
    seen = len(bob.messages)
    assert bob.end() == 0
    assert [message for message in bob.messages[seen:] if "id" in message and "method" not in message] == []
    assert_nothing_left(bob, model, pids, tmp_path)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)], ids=["TERM", "INT"])
def test_a_signal_ends_it(
    bob: Agent, model: ModelServer, tmp_path: Path, pids: list[int], number: int, code: int
) -> None:
    """SIGTERM and SIGINT in every state, the input still open: within 2 s, code 0 on SIGTERM; every open prompt is
    answered, and not with `cancelled`, which nobody asked for (R-139, R-171)."""
    os.kill(bob.process.pid, number)
    assert bob.exit_code() == code
    assert bob.judge is not None
    assert bob.judge.open_requests == []
    assert_nothing_left(bob, model, pids, tmp_path)


def test_a_reader_that_is_gone_ends_it(
    bob: Agent, model: ModelServer, tmp_path: Path, pids: list[int]
) -> None:
    """A closed stdout, the input still open: noticed even while there is nothing to write."""
    assert bob.process.stdout is not None
    bob.process.stdout.close()
    bob.stdout = -1
    bob.exit_code()
    for pid in pids:
        wait_gone(pid)
    assert "Traceback" not in bob.stderr_text()


def test_two_signals_are_one_end(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """An impatient person presses Ctrl-C again: still an orderly end, and no child left."""
    (pid,) = STATES["a command ignores signals"](bob, model, tmp_path)
    for _ in range(3):
        os.kill(bob.process.pid, signal.SIGINT)
    assert bob.exit_code() == 130
    wait_gone(pid)
    assert "Traceback" not in bob.stderr_text()


def test_a_terminal_that_hangs_up_ends_it(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """SIGHUP: no child is left behind in a session nobody sees."""
    (pid,) = STATES["a command runs"](bob, model, tmp_path)
    os.kill(bob.process.pid, signal.SIGHUP)
    assert bob.exit_code() == 129
    wait_gone(pid)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_after_the_end_of_input_changes_nothing(start: Callable[..., Agent], number: int) -> None:
    """Editors close the pipe and send SIGTERM a moment later: whenever it comes, the end was orderly, code 0."""
    for delay_ms in range(0, 40, 8):
        bob = start()
        bob.initialize()
        bob.close_stdin()
        time.sleep(delay_ms / 1000)  # not to wait for anything: to hit every stage of the end
        bob.process.send_signal(number)
        assert bob.exit_code() in {0, 128 + number if number == signal.SIGINT else 0}
        assert "Traceback" not in bob.stderr_text()


def test_end_of_input_and_signal_together(bob: Agent, model: ModelServer, tmp_path: Path) -> None:
    """Editors close the pipe and then send SIGTERM: code 0 either way."""
    (pid,) = STATES["a command runs"](bob, model, tmp_path)
    bob.close_stdin()
    os.kill(bob.process.pid, signal.SIGTERM)
    assert bob.exit_code() == 0
    wait_gone(pid)


def test_what_was_asked_before_the_end_is_answered(start: Callable[..., Agent], tmp_path: Path) -> None:
    """Requests that need no turn are answered though the input ends right behind them, the last line without its LF."""
    bob = start()
    bob.judge = None
    bob.write(
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n'
        b'{"jsonrpc":"2.0","id":2,"method":"authenticate","params":{"methodId":"x"}}'
    )
    assert bob.end() == 0
    assert [message["id"] for message in bob.messages] == [1, 2]


@pytest.mark.parametrize(
    "rest", [b'{"jsonrpc":"2.0","id":9,"meth', b"\xff\xfe", b"x" * 100_000, b"\r", b"  "]
)
def test_the_input_may_end_inside_a_line(start: Callable[..., Agent], rest: bytes) -> None:
    """Whatever stands at the end: exit code 0."""
    bob = start()
    bob.initialize()
    bob.judge = None
    bob.write(rest)
    assert bob.end() == 0
    assert all(message["error"]["code"] == -32700 for message in bob.messages[1:])
    assert len(bob.messages) <= 2


def test_input_that_ends_at_once(start: Callable[..., Agent]) -> None:
    """Nothing was ever asked: nothing is said on standard output, exit code 0."""
    bob = start()
    assert bob.end() == 0
    assert bob.messages == []


def test_a_slow_name_server_does_not_hold_up_the_end(start: Callable[..., Agent], tmp_path: Path) -> None:
    """A look-up of the model server's name may hang in a thread for a minute; nobody waits for it at the end."""
    hook = tmp_path / "sitecustomize.py"
    hook.write_text(
        "import socket, time\n"
        "def slow(*args, **more):\n"
        "    open('asked', 'w').close()\n"
        "    time.sleep(60)\n"
        "socket.getaddrinfo = slow\n"
    )
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    bob = start(
        '[model]\nprovider = "openai"\nbaseUrl = "http://model.example:1/v1"\nname = "m"\nconnectTimeout = 60\n',
        environ={**os.environ, "PYTHONPATH": path},
        cwd=tmp_path,
    )
    bob.initialize()
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "hi")
    for _ in waiting():
        if (tmp_path / "asked").exists():
            break
    bob.cancel(session)
    assert bob.answer(prompt, 6.0)["result"] == {"stopReason": "cancelled"}
    assert bob.end() == 0


def test_a_wrong_configuration_is_one_sentence_and_exit_code_2(tmp_path: Path) -> None:
    """Nothing on stdout, one sentence with file, key and what was expected."""
    config = tmp_path / "bob.toml"
    config.write_text("[model]\nproviderr = 1\n")
    bob = Agent(command=agent_command(config), stderr=tmp_path / "stderr")
    try:
        assert bob.exit_code() == 2
        assert bob.messages == []
        said = bob.stderr_text().strip()
        assert "\n" not in said
        assert str(config) in said
        assert "providerr" in said
    finally:
        bob.kill()


@pytest.mark.parametrize("misuse", [["--bogus"], ["--config"], ["extra"], ["--config", "/no/such/file"]])
def test_a_wrong_command_line_leaves_standard_output_alone(tmp_path: Path, misuse: list[str]) -> None:
    """B132: one sentence on standard error, exit code 2, nothing on the wire."""
    bob = Agent(command=[*agent_command(None), *misuse], stderr=tmp_path / "stderr", cwd=tmp_path)
    try:
        assert bob.exit_code() == 2
        assert bob.messages == []
        assert len(bob.stderr_text().strip().splitlines()) == 1
    finally:
        bob.kill()
