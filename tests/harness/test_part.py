"""Parts of a run as files: one a process, written whole, and a lock that tells whether the process still lives."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from acp_agent.harness.part import Part, PartFile, agent_runs, has_begun, read_parts
from acp_agent.harness.transcript import Entry
from acp_agent.harness.verdict import Check, Origin, Remark

PART = Part(
    "area/name",
    1,
    begun=True,
    checks=[Check("R-016", False, "this", "that", 3, Origin.OBSERVER, 1)],
    remarks=[Remark("Strange.", 2)],
    notes={"said": [{"bytes": 1}]},
    transcript=[Entry(0, 0.5, "client", "initialize", "{}", 2)],
    deserted=["R-303"],
)


def test_a_part_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Checks and entries come back as what they were."""
    file = PartFile.claim(tmp_path)
    file.save(PART)
    assert read_parts(tmp_path) == [PART]
    assert read_parts(tmp_path)[0].checks[0].origin is Origin.OBSERVER
    file.close()


def test_each_process_has_a_life_of_its_own_and_they_are_read_in_order(tmp_path: Path) -> None:
    """The eleventh after the second; one that was claimed and never written is left out."""
    files = [PartFile.claim(tmp_path / "new") for _ in range(11)]
    assert [file.life for file in files] == list(range(1, 12))
    for file in reversed(files):
        if file.life != 5:
            file.save(Part("area/name", file.life))
        file.close()
    assert [part.life for part in read_parts(tmp_path / "new")] == [1, 2, 3, 4, 6, 7, 8, 9, 10, 11]


def test_an_agent_runs_until_its_part_is_closed(tmp_path: Path) -> None:
    """And no lock is left behind."""
    assert not agent_runs(tmp_path)
    first, second = PartFile.claim(tmp_path), PartFile.claim(tmp_path)
    first.close()
    assert agent_runs(tmp_path)
    second.close()
    assert not agent_runs(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"part-1.json", "part-2.json"}


def test_an_agent_that_was_killed_does_not_run(tmp_path: Path) -> None:
    """The kernel takes the lock from it, though its file is still there."""
    program = (
        "import signal, sys; from pathlib import Path; from acp_agent.harness.part import PartFile;"
        "part = PartFile.claim(Path(sys.argv[1])); print('claimed', flush=True); signal.pause()"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"claimed\n"
        assert agent_runs(tmp_path)
        process.kill()
    assert not agent_runs(tmp_path)
    assert (tmp_path / "part-1.lock").exists()


def test_a_script_has_begun_if_it_has_in_any_life() -> None:
    """A client may look first."""
    looked = Part("area/name", 1)
    assert not has_begun([])
    assert not has_begun([looked])
    assert has_begun([looked, Part("area/name", 2, begun=True)])
