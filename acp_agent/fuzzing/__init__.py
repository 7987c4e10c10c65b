"""The fuzzer: an agent is led through drawn conversations, and everything it does is judged by the core's rules.

Deliberately absent at import: everything. Hypothesis is an extra (`fuzz`), and only drawing conversations needs it;
playing a reproducer again does not.
"""
