"""Bob: the ACP agent role on the core, with a model and tools."""
