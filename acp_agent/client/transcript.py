"""What happens in a chat as prose for a person: streamed text, tool calls with their status, diffs, questions.

Everything is appended in the order of its arrival (R-308). Deliberately absent: characters and colours (screen.py),
the state of a call (tool_calls.py), reading answers (chat.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Protocol

from acp_agent.client import diffs
from acp_agent.client.events import (
    AgentEnded,
    AgentMisbehaved,
    ClientEvent,
    PermissionAnswered,
    PermissionAsked,
    SessionOpened,
    UpdateReceived,
)
from acp_agent.client.permissions import PermissionRequest
from acp_agent.client.screen import Screen, Style
from acp_agent.client.tool_calls import ToolCalls, ToolCallView
from acp_agent.jsonrpc import codec

_OUTPUT_LINES: Final = 40
"""Of a tool's output; the agent has the rest."""
_DIFF_LINES: Final = 200
_INPUT_LINES: Final = 20
_HELD_UPDATES: Final = 1000
"""While a question is open; an agent that sends more is shown over the question."""

_STATUS_WORDS: Final = {"in_progress": "running", "completed": "done", "failed": "failed"}
_STOP_WORDS: Final = {
    "cancelled": "Stopped, as you asked.",
    "max_tokens": "The model reached its limit of tokens; the answer is not complete.",
    "max_turn_requests": "The agent reached its limit of model requests in one turn.",
    "refusal": "The agent refuses to go on; this prompt will not be part of what it knows from now on.",
}


class View(Protocol):
    """What a chat tells; for a person (Transcript) or a program (JsonLines)."""

    def agent_started(self, agent_info: dict[str, Any] | None) -> None:
        """The handshake is done."""

    def ready_for_prompt(self) -> None:
        """A prompt is read next."""

    def turn_started(self) -> None:
        """A prompt was sent."""

    def show(self, event: ClientEvent) -> None:
        """The client tells something."""

    def question(self, request: PermissionRequest) -> None:
        """An answer to this is read next."""

    def note(self, text: str) -> None:
        """A sentence by the way."""

    def cancel_asked(self) -> None:
        """The turn was asked to stop; what has not ended counts as cancelled."""

    def turn_ended(self, stop_reason: str) -> None:
        """The turn got its answer."""

    def failed(self, text: str, stderr: str = "") -> None:
        """Something did not work. stderr: the end of what the agent wrote there, if it has gone."""


class Transcript:
    """A View for a person. cwd: paths below it are shown relative. interactive: somebody types at a terminal."""

    def __init__(self, screen: Screen, cwd: Path, *, interactive: bool) -> None:
        self._screen = screen
        self._cwd = cwd
        self._interactive = interactive
        self._calls = ToolCalls()
        self._streaming: str | None = None
        self._last_call: str | None = None
        self._told: dict[str, str] = {}
        self._shown: set[tuple[str, int]] = set()
        self._misbehaved: set[str] = set()
        self._commands: list[str] = []
        self._usage: dict[str, Any] | None = None
        self._asking = False
        self._held: list[UpdateReceived] = []

    def agent_started(self, agent_info: dict[str, Any] | None) -> None:
        info = agent_info or {}
        name = info.get("title") or info.get("name") or "An agent that does not say its name"
        self._screen.line(f"{name} {info.get('version', '')}".rstrip(), Style.BOLD)
        if self._interactive:
            self._screen.line("Type a prompt. Ctrl-C stops a running turn, Ctrl-D leaves.", Style.DIM)

    def ready_for_prompt(self) -> None:
        if self._interactive:
            self._screen.ask("\n> ")

    def turn_started(self) -> None:
        self._calls = ToolCalls()
        self._told.clear()
        self._shown.clear()
        self._between()

    def show(self, event: ClientEvent) -> None:
        match event:
            case UpdateReceived() if self._asking and len(self._held) < _HELD_UPDATES:
                self._held.append(event)  # so that the question stays in sight until it is answered
            case UpdateReceived(_, update, _):
                self._go_on()
                self._update(update)
            case PermissionAsked(request):
                self._calls.apply(request.tool_call)
            case PermissionAnswered(request, option_id, cancelled):
                self._answered(request, option_id, cancelled=cancelled)
            case AgentMisbehaved(verdict) if verdict.reason not in self._misbehaved:
                # Once a kind is enough to know; a stream of them would bury the answer.
                self._misbehaved.add(verdict.reason)
                self.note(f"The agent does not keep to the protocol ({verdict.reason}): {verdict.sentence}.")
            case SessionOpened() | AgentEnded() | AgentMisbehaved():
                pass  # who waited for it tells

    def question(self, request: PermissionRequest) -> None:
        self._asking = True
        call = self._calls.apply(request.tool_call)
        self._head(call)
        self._diffs(call)
        self._input(call)
        self._screen.line("The agent asks for permission:", Style.BOLD, indent="  ")
        for number, option in enumerate(request.options, start=1):
            self._screen.line(f"{number}. {option.name}", indent="    ")
        self._screen.ask(f"  Your choice (1-{len(request.options)}): ")

    def note(self, text: str) -> None:
        self._between()
        self._screen.line(text, Style.DIM)

    def cancel_asked(self) -> None:
        self.note("Stopping ...")
        for call in self._calls.cancel_unfinished():
            self._head(call)
            self._screen.line("cancelled", Style.BAD, indent="  ")
            self._told[call.id] = "failed"  # that the agent calls it so is no news

    def turn_ended(self, stop_reason: str) -> None:
        self._go_on()
        self._between()
        if stop_reason in _STOP_WORDS:
            self._screen.line(_STOP_WORDS[stop_reason], Style.BOLD)
        recap = f"{self._calls.commands} command(s) · {self._calls.file_operations} file op(s)"
        if self._calls.skills:
            recap += f" · 📖 {self._calls.skills} skill(s)"
        if self._usage is not None:
            recap += f" · {self._usage['used']} of {self._usage['size']} tokens of context used"
        self._screen.line(recap, Style.DIM)

    def failed(self, text: str, stderr: str = "") -> None:
        self._go_on()
        self._between()
        self._screen.line(f"Error: {text}", Style.BAD)
        said = stderr.strip()
        if said:
            self._screen.line("The last it wrote to standard error:", Style.DIM)
            self._clipped(said, _INPUT_LINES, from_end=True)

    # -- updates

    def _update(self, update: dict[str, Any]) -> None:
        kind = update["sessionUpdate"]
        if kind in {"agent_message_chunk", "agent_thought_chunk"}:
            self._chunk(kind, update)
        elif kind in {"tool_call", "tool_call_update"}:
            self._tool_call(self._calls.apply(update))
        elif kind == "plan":
            self._between()
            self._screen.line("Plan:", Style.BOLD)
            marks = {"completed": "x", "in_progress": ">"}
            for entry in update["entries"]:
                self._screen.line(f"[{marks.get(entry['status'], ' ')}] {entry['content']}", indent="  ")
        elif kind == "available_commands_update":
            names = [f"/{command['name']}" for command in update["availableCommands"]]
            if names and names != self._commands:
                self.note(f"Commands: {', '.join(names)}")
            self._commands = names
        elif kind == "current_mode_update":
            self.note(f"Mode: {update['currentModeId']}")
        elif kind == "session_info_update" and update.get("title"):
            self.note(f"Title: {update['title']}")
        elif kind == "usage_update":
            self._usage = update

    def _chunk(self, kind: str, update: dict[str, Any]) -> None:
        if self._streaming != kind:
            self._between()
            self._streaming = kind
        style = Style.DIM if kind == "agent_thought_chunk" else Style.PLAIN
        self._screen.stream(_block_text(update["content"]), style)

    def _tool_call(self, call: ToolCallView) -> None:
        self._head(call)
        news = call.status in _STATUS_WORDS and call.status != self._told.get(call.id)
        if news:
            self._told[call.id] = call.status
            style = {"completed": Style.GOOD, "failed": Style.BAD}.get(call.status, Style.DIM)
            self._screen.line(_STATUS_WORDS[call.status], style, indent="  ")
        self._diffs(call)
        if news and call.has_ended:
            self._output(call)

    def _head(self, call: ToolCallView) -> None:
        """The title, unless what stands above is about this very call and its title."""
        mark = f"{call.id}\n{call.title}"
        if self._last_call == mark:
            return
        self._between()
        self._last_call = mark
        first, *rest = (call.title or "a tool call without a title").split("\n")
        self._screen.line(f"* {first}", Style.HEAD)
        for line in rest:
            self._screen.line(line, Style.HEAD, indent="  | ")

    def _input(self, call: ToolCallView) -> None:
        """What the title does not say of a call's input, so that nobody allows what they have not seen."""
        if not isinstance(call.raw_input, dict) or any(item["type"] == "diff" for item in call.content):
            return
        for name, value in call.raw_input.items():
            text = value if isinstance(value, str) else codec.encode(value).decode().strip()
            if text and text not in call.title:
                self._screen.line(f"{name}:", Style.DIM, indent="  ")
                self._clipped(text, _INPUT_LINES)

    def _diffs(self, call: ToolCallView) -> None:
        for item in call.content:
            if item["type"] != "diff":
                continue
            # Before it is compared: an agent may send the same list again with each of many updates.
            mark = (call.id, hash((item["path"], item.get("oldText"), item["newText"])))
            if mark in self._shown:
                continue
            self._shown.add(mark)
            lines = diffs.unified(self._path(item["path"]), item.get("oldText"), item["newText"])
            for line in lines[:_DIFF_LINES]:
                style = {"+": Style.ADDED, "-": Style.REMOVED, "@": Style.HEAD}.get(line[:1], Style.PLAIN)
                self._screen.line(line, Style.BOLD if line[:3] in {"+++", "---"} else style, indent="  ")
            self._left_out(len(lines) - _DIFF_LINES)

    def _output(self, call: ToolCallView) -> None:
        texts = [
            _block_text(item["content"]) if item["type"] == "content" else "[a terminal of the agent]"
            for item in call.content
            if item["type"] != "diff"
        ]
        if not call.content:
            output = call.raw_output
            if isinstance(output, dict):
                output = output.get("output")
            texts = [output] if isinstance(output, str) else []
        for text in texts:
            self._clipped(text.removesuffix("\n"), _OUTPUT_LINES)

    def _answered(self, request: PermissionRequest, option_id: str | None, *, cancelled: bool) -> None:
        call = self._calls.apply(request.tool_call)
        option = request.option(option_id) if option_id is not None else None
        if cancelled:
            answer = "permission: not answered, the turn was stopped"
        elif option is None:
            answer = "permission: refused"
        else:
            granted = option.kind.startswith("allow")
            answer = f"permission: {'granted' if granted else 'refused'} ({option.name})"
        self._head(call)
        self._screen.line(answer, Style.DIM, indent="  ")
        self._go_on()

    def _go_on(self) -> None:
        """No question is open: show what came meanwhile."""
        self._asking = False
        held, self._held = self._held, []
        for event in held:
            self._update(event.update)

    # -- pieces

    def _between(self) -> None:
        """What comes next stands by itself."""
        self._screen.fresh_line()
        self._streaming = None
        self._last_call = None

    def _clipped(self, text: str, longest: int, *, from_end: bool = False) -> None:
        if not text:
            return
        lines = text.split("\n")
        for line in lines[-longest:] if from_end else lines[:longest]:
            self._screen.line(line, indent="  | ")
        self._left_out(len(lines) - longest)

    def _left_out(self, count: int) -> None:
        if count > 0:
            self._screen.line(f"({count} more lines)", Style.DIM, indent="  ")

    def _path(self, path: str) -> str:
        try:
            return str(Path(path).relative_to(self._cwd))
        except ValueError:
            return path


def _block_text(block: dict[str, Any]) -> str:
    """A content block as text; what can't be shown in a terminal is named."""
    kind = block["type"]
    if kind == "text":
        return str(block["text"])
    if kind == "resource_link":
        return f"[{block['name']}: {block['uri']}]"
    if kind == "resource":
        resource = block["resource"]
        return str(resource["text"]) if "text" in resource else f"[{resource['uri']}]"
    return f"[{kind}: {block['mimeType']}]"
