"""A run in the form that continuous integration reads: one test suite an area, one test case a scenario.

Not exercised and not applicable are `skipped`; a fault of the harness itself is an `error`. Follows the schema of
Jenkins's JUnit plugin, the strictest of those in use. Deliberately absent: exchanges; the report has them.
"""

from __future__ import annotations

import re
from typing import Final
from xml.etree import ElementTree

from acp_agent.harness.report import Run, told
from acp_agent.harness.result import ScenarioResult
from acp_agent.harness.verdict import Verdict
from acp_agent.protocol.rules import RULES

# What XML 1.0 has no place for, whatever it is escaped as.
_NOT_IN_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(run: Run) -> bytes:
    """The document, in UTF-8."""
    suites = ElementTree.Element("testsuites", name=_clean(f"ACP: {run.client_name}"))
    suites.attrib |= _numbers(run.results)
    for area, results in run.areas().items():
        suite = ElementTree.SubElement(suites, "testsuite", name=area)
        suite.attrib |= _numbers(tuple(results))
        suite.set("timestamp", run.started.strftime("%Y-%m-%dT%H:%M:%S"))
        for result in results:
            _add_case(suite, result)
    ElementTree.indent(suites)
    document: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _numbers(results: tuple[ScenarioResult, ...]) -> dict[str, str]:
    errors = sum(bool(result.errors) for result in results)
    failures = sum(result.verdict is Verdict.FAIL and not result.errors for result in results)
    skipped = sum(
        result.verdict in {Verdict.NOT_EXERCISED, Verdict.NOT_APPLICABLE} and not result.errors
        for result in results
    )
    return {
        "tests": str(len(results)),
        "failures": str(failures),
        "errors": str(errors),
        "skipped": str(skipped),
        "time": f"{sum(result.exit.duration_s for result in results):.3f}",
    }


def _add_case(suite: ElementTree.Element, result: ScenarioResult) -> None:
    case = ElementTree.SubElement(
        suite,
        "testcase",
        classname=f"acp.{result.scenario.area}",
        name=result.scenario.id,
        time=f"{result.exit.duration_s:.3f}",
    )
    if result.errors:
        _add(case, "error", "; ".join(result.errors), "harness", "")
    elif result.verdict is Verdict.FAIL:
        counted = [rule for rule in result.failed_rules if RULES[rule].tier.decides]
        rules = ", ".join(counted or result.failed_rules)
        _add(case, "failure", f"{rules}: {result.scenario.title}", "rule", _failure(result))
    elif result.verdict is not Verdict.PASS:
        ElementTree.SubElement(case, "skipped", message=_clean(f"{result.verdict}: {result.reason}"))
    remarks = [remark.sentence for remark in result.remarks]
    if result.exit.output:
        remarks.append(f"The client wrote:\n{result.exit.output}")
    if remarks:
        ElementTree.SubElement(case, "system-out").text = _clean("\n".join(remarks))


def _add(case: ElementTree.Element, tag: str, message: str, type_: str, text: str) -> None:
    element = ElementTree.SubElement(case, tag, message=_clean(message), type=type_)
    element.text = _clean(text)


def _failure(result: ScenarioResult) -> str:
    lines = []
    for outcome in result.outcomes:
        if outcome.verdict is Verdict.FAIL:
            rule = RULES[outcome.rule]
            lines.append(f"{rule.id} ({rule.tier}) {rule.sentence}")
            for check in told(outcome.checks)[:3]:
                if not check.ok:
                    lines += [f"  expected: {check.expected}", f"  saw: {check.saw}"]
    return "\n".join(lines)


def _clean(text: str) -> str:
    return _NOT_IN_XML.sub("\ufffd", text)
