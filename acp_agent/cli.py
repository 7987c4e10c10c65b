"""The command line: what `acp-agent` understands, what each command is built from, and its exit code.

    0    as it should be (chat --once: the turn ended with end_turn)
    1    it did not work out
    2    wrong arguments or configuration: one sentence on standard error, nothing on standard output
    130  left by Ctrl-C in the middle of a turn, or at a question

The only module that joins all rooms. Each command imports its own when it runs: an editor that starts `serve` does
not wait for the chat, and the chat does not load an agent. Deliberately absent: anything a room can do by itself.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from acp_agent import __version__

if TYPE_CHECKING:
    import argparse

USAGE_ERROR: Final = 2
_HELP_WIDTH: Final = 100


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that `arguments` (without the program's name; None: the process's own) ask for."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given == ["serve"]:
        return _serve(None)  # how editors start it: without waiting for a parser that has nothing to parse
    if given[:1] == ["harness"]:
        from acp_agent.harness import commands  # each command pays for its own imports only

        return commands.main(given[1:])
    if given[:1] == ["fuzz"]:
        from acp_agent.fuzzing import (
            commands as fuzzing_commands,
        )  # each command pays for its own imports only

        return fuzzing_commands.main(given[1:])
    # The agent's own command line follows `--` and is passed on word for word.
    agent_command: list[str] | None = None
    if "--" in given:
        agent_command = given[given.index("--") + 1 :]
        given = given[: given.index("--")]
    try:
        options = _parser().parse_args(given)
        if agent_command is not None and options.command != "chat":
            return _refuse("only chat takes an agent command after --")
        return _run(options, agent_command)
    except SystemExit as ending:  # argparse: --help, --version, a usage error
        return ending.code if isinstance(ending.code, int) else USAGE_ERROR


def _run(options: argparse.Namespace, agent_command: list[str] | None) -> int:
    match options.command:
        case "serve":
            return _serve(options.config)
        case "chat":
            return _chat(options, agent_command)
        case "init":
            return _for_a_reader(_init, options)
        case "doctor":
            return _for_a_reader(_doctor, options)
        case _:
            return _for_a_reader(_sessions, options)


def _parser() -> argparse.ArgumentParser:
    import argparse  # see main

    class Parser(argparse.ArgumentParser):
        """Says what is wrong in one sentence instead of a page."""

        def error(self, message: str) -> NoReturn:
            self.exit(USAGE_ERROR, f"{self.prog}: {message} (see {self.prog} --help)\n")

    def formatter(prog: str) -> argparse.HelpFormatter:
        # To ask for the terminal's width would import shutil with each argument that is added.
        return argparse.HelpFormatter(prog, width=_HELP_WIDTH)

    parser = Parser(
        prog="acp-agent",
        formatter_class=formatter,
        description="Bob, a coding agent for editors that speak the Agent Client Protocol, and a chat with any agent.",
    )
    parser.add_argument("--version", action="version", version=f"acp-agent {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, prog="acp-agent")

    serve = commands.add_parser(
        "serve",
        formatter_class=formatter,
        help="be the agent: speak ACP on standard input and output (an editor starts this)",
        description="Speak ACP on standard input and output, as an editor's agent. Logs go to standard error.",
    )
    serve.add_argument("--config", metavar="FILE", type=Path, help="the configuration file to use")

    chat = commands.add_parser(
        "chat",
        formatter_class=formatter,
        help="talk to Bob, or to any ACP agent, in this terminal",
        usage="acp-agent chat [options] [-- AGENT COMMAND...]",
        description="Talk to an ACP agent in this terminal: Bob, unless an agent's command follows --.",
        epilog="Ctrl-C stops the running turn, a second one leaves; the end of the input (Ctrl-D) leaves too.",
    )
    chat.add_argument("--cwd", metavar="DIR", type=Path, help="the directory to work in (default: this one)")
    chat.add_argument("--config", metavar="FILE", type=Path, help="Bob's configuration file")
    chat.add_argument(
        "--once", metavar="PROMPT", help="run one prompt and exit: 0 if its turn ended well, else 1"
    )
    chat.add_argument("--json", action="store_true", help="print one JSON object a line for each event")
    answer = chat.add_mutually_exclusive_group()
    answer.add_argument("--yes", action="store_true", help="allow what the agent asks for, each time once")
    answer.add_argument("--reject", action="store_true", help="refuse whatever the agent asks for")

    init = commands.add_parser(
        "init",
        formatter_class=formatter,
        help="find a model server, choose a model, write the configuration",
        description="Look for model servers on this machine and at $OPENAI_BASE_URL, let you choose one of their "
        "models, write Bob's configuration, and print what your editor needs.",
    )
    init.add_argument(
        "--output", metavar="FILE", type=Path, help="the file to write (default: acp-agent.toml)"
    )
    init.add_argument("--model", metavar="NAME", help="take this model and do not ask for one")
    init.add_argument("--yes", action="store_true", help="ask nothing: take the first model that can be used")
    init.add_argument("--force", action="store_true", help="replace a file that is there")

    doctor = commands.add_parser(
        "doctor",
        formatter_class=formatter,
        help="check the configuration, the model, the skills and the place for sessions",
        description="Go through what Bob needs in this directory, one line each: ok, or what to do.",
        epilog="The exit code is 0 if nothing is to do, else 1.",
    )
    doctor.add_argument("--config", metavar="FILE", type=Path, help="the configuration file to check")

    sessions = commands.add_parser(
        "sessions",
        formatter_class=formatter,
        help="list, show, export or delete stored conversations",
        description="Look at the conversations that are stored for a directory.",
    )
    actions = sessions.add_subparsers(
        dest="action", metavar="ACTION", required=True, prog="acp-agent sessions"
    )
    for name, about in (
        ("list", "list the stored sessions, the newest first"),
        ("show", "show one as text"),
        ("export", "write one as Markdown"),
        ("delete", "delete one, after a question"),
    ):
        action = actions.add_parser(
            name, formatter_class=formatter, help=about, description=about[0].upper() + about[1:]
        )
        if name != "list":
            action.add_argument("id", metavar="ID", help="the session's id, as `list` shows it")
        if name == "export":
            action.add_argument(
                "--output", metavar="FILE", type=Path, help="a new file (default: the terminal)"
            )
        if name == "delete":
            action.add_argument("--yes", action="store_true", help="do not ask")
        action.add_argument(
            "--cwd", metavar="DIR", type=Path, help="the sessions' directory (default: this one)"
        )
        action.add_argument("--config", metavar="FILE", type=Path, help="Bob's configuration file")
    # For the list of commands only: these have parsers of their own.
    commands.add_parser("harness", help="test an ACP client: scenarios, and a verdict rule by rule")
    commands.add_parser("fuzz", help="find what breaks an ACP agent, and the shortest exchange that does")
    return parser


def _import_asyncio_without_tls() -> None:
    """Leave `ssl` out of asyncio, which imports it at once for a transport that nothing here uses.

    It costs every start about 10 ms and 3 MiB. asyncio is made to work without it, as in a Python that was built
    without TLS. A model server behind HTTPS is not concerned: httpx imports `ssl` by itself, with the first request.
    """
    if "asyncio" not in sys.modules and "ssl" not in sys.modules:
        sys.modules["ssl"] = None  # type: ignore[assignment]  # what the import system reads as "not installed"
        try:
            import asyncio  # noqa: F401
        finally:
            del sys.modules["ssl"]


def _serve(configuration: Path | None) -> int:
    from acp_agent.agent import signals  # each command pays for its own imports only

    signals.leave_at_once()
    _import_asyncio_without_tls()
    from acp_agent import config
    from acp_agent.agent import server
    from acp_agent.llm.errors import ModelError
    from acp_agent.transport.stdio import NoStandardOutputError

    try:
        settings = config.load(configuration, Path.cwd(), os.environ)
        return server.run(settings, os.environ)
    except FileNotFoundError:
        return _refuse("the working directory does not exist any more")
    except (config.ConfigError, ModelError, NoStandardOutputError) as error:
        return _refuse(str(error))


def _chat(options: argparse.Namespace, agent_command: list[str] | None) -> int:
    from acp_agent.client import chat  # each command pays for its own imports only

    if sys.stdout is None:
        return _refuse("standard output is closed: there is nowhere to talk")
    if sys.stdin is None:
        os.open(os.devnull, os.O_RDONLY)  # becomes descriptor 0, before something else does
    cwd = _directory(options.cwd)
    if isinstance(cwd, str):
        return _refuse(cwd)
    if agent_command == []:
        return _refuse("after -- the agent's command is expected")
    if agent_command is not None and options.config is not None:
        return _refuse("--config is for Bob; an agent of your own takes its own options after --")
    if agent_command is None:
        # -P: the project's own files must not stand in for modules of Python.
        agent_command = [sys.executable, "-P", "-m", "acp_agent", "serve"]
        if options.config is not None:
            if not options.config.is_file():
                return _refuse(f"the configuration file {options.config} does not exist")
            agent_command += ["--config", str(options.config.absolute())]
    answer = chat.Answer.ALLOW if options.yes else chat.Answer.REJECT if options.reject else chat.Answer.ASK
    return chat.run(
        chat.ChatOptions(
            command=tuple(agent_command), cwd=cwd, once=options.once, as_json=options.json, answer=answer
        )
    )


def _init(options: argparse.Namespace) -> int:
    from acp_agent.setup import init  # each command pays for its own imports only

    asked = init.InitOptions(options.output, options.yes, options.force, options.model)
    return init.run(asked, init.Surroundings.of_this_process())


def _doctor(options: argparse.Namespace) -> int:
    from acp_agent.setup import doctor, surroundings  # each command pays for its own imports only

    cwd = Path.cwd()
    return doctor.run(
        options.config,
        cwd,
        os.environ,
        sys.stdout,
        sys.stderr,
        more=lambda settings: surroundings.findings(settings, cwd),
    )


def _sessions(options: argparse.Namespace) -> int:
    from acp_agent import config  # each command pays for its own imports only
    from acp_agent.setup.sessions import StoredSessions

    cwd = _directory(options.cwd)
    if isinstance(cwd, str):
        return _refuse(cwd)
    try:
        settings = config.load(options.config and options.config.absolute(), cwd, os.environ)
    except config.ConfigError as error:
        return _refuse(str(error))
    sessions = StoredSessions(settings.sessions, cwd, sys.stdout, sys.stderr)
    match options.action:
        case "list":
            return sessions.list()
        case "show":
            return sessions.show(options.id)
        case "export":
            return sessions.export(options.id, options.output)
        case _:
            return sessions.delete(options.id, sure=options.yes)


def _for_a_reader(command: Callable[[argparse.Namespace], int], options: argparse.Namespace) -> int:
    """Run a command whose product is text, for a person, or for a program behind a pipe."""
    from acp_agent.client.screen import output_lost  # each command pays for its own imports only

    if sys.stdout is None:
        return _refuse("standard output is closed: there is nowhere to write to")
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that is not UTF-8 is no reason to stop; Markdown is for a file, and files are UTF-8.
        is_markdown = getattr(options, "action", "") == "export"
        sys.stdout.reconfigure(encoding="utf-8" if is_markdown else None, errors="replace")
    if sys.stdin is None:
        os.open(os.devnull, os.O_RDONLY)  # becomes descriptor 0, before something else does
        sys.stdin = io.StringIO()  # whoever asks a question gets the end of the input for an answer
    if sys.stderr is None:
        sys.stderr = io.StringIO()
    try:
        code = command(options)
        sys.stdout.flush()
    except FileNotFoundError:
        return _refuse("the working directory does not exist any more")
    except OSError as error:
        output_lost(sys.stdout, error)
        # Who stops reading, as `head` does, has what they wanted.
        return 0 if isinstance(error, BrokenPipeError) else 1
    return code


def _directory(named: Path | None) -> Path | str:
    """The directory to work in, absolute; or the sentence why there is none."""
    try:
        directory = (named or Path()).resolve(strict=True)
    except OSError:
        return f"the directory {named or '.'} does not exist"
    return directory if directory.is_dir() else f"{named} is not a directory"


def _refuse(sentence: str) -> int:
    if sys.stderr is not None:  # else print would take standard output, which is not for this
        print(f"acp-agent: {sentence}", file=sys.stderr)
    return USAGE_ERROR
