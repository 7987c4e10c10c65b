"""What the fuzzer's client answers: valid results, from its own directory only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from acp_agent.fuzzing.program import LEGAL_REACTIONS, Reaction
from acp_agent.fuzzing.services import Services
from acp_agent.protocol import schema
from acp_agent.protocol.methods import METHODS, Side

OPTIONS = [
    {"optionId": "no", "name": "No", "kind": "reject_once"},
    {"optionId": "yes", "name": "Yes", "kind": "allow_always"},
]
PARAMS: dict[str, dict[str, Any]] = {"session/request_permission": {"options": OPTIONS}}
ASKED = [method for method in METHODS.values() if method.handled_by is Side.CLIENT and method.is_request]


@pytest.mark.parametrize("reaction", LEGAL_REACTIONS)
@pytest.mark.parametrize("method", ASKED, ids=lambda method: method.name)
def test_every_answer_is_valid(method: Any, reaction: Reaction, root: Path) -> None:
    """A result of the method's type, or an error."""
    params = {"path": str(root / "note.txt"), "content": "x", **PARAMS.get(method.name, {})}
    answer = Services(root).answer(method.name, params, reaction)
    if "result" in answer:
        assert schema.is_valid(method.result, answer["result"])
    else:
        assert schema.is_valid("Error", answer["error"])


@pytest.mark.parametrize(("reaction", "chosen"), [(Reaction.SERVE, "yes"), (Reaction.REFUSE, "no")])
def test_a_choice_is_one_that_is_offered(reaction: Reaction, chosen: str, root: Path) -> None:
    """To allow is to choose an option that allows."""
    answer = Services(root).answer("session/request_permission", {"options": OPTIONS}, reaction)
    assert answer["result"]["outcome"] == {"outcome": "selected", "optionId": chosen}


def test_files_are_those_of_the_directory(root: Path) -> None:
    """Lines and limits are kept to; nothing outside is read or written, whatever an agent asks for."""
    services = Services(root)
    (root / "three.txt").write_text("a\nb\nc\n", encoding="utf-8")
    asked = {"path": str(root / "three.txt"), "line": 2, "limit": 1}
    assert services.answer("fs/read_text_file", asked, Reaction.SERVE) == {"result": {"content": "b\n"}}
    outside = {"path": str(root / ".." / "outside.txt"), "content": "x"}
    for method in ("fs/read_text_file", "fs/write_text_file"):
        assert services.answer(method, outside, Reaction.SERVE)["error"]["code"] == -32002
    assert not (root.parent / "outside.txt").exists()
    inside = {"path": str(root / "new" / "x.txt"), "content": "é\r\n"}
    assert services.answer("fs/write_text_file", inside, Reaction.SERVE) == {"result": {}}
    assert (root / "new" / "x.txt").read_bytes() == "é\r\n".encode()
