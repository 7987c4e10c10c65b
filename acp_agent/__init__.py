"""Bob, an agent for editors, and tools for the Agent Client Protocol, on one strict sans-IO core."""

__version__ = "0.11.0"
