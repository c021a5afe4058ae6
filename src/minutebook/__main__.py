"""``python -m minutebook``."""

from minutebook.cli.main import main

main()
