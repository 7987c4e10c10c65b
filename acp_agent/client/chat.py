"""A conversation with an agent in a terminal: prompts in, what happens out, Ctrl-C in between.

Owns the order of things: connect, read a prompt, run its turn, again. An agent that has gone is started anew for the
next prompt. Deliberately absent: how it looks (transcript.py, json_lines.py) and arguments (cli.py).
"""

from __future__ import annotations

import asyncio
import io
import os
import signal
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from acp_agent.client import permissions
from acp_agent.client.client import Client
from acp_agent.client.errors import AgentGone, ClientError, explain
from acp_agent.client.json_lines import JsonLines
from acp_agent.client.keyboard import Keyboard
from acp_agent.client.permissions import Choice, Decide, PermissionRequest
from acp_agent.client.screen import Screen, output_lost
from acp_agent.client.transcript import Transcript, View
from acp_agent.jsonrpc.errors import RpcError
from acp_agent.protocol.errors import AcpErrorCode, LocalProtocolError

_FAILED: Final = 1
_INTERRUPTED: Final = 128 + signal.SIGINT


class Answer(StrEnum):
    """Who answers permission requests."""

    ASK = "ask"
    ALLOW = "allow"
    REJECT = "reject"


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """What to talk to and how. command: the agent's, word for word. once: the only prompt, None to read prompts."""

    command: tuple[str, ...]
    cwd: Path
    once: str | None = None
    as_json: bool = False
    answer: Answer = Answer.ASK


def run(options: ChatOptions) -> int:
    """Talk on this process's terminal until the end of the input; return the exit code (see cli.py)."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # JSON is UTF-8; prose is for a terminal, and one that is not UTF-8 is no reason to stop.
        sys.stdout.reconfigure(encoding="utf-8" if options.as_json else None, errors="replace")
    keyboard = Keyboard(0)
    interactive = keyboard.is_terminal and sys.stdout.isatty() and options.once is None
    view: View
    if options.as_json:
        view = JsonLines(sys.stdout)
    else:
        view = Transcript(Screen.on(sys.stdout, os.environ), options.cwd, interactive=interactive)
    try:
        return asyncio.run(Chat(options, view, keyboard).run())
    except OSError as error:
        # Everything else that can fail like this has its own sentence (spawn.py).
        output_lost(sys.stdout, error)
        return _FAILED


class Chat:
    """One conversation. It ends with the input, with a signal, or after the one prompt it was made for."""

    def __init__(self, options: ChatOptions, view: View, keyboard: Keyboard) -> None:
        self._options = options
        self._view = view
        self._keyboard = keyboard
        self._client: Client | None = None
        self._session_id = ""
        self._question = asyncio.Lock()
        self._task: asyncio.Task[int] | None = None
        self._exit_code: int | None = None
        self._at_prompt = False

    async def run(self) -> int:
        """Talk; return the exit code. The agent has ended when this returns."""
        self._task = asyncio.current_task()
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._leave, 128 + number)
        try:
            return await self._converse()
        except asyncio.CancelledError:
            if self._exit_code is None or self._task is None:
                raise
            self._task.uncancel()
            return self._exit_code
        finally:
            await self._disconnect()

    async def _converse(self) -> int:
        if not await self._connect():
            return _FAILED
        if self._options.once is not None:
            return await self._turn(self._options.once)
        while True:
            self._view.ready_for_prompt()
            self._at_prompt = True
            prompt = await self._keyboard.line()
            self._at_prompt = False
            if prompt is None:
                return 0
            if not prompt.strip():
                continue
            if self._client is None:
                self._view.note("Starting the agent anew; it does not know what was said before.")
                if not await self._connect():
                    continue
            await self._turn(prompt)

    async def _connect(self) -> bool:
        """A running agent with an open session; False, and told why, if that did not work out."""
        try:
            self._client = await Client.start(
                self._options.command,
                cwd=self._options.cwd,
                on_event=self._view.show,
                permission=self._decide(),
            )
            await self._client.initialize()
            self._view.agent_started(self._client.agent_info)
            self._session_id = await self._client.new_session(self._options.cwd)
        except RpcError as error:
            self._view.failed(explain(error) + self._login_advice(error))
        except AgentGone as error:
            self._view.failed(str(error), error.stderr)
        except ClientError as error:
            self._view.failed(str(error))
        else:
            return True
        await self._disconnect()
        return False

    async def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _turn(self, prompt: str) -> int:
        """Run one turn and tell its end; return the exit code it stands for."""
        if self._client is None:
            raise RuntimeError("no agent is connected")
        self._view.turn_started()
        try:
            result = await self._client.prompt(self._session_id, prompt)
        except RpcError as error:
            self._view.failed(explain(error))
        except AgentGone as error:
            self._view.failed(str(error), error.stderr)
            await self._disconnect()
        except (ClientError, LocalProtocolError) as error:
            self._view.failed(str(error))
        else:
            self._view.turn_ended(result.stop_reason)
            return 0 if result.stop_reason == "end_turn" else _FAILED
        return _FAILED

    def _login_advice(self, error: RpcError) -> str:
        if error.code != AcpErrorCode.AUTH_REQUIRED or self._client is None:
            return ""
        names = [method["name"] for method in self._client.auth_methods]
        offered = f" It offers: {', '.join(names)}." if names else ""
        return f". Log in with the agent's own program first.{offered}"

    # -- permissions

    def _decide(self) -> Decide:
        policies: dict[Answer, Decide] = {
            Answer.ASK: self._ask,
            Answer.ALLOW: permissions.allow_once,
            Answer.REJECT: permissions.reject,
        }
        return policies[self._options.answer]

    async def _ask(self, request: PermissionRequest) -> Choice:
        """Ask the person; several questions one after the other. The end of the input is a refusal."""
        async with self._question:
            self._keyboard.forget_typed()
            while True:
                self._view.question(request)
                line = await self._keyboard.line()
                if line is None:
                    self._view.note("Nobody is there to answer: refused.")
                    return request.refusal()
                choice = read_answer(request, line)
                if choice is not None:
                    return choice
                self._view.note("Please answer with the number of an option.")

    # -- signals

    def _interrupt(self) -> None:
        """Ctrl-C: the first one in a turn stops the turn, any other leaves."""
        client = self._client
        if client is None or not client.turn_is_running(self._session_id):
            self._leave(0 if self._at_prompt else _INTERRUPTED)
        elif client.turn_is_cancelled(self._session_id):
            self._leave(_INTERRUPTED)
        else:
            self._view.cancel_asked()
            client.cancel(self._session_id)

    def _leave(self, exit_code: int) -> None:
        if self._exit_code is None and self._task is not None:
            self._exit_code = exit_code
            self._task.cancel()


def read_answer(request: PermissionRequest, line: str) -> Choice:
    """The option a person meant: its number, its id, or its name; None if that is none of them."""
    said = line.strip()
    if said.isdecimal() and 1 <= int(said) <= len(request.options):
        return request.options[int(said) - 1].id
    for option in request.options:
        if said and said in {option.id, option.name}:
            return option.id
    return None
