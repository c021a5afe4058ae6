"""Find the inscription a person means: by UUID prefix, name, title or file."""

from __future__ import annotations

from pathlib import Path

from minutebook.record.layout import Layout
from minutebook.record.ledger import Entry, load_ledger, peek
from minutebook.errors import Ambiguous, NotFound


def find_inscription(layout: Layout, name: str) -> Path:
    """The one document that fits."""
    entries = load_ledger(layout).sessions
    wanted = name.strip().lower()
    found = [e for id, e in entries.items() if wanted and id.lower().startswith(wanted)]
    exact = [entry for entry in found if entry.session_id.lower() == wanted]
    found = exact or found
    if not found:
        named = {id: _names(layout, entry) for id, entry in entries.items()}
        whole = [entries[id] for id, names in named.items() if wanted in names]
        part = [entries[id] for id, names in named.items() if any(wanted in n for n in names)]
        found = whole or part
    if not found:
        raise NotFound(
            f"No inscribed session is called '{name}'. `minutebook status` says what there is."
        )
    if len(found) > 1:
        some = ", ".join(entry.session_id[:13] for entry in found[:5])
        raise Ambiguous(f"'{name}' fits {len(found)} inscriptions: {some}. Give a longer prefix.")
    return layout.document(found[0].agent_id, found[0].session_id)


def _names(layout: Layout, entry: Entry) -> list[str]:
    header = peek(layout.document(entry.agent_id, entry.session_id))
    names = (entry.title, header.name if header is not None else None)
    return [text.lower() for text in names if text]
