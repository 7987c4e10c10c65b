"""Whether a request may be made now: the checks before it is registered, in the order of their precedence.

Envelope and connection state, then method and gate; then, for valid params, paths, what was advertised, the named
session and the state it is in. Judging changes nothing; whoever serves a request may still refuse it.
Deliberately absent: what an admitted request does (conversation.py), schemas (connection.py checks them between).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from acp_agent.jsonrpc.messages import Request
from acp_agent.protocol import offers, resources, turns
from acp_agent.protocol.conversation import Conversation
from acp_agent.protocol.machines.connection import ConnectionState
from acp_agent.protocol.methods import METHODS, Side, declares, gate_is_open
from acp_agent.protocol.paths import is_absolute, judge_paths
from acp_agent.protocol.sessions import (
    OPENING_REQUESTS,
    REQUESTS_IN_SESSION,
    SETUP_REQUESTS,
    Session,
    SessionStatus,
)
from acp_agent.protocol.verdicts import Verdict, inferred, suspect, violation, warning

_CONTENT_GATES: Final = {"image": "image", "audio": "audio", "resource": "embeddedContext"}
_TERMINAL_USES: Final = frozenset(
    {"terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"}
)


def judge_envelope(conversation: Conversation, sender: Side, request: Request) -> Iterator[Verdict]:
    """Findings that need no look at the params, in the order of their precedence."""
    name = request.method
    if request.id in conversation.open[sender]:
        yield violation("duplicate_id", "a request with this id has no response yet")
    elif conversation.state is ConnectionState.CLOSING:
        # K10. An observer can't tell it from a request that crossed the end of the other stream.
        make = violation if conversation.own is not None else suspect
        yield make("closing", "the connection is closing", method=name)
    elif conversation.state is ConnectionState.UNINITIALISED and not _may_initialise(
        conversation, sender, request
    ):
        again = name == "initialize" and sender is Side.CLIENT
        sentence = "initialize has no answer yet" if again else "initialize comes first"
        yield violation("not_initialised", sentence, method=name)
    elif conversation.state is ConnectionState.READY and name == "initialize":
        yield violation("already_initialised", "initialize is sent once", method=name)
    else:
        yield from _judge_method(conversation, sender, name)


def _may_initialise(conversation: Conversation, sender: Side, request: Request) -> bool:
    asked = any(call.method == "initialize" and not call.refused for call in conversation.open[Side.CLIENT])
    if sender is Side.CLIENT:
        return request.method == "initialize" and not asked
    # An elicitation about the open initialize is tolerated: a login may be needed for it.
    is_object = isinstance(request.params, dict)
    return request.method == "elicitation/create" and asked and is_object and "requestId" in request.params


def _judge_method(conversation: Conversation, sender: Side, name: str) -> Iterator[Verdict]:
    method = METHODS.get(name)
    served = None if conversation.own is sender else conversation.policy.served
    is_served = served is None or name in served or name == "initialize"
    if method is None:
        if not name.startswith("_"):
            yield violation("method_unknown", "no such method", method=name)
        elif not is_served:
            yield violation("method_unknown", "this method is not served", method=name)
    elif not method.is_request:
        sentence = "this method is a notification"
        yield violation("notification_as_request", sentence, method=name)
    elif not method.sent_by(sender):
        yield violation("method_unknown", f"the {method.handled_by} handles this method", method=name)
    elif not is_served:
        yield violation("method_unknown", "this method is not served", method=name)
    elif not gate_is_open(method, conversation.capabilities):
        yield violation("capability_missing", "the capability was not advertised", method=name)


def judge_request(conversation: Conversation, sender: Side, request: Request) -> Iterator[Verdict]:
    """Findings on a request of the table whose envelope and params are valid."""
    name, params = request.method, request.params
    yield from judge_paths(name, params)
    if name == "authenticate":
        yield from _judge_authenticate(conversation, params)
    elif name in SETUP_REQUESTS:
        yield from _judge_setup(conversation, name, params)
    elif name in REQUESTS_IN_SESSION:
        yield from _judge_session(conversation, sender, name, params)
    elif name == "elicitation/create":
        found = list(
            resources.judge_elicitation(
                params,
                conversation.client_capabilities,
                conversation.elicitations,
                conversation.open[Side.CLIENT],
            )
        )
        yield from found
        if not found and "sessionId" in params:
            yield from _judge_session(conversation, sender, name, params)


def _judge_authenticate(conversation: Conversation, params: dict[str, Any]) -> Iterator[Verdict]:
    agent_handled = {item["id"] for item in conversation.auth_methods if item.get("type") != "terminal"}
    if not conversation.policy.any_authenticate and params["methodId"] not in agent_handled:
        sentence = "the agent has not advertised this method id"
        yield violation("params_invalid", sentence, method="authenticate", path="/methodId")


def _judge_setup(conversation: Conversation, name: str, params: dict[str, Any]) -> Iterator[Verdict]:
    agent = conversation.agent_capabilities
    servers = () if conversation.policy.lax_mcp_servers else params.get("mcpServers") or ()
    for index, server in enumerate(servers):
        kind = server.get("type")
        pointer = f"/mcpServers/{index}"
        if kind != "http" and kind != "sse":
            if not is_absolute(server["command"]):
                sentence = "the command of a server is an absolute path"
                yield warning("params_invalid", sentence, method=name, path=f"{pointer}/command")
        elif not declares(agent, ("mcpCapabilities", kind)):
            sentence = f"the agent has not advertised mcpCapabilities.{kind}"
            yield violation("content_not_supported", sentence, method=name, path=pointer)
    directories = ("sessionCapabilities", "additionalDirectories")
    if params.get("additionalDirectories") and not declares(agent, directories):
        sentence = "the agent has not advertised sessionCapabilities.additionalDirectories"
        yield violation("params_invalid", sentence, method=name, path="/additionalDirectories")
    session = conversation.sessions.get(params["sessionId"]) if name in OPENING_REQUESTS else None
    if session is None or not session.is_known:
        return
    idle_reload = name == "session/load" and conversation.policy.reload_open_session and not session.turns
    if session.status is SessionStatus.OPENING:
        yield violation("session_busy_opening", "the session is being opened", sessionId=session.id)
    elif not idle_reload:
        yield violation("session_already_open", "the session is open already", sessionId=session.id)


def _judge_session(
    conversation: Conversation, sender: Side, name: str, params: dict[str, Any]
) -> Iterator[Verdict]:
    session_id = params["sessionId"]
    session = conversation.sessions.get(session_id)
    if session is None or not session.is_known:
        code = conversation.policy.unknown_session_code
        yield violation("session_unknown", "no such session", code=code, sessionId=session_id)
    elif session.status is SessionStatus.OPENING:
        yield violation("session_busy_opening", "the session is being opened", sessionId=session_id)
    elif name == "session/prompt":
        yield from _judge_prompt(conversation, session, params)
    elif name == "session/request_permission":
        yield from turns.judge_permission_request(session, params, own=sender is conversation.own)
    elif name in _TERMINAL_USES:
        yield from resources.judge_terminal_use(session, params)
    elif name == "session/set_mode":
        yield from offers.judge_set_mode(session, params)
    elif name == "session/set_config_option":
        yield from offers.judge_set_option(session, params, certain=conversation.own is not None)


def _judge_prompt(conversation: Conversation, session: Session, params: dict[str, Any]) -> Iterator[Verdict]:
    if session.status is SessionStatus.CLOSING:
        yield violation("session_closing", "the session is being closed", sessionId=session.id)
    if session.turns and not conversation.policy.queue_prompts:
        sentence = "a prompt turn is already active in this session"
        yield inferred("turn_active", sentence, sessionId=session.id, state=str(session.turns[0].state))
    for index, block in enumerate(params["prompt"]):
        gate = _CONTENT_GATES.get(block["type"])
        path = ("promptCapabilities", gate or "")
        if (
            gate
            and not conversation.policy.lax_content
            and not declares(conversation.agent_capabilities, path)
        ):
            sentence = f"the agent has not advertised promptCapabilities.{gate}"
            yield violation("content_not_supported", sentence, sessionId=session.id, path=f"/prompt/{index}")
