"""The viewer: what was worked on, at a glance, and every session comfortably read."""
