"""Use cases: they return values and yield events, and never print."""
