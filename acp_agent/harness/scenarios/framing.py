"""Bytes and lines: slices, lengths, encodings and line ends."""

from __future__ import annotations

import itertools

from acp_agent.harness.scenario import scenario
from acp_agent.harness.stage import Stage
from acp_agent.jsonrpc import codec

_MIXED = "ASCII, ü, €, 漢字, 👩‍🚀 and back"
_MIB = 1024 * 1024


@scenario(
    "framing/byte-by-byte",
    "A message that arrives in slices of one byte, characters cut in the middle",
    rules=("R-001", "R-304"),
    display_rules=("R-308",),
    survives=("R-001",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def byte_by_byte(stage: Stage) -> None:
    turn = await stage.prompt()
    content = {"type": "text", "text": _MIXED}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    params = {"sessionId": turn.session_id, "update": update}
    line = codec.encode({"jsonrpc": "2.0", "method": "session/update", "params": params})
    turn.note_said(_MIXED)
    await stage.send_in_pieces(line, itertools.repeat(1))
    await stage.check_alive("R-001", "R-304", after="a message in slices of one byte")
    turn.end()


@scenario(
    "framing/line-of-16-mib",
    "A chunk of sixteen mebibytes on one line",
    rules=("R-312",),
    display_rules=("R-308",),
    survives=("R-312",),
    aftermath=lambda after: after.check_shown_whole("R-308"),
)
async def line_of_16_mib(stage: Stage) -> None:
    turn = await stage.prompt()
    turn.say("0123456789abcdef" * _MIB)
    await stage.flushed()
    alive = await stage.barrier(within_s=40)
    saw = "it answered a request after it" if alive else "no answer to a request within 40 s"
    stage.check("R-312", alive, "a line of 16 MiB is read, or refused with the connection alive", saw)
    turn.end()
