"""Where a reading of a running session ended, beside its rounds. Disposable."""

from __future__ import annotations

import msgspec

from minutebook.record.layout import SessionFolder
from minutebook.record.store import write_atomically


class _Kept(msgspec.Struct):
    rounds: int
    """Rounds that were written then."""
    reading: msgspec.Raw


def keep_checkpoint(folder: SessionFolder, rounds: int, checkpoint: bytes | None) -> None:
    """Keep where a reading ended; without one, remove what was kept."""
    if checkpoint is None:
        folder.checkpoint.unlink(missing_ok=True)
        return
    write_atomically(folder.checkpoint, msgspec.json.encode(_Kept(rounds, msgspec.Raw(checkpoint))))


def checkpoint_of(folder: SessionFolder, rounds: int) -> bytes | None:
    """The checkpoint of a session that has as many rounds as it had then."""
    try:
        kept = msgspec.json.decode(folder.checkpoint.read_bytes(), type=_Kept)
    except (OSError, msgspec.DecodeError):
        return None
    return bytes(kept.reading) if kept.rounds == rounds else None
