"""HTML that can do nothing: transcript text, blocks and diffs, and files that stand alone."""
