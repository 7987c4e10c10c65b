"""The choice of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from acp_agent.llm.errors import ModelRefused, ModelUnreachable
from acp_agent.llm.providers import create_model

BENCH = Path(__file__).parents[2] / "bench" / "bench.model"
LIMITS: Any = {"connect_timeout_s": 5, "idle_timeout_s": 5, "retries": 0}


def test_each_provider_gives_its_model() -> None:
    """Offline, scripted, or behind an address."""
    assert create_model(provider="offline", **LIMITS).label.startswith("offline")
    scripted = create_model(provider="scripted", script=BENCH, **LIMITS)
    assert scripted.label == "bench (scripted, bench.model)"
    model = create_model(
        provider="openai", base_url="http://localhost:11434/v1", name="qwen3", api_key="k", **LIMITS
    )
    assert model.label == "qwen3 at http://localhost:11434/v1"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"provider": "llama"},
            'model.provider should be one of "offline", "openai", "scripted", not "llama"',
        ),
        ({"provider": "openai", "name": "m"}, "model.baseUrl has to be set"),
        ({"provider": "openai", "base_url": "http://h"}, "model.name has to be set"),
        ({"provider": "scripted"}, "model.script has to name the script file"),
    ],
)
def test_a_missing_setting_is_named(settings: dict[str, Any], words: str) -> None:
    """One sentence."""
    with pytest.raises(ModelRefused) as caught:
        create_model(**settings, **LIMITS)
    assert words in str(caught.value)


def test_a_wrong_address_is_said_at_the_start() -> None:
    """Not at the first question."""
    with pytest.raises(ModelUnreachable, match=r"model\.baseUrl"):
        create_model(provider="openai", base_url="localhost", name="m", **LIMITS)
