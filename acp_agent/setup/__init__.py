"""Helping a person set Bob up: `acp-agent init` finds a model, `acp-agent doctor` says what is wrong.

The only room that asks model servers anything but for an answer. Nothing here runs while an editor talks to Bob, and
nothing but the command line imports it.
"""
