"""Hypothesis strategies for what goes over the wire: text, instances of the schemas, changes, spellings, slices.

They know the protocol's schemas and nothing of an agent, so that whoever tests a boundary of ACP can use them.
"""
