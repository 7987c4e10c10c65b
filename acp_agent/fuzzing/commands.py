"""The command line of the fuzzer: agent, reproduce, and their exit codes.

    0  nothing was found (agent), or nothing is wrong any more (reproduce)
    1  something was
    2  wrong arguments: one sentence on standard error
    130, 143  a campaign was interrupted (Ctrl-C, SIGTERM): its agents are ended, there is no report

Deliberately absent: everything the commands do. Hypothesis is only needed by `agent`, and looked for there.
"""

from __future__ import annotations

import argparse
import os
import random
import shlex
import signal
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn

from acp_agent.client.errors import CannotStartAgent
from acp_agent.fuzzing.collector import may_raise
from acp_agent.fuzzing.exchange import Deadlines

USAGE_ERROR: Final = 2
REPORT_DIRECTORY: Final = "acp-fuzz-report"
DEFAULT_TIME_S: Final = 60.0
DEFAULT_TURN_S: Final = 60.0

NEEDS_HYPOTHESIS: Final = (
    "drawing conversations needs Hypothesis, which is not installed: pip install hypothesis"
)


_interruptions: list[int] = []
"""The signal that has asked for the end, if one has."""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence instead of a page."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE_ERROR, f"{self.prog}: {message} (see {self.prog} --help)\n")


class _Interrupted(BaseException):
    """Somebody wants the campaign to end. number: the signal's."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments (without `fuzz`; None: the process's own) ask for."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    command: list[str] = []
    if "--" in given:
        command = given[given.index("--") + 1 :]
        given = given[: given.index("--")]
    try:
        options = _parser().parse_args(given)
    except SystemExit as ending:  # argparse: --help, a usage error
        return ending.code if isinstance(ending.code, int) else USAGE_ERROR
    if not command:
        return _refuse("the agent's command is expected after --")
    try:
        return (
            _reproduce(options, command) if options.fuzz_command == "reproduce" else _agent(options, command)
        )
    except CannotStartAgent as error:
        return _refuse(str(error))
    except BrokenPipeError:
        # Who stops reading, as `head` does, has what they wanted; what is left must not complain at the exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="acp-agent fuzz",
        description="Find what breaks an ACP agent, and the shortest exchange that does.",
    )
    commands = parser.add_subparsers(
        dest="fuzz_command", metavar="COMMAND", required=True, parser_class=_Parser
    )
    agent = commands.add_parser(
        "agent",
        help="lead an agent through drawn conversations",
        usage="acp-agent fuzz agent [options] -- AGENT COMMAND...",
        description="Lead an agent through drawn conversations and judge everything it does. Sessions work in a "
        "scratch directory, but what the agent's tools do there is up to the agent.",
    )
    budget = agent.add_mutually_exclusive_group()
    budget.add_argument(
        "--time", metavar="S", type=float, help=f"stop after so many seconds ({DEFAULT_TIME_S:g})"
    )
    budget.add_argument("--examples", metavar="N", type=int, help="stop after so many conversations")
    agent.add_argument("--until", metavar="R-NNN", help="stop as soon as this rule was found broken")
    agent.add_argument(
        "--level",
        choices=("valid", "hostile"),
        default="valid",
        help="only what a client may do, or anything at all (valid)",
    )
    agent.add_argument(
        "--seed", metavar="N", type=int, help="draw the same conversations again (a new number each time)"
    )
    agent.add_argument(
        "--corpus", metavar="DIR", type=Path, help="Hypothesis's example database, which may be shared"
    )
    agent.add_argument(
        "--prompts", metavar="FILE", type=Path, help="prompts that make the agent work, one a line"
    )
    agent.add_argument("--workers", metavar="N", type=int, default=1, help="processes that draw at once (1)")
    agent.add_argument(
        "--timeout",
        metavar="S",
        type=float,
        default=DEFAULT_TURN_S,
        help=f"the time a turn may take; other requests get a sixth of it, a cancel a twelfth ({DEFAULT_TURN_S:g})",
    )
    agent.add_argument(
        "--report", metavar="DIR", type=Path, default=Path(REPORT_DIRECTORY), help="where the report goes"
    )
    reproduce = commands.add_parser(
        "reproduce",
        help="play a find again",
        usage="acp-agent fuzz reproduce FILE -- AGENT COMMAND...",
    )
    reproduce.add_argument("file", metavar="FILE", type=Path, help="the trace of a find")
    reproduce.add_argument("--timeout", metavar="S", type=float, default=DEFAULT_TURN_S, help="as for agent")
    return parser


def _agent(options: argparse.Namespace, command: list[str]) -> int:
    if find_spec("hypothesis") is None:
        return _refuse(NEEDS_HYPOTHESIS)
    numbers = (options.workers, options.timeout, options.examples, options.time)
    if any(number is not None and number <= 0 for number in numbers):
        return _refuse("--time, --examples, --workers and --timeout are greater than zero")
    from acp_agent.fuzzing.campaign import Budget, Settings  # each command pays for its own imports only
    from acp_agent.fuzzing.finds import Results
    from acp_agent.fuzzing.model import DEFAULT_PROMPTS
    from acp_agent.fuzzing.program import Level
    from acp_agent.fuzzing.report import write_report
    from acp_agent.fuzzing.terminal import Progress, print_results
    from acp_agent.fuzzing.workers import run_on
    from acp_agent.protocol.rules import RULES

    if options.until is not None and options.until not in RULES:
        return _refuse(f"there is no rule {options.until!r}")
    prompts: tuple[str, ...] = DEFAULT_PROMPTS
    if options.prompts is not None:
        try:
            lines = options.prompts.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            return _refuse(f"{options.prompts} cannot be read: {why}")
        prompts = tuple(line for line in lines if line.strip())
        if not prompts:
            return _refuse(f"{options.prompts} holds no prompt")
    seconds = options.time if options.examples is None and options.time is not None else None
    if options.examples is None and seconds is None:
        seconds = DEFAULT_TIME_S
    chosen = random.SystemRandom().randrange(2**31) if options.seed is None else options.seed
    budget = Budget(options.examples, seconds, options.until)
    how = Settings(Level(options.level), budget, chosen, prompts, options.corpus)
    started = datetime.now(UTC)
    progress = Progress(sys.stderr)

    def show(results: Results) -> None:
        done = results.examples / options.examples if options.examples else 0.0
        if seconds is not None:
            done = (datetime.now(UTC) - started).total_seconds() / seconds
        progress.show(done, results)
        if _interruptions:  # what was raised in a callback of the collector is lost
            raise _Interrupted(_interruptions[0])

    _interruptions.clear()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    try:
        results = run_on(options.workers, command, how, _deadlines(options.timeout), show)
        progress.end()
        write_report(options.report, results, command, started)
    except OSError as error:
        return _refuse(f"the report cannot be written: {error}")
    except _Interrupted as signal_:
        progress.end()
        print("acp-agent fuzz: interrupted; the agents are ended", file=sys.stderr)
        return 128 + signal_.number
    print_results(results, command, options.report, sys.stdout)
    print(f"Report: {options.report / 'report.json'}", file=sys.stdout)
    return 1 if results.finds else 0


def _reproduce(options: argparse.Namespace, command: list[str]) -> int:
    from acp_agent.fuzzing.reproduce import reproduce  # each command pays for its own imports only
    from acp_agent.protocol.rules import RULES
    from acp_agent.transport.trace import TraceError

    try:
        findings = reproduce(options.file, command, _deadlines(options.timeout))
    except OSError as error:
        return _refuse(f"{options.file} cannot be read: {error.strerror}")
    except TraceError as error:
        return _refuse(f"{options.file}: {error}")
    for finding in findings:
        rule = RULES[finding.rule]
        print(
            f"{rule.id} ({rule.tier}) {rule.sentence}\n  saw: {finding.saw} ({finding.shape})",
            file=sys.stdout,
        )
    if not findings:
        print(f"Nothing is wrong any more: {shlex.join(command)} does what it should.", file=sys.stdout)
    return 1 if findings else 0


def _deadlines(turn_s: float) -> Deadlines:
    return Deadlines(answer_s=turn_s / 6, turn_s=turn_s, cancel_s=turn_s / 12)


def _interrupt(number: int, frame: FrameType | None) -> None:
    # Once: a second one must not come between the campaign and the agents it has to end.
    if not _interruptions:
        _interruptions.append(number)
        if may_raise(frame):
            raise _Interrupted(number)


def _refuse(sentence: str) -> int:
    print(f"acp-agent fuzz: {sentence}", file=sys.stderr)
    return USAGE_ERROR
