"""The three state machines: a connection, a prompt turn, a tool call.

`classes` declares the transitions; `generate` writes what is compiled from them into `tables` and DIAGRAMS.md; `step`
asks the tables, and is all that a running agent needs. Nothing is exported here, so that a name of `step` cannot hide
the module of that name.
"""
