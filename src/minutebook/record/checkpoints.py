"""Where a reading of a running session ended, beside its rounds. Disposable."""

from __future__ import annotations

import msgspec

from minutebook.record.inscription import Published
from minutebook.record.layout import Layout, SessionFolder
from minutebook.record.ledger import Entry
from minutebook.record.store import write_atomically


class _Kept(msgspec.Struct):
    rounds: int
    """Rounds the document had then."""
    document: tuple[int, int]
    """Its size and time then: one that somebody edited is compared in full."""
    reading: msgspec.Raw


def keep_checkpoint(layout: Layout, published: Published, checkpoint: bytes | None) -> None:
    """Keep where a reading ended; without one, remove what was kept."""
    header = published.header
    folder = SessionFolder(layout.folder(header.agent_id, header.session_id))
    if checkpoint is None:
        folder.checkpoint.unlink(missing_ok=True)
        return
    stat = layout.document(header.agent_id, header.session_id).stat()
    kept = _Kept(published.rounds, (stat.st_size, stat.st_mtime_ns), msgspec.Raw(checkpoint))
    write_atomically(folder.checkpoint, msgspec.json.encode(kept))


def checkpoint_of(layout: Layout, entry: Entry) -> bytes | None:
    """The checkpoint of a session whose document is still as it was then."""
    folder = SessionFolder(layout.folder(entry.agent_id, entry.session_id))
    try:
        kept = msgspec.json.decode(folder.checkpoint.read_bytes(), type=_Kept)
        stat = layout.document(entry.agent_id, entry.session_id).stat()
    except (OSError, msgspec.DecodeError):
        return None
    if kept.rounds != entry.rounds or kept.document != (stat.st_size, stat.st_mtime_ns):
        return None
    return bytes(kept.reading)
