"""The durable record on disk."""
