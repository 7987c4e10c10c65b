"""acpx (npm), the client for scripts, as it is: `acpx --agent COMMAND --format json exec PROMPT`.

    python acpx_client.py NODE ACPX AGENT_COMMAND_LINE PROMPT CWD

It carries out what acpx's command line can: permissions are all allowed once (`--approve-all`) or all rejected
(`--deny-all`), and the user's Stop is Ctrl-C, when the output has shown what the plan waits for. A plan with any other
step up to the end of the first turn is not begun: the agent is not started, and the scenario is not exercised. What
comes after that turn is left out, for `exec` is one turn. What acpx prints is what its user sees; its exit code is
handed on. Each run has a home directory of its own, where acpx keeps its sessions.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from typing import Any

from user import SHOWN_AS, User

DECISIONS = {None: "--approve-all", "allow_once": "--approve-all", "reject_once": "--deny-all"}
"""What the plan chooses for all permissions -> acpx's option."""


def decision(user: User) -> str | None:
    """The option that makes acpx decide as the plan says; None if its command line cannot do all of the first turn."""
    chosen = None
    while step := user.take("permission"):
        if chosen is not None or step.get("choose") not in DECISIONS or "do" in step:
            return None
        chosen = step["choose"]
    others = [on for on in ("start", "ready", "elicitation") if user.take(on) is not None]
    return None if others else DECISIONS[chosen]


class Output:
    """What acpx prints: JSON lines, the messages of both sides and its own errors."""

    def __init__(self, user: User, process: subprocess.Popen[str], prompt: str) -> None:
        self._user = user
        self._process = process
        self._prompt = prompt
        self._prompt_id: Any = None
        self._lock = threading.Lock()

    def take(self, line: str) -> None:
        """Show a line, and stop if it is time to."""
        try:
            message = json.loads(line)
        except ValueError:
            return
        if isinstance(message, dict):
            with self._lock:
                self._show(message)
            self.stop_if_due()

    def _show(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        if method == "session/prompt":
            self._prompt_id = message["id"]
            self._user.session = message["params"]["sessionId"]
            self._user.begin_turn(self._prompt)
            for after_s in self._user.stop_times_s():
                threading.Timer(after_s, self.stop_if_due).start()
        elif method == "session/update":
            update = message["params"]["update"]
            kind = update.get("sessionUpdate")
            content = update.get("content")
            text = content.get("text") if isinstance(content, dict) else None
            self._user.count(kind)
            if kind not in SHOWN_AS:
                self._user.show(str(kind), update=update)
            elif isinstance(text, str):
                self._user.see_text(kind, text, message["params"]["sessionId"])
        elif method is None and "error" in message and self._is_told(message):
            error = message["error"] or {}
            self._user.fail_turn(str(error.get("message") if isinstance(error, dict) else error))
        elif method is None and self._user.in_turn and message.get("id") == self._prompt_id:
            result = message.get("result")
            if isinstance(result, dict) and isinstance(result.get("stopReason"), str):
                self._user.end_turn(result["stopReason"])

    def _is_told(self, message: dict[str, Any]) -> bool:
        """Whether an error is acpx's own, or ends the prompt; all others are only passed through from the wire."""
        error = message["error"]
        data = error.get("data") if isinstance(error, dict) else None
        own = isinstance(data, dict) and "acpxCode" in data
        return own or (self._prompt_id is not None and message.get("id") == self._prompt_id)

    def stop_if_due(self) -> None:
        """Ctrl-C, when the plan says so."""
        with self._lock:
            if self._process.poll() is None and self._user.stops_now():
                self._process.send_signal(signal.SIGINT)
                self._user.show("cancelled")


def main(node: str, acpx: str, agent: str, prompt: str, cwd: str) -> int:
    """Run acpx once; returns its exit code."""
    user = User()
    option = decision(user)
    if option is None:
        print("acpx's command line has no way to do what the plan says")
        return 0
    with tempfile.TemporaryDirectory(prefix="acpx-home-", ignore_cleanup_errors=True) as home:
        command = [node, acpx, "--agent", agent, "--cwd", cwd, "--format", "json", option, "exec", prompt]
        environment = os.environ | {"HOME": home}
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
            output = Output(user, process, prompt)
            assert process.stdout is not None
            for line in process.stdout:
                output.take(line)
    return process.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:6]))
