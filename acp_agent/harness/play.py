"""One scenario played on one connection: the script is run, and whatever ends it becomes data.

Owns what each way to end means. Deliberately absent: the process around it (serve.py), the driver (drive.py).
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable
from typing import Final

from acp_agent.harness.endings import ClientGone, Died, NotApplicable, NotExercised
from acp_agent.harness.narration import Narration
from acp_agent.harness.part import FIRST_PROMPT, Part
from acp_agent.harness.scenario import Scenario
from acp_agent.harness.stage import Stage
from acp_agent.harness.standin import StandIn
from acp_agent.harness.wire import Heard, IllegalMove, Wire

PATIENCE_FOR_PEOPLE: Final = 6.0
"""A person reads first: deadlines of whole scenarios are longer by this factor."""


class Performance:
    """One scenario on one connection. exit_code: what the script has ended the agent with, None if it has not.

    narration: if a person watches. on_over: called when the script is over, before anything it left open is ended.
    """

    def __init__(
        self,
        scenario: Scenario,
        wire: Wire,
        stand_in: StandIn,
        *,
        life: int = 1,
        narration: Narration | None = None,
        on_over: Callable[[Performance], None] = lambda performance: None,
        on_failure: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.stage = Stage(scenario, wire, life=life, narration=narration)
        self.stand_in = stand_in
        self.wire = wire
        self.exit_code: int | None = None
        self.part = Part(scenario.id, life)
        self._on_over = on_over
        self._on_failure = on_failure
        self._quiet = False
        self._refused = False

    def feed(self, data: bytes) -> None:
        """Take bytes of the client, b"" at their end. Never raises for anything a client sends."""
        for heard in self.wire.feed(data):
            self.take(heard)
        self.stage.wake()

    def take(self, heard: Heard) -> None:
        """One line of the client, which the script or the stand-in deals with. Never raises."""
        self._refused = self._refused or heard.seen.refusal is not None
        try:
            if not self.stage.take(heard) or self._quiet:
                self.stand_in.take(heard)
        except Exception:  # noqa: BLE001 - a fault of ours must not look like one of the client
            self._break("while a message was handled")

    async def play(self) -> None:
        """Run the script to its end, whatever that is, and leave the connection to the stand-in."""
        scenario, part = self.stage.scenario, self.part
        deadline_s = scenario.deadline_s * (PATIENCE_FOR_PEOPLE if self.stage.narrates else 1)
        part.reason = "the script did not look at it"
        try:
            async with asyncio.timeout(deadline_s):
                await scenario.play(self.stage)
        except NotExercised as why:
            part.reason = str(why)
        except NotApplicable as why:
            part.reason, part.applicable = str(why), False
        except ClientGone:
            self._client_left()
        except Died as death:
            part.died, self.exit_code = True, death.exit_code
            part.reason = "it is judged by what the client did afterwards"
        except IllegalMove as why:
            part.reason = f"the client did something the scenario did not reckon with: {why}"
        except TimeoutError:
            part.reason = f"the scenario was not over within {deadline_s:g} s"
        except Exception:  # noqa: BLE001 - as above
            self._break("in the script")
        part.over = True
        self._on_over(self)
        if self.exit_code is None and not self.wire.client_ended:
            self.wrap_up()

    def call_off(self, reason: str) -> None:
        """The script was cancelled before its end: what was seen until then counts."""
        self.part.reason = reason
        self.part.over = True
        self._on_over(self)
        if not self.wire.client_ended:
            self.wrap_up()

    def wrap_up(self) -> None:
        """End what the script has left open, so that the client can end too; from now on the stand-in answers."""
        self._quiet = True
        self.stage.withdraw_all()
        if self.stage.narration is not None:
            self.stage.narration.release_anyway()
        for turn in self.stage.turns:
            if not turn.is_ended:
                turn.end(on_purpose=True)
        if self.stage.narration is not None:
            self.stage.narration.release_anyway()
        for request in self.stage.leftover_requests():
            self.stand_in.answer(request.id, request.method, request.params)

    def collect(self) -> Part:
        """What is known by now."""
        stage, part, conversation = self.stage, self.part, self.wire.observer.connection.conversation
        part.begun = stage.begun
        part.checks, part.remarks = list(stage.checks), stage.remarks[:1000]
        part.notes = {**stage.notes, "said": [turn.said for turn in stage.turns]}
        part.reasons = dict(stage.reasons)
        part.transcript = list(self.wire.transcript)
        part.client, part.capabilities = conversation.client_info, conversation.client_capabilities
        return part

    def _client_left(self) -> None:
        scenario, turns = self.stage.scenario, self.stage.turns
        self.part.reason = "the client closed the connection before the scenario was over"
        # Once every turn has ended a client may leave when it likes. One that leaves before the script has begun may
        # only have looked at the agent, and start it again: that is known when all is over.
        # And one that leaves because an illegal request was refused has broken the rule about that, and no other.
        if not turns and self._refused:
            return
        if not self.stage.begun:
            self.part.deserted = list(scenario.survives)
        elif not turns or any(not turn.is_ended for turn in turns):
            for rule in scenario.survives:
                expected = "the client goes on with the turn" if turns else FIRST_PROMPT
                self.stage.check(rule, False, expected, "it closed the connection", self.stage.now_at - 1)

    def _break(self, where: str) -> None:
        self.part.error = self.part.error or f"the harness failed {where}"
        self.part.reason = self.part.reason or self.part.error
        self._on_failure(traceback.format_exc())
