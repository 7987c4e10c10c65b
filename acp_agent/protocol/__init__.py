"""ACP v1: its methods, schemas, state machines and what a connection makes of them.

Pure: no clock, and no I/O but reading its own bundled data.
"""
