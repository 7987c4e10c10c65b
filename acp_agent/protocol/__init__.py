"""ACP v1: its methods, schemas, state machines and what a connection makes of them. Pure: no I/O, no clock."""
