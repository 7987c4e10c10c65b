"""The choice of a model by the name of its provider.

Owns which providers exist. Absent: configuration files and environment variables; the caller has read them. Each kind
is imported when it is chosen, so that a start with the offline model does not pay for the others.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from acp_agent.llm.errors import ModelRefused
from acp_agent.llm.model import Model

PROVIDERS = ("offline", "openai", "scripted")


def create_model(
    *,
    provider: str,
    base_url: str | None = None,
    name: str | None = None,
    api_key: str | None = None,
    api_key_variable: str | None = None,
    temperature: float | None = None,
    max_tokens: int | None = None,
    connect_timeout_s: float,
    idle_timeout_s: float,
    retries: int,
    script: Path | None = None,
    on_retry: Callable[[str], None] | None = None,
) -> Model:
    """Return the model of a provider; nothing is connected yet.

    api_key: the key itself, api_key_variable: the environment variable it came from, named in errors. script: the file
    of a scripted model. on_retry: called with one sentence before a request is repeated.
    Raises ModelError with a sentence that names the setting, if one that the provider needs is missing or unusable."""
    if provider == "offline":
        from acp_agent.llm.offline import OfflineModel

        return OfflineModel()
    if provider == "scripted":
        if script is None:
            raise ModelRefused('model.provider is "scripted", so model.script has to name the script file')
        from acp_agent.llm.script import load_script
        from acp_agent.llm.scripted import ScriptedModel

        return ScriptedModel(load_script(script))
    if provider != "openai":
        known = ", ".join(f'"{one}"' for one in PROVIDERS)
        raise ModelRefused(f'model.provider should be one of {known}, not "{provider}"')
    for setting, value in (("baseUrl", base_url), ("name", name)):
        if not value:
            raise ModelRefused(f'model.provider is "openai", so model.{setting} has to be set')
    from acp_agent.llm.client import OpenAIModel, Timeouts
    from acp_agent.llm.payload import Sampling
    from acp_agent.llm.retry import RetryPolicy

    return OpenAIModel(
        base_url or "",
        name or "",
        api_key=api_key,
        api_key_variable=api_key_variable,
        sampling=Sampling(temperature, max_tokens),
        timeouts=Timeouts(connect_timeout_s, idle_timeout_s),
        retry=RetryPolicy(retries),
        on_retry=on_retry,
    )
