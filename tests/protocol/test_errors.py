"""ACP's codes, and the exception for what must not reach the wire."""

from __future__ import annotations

from acp_agent.jsonrpc.errors import ErrorCode
from acp_agent.protocol import schema
from acp_agent.protocol.errors import STANDARD_TEXT, AcpErrorCode, LocalProtocolError
from acp_agent.protocol.verdicts import violation


def test_the_codes_are_those_of_the_schema() -> None:
    """Definition ErrorCode: every code it names has a name and a standard text here."""
    named = set(schema.node("ErrorCode")["x-known"])
    assert named == {*map(int, ErrorCode), *map(int, AcpErrorCode)} == {*map(int, STANDARD_TEXT)}


def test_a_local_error_says_what_was_wrong() -> None:
    """It carries the verdict; its text is one sentence a developer can act on."""
    verdict = violation("turn_active", "a turn is active", sessionId="s")
    error = LocalProtocolError(verdict)
    assert error.verdict is verdict
    assert str(error) == "a turn is active"
