"""What a person does with Bob outside of a conversation.

`acp-agent init` finds a model, `acp-agent doctor` says what is wrong, `acp-agent sessions` shows what is stored. The
only room that asks model servers anything but for an answer. Nothing here runs while an editor talks to Bob, and
nothing but the command line imports it.
"""
