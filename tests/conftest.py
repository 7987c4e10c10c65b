"""For every test: Hypothesis profiles, and a surrounding without the person's own configuration."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# No deadlines: how long an example takes depends on what else the machine does.
_COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("dev", _COMMON, max_examples=50)
# The same examples on every machine, so that a failure is seen by everybody.
settings.register_profile("ci", _COMMON, max_examples=100, derandomize=True, database=None)
settings.register_profile("fuzz", _COMMON, max_examples=1_000, print_blob=True)
settings.load_profile("dev")


@pytest.fixture(autouse=True, scope="session")
def _no_configuration_of_the_person(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A configuration file or a key of whoever runs the tests must not change what they find."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("xdg")))
        for name in ("ACP_AGENT_CONFIG", "OPENAI_API_KEY"):
            environment.delenv(name, raising=False)
        yield
