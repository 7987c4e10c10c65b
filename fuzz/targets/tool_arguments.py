"""Any text as a tool's name and arguments ends in a result that a model can read; nothing raises, nothing is left open.

Whole calls as a turn runs them, permission given, with Bob's own tools in a folder of oddities. Documented: a tool that
cannot do it says so in its result.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from bob.ends import Ends
from bob.models import PlainModel
from hypothesis import strategies as st
from strategies.json_values import ODD_VALUES, changed
from strategies.text import ANY

from acp_agent.agent.skills import Skill, Skills
from acp_agent.agent.tool_calls import ToolCalls
from acp_agent.llm.model import ToolCallReady
from acp_agent.process import end_all
from acp_agent.tools.builtin import default_tools
from acp_agent.tools.reading import MAX_BYTES
from acp_agent.tools.registry import ToolRegistry
from acp_agent.tools.skill import ReadSkillTool

_MOST_OUTPUT = 300
_NOTES = 2_000  # what is said around an output

# Paths below the folder only, and odd ones that lead nowhere: the tools do write.
_PATHS = st.sampled_from(
    [
        *(
            "f",
            "é",
            "deep/er/f",
            "./f",
            "../w/f",
            "folder",
            "pipe",
            "link",
            "loop",
            "broken",
            "utf16",
            "latin",
            "zeros",
        ),
        *(
            "f/below",
            "",
            ".",
            "..",
            "\0",
            "a\0b",
            "\ud83d",
            "x" * 300,
            "~nobody-of-that-name/f",
            "new\nline",
            "long",
        ),
        *("crlf", "mark", "read-only", "empty"),
    ]
)
_COMMANDS = st.sampled_from(
    [
        *(
            "echo hi",
            "exit 3",
            "kill -9 $$",
            "echo -e '\\xff\\x00'",
            "printf '%0500d' 1",
            "nosuchcommand",
            "(",
            "",
            " ",
        ),
        *(
            "echo \0",
            "echo \ud83d",
            "echo é >&2",
            ": &",
            "exec 1>&-; echo x",
            "cd /nowhere",
            "trap '' TERM; exit 0",
        ),
        *("read x; echo got $x", "#", "\n\n", "\r", "set -m; : &", "ulimit -v 1; echo x"),
    ]
)
_NUMBERS = st.sampled_from([1, 2, 3.0, 0, -1, 1e300, 2**63, 2**64, 5e-324, 0.5, 1e18, True, None, "1"])
_TEXTS = st.sampled_from(["", "a", "b\n", "\r\n", "\ufeff", "\ud83d"]) | ANY
_FITTING = st.one_of(
    st.tuples(
        st.just("bash"),
        st.fixed_dictionaries(
            {"command": _COMMANDS}, optional={"timeout": st.sampled_from([5, 1e300, 2**64, 5e-324])}
        ),
    ),
    st.tuples(
        st.just("read_file"),
        st.fixed_dictionaries({"path": _PATHS}, optional={"offset": _NUMBERS, "limit": _NUMBERS}),
    ),
    st.tuples(st.just("write_file"), st.fixed_dictionaries({"path": _PATHS, "content": _TEXTS})),
    st.tuples(
        st.just("edit_file"),
        st.fixed_dictionaries(
            {"path": _PATHS, "old_text": _TEXTS, "new_text": _TEXTS},
            optional={"replace_all": st.sampled_from([True, False, None, 1])},
        ),
    ),
    st.tuples(
        st.just("read_skill"),
        st.fixed_dictionaries(
            {"name": st.sampled_from(["good", "$good", "/bad", "gone", "none", "$"]) | ANY}
        ),
    ),
)
_OTHERS = st.sampled_from([None, True, 0, -1, 1.5, 2**53, 1e300, [], [None], {}, {"a": 1}, "f"])


def _only_safe(arguments: Any) -> Any:
    """Without paths and commands that were not thought of here."""
    if isinstance(arguments, dict):
        for name in ("path", "command"):
            if isinstance(arguments.get(name), str) and arguments[name] not in _SAFE:
                arguments[name] = "f"
    return arguments


_SAFE = {*_PATHS.elements, *_COMMANDS.elements}  # type: ignore[attr-defined]

_SPELLED = _FITTING.flatmap(
    lambda call: st.tuples(
        st.just(call[0]),
        changed(call[1], most=1, others=_OTHERS).map(lambda value: json.dumps(_only_safe(value))),
    )
)
_CALLS = st.one_of(
    _FITTING.map(lambda call: (call[0], json.dumps(call[1]))),
    _SPELLED,
    st.tuples(
        st.sampled_from(["bash", "read_file", "write_file", "edit_file", "read_skill"]) | ANY,
        ANY
        | ODD_VALUES.map(lambda value: json.dumps(_only_safe(value)))
        | st.sampled_from(["[" * 5000, '{"path":' * 300 + "1" + "}" * 300, "nul", "", " ", "{}{}"]),
    ),
)

cases = st.fixed_dictionaries({"calls": st.lists(_CALLS, min_size=1, max_size=3)})


def check(case: Any) -> None:
    """Make the folder, run the calls one after the other, look at what was told to whom."""
    with tempfile.TemporaryDirectory() as place:
        cwd = Path(os.path.realpath(place)) / "w"
        _furnish(cwd)
        asyncio.run(_run(case["calls"], cwd))
        assert not list(cwd.rglob(".acp-agent-*")), "something is left beside a file"


async def _run(calls: list[Any], cwd: Path) -> None:
    skills = Skills(
        [Skill(name, "d", cwd / "skills" / name / "SKILL.md") for name in ("good", "bad", "gone")]
    )
    tools = ToolRegistry(
        [
            *default_tools(
                environ={"PATH": os.defpath}, bash_timeout_s=5.0, bash_max_output_bytes=_MOST_OUTPUT
            ),
            ReadSkillTool(skills.instructions),
        ]
    )
    ends = Ends(PlainModel([]), ToolRegistry(()), cwd=cwd, skills=skills)
    ends.session.allowed |= {tool.name for tool in tools}
    ends.begin("q")
    running = ToolCalls(ends.peer, ends.session, tools, ends.log)
    for name, arguments in calls:
        before = len(ends.updates())
        result = await running.run(ToolCallReady("c", name, arguments))
        ends.read()
        updates = ends.updates()[before:]
        assert [update["status"] for update in updates][-1] == ("failed" if result.failed else "completed")
        assert len({update["toolCallId"] for update in updates}) == 1
        result.output.encode()
        assert result.output
        most = {"bash": _MOST_OUTPUT, "read_file": MAX_BYTES}.get(name, 0) + _NOTES + len(arguments)
        assert len(result.output.encode()) <= most
        assert not ends.log.unexpected, ends.log.unexpected
    await end_all()


def _furnish(cwd: Path) -> None:
    """Files as they should not be, and a few that are fine."""
    contents = {
        "f": b"a\nb\nb\n",
        "é": "é\u2028x\n".encode(),
        "utf16": "ab".encode("utf-16"),
        "latin": b"caf\xe9\n",
        "zeros": b"a\0b",
        "crlf": b"a\r\nb\r\n",
        "mark": b"\xef\xbb\xbfa\n",
        "read-only": b"a",
        "empty": b"",
        "long": b"x" * 70_000 + b"\n" + b"y\n" * 2_500,
        "skills/good/SKILL.md": b"---\nname: good\ndescription: d\n---\nDo.\n",
        "skills/bad/SKILL.md": b"\xff",
    }
    for name, content in contents.items():
        (cwd / name).parent.mkdir(parents=True, exist_ok=True)
        (cwd / name).write_bytes(content)
    (cwd / "read-only").chmod(0o400)
    (cwd / "folder").mkdir()
    os.mkfifo(cwd / "pipe")
    for name, target in {"link": "f", "loop": "loop", "broken": "not/there"}.items():
        (cwd / name).symlink_to(target)
