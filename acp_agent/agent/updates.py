"""The payloads Bob sends, in one place: no other module of the agent spells a wire key of an update.

Source: definitions SessionUpdate, ToolCall, ToolCallUpdate, RequestPermissionRequest of the bundled schemas.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, TypedDict

Update = dict[str, Any]
Status = Literal["pending", "in_progress", "completed", "failed"]


class PermissionOption(TypedDict):
    """One button of the permission dialog."""

    optionId: str
    name: str
    kind: Literal["allow_once", "allow_always", "reject_once", "reject_always"]


PERMISSION_OPTIONS: Final[tuple[PermissionOption, ...]] = (
    {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
    {"optionId": "allow_always", "name": "Always allow", "kind": "allow_always"},
    {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
)


def message_chunk(text: str) -> Update:
    """A piece of the answer."""
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}


def user_message_chunk(text: str) -> Update:
    """What the user said, for a client that has not seen it: in a replay."""
    return {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": text}}


def thought_chunk(text: str) -> Update:
    """A piece of what the model thinks aloud."""
    return {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": text}}


def tool_call(
    call_id: str,
    *,
    title: str,
    kind: str,
    raw_input: object,
    paths: Sequence[str],
    name: str,
    status: Status = "pending",
    output: str | None = None,
) -> Update:
    """A call: its announcement, or in a replay all of it. paths: absolute, of the files it is about.

    output: what the tool gave back, as text and for `rawOutput.output`; None if nothing is known of it.
    """
    update: Update = {
        "sessionUpdate": "tool_call",
        "toolCallId": call_id,
        "title": title,
        "name": name,
        "kind": kind,
        "status": status,
        "rawInput": raw_input,
    }
    if paths:
        update["locations"] = [{"path": path} for path in paths]
    if output is not None:
        update["content"] = [text_content(output)]
        update["rawOutput"] = {"output": output}
    return update


def tool_call_update(
    call_id: str, status: Status, *, content: list[dict[str, Any]] | None = None, output: str | None = None
) -> Update:
    """A call's new status; output: what the tool gave back, for `rawOutput.output`."""
    update: Update = {"sessionUpdate": "tool_call_update", "toolCallId": call_id, "status": status}
    if content is not None:
        update["content"] = content
    if output is not None:
        update["rawOutput"] = {"output": output}
    return update


def available_commands(commands: Iterable[tuple[str, str]], skills: Iterable[tuple[str, str]]) -> Update:
    """The commands and the skills, as (name, description), that a prompt may begin with."""
    listed: list[dict[str, Any]] = [{"name": name, "description": about} for name, about in commands]
    hint = {"hint": "parameters, if this skill needs any"}
    listed += [{"name": name, "description": about, "input": hint} for name, about in skills]
    return {"sessionUpdate": "available_commands_update", "availableCommands": listed}


def text_content(text: str) -> dict[str, Any]:
    """Tool output as text."""
    return {"type": "content", "content": {"type": "text", "text": text}}


def diff_content(path: str, old_text: str | None, new_text: str) -> dict[str, Any]:
    """A file change; old_text None for a new file."""
    content: dict[str, Any] = {"type": "diff", "path": path, "newText": new_text}
    if old_text is not None:
        content["oldText"] = old_text
    return content


def permission_request(session_id: str, announced: Update) -> dict[str, Any]:
    """The params of `session/request_permission` for a call that was announced by that update."""
    members = {key: value for key, value in announced.items() if key != "sessionUpdate"}
    return {"sessionId": session_id, "toolCall": members, "options": list(PERMISSION_OPTIONS)}
