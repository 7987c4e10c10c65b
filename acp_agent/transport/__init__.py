"""Bytes in and out of the process: the outbox, and the descriptors of standard input and output."""
