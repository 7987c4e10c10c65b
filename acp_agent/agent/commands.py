"""Slash commands that Bob carries out himself, without the model: `/new` and `/compact`.

Owns their names and what they say. They are turns like others: they wait for the turn that runs, can be cancelled,
and are answered `end_turn`. Deliberately absent: skills, which are advertised beside them but are for the model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from acp_agent.agent.engine import Engine
    from acp_agent.agent.session import Session

NEW: Final = "new"
COMPACT: Final = "compact"
DESCRIPTIONS: Final = {
    NEW: "Clear the history and start a new session",
    COMPACT: "Compress the history now, keeping the last turns",
}


def command_in(text: str) -> str | None:
    """The command that a prompt is, if it is exactly one: `/new` or `/compact`, white space around it aside."""
    name = text.strip().removeprefix("/")
    return name if name in DESCRIPTIONS and text.strip().startswith("/") else None


async def carry_out(command: str, session: Session, engine: Engine) -> str:
    """Do it, log it, and return what the user is told."""
    return await (_new(session, engine) if command == NEW else _compact(session, engine))


async def _new(session: Session, engine: Engine) -> str:
    if len(session.history) and engine.keeper.keeps:
        from acp_agent.agent.store import StoreError  # sessions are not kept by default

        try:
            kept_id = await engine.keeper.keep_apart(session)
            engine.log.say(f"session {session.id}: previous conversation kept as {kept_id}")
        except StoreError as error:
            engine.log.say(f"session {session.id}: warning: {error}")
            if engine.keeper.is_stored(session):
                # To go on would put an empty conversation in the place of the only copy on disk.
                return f"[new: failed, history kept: {error}]"
    forgotten = session.history.reset()
    session.input_tokens = None
    engine.log.say(f"session {session.id}: new session, {forgotten} message(s) forgotten")
    return f"🆕 New session: {forgotten} message(s) forgotten."


async def _compact(session: Session, engine: Engine) -> str:
    from acp_agent.agent.compaction import compact  # the names above are needed at a start, this is not

    compaction = await compact(
        session.history,
        engine.model,
        keep_last_turns=engine.context.keep_last_turns,
        input_tokens=session.input_tokens,
    )
    if compaction.changed:
        session.input_tokens = None
    engine.log.say(f"session {session.id}: /compact — {compaction.line}")
    return compaction.line
