"""A client that answers everything with anything: every scenario ends, breaks nothing of ours, and can be judged.

test_play.py changes a conversation that is legal; here the client goes on in any case, so that each script gets as far
as it can be brought, with answers that nobody would reckon with. Time jumps ahead where everybody waits.
"""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_agent.harness.catalogue import all_scenarios
from acp_agent.harness.display import Display
from acp_agent.harness.play import Performance
from acp_agent.harness.result import ClientExit, judge
from acp_agent.harness.scenario import Scenario
from acp_agent.harness.standin import StandIn
from acp_agent.harness.wire import Wire

# Those of the group process are about signals and the standard error of a process of their own.
SCENARIOS = [scenario for scenario in all_scenarios() if scenario.area != "process"]
MOST_MESSAGES = 60

WORDS = ["session-1", "selected", "cancelled", "yes", "no", "end_turn", "accept", "term-1", "", "ü\n"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats() | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=3),
    max_leaves=5,
)
RESULTS: dict[str, Any] = {
    "session/request_permission": st.fixed_dictionaries(
        {
            "outcome": st.fixed_dictionaries({"outcome": st.sampled_from(WORDS) | JSON, "optionId": JSON})
            | JSON
        }
    ),
    "fs/read_text_file": st.fixed_dictionaries({"content": st.text(max_size=5) | JSON}),
    "terminal/create": st.fixed_dictionaries({"terminalId": st.sampled_from(WORDS) | JSON}),
    "terminal/output": st.fixed_dictionaries(
        {"output": st.text(max_size=5) | JSON, "truncated": JSON, "exitStatus": JSON}
    ),
    "terminal/wait_for_exit": st.fixed_dictionaries({"exitCode": JSON, "signal": JSON}),
    "elicitation/create": st.fixed_dictionaries({"action": st.sampled_from(WORDS) | JSON, "content": JSON}),
}
ERRORS = (
    st.fixed_dictionaries({"code": st.sampled_from([-32601, -32602, -32800, 0]) | JSON, "message": JSON})
    | JSON
)
NOISE = st.binary(max_size=20) | JSON.map(lambda value: orjson.dumps(_finite(value)))
CAPABILITIES = st.sampled_from(
    [
        {},
        {
            "fs": {"readTextFile": True, "writeTextFile": True},
            "terminal": True,
            "auth": {"terminal": True},
            "elicitation": {"form": {}, "url": {}},
            "session": {"configOptions": {"boolean": {}}},
        },
    ]
)


def _finite(value: Any) -> Any:
    """A value as JSON can hold it here: orjson has no integers beyond 64 bits."""
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return 0
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list) else value


class FuzzedClient:
    """Opens a connection and prompts, again and again; all else is drawn. The Port of the agent."""

    def __init__(self, scenario: Scenario, data: st.DataObject) -> None:
        self.wire = Wire(self)
        self.performance = Performance(scenario, self.wire, StandIn(self.wire, scenario.offer))
        self.shown: list[dict[str, Any]] = []
        self._data = data
        self._received = b""
        self._next_id = 0
        self._methods: dict[int, str] = {}
        self._session: Any = "session-1"
        self._sent = 0
        self._problem: BaseException | None = None

    async def run(self) -> None:
        """Until the scenario is over. Raises what was raised while the client heard something."""
        asyncio.get_running_loop().set_exception_handler(self._note_problem)
        script = asyncio.create_task(self.performance.play())
        params = {"protocolVersion": 1, "clientCapabilities": self._data.draw(CAPABILITIES)}
        self._call("initialize", params)
        # All the deadlines that follow each other in a script, and more.
        await asyncio.wait([script], timeout=3600)
        self.performance.feed(b"")
        await asyncio.wait_for(script, 3600)
        if self._problem is not None:
            raise self._problem

    def _note_problem(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        self._problem = self._problem or context.get("exception") or RuntimeError(context["message"])

    # -- the Port of the agent

    def post(self, data: bytes) -> None:
        *lines, self._received = (self._received + data).split(b"\n")
        for line in lines:
            asyncio.get_running_loop().call_soon(self._hear, line)

    async def flushed(self) -> None:
        await asyncio.sleep(0)

    async def fetched(self) -> None:
        await asyncio.sleep(0)

    def close_output(self) -> None: ...

    # -- the client

    def _hear(self, line: bytes) -> None:
        try:
            message = orjson.loads(line)
        except orjson.JSONDecodeError:
            return
        if not isinstance(message, dict) or self._problem or self._sent > MOST_MESSAGES:
            return
        if "method" in message and "id" in message:
            self._answer(message)
        elif "method" not in message:
            self._go_on(message)
        elif self._data.draw(st.integers(0, 9)) == 0:
            self._feed(self._data.draw(NOISE))

    def _answer(self, request: dict[str, Any]) -> None:
        method = request["method"]
        kind = self._data.draw(st.integers(0, 9))
        if method.startswith("_barrier/") and kind < 8:
            self._send({"id": request["id"], "error": {"code": -32601, "message": "Method not found"}})
        elif kind < 6:
            self._send({"id": request["id"], "result": self._data.draw(RESULTS.get(method, JSON))})
        elif kind < 8:
            self._send({"id": request["id"], "error": self._data.draw(ERRORS)})
        elif kind < 9:
            self._feed(self._data.draw(NOISE))

    def _go_on(self, response: dict[str, Any]) -> None:
        method = self._methods.pop(response["id"], "") if isinstance(response.get("id"), int) else ""
        result = response.get("result")
        session = result.get("sessionId") if isinstance(result, dict) else None
        self._session = session if isinstance(session, str) else self._session
        members = {"sessionId": self._session}
        self.shown.append(
            {"kind": self._data.draw(st.sampled_from(["end", "error", "plan", "message"]))} | members
        )
        choices = {
            "session/new": {"cwd": "/project", "mcpServers": []},
            "session/prompt": members | {"prompt": [{"type": "text", "text": "Hello."}]},
            "session/load": members | {"cwd": "/project", "mcpServers": []},
            "session/resume": members | {"cwd": "/project"},
            "session/list": {},
            "session/close": members,
            "session/set_mode": members | {"modeId": "code"},
            "session/set_config_option": members | {"configId": "model", "value": "large"},
            "authenticate": {"methodId": "api-token"},
        }
        likely = {"initialize": "session/new", "session/new": "session/prompt", "authenticate": "session/new"}
        after = likely.get(method, "session/prompt")
        method = (
            after if self._data.draw(st.integers(0, 3)) else self._data.draw(st.sampled_from(sorted(choices)))
        )
        self._call(method, choices[method])
        if self._data.draw(st.integers(0, 3)) == 0:
            self._send({"method": "session/cancel", "params": members})

    def _call(self, method: str, params: Any) -> None:
        self._next_id += 1
        self._methods[self._next_id] = method
        self._send({"id": self._next_id, "method": method, "params": params})

    def _send(self, message: dict[str, Any]) -> None:
        self._feed(orjson.dumps({"jsonrpc": "2.0", **_finite(message)}))

    def _feed(self, line: bytes) -> None:
        self._sent += 1
        # Not at once: the agent is in the middle of something.
        asyncio.get_running_loop().call_soon(self._deliver, line + b"\n")

    def _deliver(self, line: bytes) -> None:
        if not self.wire.client_ended:
            self.performance.feed(line)


@given(scenario=st.sampled_from(SCENARIOS), data=st.data())
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_answers_of_any_kind_break_no_scenario(
    run_in_no_time: Any, scenario: Scenario, data: st.DataObject
) -> None:
    """No fault of ours, an end in bounded time, and a result, with a display record and without one."""

    async def play() -> FuzzedClient:
        client = FuzzedClient(scenario, data)
        await client.run()
        return client

    client = run_in_no_time(play())
    part = client.performance.collect()
    assert part.error == ""
    assert part.over
    for display in (None, Display(tuple(client.shown))):
        assert judge(scenario, [part], ClientExit(0), display).errors == ()
    assert len(part.checks) < 5000
