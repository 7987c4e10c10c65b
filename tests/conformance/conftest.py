"""Agents under test: one process shared by the tests of a module where they leave it as they found it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from model_server import ModelServer
from raw_client import Agent


@pytest.fixture(autouse=True, scope="session")
def _home_of_nobody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Skills and the like of whoever runs the tests must not change what they find."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        yield


def write_config(directory: Path, text: str) -> Path:
    path = directory / "bob.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Agent]]:
    """Starts an agent of the test's own, given a configuration text. It ends with the test, however that goes."""
    started: list[Agent] = []

    def start(config: str = "", **how: object) -> Agent:
        place = tmp_path / f"agent{len(started)}"
        place.mkdir()
        how.setdefault("stderr", place / "stderr")
        agent = Agent(write_config(place, config), **how)  # type: ignore[arg-type]
        started.append(agent)
        return agent

    yield start
    for agent in started:
        agent.kill()


@pytest.fixture
def own_model() -> Iterator[ModelServer]:
    """A model server for an agent of the test's own."""
    model = ModelServer()
    yield model
    model.close()


class Pair:
    """An agent and the model server it asks; started when first used, again after a test that left it in a mess."""

    def __init__(self, place: Path, more: str) -> None:
        self.model = ModelServer()
        self._place = place
        self._more = more
        self._agent: Agent | None = None

    @property
    def config(self) -> str:
        return f'[model]\nprovider = "openai"\nbaseUrl = "{self.model.url}"\nname = "m"\nretries = 0\n{self._more}'

    def agent(self) -> Agent:
        if self._agent is None:
            config = write_config(self._place, self.config)
            self._agent = Agent(config, stderr=self._place / "stderr")
            self._agent.initialize()
        return self._agent

    def drop(self) -> None:
        if self._agent is not None:
            self._agent.kill()
            self._agent = None


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    pair = Pair(tmp_path_factory.mktemp("pair"), "")
    yield pair
    pair.drop()
    pair.model.close()


@pytest.fixture
def model(pair: Pair) -> Iterator[ModelServer]:
    """The model server that `bob` asks."""
    yield pair.model
    pair.model.hang_up()


@pytest.fixture
def bob(pair: Pair, request: pytest.FixtureRequest) -> Iterator[Agent]:
    """An initialised agent; the test must leave no turn running, and the agent must have done nothing wrong."""
    agent = pair.agent()
    failed_before = request.session.testsfailed
    try:
        yield agent
        # A request the test left open, or a failed test, spoils the process for the others.
        assert agent.judge is not None
        if request.session.testsfailed > failed_before:
            pair.drop()
            return
        agent.barrier()
        findings, left = agent.judge.findings, agent.judge.open_requests
        if findings or left:
            pair.drop()
        assert findings == []
        assert left == []
    except BaseException:
        pair.drop()
        raise
