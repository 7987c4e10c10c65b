"""A session's conversation with the model, always in a form that a model server accepts.

Owns the order and completeness of messages: each tool call is followed by its result. Messages have the OpenAI chat
form (llm/model.py). Deliberately absent: where the history is kept and how it is shortened.
"""

from __future__ import annotations

from collections.abc import Sequence

from acp_agent.llm.model import Message, ToolCallReady


class History:
    """The messages of one session, the system prompt first."""

    def __init__(self, system_prompt: str) -> None:
        self._messages: list[Message] = [{"role": "system", "content": system_prompt}]

    def messages(self) -> list[Message]:
        """What is sent to the model; a list of its own, which later turns do not change."""
        return list(self._messages)

    def __len__(self) -> int:
        """How many messages there are, the system prompt not counted."""
        return len(self._messages) - 1

    def mark(self) -> int:
        """Where the history ends now; for `cut`."""
        return len(self._messages)

    def cut(self, mark: int) -> None:
        """Forget everything after a mark."""
        del self._messages[mark:]

    def add_question(self, text: str) -> None:
        """What the user said."""
        self._messages.append({"role": "user", "content": text})

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
        self._messages.append(message)

    def add_result(self, call_id: str, output: str) -> None:
        """What a tool gave back."""
        self._messages.append({"role": "tool", "tool_call_id": call_id, "content": output})

    def open_calls(self) -> list[str]:
        """The ids of the newest answer's calls that have no result yet, in order."""
        results: set[object] = set()
        for message in reversed(self._messages):
            if message["role"] == "tool":
                results.add(message["tool_call_id"])
                continue
            calls = message.get("tool_calls")
            if not isinstance(calls, list):
                return []
            return [call["id"] for call in calls if call["id"] not in results]
        return []

    def close(self, mark: int, stand_in: str) -> None:
        """End a turn that began at a mark, however it went.

        Calls without a result get the stand-in; a question that got no answer at all is removed.
        """
        for call_id in self.open_calls():
            self.add_result(call_id, stand_in)
        if len(self._messages) == mark + 1:
            self.cut(mark)
