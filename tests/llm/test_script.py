"""The file of a scripted model and the sentences for its mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from acp_agent.llm.errors import ModelRefused
from acp_agent.llm.script import ERROR_KINDS, load_script

SCHEMA = Path(__file__).parents[2] / "schemas" / "script.json"
REPLY = "[[rule.reply]]\n"


def rule(reply: str, head: str = 'exact = "a"') -> str:
    return f"[[rule]]\n{head}\n[[rule.reply]]\n{reply}\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the top of the file: .*rule.*required"),
        ("rule = 3", "rule: .*array"),
        ("x = ", "not valid TOML"),
        ('[[rule]]\nexact = "a"', "rule 1: .*reply.*required"),
        (
            rule("parts = []", ""),
            "rule 1: expected a rule with exactly one of exact, regex and default = true",
        ),
        (rule("parts = []", 'exact = "a"\nregex = "b"'), "rule 1: expected a rule with exactly one of"),
        (rule("parts = []", "default = false"), "rule 1, default: "),
        (rule("parts = []", 'regex = "("'), "rule 1, regex: not a regular expression"),
        (rule("parts = []") + rule('parts = [ {}, { txt = "a" } ]'), r"rule \d, reply 1, part \d"),
        (rule('parts = [ { txt = "a" } ]'), "rule 1, reply 1, part 1: .*txt"),
        (rule("parts = [ {} ]"), "part 1: expected a part with exactly one of text, reasoning, tool_call"),
        (rule('parts = [ { text = "a", reasoning = "b" } ]'), "part 1: expected a part with exactly one of"),
        (rule("parts = [ { delay_ms = 1, repeat = 2 } ]"), "part 1: expected a part with exactly one of"),
        (
            rule('parts = [ { text = "a", repeat = "many" } ]'),
            "part 1, repeat: expected a whole number from 0",
        ),
        (rule('parts = [ { text = "a", repeat = -1 } ]'), "part 1, repeat: expected a whole number from 0"),
        (rule("parts = [ { text = 3 } ]"), "part 1, text: 3 is not of type"),
        (
            rule('parts = [ { error = { kind = "bad", message = "m" } } ]'),
            "part 1, error, kind: .*unreachable",
        ),
        (rule("parts = [ { tool_call = {} } ]"), "part 1, tool_call: .*name"),
        (rule('parts = []\nfinish = "done"'), "reply 1, finish: .*length"),
        (rule('parts = []\nfinish = "tool_calls"'), "rule 1, reply 1, finish: "),
        (rule('parts = [ { tool_call = { name = "x" } } ]\nfinish = "stop"'), "rule 1, reply 1, finish: "),
        (rule("parts = []\nusage = { input_tokens = 1 }"), "usage: .*output_tokens"),
        (rule("parts = [2026-12-01]"), "rule 1, reply 1, part 1: dates, times, inf and nan have no place"),
        (rule("parts = [ { delay_ms = inf } ]"), "part 1, delay_ms: dates, times, inf and nan have no place"),
        (rule(f"parts = [ {{ delay_ms = {10**400} }} ]"), "delay_ms: expected a whole number from 0 up to"),
        (f"x = {'[' * 2000}{']' * 2000}", "nested too deeply"),
    ],
)
def test_a_mistake_is_one_sentence_with_file_place_and_expectation(
    tmp_path: Path, text: str, words: str
) -> None:
    """A person can go to the line and mend it."""
    path = tmp_path / "bad.model"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelRefused, match=f"bad\\.model: .*{words}") as caught:
        load_script(path)
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_explained(tmp_path: Path) -> None:
    """Missing, a directory, not UTF-8."""
    with pytest.raises(ModelRefused, match=r"no such script file; check model\.script"):
        load_script(tmp_path / "missing")
    with pytest.raises(ModelRefused, match="cannot be read"):
        load_script(tmp_path)
    (tmp_path / "latin").write_bytes(b"name = '\xe9'")
    with pytest.raises(ModelRefused, match="not UTF-8"):
        load_script(tmp_path / "latin")


def test_a_byte_order_mark_and_whole_floats_are_taken(tmp_path: Path) -> None:
    """Some editors write the one; to a schema 3.0 is the integer 3."""
    path = tmp_path / "s"
    usage = "usage = { input_tokens = 5.0, output_tokens = 1 }"
    text = rule(f'parts = [ {{ text = "a", repeat = 2.0, times = 3.0 }} ]\ncycles = 4.0\n{usage}')
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    (reply,) = load_script(path).rules[0].replies
    assert repr((reply.cycles, reply.usage)) == "(4, (5, 1))"
    assert repr((reply.parts[0].repeat, reply.parts[0].times)) == "(2, 3)"


def test_the_schema_is_a_schema_and_knows_every_error_kind() -> None:
    """It is the one description of the format."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert set(schema["$defs"]["Part"]["properties"]["error"]["properties"]["kind"]["enum"]) == set(
        ERROR_KINDS
    )


def test_the_example_of_the_docstring_is_a_script(tmp_path: Path) -> None:
    """What is shown works."""
    from acp_agent.llm import script

    example = [line[4:] for line in (script.__doc__ or "").splitlines() if line.startswith("    ")]
    path = tmp_path / "example.model"
    path.write_text("\n".join(example), encoding="utf-8")
    loaded = load_script(path)
    assert loaded.name == "demo"
    assert len(loaded.rules[0].replies) == 2
