"""The model: asks a large language model and reads its answer.

Nothing of ACP is known here, and nothing of ours outside this package is imported. The contract is `model.Model`;
`providers.create_model` picks one of the three kinds. This file imports nothing, so that a start pays only for the
kind it uses.
"""
