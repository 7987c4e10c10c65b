"""A raw agent for tests of the client: JSON lines by hand, one scripted conduct a name, nothing of the package.

    python fake_agent.py CONDUCT

A conduct is a generator-free function that reads lines and writes bytes as it likes. `record` writes what was read to
the file named by $FAKE_AGENT_LOG, so that a test sees what the client sent, in order.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

OUT = sys.stdout.buffer
LOG = os.environ.get("FAKE_AGENT_LOG")


def raw(data):
    OUT.write(data)
    OUT.flush()


def line(message):
    return json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode() + b"\n"


def send(**message):
    raw(line(message))


def read():
    """The next message of the client, None at the end of input."""
    text = sys.stdin.buffer.readline()
    if LOG:
        with Path(LOG).open("ab") as log:
            log.write(text or b'"EOF"\n')
    return json.loads(text) if text else None


def update(session, sort, /, **members):
    return {
        "method": "session/update",
        "params": {"sessionId": session, "update": {"sessionUpdate": sort, **members}},
    }


def chunk(session, text):
    return update(session, "agent_message_chunk", content={"type": "text", "text": text})


def permission(id_, session, call, options=(("yes", "allow_once"), ("no", "reject_once"))):
    listed = [{"optionId": option, "name": option, "kind": kind} for option, kind in options]
    params = {"sessionId": session, "toolCall": {"toolCallId": call}, "options": listed}
    return {"id": id_, "method": "session/request_permission", "params": params}


def handshake(result=None, session="S1"):
    """Answer initialize and session/new; return the session id."""
    send(id=read()["id"], result=result or {"protocolVersion": 1})
    send(id=read()["id"], result={"sessionId": session})
    return session


def end(prompt, reason="end_turn"):
    send(id=prompt["id"], result={"stopReason": reason})


def until_closed():
    while read() is not None:
        pass


def plain():
    """Repeats each prompt's text; `cancel me` waits for the cancel."""
    send(id=read()["id"], result={"protocolVersion": 1, "agentInfo": {"name": "fake", "version": "1"}})
    count = 0
    while (message := read()) is not None:
        if message["method"] == "session/new":
            count += 1
            send(id=message["id"], result={"sessionId": f"S{count}"})
        elif message["method"] == "session/prompt":
            session = message["params"]["sessionId"]
            text = "".join(block.get("text", "") for block in message["params"]["prompt"])
            send(**chunk(session, text))
            if text == "cancel me":
                read()
                end(message, "cancelled")
            else:
                end(message)


def silent():
    read()
    until_closed()


def version_99():
    send(id=read()["id"], result={"protocolVersion": 99})
    until_closed()


def dies_at_once():
    print("no such model: banana", file=sys.stderr)
    sys.exit(3)


def dies_in_turn():
    session = handshake()
    read()
    send(**chunk(session, "half an ans"))
    sys.exit(7)


def dies_with_permission_open():
    session = handshake()
    read()
    send(**permission("p1", session, "c1"))
    os.kill(os.getpid(), signal.SIGKILL)


def closes_stdout():
    handshake()
    read()
    os.close(1)
    until_closed()


def early_updates():
    send(id=read()["id"], result={"protocolVersion": 1})
    for session in ("S1", "S2"):
        new = read()
        commands = [{"name": f"of-{session}", "description": "d"}]
        send(**update(session, "available_commands_update", availableCommands=commands))
        send(**update("nobody", "available_commands_update", availableCommands=[]))
        send(id=new["id"], result={"sessionId": session})
    until_closed()


def burst():
    session = handshake()
    while (prompt := read()) is not None:
        lines = [line(chunk(session, f"{number},")) for number in range(500)]
        raw(b"".join(lines) + line({"id": prompt["id"], "result": {"stopReason": "end_turn"}}))


def three_permissions():
    session = handshake()
    prompt = read()
    raw(b"".join(line(permission(f"p{n}", session, f"c{n}")) for n in (1, 2, 3)))
    send(**update(session, "tool_call_update", toolCallId="c1", status="in_progress"))
    send(**chunk(session, "meanwhile"))
    for _ in range(3):
        read()
    end(prompt)
    until_closed()


def cancel_with_permissions():
    """One permission is open when the cancel comes, one more crosses it."""
    session = handshake()
    prompt = read()
    send(**permission("p1", session, "c1"))
    read()  # the cancel
    send(**permission("p2", session, "c2"))
    read()
    read()
    send(**update(session, "tool_call_update", toolCallId="c1", status="failed"))
    end(prompt, "cancelled")
    until_closed()


def ends_with_permission_open():
    session = handshake()
    prompt = read()
    send(**permission("p1", session, "c1"))
    end(prompt)
    until_closed()


def withdraws_permission():
    session = handshake()
    prompt = read()
    send(**permission("p1", session, "c1"))
    send(method="$/cancel_request", params={"requestId": "p1"})
    read()
    send(**update(session, "tool_call_update", toolCallId="c1", status="failed"))
    end(prompt)
    until_closed()


def odd_options():
    """Four ways to allow, none to refuse."""
    session = handshake()
    prompt = read()
    send(**permission("p1", session, "c1", [(name, "allow_once") for name in "abcd"]))
    read()
    end(prompt)
    until_closed()


def ignores_cancel():
    session = handshake()
    read()
    send(**chunk(session, "busy"))
    read()  # the cancel
    send(**chunk(session, "still busy"))
    read()  # the next prompt
    until_closed()


def late_answer():
    """The answer to the cancelled prompt comes when the next one has been sent."""
    session = handshake()
    first = read()
    send(**chunk(session, "one"))
    read()
    second = read()
    end(first, "cancelled")
    send(**chunk(session, "two"))
    end(second)
    until_closed()


def error_for_cancel():
    session = handshake()
    prompt = read()
    send(**chunk(session, "x"))
    read()
    send(id=prompt["id"], error={"code": -32800, "message": "Request cancelled"})
    prompt = read()
    send(id=prompt["id"], error={"code": -32603, "message": "Internal error", "data": {"details": "no key"}})
    end(read())
    until_closed()


def wants_login():
    methods = [{"id": "card", "name": "By card"}]
    send(id=read()["id"], result={"protocolVersion": 1, "authMethods": methods})
    send(id=read()["id"], error={"code": -32000, "message": "Authentication required"})
    until_closed()


def error_with_data():
    handshake()
    send(id=read()["id"], error={"code": -32603, "message": "Internal error", "data": "no key"})
    end(read())
    until_closed()


def huge_line():
    session = handshake()
    prompt = read()
    send(**chunk(session, "x" * (16 * 1024 * 1024)))
    end(prompt)
    until_closed()


def split_text():
    session = handshake()
    prompt = read()
    for byte in line(chunk(session, "ä€😀")).replace(b"\n", b"\r\n"):
        raw(bytes([byte]))
    end(prompt)
    until_closed()


def noisy():
    sys.stderr.write("noise " * 200_000)
    sys.stderr.flush()
    session = handshake()
    prompt = read()
    sys.stderr.write("more " * 200_000 + "the end")
    sys.stderr.flush()
    send(**chunk(session, "done"))
    end(prompt)
    until_closed()


def unknown_things():
    session = handshake(result={"protocolVersion": 1, "futureMember": [], "agentCapabilities": {"zz": 1}})
    prompt = read()
    send(**update(session, "zz_future", x=1))
    send(**update(session, "tool_call", toolCallId="c1", title="t", kind="zz_kind", rawInput=None, zz=1))
    send(method="_vendor/changed", params={"a": 1})
    send(method="$/progress", params={})
    raw(b"a banner\n{\n[]\n42\n\n")
    send(id=99, result={})
    for number, method in enumerate(["fs/read_text_file", "terminal/create", "_x/y", "zz/unknown"]):
        send(id=number, method=method, params={"sessionId": session, "path": "/x", "command": "x"})
    for _ in range(4):
        read()
    send(**chunk(session, "fine"))
    end(prompt)
    until_closed()


def late_text():
    session = handshake()
    end(read())
    send(**chunk(session, "late"))
    send(**update(session, "current_mode_update", currentModeId="m"))
    end(read())
    until_closed()


def with_child():
    """Leaves a child behind and does not go when its input ends."""
    handshake()
    child = subprocess.Popen(["sleep", "600"])
    while (prompt := read()) is not None:
        send(**chunk("S1", str(child.pid)))
        end(prompt)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)


def asks_without_reading():
    """Requests without end, and no answer is ever read."""
    handshake()
    read()
    while True:
        send(id="x" * 1000, method="_x/" + "y" * 1000, params={})


def work():
    """A turn with everything a display shows."""
    session = handshake(
        result={"protocolVersion": 1, "agentInfo": {"name": "fake", "title": "Fake", "version": "1"}}
    )
    prompt = read()
    send(**update(session, "agent_thought_chunk", content={"type": "text", "text": "hmm"}))
    send(**chunk(session, "I \x1b[31mdo\x1b[0m it.\x9b1m"))
    entries = [{"content": "first", "priority": "high", "status": "in_progress"}]
    send(**update(session, "plan", entries=entries))
    send(
        **update(
            session,
            "tool_call",
            toolCallId="c1",
            title="bash: ls",
            kind="execute",
            rawInput={"command": "ls"},
        )
    )
    send(**permission("p1", session, "c1", [("ok", "allow_once"), ("no", "reject_once")]))
    answer = read()["result"]["outcome"]
    granted = answer.get("optionId") == "ok"
    send(
        **update(session, "tool_call_update", toolCallId="c1", status="in_progress" if granted else "failed")
    )
    if granted:
        content = [{"type": "content", "content": {"type": "text", "text": "a\nb"}}]
        send(**update(session, "tool_call_update", toolCallId="c1", status="completed", content=content))
        diff = {"type": "diff", "path": "/w/f", "oldText": "one\ntwo\n", "newText": "one\n2\n"}
        send(**update(session, "tool_call", toolCallId="c2", title="edit", kind="edit"))
        send(**update(session, "tool_call_update", toolCallId="c2", status="completed", content=[diff]))
    send(**update(session, "usage_update", used=10, size=100))
    end(prompt, "end_turn" if granted else "refusal")
    until_closed()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
