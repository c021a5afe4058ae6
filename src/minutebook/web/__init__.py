"""The viewer: an overview of the work, and every session to read."""
