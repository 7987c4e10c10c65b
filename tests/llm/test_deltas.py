"""Tool calls out of pieces, one kind of server at a time."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_agent.llm.deltas import UNNAMED, ToolCallAssembler, encodable, is_json_object

TOOLS = ("bash", "read", "read_file")


def assembled(*deltas: Any, used: tuple[str, ...] = ()) -> list[tuple[str, str, str]]:
    """Give each delta's list of pieces; return id, name, arguments."""
    assembler = ToolCallAssembler(TOOLS, used)
    for pieces in deltas:
        assembler.add(pieces)
    return [(call.id, call.name, call.arguments) for call in assembler.finish()]


def calls(*deltas: Any) -> list[tuple[str, str]]:
    return [(name, arguments) for _, name, arguments in assembled(*deltas)]


def piece(arguments: object = None, name: object = None, **more: object) -> list[dict[str, object]]:
    return [{**more, "function": {"name": name, "arguments": arguments}}]


def test_interleaved_calls_are_told_by_index_or_by_id() -> None:
    """The form of the standard, and the one without indexes."""
    by_index = [
        piece('{"a"', "bash", index=0, id="x"),
        piece('{"b"', "read", index=1, id="y"),
        piece(":1}", index=0),
        piece(":2}", index=1),
    ]
    by_id = [
        piece('{"a"', "bash", id="x"),
        piece('{"b"', "read", id="y"),
        piece(":1}", id="x"),
        piece(":2}", id="y"),
    ]
    expected = [("x", "bash", '{"a":1}'), ("y", "read", '{"b":2}')]
    assert assembled(*by_index) == expected
    assert assembled(*by_id) == expected


def test_a_place_holder_before_the_arguments_of_the_same_call_is_no_call_of_its_own() -> None:
    """Id, index and name say that it is one call; where a server says so of two, their arguments tell them apart."""
    same = {"index": 0, "id": "x"}
    assert assembled(piece("{}", "read", **same), piece('{"path":"x"}', "read", **same)) == [
        ("x", "read", '{"path":"x"}')
    ]
    two = calls(piece('{"path":"x"}', "read", **same), piece('{"path":"y"}', "read", **same))
    assert two == [("read", '{"path":"x"}'), ("read", '{"path":"y"}')]


def test_id_and_name_repeated_with_every_piece_are_one_call() -> None:
    """Not a new call while the arguments are incomplete, nor for an empty closing piece."""
    pieces = [piece(text, "bash", index=0, id="x") for text in ('{"a"', ":1", "}", "", None)]
    assert assembled(*pieces) == [("x", "bash", '{"a":1}')]


def test_a_fresh_id_with_every_piece_of_one_index_is_one_call() -> None:
    """Some servers make an id for each chunk; the first counts."""
    deltas = [
        piece('{"a"', "bash", index=0, id="x1"),
        piece(":1", index=0, id="x2"),
        piece("}", index=0, id="x3"),
    ]
    assert assembled(*deltas) == [("x1", "bash", '{"a":1}')]


def test_one_id_for_all_calls_is_several_calls_with_ids_of_their_own() -> None:
    """Told apart by index, or by a name after complete arguments."""
    for index in ({"index": 1}, {}):
        made = assembled(piece('{"a":1}', "bash", index=0, id="x"), piece('{"b":2}', "read", id="x", **index))
        assert [one[1:] for one in made] == [("bash", '{"a":1}'), ("read", '{"b":2}')]
        assert made[0][0] == "x"
        assert made[1][0] not in ("x", "")


def test_ids_of_the_conversation_are_not_used_again() -> None:
    """Also not those made here before."""
    made = assembled(
        piece("{}", "bash", id="x"), piece("{}", "read", id=""), used=("x", "call00002", "call00003")
    )
    ids = [one[0] for one in made]
    assert len({*ids, "x", "call00002", "call00003"}) == 5
    assert all(len(one) == 9 and one.isalnum() for one in ids)


def test_two_calls_without_arguments_are_two_when_both_are_tools() -> None:
    """B201, B204 together; else the second name is the rest of the first."""
    assert calls(piece(None, "bash"), piece(None, "read")) == [("bash", "{}"), ("read", "{}")]
    assert calls(piece(None, "read"), piece(None, "_file"), piece("{}")) == [("read_file", "{}")]
    assert calls([*piece(None, "x"), *piece(None, "y")]) == [("x", "{}"), ("y", "{}")]


def test_a_name_repeated_from_its_beginning_is_not_doubled() -> None:
    """Whole each time, or longer each time."""
    assert calls(piece(None, "bash", index=0), piece("{}", "bash", index=0)) == [("bash", "{}")]
    assert calls(piece(None, "rea", index=0), piece("{}", "read_file", index=0)) == [("read_file", "{}")]


def test_the_index_may_come_late() -> None:
    """With the second piece only."""
    assert assembled(piece('{"a"', "bash", id="x"), piece(":1}", index=0)) == [("x", "bash", '{"a":1}')]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a":1}{"a":2}', ['{"a":1}', '{"a":2}']),
        ('{"a":1}\n, {"a":2};', ['{"a":1}', '{"a":2}']),
        ('{}{"a":1}', ['{"a":1}']),
        ('{"a":1}{}', ['{"a":1}']),
        ('{"a":1}{"a":1}', ['{"a":1}']),
        ("{}{}", ["{}"]),
        ('{"a":"}{"}', ['{"a":"}{"}']),
        ('"{\\"a\\":1}"', ['{"a":1}']),
        ('""', ["{}"]),
        ('{"a":1}{"b"', ['{"a":1}{"b"']),
        ("not json", ["not json"]),
        ("[1]", ["[1]"]),
        ("  ", ["{}"]),
    ],
)
def test_arguments_stuck_together_are_calls_of_the_same_tool(text: str, expected: list[str]) -> None:
    """B221: place holders and repeats are no calls; what is malformed is left as it is."""
    assert calls(piece(text, "bash", id="x")) == [("bash", one) for one in expected]


def test_a_call_that_never_gets_a_name_is_still_a_call() -> None:
    """The model is told, instead of left waiting; an id alone announces nothing."""
    assert calls(piece('{"a":1}', id="x")) == [(UNNAMED, '{"a":1}')]
    assert calls([{"id": "x"}], [{}], [{"function": None}]) == []


def test_pieces_without_the_function_wrapper_are_read() -> None:
    """Name and arguments beside the id."""
    assert assembled([{"id": "x", "name": "bash", "arguments": {"a": "é"}}]) == [("x", "bash", '{"a": "é"}')]


@pytest.mark.parametrize(
    "pieces", [None, {}, "x", [None], [1], [[]], [{"function": 3}], [{"id": None, "index": "x"}]]
)
def test_what_is_no_list_of_pieces_is_ignored(pieces: object) -> None:
    """And leaves the assembler empty."""
    assembler = ToolCallAssembler(TOOLS)
    assembler.add(pieces)
    assert not assembler
    assert assembler.finish() == []


def test_the_end_inside_a_call_is_noticed() -> None:
    """Arguments begun and not ended."""
    for text, inside in (('{"a', True), ("{}", False), ("", False), ('{"a":1}{"b":2}', False)):
        assembler = ToolCallAssembler(TOOLS)
        assembler.add(piece(text, "bash"))
        assert assembler.ends_inside_a_call() is inside
    assert ToolCallAssembler().ends_inside_a_call() is False


NESTED = "[" * 100_000


def test_deeply_nested_arguments_are_left_as_they_are() -> None:
    """No recursion error."""
    deep = '{"a":' * 50_000
    assert calls(piece(deep, "bash", id="x"), piece("{}", "read", id="y"))[0][0] == "bash"
    assert not is_json_object(NESTED)


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-1, 3), st.text(max_size=4), st.sampled_from(["x", "y"])
)
PIECES = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "index": SCALARS,
            "id": SCALARS,
            "type": SCALARS,
            "function": st.one_of(
                SCALARS,
                st.fixed_dictionaries(
                    {},
                    optional={
                        "name": st.one_of(SCALARS, st.sampled_from(TOOLS)),
                        "arguments": st.one_of(
                            SCALARS, st.sampled_from(["{", "}", "{}", '{"a":1}', '"']), st.just({})
                        ),
                    },
                ),
            ),
        },
    ),
    max_size=3,
)


@given(st.lists(PIECES, max_size=6), st.sets(st.sampled_from(["x", "y", "call00001"])))
def test_any_pieces_give_calls_with_unique_ids_names_and_arguments(deltas: list[Any], used: set[str]) -> None:
    """B201 to B206 in every mixture."""
    assembler = ToolCallAssembler(TOOLS, used)
    for pieces in deltas:
        assembler.add(pieces)
    ready = assembler.finish()
    ids = [call.id for call in ready]
    assert len(set(ids)) == len(ids)
    assert not used & set(ids)
    assert all(call.id and call.name and call.arguments for call in ready)


@given(
    st.lists(
        st.tuples(st.sampled_from(TOOLS), st.dictionaries(st.text(max_size=3), st.text(max_size=5))),
        max_size=4,
    ),
    st.data(),
)
def test_calls_in_the_standard_form_come_out_as_they_went_in(wanted: list[Any], data: st.DataObject) -> None:
    """Any cut of the arguments, any interleaving by index."""
    queues = []
    for index, (name, arguments) in enumerate(wanted):
        text = json.dumps(arguments)
        at = data.draw(st.integers(0, len(text)))
        queues.append(
            [piece(text[:at], name, index=index, id=f"id{index}"), piece(text[at:], index=index)],
        )
    order = data.draw(st.permutations([index for index in range(len(wanted)) for _ in range(2)]))
    first_seen = list(dict.fromkeys(order))
    made = assembled(*[queues[index].pop(0) for index in order])
    assert made == [(f"id{index}", wanted[index][0], json.dumps(wanted[index][1])) for index in first_seen]


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_encodable_text_can_be_written_and_good_text_is_unchanged(text: str) -> None:
    """Lone surrogates become U+FFFD."""
    made = encodable(text)
    made.encode()
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    assert made == text
