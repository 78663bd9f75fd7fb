"""Public verbs and shared tools."""
