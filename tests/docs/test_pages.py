"""The documentation is true where a machine can tell: links lead somewhere, examples work, output is as printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from acp_agent import config

if TYPE_CHECKING:
    from conftest import Fence


def anchors(text: str) -> set[str]:
    """The names that a link into a page can end with, as hosts of repositories make them from headings."""
    without_fences = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", without_fences, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_link_within_the_project_leads_somewhere(pages: dict[str, str], checkout: Path) -> None:
    """To a file or directory that is there, and to a heading that is in it."""
    broken = []
    for page, text in pages.items():
        without_code = re.sub(
            r"`[^`\n]*`", "", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
        )
        for target in re.findall(r"\]\(([^)\s]+)\)", without_code):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            path = (checkout / page).parent / name if name else checkout / page
            if not path.exists() or (anchor and anchor not in anchors(path.read_text(encoding="utf-8"))):
                broken.append(f"{page}: {target}")
    assert not broken, "\n".join(broken)


def test_every_page_about_bob_is_in_the_index(pages: dict[str, str]) -> None:
    """What nobody can find was written in vain."""
    linked = set(re.findall(r"\]\(([^)#]+\.md)", pages["docs/README.md"]))
    missing = [
        page
        for page in pages
        if page.startswith("docs/") and page.removeprefix("docs/") not in {*linked, "README.md"}
    ]
    assert not missing, "\n".join(missing)


def test_every_configuration_that_is_shown_can_be_used(fences: list[Fence], tmp_path: Path) -> None:
    """Each TOML block is a file that Bob would start with."""
    shown = [fence for fence in fences if fence.language == "toml"]
    assert len(shown) > 5
    for fence in shown:
        path = tmp_path / "acp-agent.toml"
        path.write_text(fence.text, encoding="utf-8")
        assert config.read(path).source == path, fence.page


def test_the_mistake_that_is_shown_is_told_like_that(pages: dict[str, str], tmp_path: Path) -> None:
    """docs/configuration.md: the sentence for a key that does not exist."""
    (tmp_path / "acp-agent.toml").write_text(
        '[model]\nbasUrl = "http://127.0.0.1:11434/v1"\n', encoding="utf-8"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-m", "acp_agent", "serve"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        cwd=tmp_path,
        timeout=30,
        check=False,
    )
    assert f"    {done.stderr}".replace(str(tmp_path), "/home/ada/project") in pages["docs/configuration.md"]


def alike(output: str) -> str:
    """Without what differs from run to run and from machine to machine."""
    output = re.sub(r"I am process \d+ on \w+", "I am process 4711 on Linux", output)
    output = re.sub(r"\S+/acp-agent-demo-\w+", "/tmp/acp-agent-demo", output)
    return re.sub(r"\d+ ms", "11 ms", output)


def test_the_readme_shows_what_the_demo_prints(fences: list[Fence], tmp_path: Path) -> None:
    """Word for word, in order, with what is left out marked as such."""
    [shown] = [fence for fence in fences if fence.page == "README.md" and fence.language == "text"]
    done = subprocess.run(
        [sys.executable, "-m", "acp_agent.client.demo"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    printed = alike(done.stdout)
    position = 0
    for part in alike(shown.text).split("\n[...]\n"):
        found = printed.find(part, position)
        assert found >= 0, f"not printed like this:\n{part}"
        position = found + len(part)


def test_every_fragment_of_the_changelog_has_a_kind_and_a_text_for_users(checkout: Path) -> None:
    """As changes/README.md says."""
    for path in (checkout / "changes").iterdir():
        if path.name != "README.md":
            assert re.fullmatch(r"[a-z0-9-]+\.(added|changed|fixed|removed)\.md", path.name), path.name
            assert re.fullmatch(r"[^#\-\s].*\.\n", path.read_text(encoding="utf-8"), re.DOTALL), path.name
