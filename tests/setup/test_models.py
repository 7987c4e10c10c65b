"""Lists of models in the shapes that servers give them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_agent.setup.models import (
    ModelEntry,
    in_order,
    is_count,
    is_name,
    listed,
    same_model,
    with_capabilities,
)


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({"object": "list", "data": [{"id": "a"}, {"id": "b"}]}, ["a", "b"]),
        ({"data": [{"id": "a"}, {"id": "a"}]}, ["a"]),
        ({"object": "list", "data": None}, []),
        ({"object": "list", "data": []}, []),
        ([{"id": "a"}], ["a"]),
        ({"models": [{"model": "a"}, {"name": "b"}]}, ["a", "b"]),
        (
            {"data": ["a", {"id": 7}, {"id": ""}, {"id": " a "}, {"id": "x" * 301}, {"id": "a\nb"}, None]},
            ["a"],
        ),
    ],
)
def test_known_shapes_are_read(body: object, names: list[str]) -> None:
    """In the server's order; names that cannot be shown are left out."""
    entries = listed(body)
    assert entries is not None
    assert [entry.name for entry in entries] == names


@pytest.mark.parametrize(
    "body", [None, "x", 7, {}, [], {"data": None}, {"data": {}}, {"error": "x"}, {"data": [7, {}]}]
)
def test_anything_else_is_no_list(body: object) -> None:
    """So that what answers with it is not called a model server."""
    assert listed(body) is None


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda x: (
            st.lists(x)
            | st.dictionaries(st.sampled_from(["data", "models", "id", "object", "max_model_len"]), x)
        ),
    )
)
def test_no_answer_breaks_the_reading(body: object) -> None:
    """Whatever JSON a server sends; every name that comes out can be shown."""
    for entry in listed(body) or []:
        assert is_name(entry.name)
        assert entry.context is None or is_count(entry.context)


@pytest.mark.parametrize(
    ("name", "chat"),
    [
        ("qwen3:8b", True),
        ("text-embedding-3-small", False),
        ("nomic-embed-text", False),
        ("BAAI/bge-m3", False),
        ("intfloat/e5-large", False),
        ("all-minilm", False),
        ("bge-reranker-v2", False),
        ("whisper-1", False),
        ("gpt-4o-mini-tts", False),
        ("dall-e-3", False),
        ("omni-moderation-latest", False),
        ("gpt-5", True),
        ("gemma3", True),
        ("settings-model", True),
    ],
)
def test_what_is_not_for_chat_is_guessed_by_its_name(name: str, chat: bool) -> None:
    """Where the server says nothing."""
    assert listed([name]) == [ModelEntry(name, chat=chat)]


def test_models_are_offered_by_what_they_can_do() -> None:
    """Calls tools, may call tools, cannot, not for chat; the server's order within."""
    entries = [
        ModelEntry("e", chat=False),
        ModelEntry("no", tools=False),
        ModelEntry("u1"),
        ModelEntry("yes", tools=True),
        ModelEntry("u2"),
    ]
    assert [entry.name for entry in in_order(entries)] == ["yes", "u1", "u2", "no", "e"]


@pytest.mark.parametrize(
    ("entry", "remark"),
    [
        (ModelEntry("m"), ""),
        (ModelEntry("m", tools=True, context=8192), "calls tools, context 8192 tokens"),
        (ModelEntry("m", tools=False), "cannot call tools"),
        (ModelEntry("m", chat=False, tools=False), "not for chat"),
    ],
)
def test_the_remark_says_what_is_known(entry: ModelEntry, remark: str) -> None:
    """And nothing else."""
    assert entry.remark == remark


@pytest.mark.parametrize("capabilities", [None, [], "tools", [7], {"tools": True}])
def test_capabilities_of_another_form_say_nothing(capabilities: object) -> None:
    """Older servers have none."""
    assert with_capabilities(ModelEntry("m"), capabilities) == ModelEntry("m")


@pytest.mark.parametrize(
    ("wanted", "offered", "same"),
    [
        ("qwen3", "qwen3:latest", True),
        ("qwen3:8b", "qwen3:latest", False),
        ("ai/qwen3", "docker.io/ai/qwen3:latest", True),
        ("host:5000/qwen3", "host:5000/qwen3:latest", True),
        ("Qwen/Qwen3-8B", "Qwen/Qwen3-8B", True),
        ("a", "b", False),
    ],
)
def test_a_missing_tag_means_latest(wanted: str, offered: str, same: bool) -> None:
    """As Ollama and Docker read names."""
    assert same_model(wanted, offered) is same
