"""The client role of ACP, and what stands on it: the chat in a terminal and the demo.

Deliberately absent here: re-exports, so that a program which only needs the Client does not load the chat.
"""
