"""Standard input and output of every kind, and clients that do not read."""

from __future__ import annotations

import json
import os
import pty
import socket
import subprocess
import tty
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer
from raw_client import Agent, Silence, agent_command, is_alive, pid_in, wait_gone, waiting

INITIALIZE = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n'
AUTHENTICATE = b'{"jsonrpc":"2.0","id":2,"method":"authenticate","params":{"methodId":"x"}}\n'


def two_pipes() -> tuple[int, int, int, int]:
    child_in, our_out = os.pipe()
    our_in, child_out = os.pipe()
    return child_in, child_out, our_out, our_in


def one_socket() -> tuple[int, int, int, int]:
    ours, theirs = socket.socketpair()
    child, our = theirs.detach(), ours.detach()
    return child, os.dup(child), our, os.dup(our)


def one_terminal() -> tuple[int, int, int, int]:
    our, child = pty.openpty()
    tty.setraw(child)
    return child, os.dup(child), our, os.dup(our)


KINDS = {"pipes": two_pipes, "a socket": one_socket, "a terminal": one_terminal}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_whole_turn_over_every_kind_of_descriptor(
    start: Callable[..., Agent], tmp_path: Path, kind: Callable[[], tuple[int, int, int, int]]
) -> None:
    """Stdin may be a pipe, socket or pty: a turn with a tool, a long line each way, and the end."""
    child_in, child_out, our_out, our_in = kind()
    bob = start(stdin=child_in, stdout=child_out)
    os.close(child_in)
    os.close(child_out)
    bob.attach(stdin=our_out, stdout=our_in)
    bob.initialize()
    session = bob.new_session(tmp_path)
    text = "x" * 200_000 + "é"
    assert bob.turn(session, f"write big.txt: {text}")["result"] == {"stopReason": "end_turn"}
    assert (tmp_path / "big.txt").read_text().rstrip("\n") == text
    assert bob.turn(session, "run ls -l /proc/self/fd")["result"] == {"stopReason": "end_turn"}
    assert "/dev/null" in bob.text_of(session)
    bob.barrier()
    bob.assert_clean()
    os.close(our_out)
    if kind is not two_pipes:
        os.close(our_in)
        bob.stdout = -1
    assert bob.exit_code() == 0
    if kind is two_pipes:
        os.close(our_in)


@pytest.mark.parametrize("source", ["file", "/dev/null", "pipe of a dead writer"])
def test_input_that_is_already_over(tmp_path: Path, source: str) -> None:
    """A file and /dev/null as stdin: read to the end, answered, exit code 0."""
    lines = INITIALIZE + AUTHENTICATE
    if source == "file":
        (tmp_path / "input").write_bytes(lines)
        descriptor = os.open(tmp_path / "input", os.O_RDONLY)
    elif source == "/dev/null":
        descriptor = os.open(os.devnull, os.O_RDONLY)
    else:
        descriptor, writer = os.pipe()
        os.write(writer, lines)
        os.close(writer)
    config = tmp_path / "bob.toml"
    config.write_text("")
    done = subprocess.run(
        agent_command(config), stdin=descriptor, capture_output=True, timeout=60, check=False
    )
    os.close(descriptor)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line)["id"] for line in done.stdout.splitlines()]
    assert answers == ([] if source == "/dev/null" else [1, 2])
    assert b"Traceback" not in done.stderr


def test_output_may_be_a_file(tmp_path: Path) -> None:
    """A regular file as stdout holds every answer, whole."""
    config = tmp_path / "bob.toml"
    config.write_text("")
    with (tmp_path / "out").open("wb") as out:
        lines = INITIALIZE + b"".join(AUTHENTICATE for _ in range(1000))
        done = subprocess.run(
            agent_command(config), input=lines, stdout=out, stderr=subprocess.PIPE, timeout=60, check=False
        )
    assert done.returncode == 0
    assert len((tmp_path / "out").read_bytes().splitlines()) == 1001


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_descriptors_that_are_closed_at_the_start(tmp_path: Path, closed: str) -> None:
    """Whatever is missing: no traceback, no protocol in a file that took the number, an end at once."""
    config = tmp_path / "bob.toml"
    config.write_text("")
    command = " ".join(f"'{part}'" for part in agent_command(config))
    done = subprocess.run(
        ["bash", "-c", f"exec {command} {closed}"],
        input=INITIALIZE,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    assert config.read_text() == ""
    if ">&-" in closed.replace("2>&-", "").replace("<&-", ""):
        assert done.returncode == 2
        assert (b"standard output" in done.stderr) == ("2>&-" not in closed)
    else:
        assert done.returncode == 0
        assert len(done.stdout.splitlines()) == ("<&-" not in closed)


def test_a_print_of_a_library_does_not_touch_the_wire(start: Callable[..., Agent], tmp_path: Path) -> None:
    """B132: prints, writes to descriptor 1 and to sys.__stdout__ at start, at import and at the end go to stderr."""
    hook = tmp_path / "sitecustomize.py"
    hook.write_text(
        "import atexit, os, sys, threading, time\n"
        "print('printed at start')  # buffered, as standard output is for a pipe\n"
        "atexit.register(lambda: print('printed at the end'))\n"
        "def chatter():\n"
        "    while True:\n"
        "        time.sleep(0.01)\n"
        "        os.write(1, b'written to 1\\n')\n"
        "        print('printed meanwhile')\n"
        "        sys.__stdout__.write('written to __stdout__\\n')\n"
        "class Late:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'acp_agent.agent.turn':\n"
        "            threading.Thread(target=chatter, daemon=True).start()\n"
        "sys.meta_path.insert(0, Late())\n"
    )
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    bob = start(environ={**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": ""})
    bob.initialize()
    session = bob.new_session(tmp_path)
    bob.turn(session, "run sleep 0.1; echo done")
    bob.until_stderr(lambda text: "printed meanwhile" in text and "written to 1" in text)
    assert bob.end() == 0
    bob.assert_clean()
    assert "printed at start" in bob.stderr_text()


# -- clients that do not read

STREAM = """
[[rule]]
regex = 'stream (\\d+)'
[[rule.reply]]
parts = [ { text = "The quick brown fox jumps over the dog. ", repeat = "{1}" } ]
[[rule]]
exact = "short"
[[rule.reply]]
parts = [ { text = "short" } ]
"""
LIMIT = 256 * 1024
SPARE = 24 * 1024 * 1024


def text_before_the_end(call: Any, pieces: int) -> int:
    """Stream numbered pieces until the agent takes no more; how many it took."""
    call._connection.settimeout(0.5)
    for number in range(pieces):
        try:
            call.text(f"{number} " + "x" * 1000 + " ")
        except TimeoutError:
            return number
    return pieces


def test_a_client_that_stops_reading_costs_a_bounded_amount_and_loses_nothing(
    start: Callable[..., Agent], own_model: ModelServer, tmp_path: Path
) -> None:
    """While the client does not read, memory stays bounded, cancel is read and acted on (the model server sees its
    connection closed during the stall), and once the client reads again nothing is missing (B136)."""
    bob = start(
        f'[model]\nprovider = "openai"\nbaseUrl = "{own_model.url}"\nname = "m"\nretries = 0\n'
        f"[limits]\nmaxOutboxBytes = {LIMIT}\n"
    )
    bob.initialize()
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "talk")
    call = own_model.next()
    call.text("begin")
    bob.until(lambda message: message.get("method") == "session/update")
    idle = bob.rss_kib * 1024
    # Nothing is read from here on. The agent stops asking for more of the answer when its outbox is full.
    taken = text_before_the_end(call, 200_000)
    assert taken < 200_000, "the agent took all of it"
    assert bob.rss_kib * 1024 - idle < LIMIT + SPARE
    # The reader still works: a cancel, and requests behind it.
    bob.notify("session/cancel", {"sessionId": session}, while_reading=False)
    call.wait_gone(6)
    bob.request("authenticate", {"methodId": "x"}, id_="stalled", while_reading=False)
    # Now it reads again.
    assert bob.answer(prompt)["result"] == {"stopReason": "cancelled"}
    assert bob.answer("stalled")["result"] == {}
    pieces = bob.text_of(session).removeprefix("begin").split()
    numbers = [int(piece) for piece in pieces[0::2] if piece.isdecimal()]
    assert numbers == list(range(len(numbers)))
    assert len(numbers) > LIMIT // 1200
    assert bob.end() == 0
    bob.assert_clean()


def test_a_whole_stream_arrives_however_slowly_it_is_read(
    start: Callable[..., Agent], tmp_path: Path
) -> None:
    """Backpressure loses and reorders nothing, and keeps memory: some 27 MiB through a small outbox, read in sips."""
    script = tmp_path / "stream.model"
    script.write_text(STREAM)
    bob = start(
        f'[model]\nprovider = "scripted"\nscript = "{script}"\n[limits]\nmaxOutboxBytes = 65536\n',
        judged=False,
    )
    bob.initialize()
    session = bob.new_session(tmp_path)
    idle = bob.peak_rss_kib
    prompt = bob.prompt(session, "stream 150000")
    for _ in range(100):
        bob.read_some(5)
    assert bob.answer(prompt)["result"] == {"stopReason": "end_turn"}
    text = "The quick brown fox jumps over the dog. " * 150_000
    assert bob.text_of(session) == text
    # The history holds the text, in pieces and joined.
    assert bob.peak_rss_kib - idle < (len(text) * 2 + LIMIT + 4 * 1024 * 1024) // 1024
    assert bob.turn(session, "short")["result"] == {"stopReason": "end_turn"}
    assert bob.end() == 0


def test_a_command_is_ended_and_a_prompt_cancelled_while_nobody_reads(
    start: Callable[..., Agent], own_model: ModelServer, tmp_path: Path
) -> None:
    """The stall is no shelter: a running tool is cancelled at once."""
    bob = start(f'[model]\nprovider = "openai"\nbaseUrl = "{own_model.url}"\nname = "m"\nretries = 0\n')
    bob.initialize()
    session = bob.new_session(tmp_path)
    prompt = bob.prompt(session, "go")
    own_model.next().tool("bash", {"command": "echo $$ > pid; sleep 600"}).finish("tool_calls")
    bob.choose(bob.permission())
    pid = pid_in(tmp_path / "pid")
    # Fill the pipe with answers that nobody reads.
    filler = b'{"jsonrpc":"2.0","id":"f%d","method":"authenticate","params":{"methodId":"x"}}'
    for number in range(3000):
        line = filler % number
        bob.judge.client_wrote(line)  # type: ignore[union-attr]
        bob.write(line + b"\n", while_reading=False)
    line = json.dumps(
        {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}
    ).encode()
    bob.judge.client_wrote(line)  # type: ignore[union-attr]
    bob.write(line + b"\n", while_reading=False)
    wait_gone(pid)
    assert bob.answer(prompt)["result"] == {"stopReason": "cancelled"}
    assert bob.end() == 0
    bob.assert_clean()


@pytest.mark.parametrize("how", ["EOF", "TERM"])
def test_it_ends_though_nobody_reads(start: Callable[..., Agent], tmp_path: Path, how: str) -> None:
    """The end does not wait for a client that does not read: exit code 0, no child left."""
    script = tmp_path / "stream.model"
    script.write_text(STREAM)
    bob = start(
        f'[model]\nprovider = "scripted"\nscript = "{script}"\n[limits]\nmaxOutboxBytes = {LIMIT}\n',
        judged=False,
    )
    bob.initialize()
    bob.prompt(bob.new_session(tmp_path), "stream 100000")
    bob.until(lambda message: message.get("method") == "session/update")
    if how == "EOF":
        bob.close_stdin()
    else:
        bob.process.terminate()
    assert bob.process.wait(6) == 0


def test_a_client_that_asks_and_asks_and_never_reads_is_not_read_for_ever(
    start: Callable[..., Agent], tmp_path: Path
) -> None:
    """Answers nobody reads are memory too: the agent stops reading, memory is bounded, and all is answered later."""
    bob = start(f"[limits]\nmaxOutboxBytes = {LIMIT}\n", judged=False)
    bob.initialize()
    idle = bob.rss_kib
    line = b'{"jsonrpc":"2.0","id":%d,"method":"nope/' + b"x" * 200 + b'"}\n'
    sent = 0
    with pytest.raises(Silence):
        _write_until_full(bob, line)
    sent = bob.sent_lines  # type: ignore[attr-defined]
    assert bob.rss_kib - idle < (2 * LIMIT + SPARE) // 1024
    rest: bytes = bob.unsent  # type: ignore[attr-defined]
    bob.write(rest)
    for _ in waiting():
        bob.read_some(1)
        if len(bob.messages) == 1 + sent:
            break
    assert [message["id"] for message in bob.messages[1:]] == list(range(sent))
    assert bob.end() == 0


def _write_until_full(bob: Agent, line: bytes) -> None:
    """Write numbered requests without reading until the agent takes no more for a while."""
    import select

    number = 0
    while number < 200_000:
        data = memoryview(line % number)
        number += 1
        while data:
            if not select.select([], [bob.stdin], [], 0.7)[1]:
                bob.sent_lines, bob.unsent = number, bytes(data)  # type: ignore[attr-defined]
                raise Silence("full")
            try:
                data = data[os.write(bob.stdin, data) :]
            except BlockingIOError:
                continue


# -- standard error


def test_standard_error_that_nobody_reads_does_not_stop_it(tmp_path: Path) -> None:
    """A full pipe of stderr costs log lines, not turns."""
    config = tmp_path / "bob.toml"
    config.write_text("")
    reader, writer = os.pipe()
    bob = Agent(config, stderr=writer)
    os.close(writer)
    try:
        bob.initialize()
        for number in range(3000):
            bob.request("nope", {"n": number})
        bob.barrier()
        session = bob.new_session(tmp_path)
        assert bob.turn(session, "run echo hi")["result"] == {"stopReason": "end_turn"}
        assert bob.end() == 0
        bob.assert_clean()
    finally:
        bob.kill()
        os.close(reader)


def test_standard_error_whose_reader_has_gone_does_not_stop_it(tmp_path: Path) -> None:
    """A closed stderr pipe: no SIGPIPE, no error."""
    config = tmp_path / "bob.toml"
    config.write_text("")
    reader, writer = os.pipe()
    bob = Agent(config, stderr=writer)
    os.close(writer)
    os.close(reader)
    try:
        bob.initialize()
        session = bob.new_session(tmp_path)
        assert bob.turn(session, "run echo hi")["result"] == {"stopReason": "end_turn"}
        assert bob.call("nope")["error"]["code"] == -32601
        assert bob.end() == 0
        bob.assert_clean()
    finally:
        bob.kill()


def test_after_a_kill_the_command_does_not_hold_the_pipe(start: Callable[..., Agent], tmp_path: Path) -> None:
    """B134: SIGKILL of the agent can't be answered; what is certain is that no child holds the client's pipe open."""
    bob = start()
    bob.initialize()
    session = bob.new_session(tmp_path)
    bob.prompt(session, "run echo $$ > pid; exec sleep 600")
    bob.choose(bob.permission())
    pid = pid_in(tmp_path / "pid")
    bob.process.kill()
    assert bob.exit_code() == -9
    if is_alive(pid):
        os.kill(pid, 9)
