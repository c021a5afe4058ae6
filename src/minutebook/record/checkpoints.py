"""Where a reading of a running session ended, beside its rounds. Disposable."""

from __future__ import annotations

from minutebook.record.layout import SessionFolder
from minutebook.record.store import write_atomically


def keep_checkpoint(folder: SessionFolder, rounds: int, checkpoint: bytes | None) -> None:
    """Keep where a reading ended, after how many rounds; without one, remove what was kept."""
    if checkpoint is None:
        folder.checkpoint.unlink(missing_ok=True)
        return
    write_atomically(folder.checkpoint, b"%d\n" % rounds + checkpoint)


def checkpoint_of(folder: SessionFolder, rounds: int) -> bytes | None:
    """The checkpoint of a session that has as many rounds as it had then."""
    try:
        known, _, checkpoint = folder.checkpoint.read_bytes().partition(b"\n")
        return checkpoint if int(known) == rounds else None
    except (OSError, ValueError):
        return None
