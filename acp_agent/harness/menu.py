"""The harness in an editor: an agent whose `/` menu has the scenarios, and who tells the person what to do.

Whatever fits into a session that is open is played in the turn of its command; when it is over the verdict is said in
that turn, and if it ended it by itself, at the beginning of the next. Scenarios without a task for the person follow
each other in one turn. What needs the agent's start waits for it (book.py). Never waits for a person without a
deadline; between scenarios it is an agent that waits for prompts.
Deliberately absent: the words (chat.py), what happens in a scenario (play.py).
"""

from __future__ import annotations

import asyncio
import difflib
import signal
import sys
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from acp_agent import __version__
from acp_agent.harness import chat
from acp_agent.harness.book import Book
from acp_agent.harness.narration import Narration
from acp_agent.harness.part import PartFile
from acp_agent.harness.play import Performance
from acp_agent.harness.port import DescriptorPort
from acp_agent.harness.scenario import Offer, Scenario
from acp_agent.harness.standin import StandIn
from acp_agent.harness.transcript import Transcript
from acp_agent.harness.verdict import Check
from acp_agent.harness.wire import Heard, Wire
from acp_agent.protocol.events import RequestReceived
from acp_agent.transport.stdio import Descriptors, take_over
from acp_agent.transport.trace import TraceWriter

_SETUPS: Final = frozenset({"session/new", "session/load", "session/resume"})
_OF_THE_PROCESS: Final = "process"
_FLUSH_S: Final = 5.0
_END_S: Final = 10.0
_MOST_LOOSE_CHECKS: Final = 200
_MOST_CONNECTIONS: Final = 10_000


class Menu:
    """The agent on one connection. stop: set when the process has to end; exit_code: with what, then.

    scenarios: what the menu shows. trace: the path of this connection's record, from the report's directory.
    """

    def __init__(self, wire: Wire, book: Book, stop: asyncio.Event, trace: str = "") -> None:
        self.exit_code = 0
        self.scenarios = list(book.scenarios.values())
        self._wire = wire
        self._book = book
        self._stop = stop
        self._trace = trace
        self._stand_in = StandIn(wire, Offer())
        self._queue: deque[Scenario] = deque()
        self._played = 0
        self._loose: list[Check] = []
        self._latest = ""
        self._current: Performance | None = None
        self._file: PartFile | None = None
        self._prompt: Heard | None = None
        self._task: asyncio.Task[None] | None = None
        self._from_start = False
        self._follows = False

    # -- the client's messages

    def feed(self, data: bytes) -> None:
        """Take bytes of the client, b"" at their end."""
        for heard in self._wire.feed(data):
            self._take(heard)
        if self._current is not None:
            self._current.stage.wake()

    def _take(self, heard: Heard) -> None:
        event = heard.seen.event
        request = event if isinstance(event, RequestReceived) and heard.seen.refusal is None else None
        prompt = request if request is not None and request.method == "session/prompt" else None
        current = self._current
        if current is None:
            self._loose += heard.seen.checks[: _MOST_LOOSE_CHECKS - len(self._loose)]
            if prompt is not None:
                self._prompted(heard, prompt)
                return
            self._stand_in.take(heard)
        elif prompt is not None and _command_of(prompt.params["prompt"]) == "stop" and self._task is not None:
            self._call_off()
            self._task.cancel()
            self._reply(prompt, chat.stopped(current.stage.scenario))
        elif prompt is not None and not self._is_for(current, prompt):
            self._reply(prompt, chat.busy(current.stage.scenario))
        else:
            current.take(heard)
        if request is not None and request.method in _SETUPS and not self._from_start:
            self._announce()

    def _is_for(self, current: Performance, prompt: RequestReceived) -> bool:
        turns = current.stage.turns
        return self._from_start or not turns or turns[-1].session_id == prompt.params["sessionId"]

    # -- commands

    def _prompted(self, heard: Heard, prompt: RequestReceived) -> None:
        session_id = prompt.params["sessionId"]
        for id_ in self._book.plans.untold:
            self._say(session_id, chat.verdict(self._book.result(self._book.scenarios[id_])))
        if self._book.plans.untold:
            self._book.plans.untold.clear()
            self._book.save()
        name = _command_of(prompt.params["prompt"])
        if name is None and self._queue:
            self._play(self._queue.popleft(), heard)
            return
        if name == "report":
            self._reply(prompt, self._report())
        elif name == "stop":
            self._reply(prompt, chat.called_off(self._call_off()))
        elif chosen := self._chosen(name or ""):
            self._call_off()
            self._begin(chosen, heard, prompt)
        else:
            words = {command["name"] for command in chat.commands(self.scenarios)}
            similar = difflib.get_close_matches(name or "", words, 3)
            text = chat.unknown(name, similar) if name else chat.welcome(self.scenarios, self._book.directory)
            self._reply(prompt, text)

    def _chosen(self, name: str) -> list[Scenario]:
        if name == "all":
            return self.scenarios
        return [one for one in self.scenarios if name in {one.command, one.id, one.area}]

    def _call_off(self) -> int:
        count = len(self._queue) + len(self._book.plans.waiting)
        self._queue.clear()
        self._book.wait_for_start([])
        return count

    def _begin(self, chosen: Sequence[Scenario], heard: Heard, prompt: RequestReceived) -> None:
        """Play what can be played here, without a task first, what ends the agent last; the rest waits for a start."""
        here = [scenario for scenario in chosen if scenario.fits_in_a_session]
        here.sort(key=lambda one: (one.ends_agent or one.area == _OF_THE_PROCESS, one.wants_person))
        self._book.wait_for_start([scenario for scenario in chosen if not scenario.fits_in_a_session])
        self._queue.extend(here)
        if self._queue:
            self._play(self._queue.popleft(), heard)
        else:
            self._reply(prompt, self._what_is_next())

    def _what_is_next(self) -> str:
        """Where to go from here, if anything is planned."""
        if self._queue:
            return chat.goes_on(self._queue[0])
        waiting = self._book.plans.waiting
        return chat.needs_start(self._book.scenarios[waiting[0]], len(waiting) - 1) if waiting else ""

    def _report(self) -> str:
        try:
            return chat.overview(*self._book.write_report())
        except OSError as error:
            return f"The report cannot be written: {error}\n"

    # -- playing

    def play_from_start(self, scenario: Scenario, file: PartFile) -> None:
        """The scenario begins with the connection's first byte."""
        self._from_start = True
        self._stand_in = StandIn(self._wire, scenario.offer)
        self._perform(scenario, file)

    def _play(self, scenario: Scenario, prompt: Heard) -> None:
        """The scenario's first prompt is this one."""
        try:
            file = self._book.begin(scenario)
        except OSError as error:
            self._queue.clear()
            event = prompt.seen.event
            if isinstance(event, RequestReceived):
                self._reply(event, f"The result cannot be written: {error}\n")
            return
        # Numbers go on, since a turn that is open has one; what was said before belongs to another scenario.
        self._wire.transcript = Transcript(self._wire.transcript.next_number)
        self._wire.remark(f"{scenario.id} begins in a session that is open")
        self._prompt = prompt
        performance = self._perform(scenario, file)
        performance.take(Heard(prompt.number, prompt.seen._replace(checks=(), remarks=())))

    def _perform(self, scenario: Scenario, file: PartFile) -> Performance:
        self._played += 1
        narration = Narration(self._wire, chat.greeting(scenario), self._played)
        performance = Performance(
            scenario,
            self._wire,
            self._stand_in,
            life=file.life,
            narration=narration,
            on_over=self._over,
            on_failure=lambda text: print(text, file=sys.stderr),
        )
        performance.part.trace = self._trace
        performance.stage.note_findings(self._loose, ())
        self._loose.clear()
        self._current, self._file = performance, file
        self._task = asyncio.create_task(self._run(performance))
        return performance

    async def _run(self, performance: Performance) -> None:
        saving = asyncio.create_task(self._keep_saving())
        try:
            await performance.play()
        except asyncio.CancelledError:
            # Somebody has said /stop, or the process has to end: both are over when what was seen is put down.
            performance.call_off("it was called off")
        finally:
            saving.cancel()
        self._save()
        self._current, self._file, was_from_start = None, None, self._from_start
        self._from_start = False
        if performance.exit_code is not None:
            self.exit_code = performance.exit_code
            self._stop.set()
        elif not self._wire.client_ended:
            self._go_on()
            if was_from_start or not self._current:
                self._announce()

    def _over(self, performance: Performance) -> None:
        """The script is over: say the verdict, in its turn if that is open still."""
        scenario = performance.stage.scenario
        self._follows = False
        self._save()
        if self._from_start:
            self._book.has_been_played(scenario)
        if not performance.stage.begun and self._from_start:
            return  # the editor has only looked at the agent
        result = self._book.result(scenario)
        self._latest = f"{scenario.id} {result.verdict}"
        session_id = self._open_session(performance)
        if session_id is None or performance.exit_code is not None or self._wire.client_ended:
            self._book.plans.untold.append(scenario.id)
            self._book.save()
            return
        self._say(session_id, chat.verdict(result))
        self._follows = self._keep_turn(performance)
        if not self._follows:
            self._say(session_id, self._what_is_next())

    def _open_session(self, performance: Performance) -> str | None:
        """The session of the turn that has not been answered, or whose answer is held."""
        stage = performance.stage
        if stage.narration is not None and stage.narration.held is not None:
            return stage.narration.held.session_id
        waiting = (turn.session_id for turn in stage.turns if not turn.is_ended)
        return next(waiting, self._session_of_prompt() if self._is_untouched(performance) else None)

    def _is_untouched(self, performance: Performance) -> bool:
        """Whether the script has left the prompt lying that it was started with."""
        return not performance.stage.turns and not self._from_start

    def _session_of_prompt(self) -> str | None:
        event = self._prompt.seen.event if self._prompt is not None else None
        return event.params["sessionId"] if isinstance(event, RequestReceived) else None

    def _keep_turn(self, performance: Performance) -> bool:
        """Take the open turn from a script that is over, if the next scenario can be played in it."""
        narration = performance.stage.narration
        if narration is None or not self._queue or self._queue[0].wants_person:
            return False
        if narration.held is not None and narration.held.ends_well:
            narration.held = None
            return True
        if self._is_untouched(performance):
            return bool(performance.stage.leftover_requests())
        return False

    def _go_on(self) -> None:
        """After a scenario: the next in the same turn, or a report if it was the last."""
        if self._follows and self._prompt is not None and self._queue:
            self._play(self._queue.popleft(), self._prompt)
        elif not self._queue:
            self._report()

    # -- the connection

    def _say(self, session_id: str, text: str) -> None:
        if text:
            Narration(self._wire).say(session_id, text)

    def _reply(self, prompt: RequestReceived, text: str) -> None:
        """A whole turn of the menu itself."""
        self._say(prompt.params["sessionId"], text)
        result = {"stopReason": "end_turn"}
        self._wire.send({"jsonrpc": "2.0", "id": prompt.id, "result": result}, on_purpose=True)

    def _announce(self) -> None:
        """Show every session the menu."""
        update = {
            "sessionUpdate": "available_commands_update",
            "availableCommands": chat.commands(self.scenarios, self._latest),
        }
        for session_id in self._wire.observer.connection.conversation.sessions:
            params = {"sessionId": session_id, "update": update}
            self._wire.send({"jsonrpc": "2.0", "method": "session/update", "params": params}, on_purpose=True)

    def _save(self) -> None:
        if self._current is None or self._file is None:
            return
        try:
            self._file.save(self._current.collect())
        except OSError as error:
            print(f"acp-harness: the result cannot be written: {error}", file=sys.stderr)

    async def _keep_saving(self) -> None:
        """An editor may kill the agent at any moment."""
        while True:
            self._save()
            await asyncio.sleep(0.5)

    async def end(self) -> None:
        """The connection is over: let the script see it, and write the report."""
        if self._task is not None and not self._task.done():
            if not self._wire.client_ended:
                self._task.cancel()
            await asyncio.wait([self._task], timeout=_END_S)
        self._save()
        if self._played:
            self._report()


def serve_menu(scenarios: Sequence[Scenario], directory: Path, first: Scenario | None = None) -> int:
    """Be the agent in an editor, on standard input and output, until the client leaves; returns the exit code.

    directory: of the report. first: what to play from the first byte, if nothing else is planned.
    """
    book = Book(directory, scenarios)
    return asyncio.run(_serve(book, first, take_over()))


async def _serve(book: Book, first: Scenario | None, descriptors: Descriptors) -> int:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return await serve_on(book, first, descriptors, stop)


async def serve_on(book: Book, first: Scenario | None, descriptors: Descriptors, stop: asyncio.Event) -> int:
    """As serve_menu, on two descriptors, which it closes. stop: set from outside, ends it."""
    early: list[bytes] = []
    hear = early.append

    def on_bytes(data: bytes) -> None:
        hear(data)
        if not data:
            stop.set()

    path = _new_trace(book.directory / "connections")
    port = DescriptorPort(descriptors, on_bytes)
    with TraceWriter(path, {"agent": f"acp-harness {__version__}"}) as trace:
        menu = Menu(Wire(port, trace=trace), book, stop, f"../connections/{path.name}")
        hear = menu.feed
        scenario = book.due() or first
        if scenario is not None and (scenario is first or not scenario.fits_in_a_session):
            if scenario is first and book.due() is None:
                book.forget(scenario)
            menu.play_from_start(scenario, PartFile.claim(book.home(scenario)))
        await stop.wait()
        await menu.end()
        await port.transport.finish(_FLUSH_S)
    return menu.exit_code


def _new_trace(directory: Path) -> Path:
    """A file that no other process of the agent writes to."""
    directory.mkdir(parents=True, exist_ok=True)
    for number in range(1, _MOST_CONNECTIONS):
        path = directory / f"trace-{number}.jsonl"
        try:
            path.touch(exist_ok=False)
        except FileExistsError:
            continue
        return path
    raise OSError(f"{directory} is full of records")


def _command_of(prompt: list[dict[str, Any]]) -> str | None:
    """The command of a prompt, without its slash; None if it is none."""
    text = next((str(block.get("text", "")) for block in prompt if block.get("type") == "text"), "").strip()
    if not text.startswith("/"):
        return None
    return text[1:].split()[0] if text[1:].split() else ""
