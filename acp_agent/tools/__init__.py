"""What Bob can do with the machine: tools with a name, a JSON Schema and an action. Knows no protocol."""
