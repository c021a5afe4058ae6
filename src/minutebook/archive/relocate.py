"""Moving a session to the folder of a role that was registered later (INS-02, ID-06)."""

from __future__ import annotations

import msgspec

from minutebook.derive.identity import identify
from minutebook.model import Roster
from minutebook.record.documents import body_bytes, read_head, write_document
from minutebook.record.layout import Layout, SessionFolder, agent_id_of
from minutebook.record.ledger import Entry, Ledger
from minutebook.record.patches import Malformed
from minutebook.record.publish import refresh_database
from minutebook.record.store import make_folder
from minutebook.sources.registry import SOURCES


def relocate(layout: Layout, ledger: Ledger, entry: Entry, roster: Roster) -> bool:
    """Put a session where its role belongs; whether it was elsewhere."""
    known = roster.find(entry.session_id)
    source = SOURCES.get(entry.info.source)
    if known is None or not known.role or source is None:
        return False  # a role that is gone from the roster moves nothing
    agent_id = agent_id_of(known.role, source.program)
    if agent_id == entry.agent_id:
        return False
    old = SessionFolder(layout.folder(entry.agent_id, entry.session_id))
    new = SessionFolder(layout.folder(agent_id, entry.session_id))
    if new.path.exists():
        return False  # another session's; `check` names both
    make_folder(new.path.parent)
    # The folder last: a session is where its folder is, so a run that is killed between the two
    # leaves it to be moved again, and its round files are enough to read it until then.
    if old.document.exists():
        old.document.rename(new.document)
    old.path.rename(new.path)
    try:
        header, start = read_head(new.document)
        now = identify(entry.info, roster)
        changed = msgspec.structs.replace(
            header.recorded, agent_id=agent_id, role=now.role, name=now.name, name_source=now.source
        )
        write_document(new.document, changed, body_bytes(new.document, start))
    except (OSError, Malformed):
        pass  # it is made again by the next write
    new.database.unlink(missing_ok=True)
    refresh_database(layout, new, entry.session_id, [], None)
    ledger.sessions[entry.session_id] = msgspec.structs.replace(entry, agent_id=agent_id)
    layout.database.unlink(missing_ok=True)  # its rows name files: it is made again
    return True
