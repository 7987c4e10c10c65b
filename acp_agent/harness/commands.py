"""The command line of the harness: serve, run, list, show, explain, and their exit codes.

    0  the client is conformant (run), or it worked (the others)
    1  it is not, or has not been shown to be
    2  wrong arguments: one sentence on standard error
    130, 143  a run was interrupted (Ctrl-C, SIGTERM): its clients are ended, there is no report

Deliberately absent: everything the commands do.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from acp_agent.harness import login
from acp_agent.harness.catalogue import UnknownScenario, all_scenarios, select

if TYPE_CHECKING:
    from acp_agent.harness.terminal import Screen

USAGE_ERROR = 2
REPORT_DIRECTORY = "acp-harness-report"


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence instead of a page."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE_ERROR, f"{self.prog}: {message} (see {self.prog} --help)\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments ask for; None: the process's own."""
    parser = _Parser(prog="acp-agent harness", description="A test kit for ACP clients.")
    add_commands(parser)
    try:
        code = run(parser.parse_args(arguments))
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Who stops reading, as `head` does, has what they wanted; what is left must not complain at the exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except SystemExit as ending:  # argparse: --help, a usage error
        return ending.code if isinstance(ending.code, int) else USAGE_ERROR


class _Interrupted(BaseException):
    """Somebody wants a run to end. number: the signal's."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _interrupt(number: int, frame: object) -> None:
    # Once: a second one must not come between the driver and the clients it has to end.
    for again in (signal.SIGINT, signal.SIGTERM):
        signal.signal(again, signal.SIG_IGN)
    raise _Interrupted(number)


def add_commands(parser: argparse.ArgumentParser) -> None:
    """Give a parser the commands of the harness; `run` does what the parsed options say."""
    commands = parser.add_subparsers(dest="harness_command", metavar="COMMAND", required=True)

    serve = commands.add_parser("serve", help="be the agent that a client starts, and test that client")
    _add_choice(serve)
    serve.add_argument(
        "--report",
        metavar="DIR",
        type=Path,
        help="where the report goes (the harness names the place in the chat)",
    )
    serve.add_argument("--parts", metavar="DIR", type=Path, help=argparse.SUPPRESS)
    serve.add_argument("--driven", action="store_true", help=argparse.SUPPRESS)
    serve.add_argument(login.OPTION, dest="log_in", help=argparse.SUPPRESS)

    run_ = commands.add_parser("run", help="run a client once for each scenario, without a person")
    run_.add_argument(
        "--client",
        metavar="COMMAND",
        required=True,
        help="a shell command in which {agent}, {prompt} and {cwd} each stand for one word",
    )
    _add_choice(run_)
    # Most of a scenario is waiting.
    jobs = 2 * (os.cpu_count() or 1)
    run_.add_argument("--jobs", metavar="N", type=int, default=jobs, help=f"how many at once ({jobs})")
    run_.add_argument("--report", metavar="DIR", type=Path, help="where the report goes")
    seconds = "seconds for each run, more only while its agent runs (90)"
    run_.add_argument("--timeout", metavar="S", type=float, default=90.0, help=seconds)

    list_ = commands.add_parser("list", help="list the scenarios")
    _add_choice(list_)
    show = commands.add_parser("show", help="show one scenario")
    show.add_argument("id", metavar="ID")
    explain = commands.add_parser("explain", help="explain a rule")
    explain.add_argument("rule", metavar="R-NNN")


def _add_choice(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--scenario",
        metavar="ID|GROUP",
        action="append",
        default=[],
        help="an id, an area or a pattern; may be repeated; without it: all",
    )


def run(options: argparse.Namespace) -> int:
    """Do what parsed options ask for; returns the exit code."""
    try:
        match options.harness_command:
            case "serve":
                return _serve(options)
            case "run":
                return _run(options)
            case _:
                return _tell(options)
    except UnknownScenario as error:
        return _refuse(str(error))


def _serve(options: argparse.Namespace) -> int:
    chosen = select(options.scenario)
    if options.parts is not None:
        from acp_agent.harness.serve import serve_one  # each command pays for its own imports only

        if len(chosen) != 1:
            return _refuse("choose one scenario with --scenario")
        if options.log_in is not None:
            return login.log_in(chosen[0], options.parts, options.log_in)
        return serve_one(chosen[0], options.parts, driven=options.driven)

    from acp_agent.harness.book import Book
    from acp_agent.harness.menu import serve_menu

    directory = (options.report or _place_of_a_person()).absolute()
    first = chosen[0] if len(chosen) == 1 else None
    try:
        if options.log_in is not None:
            book = Book(directory, chosen)
            scenario = book.due() or first
            if scenario is None:
                return _refuse("no scenario is being played that has a login")
            return login.log_in(scenario, book.home(scenario), options.log_in)
        return serve_menu(chosen, directory, first)
    except OSError as error:
        return _refuse(f"the report cannot be written: {error}")


def _place_of_a_person() -> Path:
    """Where a report goes that nobody has named a place for: an editor starts agents in other people's projects."""
    import platformdirs

    return platformdirs.user_state_path("acp-agent", appauthor=False) / "harness"


def _run(options: argparse.Namespace) -> int:
    from acp_agent.harness.drive import Driver
    from acp_agent.harness.progress import Progress
    from acp_agent.harness.report import Run, write_report
    from acp_agent.harness.terminal import print_run
    from acp_agent.harness.verdict import Conclusion

    if options.jobs < 1 or options.timeout <= 0:
        return _refuse("--jobs and --timeout are greater than zero")
    if "{agent}" not in options.client:
        return _refuse("the client's command needs {agent} where the agent's command line goes")
    chosen = select(options.scenario)
    directory = options.report or Path(REPORT_DIRECTORY)
    driver = Driver(options.client, directory, options.timeout, options.jobs)
    started, clock = datetime.now(UTC), time.monotonic()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    try:
        with Progress(len(chosen), sys.stderr) as progress:
            results = tuple(driver.run(chosen, progress.advance))
        played = Run(results, options.client, len(all_scenarios()), started, time.monotonic() - clock)
        report = write_report(directory, played)
    except OSError as error:
        return _refuse(f"the report cannot be written: {error}")
    except _Interrupted as signal_:
        print("\nacp-agent harness: interrupted; the clients are ended", file=sys.stderr)
        return 128 + signal_.number
    screen = _screen()
    print_run(played, screen)
    screen.line(f"Report: {report}")
    return 0 if played.summary.conclusion is Conclusion.CONFORMANT else 1


def _tell(options: argparse.Namespace) -> int:
    from acp_agent.harness import terminal

    screen = _screen()
    if options.harness_command == "list":
        terminal.print_list(select(options.scenario), screen)
    elif options.harness_command == "show":
        for number, scenario in enumerate(select([options.id])):
            if number:
                screen.line()
            terminal.print_scenario(scenario, screen)
    elif not terminal.print_rule(options.rule.upper(), screen):
        return _refuse(f"there is no rule {options.rule!r} for clients")
    return 0


def _screen() -> Screen:
    from acp_agent.harness.terminal import Screen

    colours = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Screen(sys.stdout, width=shutil.get_terminal_size().columns, colours=colours)


def _refuse(sentence: str) -> int:
    print(f"acp-agent harness: {sentence}", file=sys.stderr)
    return USAGE_ERROR
