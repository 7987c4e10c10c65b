"""A script file is loaded as the schema says, or refused in one line that names it; what is loaded can be played.

Documented: ModelRefused for what is no script. Played, a reply ends with Finished or a ModelError of one line.
"""

from __future__ import annotations

import json
import tempfile
import tomllib
from contextlib import aclosing
from functools import cache
from pathlib import Path
from typing import Any

from bob.clock import run
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator
from strategies.damage import damaged
from strategies.json_values import JUNK, changed
from strategies.text import ENCODABLE
from strategies.toml import DATE, spelled

from acp_agent.llm.errors import ModelError, ModelRefused
from acp_agent.llm.model import Finished, ReasoningDelta, TextDelta, ToolCallReady
from acp_agent.llm.script import Script, load_script
from acp_agent.llm.scripted import ScriptedModel

_SCHEMA = Path(__file__).resolve().parents[2] / "schemas" / "script.json"
_MOST_EVENTS = 2_000

_COUNTS = st.sampled_from([0, 1, 3, 300, 2.0, "{1}", "{n}", "x{0}", -1, 1.5, 10**400])
_TEXTS = st.sampled_from(["a", "", "{1}", "{0}{script}", "{", "{x}", "é\u2028"]) | ENCODABLE
_PARTS = st.one_of(
    st.fixed_dictionaries({"text": _TEXTS}, optional={"repeat": _COUNTS, "times": _COUNTS}),
    st.fixed_dictionaries({"reasoning": _TEXTS}, optional={"repeat": _COUNTS}),
    st.fixed_dictionaries({"delay_ms": _COUNTS}),
    st.builds(
        lambda name, arguments: {"tool_call": {"name": name, "arguments": arguments}},
        st.sampled_from(["bash", "{1}", ""]),
        st.dictionaries(ENCODABLE, _TEXTS | st.lists(_TEXTS, max_size=2) | JUNK, max_size=2),
    ),
    st.builds(
        lambda kind: {"error": {"kind": kind, "message": "gone {1}"}},
        st.sampled_from(["timeout", "context_overflow", "auth", "nonsense"]),
    ),
)
_REPLIES = st.fixed_dictionaries(
    {"parts": st.lists(_PARTS, max_size=3)},
    optional={
        "cycles": _COUNTS,
        "finish": st.sampled_from(["stop", "tool_calls", "length", "content_filter"]),
        "usage": st.just({"input_tokens": 5.0, "output_tokens": 0}),
    },
)
_FITS = st.sampled_from(
    [
        {"default": True},
        {"exact": "go"},
        {"exact": ""},
        {"regex": "say (\\d+)"},
        {"regex": "(?P<n>.*)"},
        {"regex": "go|(x)"},
        {"regex": "("},
        {"default": True, "exact": "go"},
        {},
    ]
)
_RULES = st.builds(
    lambda fits, replies: {**fits, "reply": replies}, _FITS, st.lists(_REPLIES, min_size=1, max_size=3)
)
_DOCUMENTS = (
    st.builds(lambda rules: {"name": "n", "rule": rules}, st.lists(_RULES, min_size=1, max_size=3))
    .flatmap(lambda document: st.just(document) | changed(document, others=JUNK | st.just(DATE)))
    .filter(lambda document: isinstance(document, dict))
    .map(lambda document: spelled(document, tables=False).encode("utf-8", "replace"))
)

cases = st.fixed_dictionaries(
    {
        "file": damaged(_DOCUMENTS, most=1) | st.binary(max_size=20),
        "text": st.sampled_from(["go", " go\n", "say 3", "say 99", "", "é"]) | ENCODABLE,
        "calls": st.integers(0, 3),
    }
)


def check(case: Any) -> None:
    """Load it, compare with the schema, and play the reply that is due."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "play.toml"
        path.write_bytes(case["file"])
        fits = _fits(case["file"])
        try:
            script = load_script(path)
        except ModelRefused as error:
            assert str(error).startswith(f"{path}: ")
            assert "\n" not in str(error)
            # Beyond the schema: a regex that is none, a finish that contradicts its reply, arguments that are no JSON.
            assert not fits or any(word in str(error) for word in ("regex: not", "finish: ", "dates, times"))
            return
        assert fits, "the schema refuses it"
        run(_play(script, case["text"], case["calls"]))


async def _play(script: Script, text: str, calls: int) -> None:
    messages: list[dict[str, object]] = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": text},
    ]
    messages += [{"role": "assistant", "content": "a"}] * calls
    last: object = None
    try:
        async with aclosing(ScriptedModel(script).stream(messages, ())) as events:
            count = 0
            async for event in events:
                last = event
                count += 1
                assert not isinstance(event, TextDelta | ReasoningDelta) or event.text
                if isinstance(event, ToolCallReady):
                    assert event.id
                    assert isinstance(json.loads(event.arguments), dict)
                if count > _MOST_EVENTS:
                    return
    except ModelError as error:
        assert "\n" not in str(error)
        return
    assert isinstance(last, Finished)


def _fits(data: bytes) -> bool:
    try:
        return _validator().is_valid(tomllib.loads(data.decode("utf-8-sig")))
    except (ValueError, RecursionError):
        return False


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(json.loads(_SCHEMA.read_text(encoding="utf-8")))
