"""A whole turn of everything, told as it happens: `python -m acp_agent.client.demo`, which `make demo` runs.

Bob runs as a real process on its built-in model; all that is shown came over the protocol, and what it claims to have
done is checked on the disk. Exit code 0 if all of it went as it should, else 1. Needs no terminal, network or model,
and leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from acp_agent.client.client import Client, PromptResult
from acp_agent.client.errors import AgentGone, ClientError, explain
from acp_agent.client.events import ClientEvent, PermissionAsked, UpdateReceived
from acp_agent.client.permissions import Choice, PermissionRequest
from acp_agent.client.screen import Screen, Style, output_lost
from acp_agent.client.transcript import Transcript
from acp_agent.jsonrpc.errors import RpcError

# The built-in model whatever the person has configured: the demo promises that nothing leaves the machine.
_CONFIGURATION: Final = '[model]\nprovider = "offline"\n'

_CANCEL_MUST_TAKE_S: Final = 2.0
_LONGEST_S: Final = 60.0
"""Of the whole; it takes about one second."""


class DemoFailed(Exception):
    """Something was not as it should be; the text says what."""


class Demo:
    """The steps, in order. scratch: an empty directory to work in."""

    def __init__(self, screen: Screen, scratch: Path) -> None:
        self._screen = screen
        self._scratch = scratch
        self._transcript = Transcript(screen, scratch, interactive=False)
        self._wanted = "allow_once"
        self._when_running: Callable[[], None] | None = None
        self._permissions_asked = 0
        self._step_number = 0

    async def run(self) -> None:
        """Go through all of it. Raises DemoFailed, ClientError or RpcError."""
        try:
            async with asyncio.timeout(_LONGEST_S):
                await self._run()
        except TimeoutError:
            raise DemoFailed(f"it was not over after {_LONGEST_S:g} s") from None

    async def _run(self) -> None:
        configuration = self._scratch / "acp-agent.toml"
        configuration.write_text(_CONFIGURATION, encoding="utf-8")
        project = self._scratch / "project"
        project.mkdir()
        command = [sys.executable, "-P", "-m", "acp_agent", "serve", "--config", str(configuration)]
        self._say(
            "This is what an editor does with Bob, step by step. Bob runs as a process of its own; each message\n"
            "is a line of JSON on its standard input or output (the Agent Client Protocol)."
        )
        self._step("The editor starts `acp-agent serve`, shakes hands, and opens a session in a directory.")
        self._transcript = Transcript(self._screen, project, interactive=False)
        client = await Client.start(command, cwd=project, on_event=self._show, permission=self._decide)
        try:
            await client.initialize()
            self._transcript.agent_started(client.agent_info)
            session_id = await client.new_session(project)
            self._say(f"session {session_id}")
            await self._answer(client, session_id)
            await self._command(client, session_id)
            await self._files(client, session_id, project)
            await self._refusal(client, session_id, project)
            await self._cancel(client, session_id)
        finally:
            exit_code = await client.close()
        self._step("The editor closes: it ends Bob's input, and Bob leaves.")
        self._say(f"exit code {exit_code}")
        self._check(exit_code == 0, "Bob should have left with exit code 0")

    async def _answer(self, client: Client, session_id: str) -> None:
        self._step(
            "A question. The answer streams in; the built-in model needs no network and says what it is."
        )
        await self._turn(client, session_id, "hello")

    async def _command(self, client: Client, session_id: str) -> None:
        self._step(
            "A command. Bob asks before it runs anything; the demo answers for you, and allows it once."
        )
        asked = self._permissions_asked
        await self._turn(client, session_id, 'run echo "I am process $$ on $(uname -s), in $(pwd)"')
        self._check(self._permissions_asked == asked + 1, "Bob should have asked for permission once")

    async def _files(self, client: Client, session_id: str, project: Path) -> None:
        self._step("A new file, and then a change in it. An editor shows both as diffs.")
        await self._turn(client, session_id, "write hello.txt: Hello, world")
        self._check_file(project / "hello.txt", "Hello, world")
        await self._turn(client, session_id, "edit hello.txt: world => Bob")
        self._check_file(project / "hello.txt", "Hello, Bob")

    async def _refusal(self, client: Client, session_id: str, project: Path) -> None:
        self._step("The same again, but this time the demo says no. Then nothing runs.")
        self._wanted = "reject_once"
        await self._turn(client, session_id, "run touch refused.txt")
        self._wanted = "allow_once"
        self._check(not (project / "refused.txt").exists(), "a command that was refused has run")

    async def _cancel(self, client: Client, session_id: str) -> None:
        self._step("A command that takes 30 seconds, and a press of Stop as soon as it runs.")
        pressed: list[float] = []

        def press_stop() -> None:
            self._transcript.cancel_asked()
            pressed.append(time.perf_counter())
            client.cancel(session_id)

        self._when_running = press_stop
        result = await self._turn(client, session_id, "run sleep 30", stop_reason="cancelled")
        self._check(bool(pressed), "the command should have been running")
        took_s = time.perf_counter() - pressed[0]
        self._say(f"From Stop to the end of the turn ({result.stop_reason}): {took_s * 1000:.0f} ms.")
        self._check(took_s < _CANCEL_MUST_TAKE_S, f"a cancel should take less than {_CANCEL_MUST_TAKE_S:g} s")

    # -- pieces

    async def _turn(
        self, client: Client, session_id: str, prompt: str, stop_reason: str = "end_turn"
    ) -> PromptResult:
        self._screen.line(f"> {prompt}", Style.BOLD)
        self._transcript.turn_started()
        result = await client.prompt(session_id, prompt)
        self._transcript.turn_ended(result.stop_reason)
        self._check(result.stop_reason == stop_reason, f"the turn ended with {result.stop_reason}")
        return result

    def _show(self, event: ClientEvent) -> None:
        if isinstance(event, PermissionAsked):
            self._permissions_asked += 1
        self._transcript.show(event)
        if isinstance(event, UpdateReceived) and event.update.get("status") == "in_progress":
            on_running, self._when_running = self._when_running, None
            if on_running is not None:
                on_running()

    def _decide(self, request: PermissionRequest) -> Choice:
        self._transcript.question(request)
        for number, option in enumerate(request.options, start=1):
            if option.kind == self._wanted:
                self._screen.stream(f"{number}\n", Style.BOLD)
                return option.id
        return None

    def _step(self, text: str) -> None:
        self._step_number += 1
        self._screen.line()
        self._screen.line(f"== {self._step_number}. {text}", Style.BOLD)
        self._screen.line()

    def _say(self, text: str) -> None:
        self._screen.line(text, Style.DIM)

    def _check_file(self, path: Path, content: str) -> None:
        found = path.read_text(encoding="utf-8") if path.is_file() else None
        self._check(found == content, f"{path.name} should hold {content!r} and holds {found!r}")
        self._say(f"On the disk, {path.name} now holds: {content}")

    def _check(self, as_it_should_be: bool, otherwise: str) -> None:
        if not as_it_should_be:
            raise DemoFailed(otherwise)


def main() -> int:
    """Run the demo on standard output; return the exit code."""
    screen = Screen.on(sys.stdout, os.environ)
    try:
        return _main(screen)
    except OSError as error:
        output_lost(sys.stdout, error)
        return 1


def _main(screen: Screen) -> int:
    with tempfile.TemporaryDirectory(prefix="acp-agent-demo-") as scratch:
        try:
            asyncio.run(Demo(screen, Path(scratch).resolve()).run())
        except DemoFailed as error:
            return _failed(screen, str(error))
        except RpcError as error:
            return _failed(screen, f"Bob answered with an error: {explain(error)}")
        except AgentGone as error:
            return _failed(screen, f"{error}\n{error.stderr}")
        except ClientError as error:
            return _failed(screen, str(error))
        except KeyboardInterrupt:
            return _failed(screen, "stopped by Ctrl-C")
    screen.line()
    screen.line("All of it went as it should.", Style.GOOD)
    screen.line()
    screen.line(_where_to_go())
    return 0


def _where_to_go() -> str:
    command = "acp-agent"
    beside = Path(sys.executable).with_name(command)
    if beside.is_file() and beside.is_relative_to(Path.cwd()):
        command = str(
            beside.relative_to(Path.cwd())
        )  # not on the PATH: the virtual environment of this checkout
    return (
        "Where to go next:\n"
        f"  {command} chat              talk to Bob yourself, in this terminal\n"
        f"  {command} chat -- COMMAND   the same with any other ACP agent\n"
        '  README.md, "Give Bob a model"          Ollama, llama.cpp, LM Studio, vLLM, OpenAI and the like\n'
        '  README.md, "Use Bob in your editor"    Zed, JetBrains, Neovim, Emacs: each starts `acp-agent serve`'
    )


def _failed(screen: Screen, sentence: str) -> int:
    screen.line()
    screen.line(f"The demo failed: {sentence}", Style.BAD)
    return 1


if __name__ == "__main__":
    sys.exit(main())
