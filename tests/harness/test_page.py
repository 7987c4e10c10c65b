"""report.html: one file, well-formed, nothing from outside, nothing of the client's as markup, bounded."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

from acp_agent.harness import page as page_module
from acp_agent.harness.page import page
from acp_agent.harness.report import Run
from acp_agent.harness.result import ClientExit
from acp_agent.harness.transcript import Entry
from acp_agent.harness.verdict import Check, Remark

if TYPE_CHECKING:
    from conftest import Maker

VOID = {"meta", "br"}


class Reader(HTMLParser):
    """Follows the tags, so that one that is left open or closed twice is found."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(str(value))
            if name in {"href", "src"}:
                self.links.append(str(value))
            assert not name.startswith("on")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data


def read(run: Run) -> Reader:
    reader = Reader()
    reader.feed(page(run).decode())
    reader.close()
    assert reader.open == []
    return reader


def test_the_page_is_well_formed_and_its_links_lead_somewhere(all_sorts: Run) -> None:
    """Every link is to a place in the page or to a raw record in the report's directory; no id twice."""
    reader = read(all_sorts)
    assert len(reader.ids) == len(set(reader.ids))
    for link in reader.links:
        assert link.removeprefix("#") in reader.ids or re.fullmatch(r"[a-z-]+/trace-\d+\.jsonl", link), link


def test_the_page_needs_nothing_from_anywhere(all_sorts: Run) -> None:
    """No script, no font, no image, no address of another machine."""
    html = page(all_sorts).decode()
    assert set(read(all_sorts).tags) & {"script", "link", "img", "iframe", "object", "form"} == set()
    assert "http://" not in html
    assert "https://" not in html
    assert "url(" not in html
    assert "default-src 'none'" in html


def test_the_verdict_comes_first_then_what_is_broken(all_sorts: Run) -> None:
    """With the rule's sentence, what was expected and what was seen."""
    text = read(all_sorts).text
    order = [
        "Not conformant",
        "1 binding rule broken, in 1 scenario",
        "What is broken",
        "area/fails",
        "After session/cancel every open permission request",
        "an answer",
        "nothing (message #5)",
        "method/5",
        "✗ breaks R-154",
        "The client did not end",
        "Advice that was not followed",
        "area/advises",
        "Rules by area",
        "Not exercised, not applicable",
        "nobody pressed Stop",
        "no terminals",
        "All scenarios",
    ]
    positions = [text.find(words) for words in order]
    assert -1 not in positions, order[positions.index(-1)]
    assert positions == sorted(positions)
    assert "Only 8 of 9 scenarios were played." in text
    assert "the harness failed in the script. The client is not to blame." in text
    assert "Strange." in text


def test_a_passing_run_says_so_and_blames_nobody(maker: Maker) -> None:
    """No section about faults."""
    maker.add("area/passes")
    text = read(maker.run()).text
    assert "Conformant" in text
    assert "No binding rule is broken, and every MUST was exercised." in text
    assert "What is broken" not in text
    assert "Advice" not in text


def test_an_empty_run_has_a_page(maker: Maker) -> None:
    """Nothing played proves nothing."""
    assert "Not shown to be conformant" in read(maker.run()).text


def test_nothing_of_a_client_s_becomes_markup(maker: Maker) -> None:
    """Whatever it calls itself, sends, writes or is said to have done."""
    evil = "</pre></script><script>alert(1)</script><img src=x onerror=alert(1)>\"'"
    entries = [Entry(0, 0.0, "client", evil, evil * 5, 900), Entry(1, 0.0, "harness", evil)]
    maker.add(
        "area/evil",
        [Check("R-154", False, evil, evil, 0)],
        title=evil,
        entries=entries,
        remarks=[Remark(evil)],
        ending=ClientExit(1, output=evil),
    )
    maker.add("area/why", [], reason=evil)
    run = maker.run(command=evil)
    reader = read(run)
    assert set(reader.tags) & {"script", "img"} == set()
    assert reader.text.count("<script>alert(1)</script>") >= 8


def test_a_page_of_many_long_transcripts_is_bounded(maker: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once there is enough, only failures have their transcripts; the page says that something is missing."""
    monkeypatch.setattr(page_module, "MOST_TRANSCRIPT_BYTES", 300_000)
    entries = [Entry(n, 0.0, "client", "noise", "x" * 2000, 2000) for n in range(3000)]
    for number in range(20):
        maker.add(f"area/long-{number}", entries=entries)
    maker.add("area/fails", [Check("R-154", False, "a", "b", 1500)], entries=entries)
    html = page(maker.run())
    assert len(html) < 1_500_000
    assert b"Its transcript is left out" in html
    assert b"#1500" in html
