"""Publishing a session: document, rounds, media, subagents, ``session.db``, ``index.md``.

A new session's folder is filled out of sight and appears by one rename; the document comes
last, and with it the session is inscribed. An existing document only ever gets longer: new
rounds are appended behind bytes that stay as they are (OPS-02 … OPS-08).
"""

from __future__ import annotations

from typing import Literal

import msgspec

from minutebook.record.database import (
    count_rows,
    open_database,
    put_rows,
    rows_of,
)
from minutebook.record.engagements import Ranges
from minutebook.record.header import Header, read_header, summary_line, write_header
from minutebook.record.indexes import rounds_index
from minutebook.record.layout import Layout, SessionFolder
from minutebook.record.markdown import read_rounds, write_body, write_round
from minutebook.record.media import MediaStore
from minutebook.record.merge import Merged, merge
from minutebook.record.notation import carrier
from minutebook.record.reading import no_picture, read_text
from minutebook.record.rounds import RoundRow, round_file, row_of
from minutebook.record.store import (
    make_folder,
    new_folder,
    sweep,
    write_atomically,
    write_new,
)
from minutebook.record.tags import apply_tags
from minutebook.derive.identity import Identity
from minutebook.derive.messages import spoken
from minutebook.errors import Conflict
from minutebook.model import Round, SessionInfo, Subagent

NOTHING_SAID = "(nothing said)"
Outcome = Literal["new", "grown", "unchanged"]


class Published(msgspec.Struct, frozen=True):
    """What a publication did; small enough to travel between processes."""

    header: Header
    outcome: Outcome
    rounds: int
    rows: list[RoundRow]
    """Index rows of the rounds that were added."""
    late: int = 0
    """Messages older than the document's last, which are reported and not inserted."""
    changed: int = 0
    """Messages that read differently in the source than in the document."""
    gone: int = 0
    """Messages of the document that the source has no more."""
    strange: bool = False
    """Whether document and source number their rounds differently."""


def header_of(
    info: SessionInfo, identity: Identity, rounds: list[Round], agent_id: str, source: str
) -> Header:
    """The header of an inscription: from the published rounds, wherever they can tell."""
    times = [time for round in rounds for time in _times(round)]
    first = next((round.prompt for round in rounds if round.prompt is not None), None)
    models = (round.model for round in rounds)
    return Header(
        session_id=info.id,
        agent_id=agent_id,
        role=identity.role,
        name=identity.name,
        name_source=identity.source,
        title=info.title,
        model=next((name for name in models if name and not name.startswith("<")), None),
        started=min(times, default=None),
        ended=max(times, default=None),
        messages=sum(len(round.messages) for round in rounds),
        source=info.origin or source,
        cwd=info.cwd,
        branch=info.branch,
        version=info.versions[0] if info.versions else None,
        summary=summary_line(spoken(first.text) if first is not None else "") or NOTHING_SAID,
    )


def _times(round: Round) -> list[str]:
    stamps = [message.at for message in round.messages]
    stamps += [call.result.at for call in round.calls if call.result is not None]
    return [stamp for stamp in stamps if stamp and stamp[:1].isdigit()]


def publish(
    layout: Layout,
    header: Header,
    rounds: list[Round],
    subagents: list[Subagent],
    *,
    behind: int = 0,
    engagements: Ranges | None = None,
) -> Published:
    """Inscribe a session, or append what is new to its inscription.

    With `behind`, the rounds are those that follow so many in a document nobody has touched;
    `engagements` are those of a new session, where somebody knows them already.
    """
    document = layout.document(header.agent_id, header.session_id)
    try:
        known = read_text(document)
    except FileNotFoundError:
        return _publish_new(layout, header, rounds, subagents, engagements)
    return _append(layout, header, rounds, subagents, known, behind)


def _publish_new(
    layout: Layout,
    header: Header,
    rounds: list[Round],
    subagents: list[Subagent],
    engagements: Ranges | None,
) -> Published:
    document = layout.document(header.agent_id, header.session_id)
    folder = SessionFolder(layout.folder(header.agent_id, header.session_id))
    media = MediaStore(folder.path.name)
    text = write_header(header) + write_body(rounds, media)
    rows = [_row(layout, folder, header, round) for round in rounds]
    make_folder(document.parent)
    with new_folder(folder.path) as partial:
        inside = SessionFolder(partial)
        make_folder(inside.rounds)
        for round in rounds:
            write_new(inside.round(round.number), round_file(header.session_id, round, media))
        _write_subagents(inside, header, subagents)
        _write_media(inside, media)
        with open_database(inside.database, scratch=True) as database:
            put_rows(database, rows)
            fresh = {header.session_id: engagements} if engagements else None
            apply_tags(layout, database, [header.session_id], fresh)
            tagged = rows_of(database, header.session_id)
        write_new(inside.index, rounds_index(header.session_id, tagged))
    write_atomically(document, text.encode())
    return Published(header, "new", len(rounds), rows)


def _append(
    layout: Layout,
    header: Header,
    rounds: list[Round],
    subagents: list[Subagent],
    known: str,
    behind: int,
) -> Published:
    document = layout.document(header.agent_id, header.session_id)
    folder = SessionFolder(layout.folder(header.agent_id, header.session_id))
    old, start = read_header(known)
    if old.session_id != header.session_id:
        raise Conflict(
            f"{document} is the inscription of another session ({old.session_id}). "
            "Move it away, or give this archive another folder."
        )
    body = known[start:]
    media = MediaStore(folder.path.name)
    pieces = [write_round(round, media) for round in rounds]
    if behind:
        merged = Merged(rounds, "".join(pieces), behind)
        header = _continued(old, header)
    else:
        merged = merge(body, pieces, rounds, media)
    header = msgspec.structs.replace(
        header,
        engagements=old.engagements,
        extra=old.extra,
        **({"summary": old.summary, "edited": True} if old.edited else {}),
    )
    if merged.strange:
        # The source tells another story than the document: what is written stays, and
        # only what is certainly new goes behind it.
        times = [time for round in merged.added for time in _times(round)]
        header = msgspec.structs.replace(
            header,
            started=old.started,
            ended=max([*times, *([old.ended] if old.ended else [])], default=None),
            messages=old.messages + sum(len(round.messages) for round in merged.added),
            model=old.model or header.model,
            summary=old.summary,
        )
    rows = [_row(layout, folder, header, round) for round in merged.added]
    sweep(folder.path, "", "rounds/", "media/", "subagents/")
    make_folder(folder.rounds)
    removed: list[Round] = []
    if not behind and not merged.strange:
        published = rounds[: merged.published]
        removed = [round for round in published if not folder.round(round.number).exists()]
    for round in (*removed, *merged.added):
        content = round_file(header.session_id, round, media)
        write_atomically(folder.round(round.number), content)
    _write_subagents(folder, header, subagents)
    _write_media(folder, media)
    count = merged.published + len(merged.added)
    if count_rows(folder.database) != merged.published:
        # Lost, truncated or behind: from what the document says, with what is new.
        every = read_rounds(body + merged.text, MediaStore(recall=no_picture))
        refresh_database(layout, folder, header, [_row(layout, folder, header, r) for r in every])
    elif rows:
        refresh_database(layout, folder, header, rows)
    text = write_header(header) + body + merged.text
    changed = write_atomically(document, text.encode())
    outcome: Outcome = "grown" if merged.added or changed else "unchanged"
    return Published(
        header, outcome, count, rows, merged.late, merged.changed, merged.gone, merged.strange
    )


def _continued(old: Header, new: Header) -> Header:
    """The header of a whole session, from that of its first part and that of the rest."""
    starts = [time for time in (old.started, new.started) if time]
    ends = [time for time in (old.ended, new.ended) if time]
    return msgspec.structs.replace(
        new,
        started=min(starts, default=None),
        ended=max(ends, default=None),
        messages=old.messages + new.messages,
        model=old.model or new.model,
        summary=new.summary if old.summary == NOTHING_SAID else old.summary,
    )


def refresh_database(
    layout: Layout, folder: SessionFolder, header: Header, rows: list[RoundRow]
) -> None:
    """Bring ``session.db`` and its ``index.md`` up to date."""
    with open_database(folder.database) as database:
        put_rows(database, rows)
        apply_tags(layout, database, [header.session_id])
        every = rows_of(database, header.session_id)
    write_atomically(folder.index, rounds_index(header.session_id, every))


def _row(layout: Layout, folder: SessionFolder, header: Header, round: Round) -> RoundRow:
    file = layout.relative(folder.round(round.number))
    return row_of(header.session_id, round, file)


def _write_media(folder: SessionFolder, media: MediaStore) -> None:
    if media.kept:
        make_folder(folder.media)
    for name, content in media.kept.items():
        write_atomically(folder.media / name, content)


def _write_subagents(folder: SessionFolder, header: Header, subagents: list[Subagent]) -> None:
    """Each subagent as a document of its own, beside the rounds."""
    if subagents:
        make_folder(folder.subagents)
    for agent in subagents:
        media = MediaStore("..")
        text = write_subagent(header, agent, media).encode()
        path = folder.subagent(agent.id)
        # A subagent's document never gets shorter, whatever became of its source.
        if not path.exists() or path.stat().st_size < len(text):
            write_atomically(path, text)
            _write_media(folder, media)


def write_subagent(header: Header, agent: Subagent, media: MediaStore) -> str:
    """The document of a subagent."""
    facts = {
        "id": agent.id,
        "session": header.session_id,
        **{
            name: value
            for name in ("call_id", "kind", "description", "helper")
            if (value := getattr(agent, name))
        },
    }
    title = " ".join((agent.description or agent.kind or "Subagent").split())
    return f"# {title}\n\n{carrier('subagent', facts)}\n" + write_body(agent.rounds, media)
