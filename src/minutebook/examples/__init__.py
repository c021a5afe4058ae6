"""Example sessions, written by us: something to try minutebook on, and to test it with.

The first nine are what tests and documentation speak of. A demonstration has the weeks around them
as well, with a second coding agent, so that there is something to look at.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from minutebook.examples.rollouts import ROLLOUTS
from minutebook.examples.scenes import SCENES
from minutebook.examples.script import Script
from minutebook.examples.weeks import WEEKS


def example_scripts() -> list[Script]:
    """The first example sessions, as scripts of records."""
    return [scene() for scene in SCENES]


def write_examples(folder: Path) -> list[Path]:
    """Lay the first examples out as Claude Code does, under ``<folder>/projects``."""
    return _written(folder, _transcripts(example_scripts()))


def write_demonstration(folder: Path) -> list[Path]:
    """All examples; those of Codex CLI under ``<folder>/sessions``, where it would have them."""
    rollouts = [scene() for scene in ROLLOUTS]
    names = (
        json.dumps(
            {"id": s.session_id, "thread_name": s.title, "updated_at": s.lines[-1]["timestamp"]}
        )
        for s in rollouts
    )
    files = dict(s.file() for s in rollouts)
    files["session_index.jsonl"] = "".join(f"{name}\n" for name in names).encode()
    scripts = [*example_scripts(), *(scene() for scene in WEEKS)]
    return _written(folder, _transcripts(scripts) | files)


def _transcripts(scripts: Iterable[Script]) -> dict[str, bytes]:
    found = (script.files().items() for script in scripts)
    return {f"projects/{name}": content for files in found for name, content in files}


def _written(folder: Path, files: dict[str, bytes]) -> list[Path]:
    """A file that already holds the right bytes is left alone, its times too."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)
    return [folder / name for name in files]
