"""The stored form of a session: what is written can be read, and what cannot be read is said in one sentence."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acp_agent.agent.session import new_session_id
from acp_agent.agent.stored_session import (
    StoreError,
    check_id,
    from_json,
    is_session_id,
    summary_of,
    to_json,
)

ID = "20260822-093000-0123abcd"
CWD = Path("/home/ada/project")
CREATED = datetime(2026, 8, 22, 9, 30, tzinfo=UTC)
UPDATED = datetime(2026, 8, 22, 10, 0, 0, 250_000, tzinfo=UTC)

CALL = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command":"ls"}'}}
CONVERSATION: list[dict[str, Any]] = [
    {"role": "system", "content": "You are Bob."},
    {"role": "user", "content": "earlier things", "summary": True},
    {"role": "user", "content": "List the\n  files,\tplease"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "[exit code 1]", "failed": True},
    {"role": "assistant", "content": "There are none."},
]


def text(**changes: Any) -> bytes:
    """A stored session's file, with members of the document changed; None removes one."""
    document = json.loads(to_json(ID, CWD, CREATED, UPDATED, CONVERSATION))
    document.update(changes)
    return json.dumps({key: value for key, value in document.items() if value is not None}).encode()


def refused(data: bytes) -> str:
    with pytest.raises(StoreError) as caught:
        from_json(ID, data)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert ID in sentence
    return sentence


def test_what_is_stored_is_read_back() -> None:
    """Marks, null contents, times and the directory survive."""
    stored = from_json(ID, to_json(ID, CWD, CREATED, UPDATED, CONVERSATION))
    assert stored.messages == CONVERSATION
    assert (stored.id, stored.cwd, stored.created, stored.updated) == (ID, CWD, CREATED, UPDATED)


def test_the_text_is_one_line_of_utf_8_with_times_in_utc() -> None:
    """Whatever zone a time came in; the file is JSON that any tool reads."""
    there = timezone(timedelta(hours=2))
    data = to_json(ID, CWD, CREATED.astimezone(there), UPDATED, [{"role": "user", "content": "é\n"}])
    assert data.endswith(b"}\n")
    assert data.count(b"\n") == 1
    document = json.loads(data)
    assert document["version"] == 1
    assert document["created"] == "2026-08-22T09:30:00Z"
    assert document["updated"] == "2026-08-22T10:00:00.250000Z"


# Every code point, halves of surrogate pairs included.
_texts = st.text(st.characters(exclude_categories=()))
_calls = st.builds(
    lambda id_, name, arguments: {
        "id": id_,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    },
    _texts,
    _texts,
    _texts,
)
_messages = st.one_of(
    st.fixed_dictionaries({"role": st.just("system"), "content": _texts}),
    st.fixed_dictionaries({"role": st.just("user"), "content": _texts}, optional={"summary": st.just(True)}),
    st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": st.none() | _texts},
        optional={"tool_calls": st.lists(_calls, min_size=1, max_size=3)},
    ),
    st.fixed_dictionaries(
        {"role": st.just("tool"), "tool_call_id": _texts, "content": _texts},
        optional={"failed": st.just(True)},
    ),
)
histories = st.lists(_messages, max_size=8)


def readable(value: Any) -> Any:
    """What a stored value reads as: half of a surrogate pair is no character."""
    if isinstance(value, str):
        return re.sub("[\ud800-\udfff]", "\ufffd", value)
    if isinstance(value, dict):
        return {key: readable(item) for key, item in value.items()}
    return [readable(item) for item in value] if isinstance(value, list) else value


@given(histories)
@example([{"role": "user", "content": "\0 \ud83d \udc00\ud83d \N{GRINNING FACE} \u2028 \x7f"}])
def test_every_conversation_survives(messages: list[dict[str, Any]]) -> None:
    """Any text, NUL and all planes included; what is not text at all becomes U+FFFD rather than losing the rest."""
    stored = from_json(ID, to_json(ID, CWD, CREATED, UPDATED, messages))
    assert stored.messages == readable(messages)


@given(st.datetimes(timezones=st.just(UTC)))
def test_every_time_survives(moment: datetime) -> None:
    """To the microsecond."""
    stored = from_json(ID, to_json(ID, CWD, moment, moment, []))
    assert stored.created == stored.updated == moment


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user"},
        {"role": "user", "content": None},
        {"role": "user", "content": [{"type": "text", "text": "x"}]},
        {"role": "user", "content": "x", "summary": False},
        {"role": "user", "content": "x", "note": 1},
        {"role": "developer", "content": "x"},
        {"role": "assistant", "content": "x", "tool_calls": []},
        {"role": "assistant", "content": "x", "tool_calls": [{**CALL, "id": 1}]},
        {"role": "tool", "content": "x"},
        {"role": "tool", "tool_call_id": "c1", "content": "x", "failed": "yes"},
    ],
)
def test_a_message_without_the_form_is_neither_written_nor_read(message: dict[str, Any]) -> None:
    """The schema is the same both ways, and the sentence names the place."""
    with pytest.raises(StoreError, match=r"cannot be stored: /messages/1 is not as schemas/session\.json"):
        to_json(ID, CWD, CREATED, UPDATED, [CONVERSATION[0], message])
    assert refused(text(messages=[CONVERSATION[0], message])) == (
        f"the file of session {ID} is damaged: /messages/1 is not as schemas/session.json says"
    )


def test_a_message_without_the_form_that_holds_half_a_character_is_refused_for_its_form() -> None:
    """The second look after replacing it does not let the rest pass."""
    with pytest.raises(StoreError, match="/messages/0"):
        to_json(ID, CWD, CREATED, UPDATED, [{"role": "user", "content": "\ud800", "note": 1}])


def test_what_json_cannot_hold_is_refused() -> None:
    """A bug of ours that reaches the store is a sentence too, not a crash of the turn."""
    with pytest.raises(StoreError, match="cannot be stored"):
        to_json(ID, CWD, CREATED, UPDATED, [{"role": "user", "content": {1, 2}}])


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "it is not JSON"),
        (b"\xff", "it is not JSON"),
        (text()[:-20], "it is not JSON"),
        (text().replace(b"1", b"NaN", 1), "it is not JSON"),
        (b"[]", "it is not as schemas/session.json says"),
        (b"null", "it is not as schemas/session.json says"),
        (b'{"version":1,"messages":' + b"[" * 400 + b"]" * 400 + b"}", "it"),
        (text(version=None), "it is not as schemas/session.json says"),
        (text(version=0), "/version is not"),
        (text(version="2"), "/version is not"),
        (text(version=True), "/version is not"),
        (text(extra=1), "it is not as schemas/session.json says"),
        (text(id="20260822-093000-0123abce"), "it holds session 20260822-093000-0123abce"),
        (text(id="../x"), "/id is not"),
        (text(created="yesterday"), "/created is not"),
        (text(created="2026-08-22T09:30:00+02:00"), "/created is not"),
        (text(updated="2026-13-45T00:00:00Z"), "a time in it does not exist"),
        (text(cwd=1), "/cwd is not"),
    ],
)
def test_a_damaged_file_is_one_sentence_with_the_place(data: bytes, what: str) -> None:
    """Unreadable and invalid files are refused (-32602 with this text in data.error)."""
    assert refused(data).startswith(f"the file of session {ID} is damaged: {what}")


def test_a_newer_format_is_not_called_damaged() -> None:
    """Its members are not judged: nothing is known of them."""
    newer = json.dumps({"version": 2, "talk": []}).encode()
    assert refused(newer) == (
        f"session {ID} was stored by a newer acp-agent, in format 2; this one reads format 1"
    )


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.binary(max_size=200) | _json.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_refused_with_a_sentence(data: bytes) -> None:
    """Nothing but StoreError comes out of a file."""
    refused(data)


@given(
    member=st.sampled_from(["version", "id", "cwd", "created", "updated", "messages"]),
    value=_json,
    message=st.integers(0, len(CONVERSATION) - 1),
    key=st.sampled_from(["role", "content", "tool_calls", "tool_call_id", "failed", "summary", "x"]),
)
def test_a_document_with_one_thing_changed_is_read_or_refused(
    member: str, value: Any, message: int, key: str
) -> None:
    """Close to valid is where readers fall over."""
    changed = [dict(one) for one in CONVERSATION]
    changed[message][key] = value
    for data in (text(**{member: value}), text(messages=changed)):
        try:
            stored = from_json(ID, data)
        except StoreError:
            continue
        assert to_json(ID, stored.cwd, stored.created, stored.updated, stored.messages)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "../20260822-093000-0123abcd",
        "20260822-093000-0123abcd/../../x",
        "20260822-093000-0123abcd.json",
        "20260822-093000-0123abcd\n",
        "\n20260822-093000-0123abcd",
        "20260822-093000-0123ABCD",
        "20260822-093000-0123abcg",
        "20260822-093000-0123abc",
        "20260822_093000_0123abcd",
        "٢٠٢٦٠٨٢٢-093000-0123abcd",
        "20260822-093000-0123abcd\0",
        "/etc/passwd",
        "\ud800",
        "x" * 100_000,
    ],
)
def test_only_the_exact_form_is_an_id(text: str) -> None:
    """Path tricks are impossible because nothing else becomes part of a path."""
    assert not is_session_id(text)
    with pytest.raises(StoreError) as caught:
        check_id(text)
    sentence = str(caught.value)
    assert sentence.endswith("is not a session id: they have the form YYYYMMDD-HHMMSS-xxxxxxxx")
    assert sentence.isprintable()
    assert len(sentence) < 160


def test_ids_that_are_made_are_ids() -> None:
    """What session/new hands out can be stored."""
    check_id(new_session_id())


@pytest.mark.parametrize(
    ("messages", "title", "count"),
    [
        (CONVERSATION, "List the files, please", 5),
        ([], "", 0),
        (CONVERSATION[:2], "", 1),
        ([{"role": "user", "content": "\x1b[2J\0 red"}], "\ufffd[2J\ufffd red", 1),
        ([{"role": "user", "content": "word " * 100}], ("word " * 16)[:79] + "…", 1),
        ([{"role": "user", "content": "x" * 80}], "x" * 80, 1),
        ([{"role": "user", "content": "x" * 81}], "x" * 79 + "…", 1),
        ([{"role": "user", "content": "  \n "}, {"role": "user", "content": "x"}], "", 2),
    ],
)
def test_a_list_shows_the_first_user_text_as_one_printable_line(
    messages: list[dict[str, Any]], title: str, count: int
) -> None:
    """Capped, without control characters, a summary not mistaken for the user; the system prompt is not counted."""
    shown = summary_of(from_json(ID, to_json(ID, CWD, CREATED, UPDATED, messages)))
    assert (shown.title, shown.messages) == (title, count)
    assert (shown.id, shown.updated, shown.cwd, shown.problem) == (ID, UPDATED, CWD, None)
