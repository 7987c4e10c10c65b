"""A stored conversation is shown record by record: what was said as it was said, each call once, with its result.

Whatever the format allows is shown in updates that are valid, legal and encodable; no exception is documented.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from strategies.records import ANY_ORDER, turns

from acp_agent.agent.replay import SUMMARY_MARK, replay
from acp_agent.agent.skills import Skills
from acp_agent.jsonrpc.codec import encode
from acp_agent.protocol import schema
from acp_agent.tools.builtin import default_tools
from acp_agent.tools.registry import ToolRegistry
from acp_agent.tools.skill import ReadSkillTool

_TOOLS = ToolRegistry(
    [
        *default_tools(environ={}, bash_timeout_s=1.0, bash_max_output_bytes=1),
        ReadSkillTool(Skills().instructions),
    ]
)

cases = st.fixed_dictionaries({"records": turns() | ANY_ORDER})


def check(case: Any) -> None:
    """Compare the updates with the records."""
    updates = list(replay(case["records"], Path("/work"), _TOOLS))
    ids = [update["toolCallId"] for update in updates if "toolCallId" in update]
    assert len(set(ids)) == len(ids)
    assert all(ids)
    for update in updates:
        assert schema.is_valid("SessionNotification", {"sessionId": "s", "update": update})
        encode(update)
    assert [_seen(update) for update in updates] == plain(case["records"])


def _seen(update: dict[str, Any]) -> tuple[str, str, str]:
    """What a person sees of it: the kind, the text or the call's name, its end."""
    if update["sessionUpdate"] != "tool_call":
        return update["sessionUpdate"], update["content"]["text"], ""
    end = update["status"]
    if "content" in update:
        ((content),) = update["content"]
        assert content["content"]["text"] == update["rawOutput"]["output"]
        end += f" {update['rawOutput']['output']}"
    assert update["title"].startswith(update["name"])
    return "tool_call", update["name"], end


def plain(records: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    """The same from the records; a call's results are those right behind its answer, each for the first of its id."""
    shown = []
    for position, record in enumerate(records):
        text = record["content"]
        if record["role"] == "user":
            if "summary" in record:
                shown.append(("agent_message_chunk", SUMMARY_MARK + text, ""))
            else:
                shown.append(("user_message_chunk", text, ""))
        if record["role"] != "assistant":
            continue
        if text:
            shown.append(("agent_message_chunk", text, ""))
        behind = []
        for following in records[position + 1 :]:
            if following["role"] != "tool":
                break
            behind.append(following)
        for call in record.get("tool_calls", []):
            end = "failed"
            result = next((one for one in behind if one["tool_call_id"] == call["id"]), None)
            if result is not None:
                behind.remove(result)
                end = f"{'failed' if 'failed' in result else 'completed'} {result['content']}"
            shown.append(("tool_call", call["function"]["name"], end))
    return shown
