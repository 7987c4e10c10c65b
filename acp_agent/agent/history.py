"""A session's conversation with the model, always in a form that a model server accepts.

Owns the order and completeness of messages: each tool call is followed by its result, and a turn is never cut in two.
A record has the OpenAI chat form (llm/model.py) and perhaps a mark of ours: `summary` on a user message that stands
for older turns, `failed` on a tool's result. What goes to the model has no marks. Deliberately absent: the file
(stored_session.py) and the making of a summary (compaction.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from acp_agent.llm.model import Message, ToolCallReady

_MARKS: Final = ("summary", "failed")
_UNRECORDED: Final = "[no result was recorded]"


class History:
    """The messages of one session, the system prompt first.

    A turn is a user message with all that answers it. While one is open, what it adds can be ended (`end_turn`) or
    taken back (`drop_turn`) as a whole.
    """

    def __init__(self, system_prompt: str, records: Sequence[Message] = ()) -> None:
        """records: of an earlier session. Its system prompt is left out, and what has no partner is made whole."""
        self._records: list[Message] = []
        # The same without marks, kept beside it, so that a request to the model copies a list and nothing else.
        self._sent: list[Message] = []
        self._turn_start: int | None = None
        self._add({"role": "system", "content": system_prompt})
        for record in records:
            self._take(record)
        self._close_calls(_UNRECORDED)

    def messages(self) -> list[Message]:
        """What is sent to the model; a list of its own, which later turns do not change."""
        return list(self._sent)

    def records(self) -> list[Message]:
        """What is stored; likewise."""
        return list(self._records)

    def __len__(self) -> int:
        """How many messages there are, the system prompt not counted."""
        return len(self._records) - 1

    # -- a turn

    def begin_turn(self, question: str) -> None:
        """What the user said."""
        self._turn_start = len(self._records)
        self._add({"role": "user", "content": question})

    def add_answer(self, text: str, calls: Sequence[ToolCallReady] = ()) -> None:
        """What the model said, and the tools it called; nothing at all is no message."""
        if not text and not calls:
            return
        message: Message = {"role": "assistant", "content": text or None}
        if calls:
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in calls
            ]
        self._add(message)

    def add_result(self, call_id: str, output: str, *, failed: bool = False) -> None:
        """What a tool gave back."""
        record: Message = {"role": "tool", "tool_call_id": call_id, "content": output}
        if failed:
            record["failed"] = True
        self._add(record)

    def drop_answer(self) -> bool:
        """Take back the answer that the open turn ends with; whether it ended with one."""
        if self._turn_start is None or self._records[-1]["role"] != "assistant":
            return False
        self._cut(len(self._records) - 1)
        return True

    def end_turn(self, stand_in: str) -> None:
        """The open turn is over, however it went; without one nothing happens.

        Calls without a result get the stand-in; a question that got no answer at all is removed.
        """
        if self._turn_start is None:
            return
        self._close_calls(stand_in)
        if len(self._records) == self._turn_start + 1:
            self._cut(self._turn_start)
        self._turn_start = None

    def drop_turn(self) -> None:
        """Take back all of the open turn, its question too."""
        if self._turn_start is not None:
            self._cut(self._turn_start)
            self._turn_start = None

    # -- all of it

    def reset(self) -> int:
        """Forget everything but the system prompt; how many messages that were."""
        forgotten = len(self)
        self._cut(1)
        self._turn_start = None
        return forgotten

    def older_turns(self, keep_last: int) -> list[Message]:
        """The records before the last turns (the open one counts, and is kept), none if there is no turn among them."""
        if self._turn_start is not None:
            keep_last = max(1, keep_last)
        starts = self._turn_starts()
        if len(starts) <= keep_last:
            return []
        end = starts[-keep_last] if keep_last else len(self._records)
        return self._records[1:end]

    def summarise(self, older: Sequence[Message], summary: str) -> None:
        """Put a summary, as a user message marked as such, in the place of the oldest records, as many as given."""
        record: Message = {"role": "user", "content": summary, "summary": True}
        end = 1 + len(older)
        self._records[1:end] = [record]
        self._sent[1:end] = [_without_marks(record)]
        if self._turn_start is not None:
            self._turn_start -= len(older) - 1

    def _turn_starts(self) -> list[int]:
        return [
            index
            for index, record in enumerate(self._records)
            if record["role"] == "user" and "summary" not in record
        ]

    # -- records

    def _add(self, record: Message) -> None:
        self._records.append(record)
        self._sent.append(_without_marks(record))

    def _cut(self, end: int) -> None:
        del self._records[end:]
        del self._sent[end:]

    def _open_calls(self) -> list[str]:
        """The ids of the newest answer's calls that have no result yet, in order."""
        results: Counter[object] = Counter()
        for record in reversed(self._records):
            if record["role"] == "tool":
                results[record["tool_call_id"]] += 1
                continue
            calls = record.get("tool_calls")
            if not isinstance(calls, list):
                return []
            # Two calls of one id, as a file may hold them, have a result each.
            open_ids = []
            for call in calls:
                if results[call["id"]]:
                    results[call["id"]] -= 1
                else:
                    open_ids.append(call["id"])
            return open_ids
        return []

    def _close_calls(self, stand_in: str) -> None:
        for call_id in self._open_calls():
            self.add_result(call_id, stand_in, failed=True)

    def _take(self, record: Message) -> None:
        """Add a record of an earlier session if it fits: calls get results, results belong to calls."""
        if record["role"] == "system":
            return
        if record["role"] == "tool":
            if record["tool_call_id"] in self._open_calls():
                self._add(record)
            return
        self._close_calls(_UNRECORDED)
        if record["role"] == "user" or record["content"] or record.get("tool_calls"):
            self._add(record)


def _without_marks(record: Message) -> Message:
    if any(mark in record for mark in _MARKS):
        return {key: value for key, value in record.items() if key not in _MARKS}
    return record
