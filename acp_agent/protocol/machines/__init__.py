"""The three state machines: a connection, a prompt turn, a tool call.

The classes declare the transitions, `step` asks the tables compiled from them, `DIAGRAMS.md` shows them. Nothing
is exported here, so that a name of `step` cannot hide the module of that name.
"""
