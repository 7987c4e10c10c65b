"""junit.xml is what the JUnit plugins of CI systems read."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

from acp_agent.harness.junit import junit_xml
from acp_agent.harness.report import Run
from acp_agent.harness.result import ClientExit
from acp_agent.harness.verdict import Check

if TYPE_CHECKING:
    from conftest import Maker

CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"testcase"},
    "testcase": {"skipped", "error", "failure", "system-out"},
}
ATTRIBUTES = {
    "testsuites": {"name", "time", "tests", "failures", "errors", "skipped"},
    "testsuite": {"name", "time", "tests", "failures", "errors", "skipped", "timestamp"},
    "testcase": {"name", "classname", "time"},
    "failure": {"message", "type"},
    "error": {"message", "type"},
    "skipped": {"message"},
    "system-out": set[str](),
}


def parsed(run: Run) -> ElementTree.Element:
    return ElementTree.fromstring(junit_xml(run))  # noqa: S314 - made by us, a line before


def test_the_document_has_the_elements_and_attributes_of_the_common_schema(all_sorts: Run) -> None:
    """Jenkins's schema is the strictest: nothing it does not know."""
    for element in parsed(all_sorts).iter():
        assert set(element.attrib) == ATTRIBUTES[element.tag]
        assert {child.tag for child in element} <= CHILDREN.get(element.tag, set())


def test_the_numbers_are_those_of_the_cases(all_sorts: Run) -> None:
    """A CI system shows the attributes and trusts them."""
    for suite in parsed(all_sorts).iter("testsuite"):
        cases = list(suite)
        assert int(suite.attrib["tests"]) == len(cases)
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.attrib[name]) == sum(case.find(tag) is not None for case in cases), name
    top = parsed(all_sorts).attrib
    assert (top["tests"], top["failures"], top["errors"], top["skipped"]) == ("8", "2", "1", "3")


def test_a_failure_says_which_rule_what_was_expected_and_what_was_seen(all_sorts: Run) -> None:
    """Whoever reads it in CI need not open the report."""
    failure = next(parsed(all_sorts).iter("failure"))
    assert failure.attrib["message"] == "R-154: A situation"
    assert "expected: an answer\n  saw: nothing" in str(failure.text)


def test_whatever_a_client_writes_the_document_stays_xml(maker: Maker) -> None:
    """Controls and lone surrogates have no place in XML, markup has to be escaped."""
    ugly = "\x00\x1b[31m<b>&\udc80\ufffe]]>'\"\r\n"
    maker.add("area/ugly", [Check("R-154", False, ugly, ugly)], title=ugly, ending=ClientExit(1, output=ugly))
    text = str(next(parsed(maker.run()).iter("failure")).text)
    assert "<b>&" in text
