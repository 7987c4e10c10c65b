"""What a script plays on: the agent's side of one connection, as verbs. Every wait has a deadline.

A deadline alone proves nothing, for the machine may be busy: what is held against a client is waited for with
`surely`, which asks the client something before it says never.

Reading: `prompt`, `expect`, `barrier`, `until`. Writing: `call`, `notify`, `update`, `send`, `send_on_purpose`,
`send_raw`, `send_in_pieces`. Judging: `check` and its relatives, `note` for the look back. Ending: `die`,
`close_output`. What belongs to one turn is on StagedTurn (turn.py). Deliberately absent: requests that a script does
not play itself; the stand-in answers them (standin.py).
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final, NoReturn

from acp_agent.harness.asked import ANSWER_S, FOR_PEOPLE, NO_ANSWER, Answer, Asked
from acp_agent.harness.endings import ClientGone, Died, NotApplicable, NotExercised
from acp_agent.harness.narration import PATIENCE, HeldAnswer, Narration
from acp_agent.harness.scenario import Scenario
from acp_agent.harness.turn import ClientRequest, StagedTurn
from acp_agent.harness.verdict import Check, Remark
from acp_agent.harness.wire import Heard, Wire
from acp_agent.jsonrpc.messages import RequestId
from acp_agent.protocol.events import NotificationReceived, RequestReceived
from acp_agent.protocol.methods import declares

PROMPT_S: Final = 20.0
"""How long a client may take to its prompt: it may have to start, and a person may have to type."""

HANGS_S: Final = 30.0
"""A client that says nothing for so long after a wait that was long enough already, to no question, hangs."""

GRACE_S: Final = 0.3
"""After a barrier, for clients that read on several threads: what they had in hand is on its way by then."""

_QUEUED: Final = 1000
_MOST_OF_A_RULE: Final = 100
_MOST_REMARKS: Final = 200
_MOST_ANSWERS: Final = 100


class Stage:
    """One scenario on one connection. life: which process of the agent this is, counted from 1.

    narration: if a person watches, so that `tell` speaks in the turn. notes: what `note` puts down for the look back.
    """

    def __init__(
        self, scenario: Scenario, wire: Wire, *, life: int = 1, narration: Narration | None = None
    ) -> None:
        self.scenario = scenario
        self.wire = wire
        self.life = life
        self.narration = narration
        self.notes: dict[str, Any] = {}
        self.checks: list[Check] = []
        self.remarks: list[Remark] = []
        self.reasons: dict[str, str] = {}
        self.turns: list[StagedTurn] = []
        self.begun = False
        """Whether the script has had anything of the client's to play with."""
        self._requests: deque[ClientRequest] = deque(maxlen=_QUEUED)
        self._notifications: deque[tuple[int, NotificationReceived]] = deque(maxlen=_QUEUED)
        self._asked: dict[tuple[type, RequestId], Asked] = {}
        self._answered: deque[tuple[int, int]] = deque(maxlen=_QUEUED)
        self._barriers = 0
        self._hangs = False
        """Whether the client has been given up: it will not be waited for so long again."""
        self._findings: Counter[str] = Counter()
        self._waiters: set[asyncio.Future[None]] = set()

    @property
    def narrates(self) -> bool:
        """Whether a person watches."""
        return self.narration is not None

    # -- reading

    async def prompt(
        self, within_s: float = PROMPT_S, *, or_breaks: str | None = None, ask: str | None = None
    ) -> StagedTurn:
        """The next turn: waits for a `session/prompt` of the client.

        or_breaks: the rule that a client breaks which sends none; without it the scenario is then not exercised.
        ask: what to tell a person whose turn it is. Raises NotApplicable if the client lacks what the scenario needs.
        """
        if ask is not None:
            self.tell(ask)
        await self._await_needs(within_s)
        wait = self.until if or_breaks is None else self.surely
        request = await self._next_request(("session/prompt",), within_s, wait)
        if request is None:
            reason = f"the client sent no prompt within {within_s:g} s"
            if or_breaks is not None:
                self.check(or_breaks, False, "a session/prompt", reason)
            raise NotExercised(reason)
        turn = StagedTurn(self, request)
        self.turns.append(turn)
        self.begun = True
        if self.narration is not None and self.narration.greeting and len(self.turns) == 1:
            self.narration.say(turn.session_id, self.narration.greeting)
        # A client that cancels at once has sent the cancel with the prompt.
        for number, event in self._notifications:
            self._note_cancel(event, number)
        return turn

    async def expect(
        self, method: str, within_s: float = PROMPT_S, *, user: str | None = None
    ) -> ClientRequest:
        """The next request of a method that this scenario plays.

        Raises NotExercised when none comes in time; user: what the person has not done then.
        """
        request = await self._next_request((method,), within_s)
        if request is None:
            raise NotExercised(user or f"the client sent no {method} within {within_s:g} s")
        self.begun = True
        return request

    async def expect_any(self, *methods: str, within_s: float = PROMPT_S) -> ClientRequest | None:
        """The next request of any of these methods, None when none comes in time: for what may come in any order.

        Raises ClientGone if the client leaves before.
        """
        request = await self._next_request(methods, within_s)
        self.begun = self.begun or request is not None
        return request

    async def expect_notification(
        self, method: str, within_s: float = PROMPT_S, *, user: str | None = None
    ) -> dict[str, Any]:
        """The params of the next notification of a method. Raises NotExercised as `expect` does."""
        found: list[dict[str, Any]] = []

        def arrived() -> bool:
            for item in self._notifications:
                if item[1].method == method:
                    self._notifications.remove(item)
                    found.append(item[1].params)
                    return True
            return False

        if not await self.until(arrived, self._patient(within_s)):
            raise NotExercised(user or f"the client sent no {method} within {within_s:g} s")
        return found[0]

    async def until(self, condition: Callable[[], bool], within_s: float) -> bool:
        """Wait until it is so, looked at after each line of the client; False after within_s.

        Raises ClientGone if the client leaves before.
        """
        self._release()
        loop = asyncio.get_running_loop()
        deadline = loop.time() + within_s
        while not condition():
            if self.wire.client_ended:
                raise ClientGone("the client has closed the connection")
            waiter = loop.create_future()
            self._waiters.add(waiter)
            try:
                async with asyncio.timeout_at(deadline):
                    await waiter
            except TimeoutError:
                return condition()
            finally:
                self._waiters.discard(waiter)
        return True

    async def surely(self, condition: Callable[[], bool], within_s: float) -> bool:
        """As `until`, where False is held against the client: on a busy machine late is not never.

        When the time is up, the client is asked something. What has not come when it has answered that, it did not
        send although it reads and answers; and who answers nothing for HANGS_S more is not slow, it hangs.
        """
        if await self.until(condition, within_s):
            return True
        if self._hangs:
            return False
        asked = self._ask_anything()
        if asked is None:
            return await self.until(condition, HANGS_S)
        self._hangs = not await self.until(lambda: condition() or asked.is_answered, HANGS_S)
        if not condition() and not self._hangs:
            await self.pause(GRACE_S)
        return condition()

    def _ask_anything(self) -> Asked | None:
        """A request that every client answers at once, None while no client would have to."""
        if self.wire.output_closed or not self.wire.observer.is_ready:
            return None
        self._barriers += 1
        return self.call(f"_barrier/{self._barriers}", {}, on_purpose=True)

    async def client_leaves(self, within_s: float) -> bool:
        """Wait for the client to close the connection; whether it did."""
        try:
            return await self.until(lambda: self.wire.client_ended, within_s)
        except ClientGone:
            return True

    async def _until_answered(self, condition: Callable[[], bool], within_s: float) -> bool:
        """A shorter wait than that for an answer only gives it a moment, and proves nothing."""
        return await (self.surely if within_s >= ANSWER_S else self.until)(condition, within_s)

    async def answers(self, asked: Iterable[Asked], within_s: float = ANSWER_S) -> list[Answer]:
        """The answers to several requests, NO_ANSWER for those that do not come within within_s in all."""
        waiting = list(asked)
        if any(request.method in FOR_PEOPLE for request in waiting):
            within_s = self._patient(within_s)
        await self.surely(lambda: all(request.is_answered for request in waiting), within_s)
        return [request.answers[0] if request.answers else NO_ANSWER for request in waiting]

    async def barrier(self, within_s: float = ANSWER_S + HANGS_S, grace_s: float = GRACE_S) -> bool:
        """Make sure that the client has read all that was sent: ask it something, wait for the answer and a little.

        What it sends afterwards was sent in knowledge of what was sent before. False if no answer came.
        """
        self._barriers += 1
        asked = self.call(f"_barrier/{self._barriers}", {})
        arrived = await self.until(lambda: asked.is_answered, ANSWER_S if self._hangs else within_s)
        self._hangs = not arrived
        if arrived:
            await self.pause(grace_s)
        return arrived

    async def pause(self, seconds: float) -> None:
        """Let time pass; what the client sends meanwhile is heard."""
        self._release()
        await asyncio.sleep(seconds)

    @property
    def capabilities(self) -> dict[str, Any]:
        """What the client has advertised."""
        return self.wire.observer.client_capabilities

    def advertises(self, path: str) -> bool:
        """Whether the client has advertised a capability, such as "fs.readTextFile"."""
        return declares(self.capabilities, tuple(path.split(".")))

    @property
    def now_at(self) -> int:
        """The number that the next transcript entry will have; see `said_since`."""
        return self.wire.transcript.next_number

    def said_since(self, number: int) -> list[str]:
        """What the client has sent since then, each message in a few words, the answers to barriers left out."""
        return [
            entry.label
            for entry in self.wire.transcript
            if entry.number >= number and entry.sender == "client" and "_barrier/" not in entry.label
        ]

    # -- writing

    def call(
        self, method: str, params: Any, *, request_id: RequestId = None, on_purpose: bool = False
    ) -> Asked:
        """Send a request; its answer is awaited on what is returned. request_id: instead of the next number."""
        if request_id is None:
            request_id = self.wire.next_request_id()
        message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
        asked = self.listen(request_id, method)
        asked.number = self._send(message, on_purpose=on_purpose)
        return asked

    def listen(self, request_id: RequestId, method: str = "") -> Asked:
        """Expect an answer to a request that is sent raw, whatever its id is."""
        patience = PATIENCE if self.narrates and method in FOR_PEOPLE else 1.0
        asked = Asked(request_id, method, self.now_at, self._until_answered, patience)
        self._asked[type(request_id), request_id] = asked
        self.wire.observer.asked.add((type(request_id), request_id))
        return asked

    def withdraw(self, asked: Asked) -> None:
        """Cancel a request of the agent by its id; its answer must still come."""
        self.notify("$/cancel_request", {"requestId": asked.id})

    def notify(self, method: str, params: Any, *, on_purpose: bool = False) -> int:
        """Send a notification; returns its number."""
        return self._send({"jsonrpc": "2.0", "method": method, "params": params}, on_purpose=on_purpose)

    def update(self, session_id: str, update: dict[str, Any], *, on_purpose: bool = False) -> int:
        """Send a `session/update`."""
        params = {"sessionId": session_id, "update": update}
        return self.notify("session/update", params, on_purpose=on_purpose)

    def send(self, message: dict[str, Any]) -> int:
        """Send a message of any form. Raises IllegalMove if it is illegal now."""
        return self._send(message)

    def send_on_purpose(self, message: dict[str, Any]) -> int:
        """Send a message that may be illegal: that is the point of it."""
        return self._send(message, on_purpose=True)

    def send_raw(self, data: bytes, *, broken_lines: int = 0) -> int:
        """Send bytes as they are. broken_lines: how many lines in them are no message at all."""
        self.wire.observer.broken_lines_sent += broken_lines
        self._release()
        return self.wire.send_line(data)

    async def send_in_pieces(self, line: bytes, sizes: Iterable[int]) -> int:
        """Send a line in slices of these sizes, each read by the client before the next is written."""
        self._release()
        return await self.wire.send_in_pieces(line, sizes)

    async def flushed(self) -> None:
        """Wait until the client's pipe has taken all that was sent; for scripts that send very much."""
        self._release()
        await self.wire.flushed()

    def tell(self, text: str) -> None:
        """Speak to the person who watches, if one does: in the open turn."""
        turn = next((turn for turn in reversed(self.turns) if not turn.is_ended), None)
        if self.narration is not None and turn is not None:
            self.narration.say(turn.session_id, f"{text}\n\n")

    def answer(self, request: ClientRequest, message: dict[str, Any], *, on_purpose: bool = False) -> int:
        """Send the answer to a request of the client; ClientRequest does this. The end of a turn may be held back."""
        if self.narration is None or request.method != "session/prompt":
            return self._send(message, on_purpose=on_purpose)
        session_id = request.params["sessionId"]
        return self.narration.hold(HeldAnswer(session_id, request.id, message, on_purpose))

    def _send(self, message: dict[str, Any], *, on_purpose: bool = False) -> int:
        if self.narration is not None:
            self.narration.release()
            message = self.narration.renamed(message)
        return self.wire.send(message, on_purpose=on_purpose)

    def _release(self) -> None:
        if self.narration is not None:
            self.narration.release()

    def _patient(self, within_s: float) -> float:
        """Longer if it is a person who is waited for, and not a moment in which something must not happen."""
        return within_s * PATIENCE if self.narrates and within_s >= ANSWER_S else within_s

    # -- judging

    def check(self, rule: str, ok: bool, expected: str, saw: object, at: int = -1) -> bool:
        """Put down what was seen of a rule that the scenario names; returns ok.

        expected, saw: phrases. An Answer as `saw` brings its place in the transcript with it.
        """
        if rule not in self.scenario.all_rules + self.scenario.survives:
            raise ValueError(f"{self.scenario.id} checks {rule} and does not name it")
        number = saw.number if isinstance(saw, Answer) and at < 0 else at
        self.checks.append(Check(rule, ok, expected, str(saw), number, life=self.life))
        return ok

    async def check_error(self, rule: str, asked: Asked, *codes: int) -> Answer:
        """The request must be answered with an error of one of these codes, or of any when none is given."""
        answer = await asked.answer()
        wanted = f"an error {' or '.join(map(str, codes))}" if codes else "an error"
        ok = answer.code in codes if codes else answer.code is not None
        self.check(rule, ok, f"{wanted} in answer to {asked.method}", answer)
        return answer

    async def check_alive(self, *rules: str, after: str = "that") -> bool:
        """The client must still read and answer."""
        alive = await self.barrier()
        saw = "it answered a request" if alive else "no answer to a request"
        for rule in rules:
            self.check(rule, alive, f"the client goes on after {after}", saw)
        return alive

    def check_silent(self, rule: str, since: int, after: str) -> bool:
        """The client must have sent no answer or error since then: to be called after a barrier.

        An answer to something that was asked since is no answer to this, not even a second one, or one badly spelled.
        """
        others = {answer for answer, asked in self._answered if asked >= since}
        said = [
            entry.label
            for entry in self.wire.transcript
            if entry.number >= since and entry.sender == "client" and entry.number not in others
            if entry.label.startswith(("result", "error"))
        ]
        return self.check(rule, not said, f"nothing in answer to {after}", ", ".join(said) or "nothing")

    def not_exercised(self, rule: str, reason: str) -> None:
        """Say why a rule could not be looked at, and go on."""
        self.reasons[rule] = reason

    def note(self, name: str, value: Any) -> None:
        """Put down something JSON can hold, for the scenario's aftermath."""
        self.notes[name] = value

    # -- ending

    async def die(self, exit_code: int = 1) -> NoReturn:
        """End the agent's process at once, after what was sent is out."""
        await self.flushed()
        self.wire.remark(f"the agent exits with {exit_code}")
        raise Died(exit_code)

    def close_output(self) -> None:
        """Close the agent's standard output; it goes on reading."""
        self._release()
        self.wire.close_output()

    # -- for whoever feeds the stage

    def take(self, heard: Heard) -> bool:
        """A line of the client. Returns False for a request that the stand-in has to answer."""
        seen = heard.seen
        self.note_findings(seen.checks, seen.remarks)
        taken = True
        if seen.has_answer:
            named = str(seen.answer_to)
            self._answered += [(heard.number, a.number) for a in self._asked.values() if str(a.id) == named]
            asked = self._asked.get((type(seen.answer_to), seen.answer_to))
            if asked is not None and len(asked.answers) < _MOST_ANSWERS:
                asked.answers.append(Answer(seen.message, heard.number))
        elif seen.refusal is not None:
            taken = False
        elif isinstance(seen.event, RequestReceived):
            taken = seen.event.method in self.scenario.plays
            if taken:
                self._requests.append(ClientRequest(self, seen.event, heard.number))
        elif isinstance(seen.event, NotificationReceived):
            self._notifications.append((heard.number, seen.event))
            self._note_cancel(seen.event, heard.number)
        self.wake()
        return taken

    def note_findings(self, checks: Iterable[Check], remarks: Iterable[Remark]) -> None:
        """Put down what the observer has found, as far as it is news: a client may do the same thing for ever."""
        for check in checks:
            self._findings[check.rule] += 1
            if self._findings[check.rule] <= _MOST_OF_A_RULE:
                self.checks.append(check._replace(life=self.life))
        for remark in remarks:
            if len(self.remarks) < _MOST_REMARKS:
                self.remarks.append(remark._replace(life=self.life))

    def wake(self) -> None:
        """Something has happened: let everybody who waits look again."""
        for waiter in list(self._waiters):
            if not waiter.done():
                waiter.set_result(None)

    def leftover_requests(self) -> list[ClientRequest]:
        """The requests that the script has left lying, which are the stand-in's now."""
        left = list(self._requests)
        self._requests.clear()
        return left

    def withdraw_all(self) -> None:
        """Cancel every permission request that has no answer yet."""
        for asked in self._asked.values():
            if asked.method == "session/request_permission" and not asked.is_answered:
                self.notify("$/cancel_request", {"requestId": asked.id}, on_purpose=True)

    def _note_cancel(self, event: NotificationReceived, number: int) -> None:
        if event.method not in {"session/cancel", "$/cancel_request"} or not isinstance(event.params, dict):
            return
        for turn in self.turns:
            by_session = event.method == "session/cancel" and event.params.get("sessionId") == turn.session_id
            by_id = event.method == "$/cancel_request" and event.params.get("requestId") == turn.id
            follows = number > turn.request.number and not turn.is_ended
            if (by_session or by_id) and follows and turn.cancelled_at is None:
                turn.cancelled_at = number
                turn.cancelled_by = event.method

    async def _next_request(
        self,
        methods: tuple[str, ...],
        within_s: float,
        wait: Callable[[Callable[[], bool], float], Awaitable[bool]] | None = None,
    ) -> ClientRequest | None:
        found: list[ClientRequest] = []
        within_s = self._patient(within_s)

        def arrived() -> bool:
            for request in self._requests:
                if request.method in methods:
                    self._requests.remove(request)
                    found.append(request)
                    return True
            return False

        await (wait or self.until)(arrived, within_s)
        return found[0] if found else None

    async def _await_needs(self, within_s: float) -> None:
        """Wait for a prompt, and leave it to the stand-in if the client lacks what the scenario needs."""
        if not self.scenario.needs:
            return
        prompted = "session/prompt"
        await self.until(lambda: any(r.method == prompted for r in self._requests), self._patient(within_s))
        missing = [path for path in self.scenario.needs if not self.advertises(path)]
        if missing:
            raise NotApplicable(f"the client does not advertise {' and '.join(missing)}")
