"""`acp-agent doctor`: go through what Bob needs, one line each, and say what to do.

Owns the order and the exit code: 0 if nothing is to do, 1 if something is. Absent: the checks themselves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TextIO

from acp_agent.config import Settings
from acp_agent.setup import checks, model_checks
from acp_agent.setup.findings import Finding, State, exit_code


def run(
    explicit: Path | None,
    cwd: Path,
    environ: Mapping[str, str],
    out: TextIO,
    err: TextIO,
    more: Callable[[Settings], Iterable[Finding]] = lambda _: (),
) -> int:
    """Check and report; return the exit code.

    explicit: the configuration file named on the command line. err: a terminal there is told of long waits. more: the
    checks that need other rooms, made by the caller once there are settings."""
    found: list[Finding] = []

    def report(finding: Finding) -> None:
        found.append(finding)
        print(finding, file=out, flush=True)

    def wait(text: str) -> None:
        if err.isatty():
            print(f"({text})", file=err, flush=True)

    settings, finding = checks.configuration(explicit, cwd, environ)
    report(finding)
    if settings is None:
        report(Finding(State.SKIPPED, model_checks.SERVER, "the configuration has to be read first"))
        return exit_code(found)
    try:
        asyncio.run(_model(settings, environ, report, wait))
        for finding in more(settings):
            report(finding)
    except KeyboardInterrupt:
        return 130
    return exit_code(found)


async def _model(
    settings: Settings,
    environ: Mapping[str, str],
    report: Callable[[Finding], None],
    wait: Callable[[str], None],
) -> None:
    async for finding in model_checks.findings(settings.model, environ, wait):
        report(finding)
