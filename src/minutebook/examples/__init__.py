"""Example sessions, written by us: something to try minutebook on, and to test it with."""

from __future__ import annotations

from pathlib import Path

from minutebook.examples.scenes import SCENES
from minutebook.examples.script import Script


def example_scripts() -> list[Script]:
    """All example sessions, as scripts of records."""
    return [scene() for scene in SCENES]


def write_examples(folder: Path) -> list[Path]:
    """Lay the examples out as Claude Code does, under ``<folder>/projects``.

    A file that already holds the right bytes is left alone, its times too.
    """
    written = []
    for script in example_scripts():
        for name, content in script.files().items():
            path = folder / "projects" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() or path.read_bytes() != content:
                path.write_bytes(content)
            written.append(path)
    return written
