"""The scenarios, an area a module. Each module is found by being here and registers what it holds."""
