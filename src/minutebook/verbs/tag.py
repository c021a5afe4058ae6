"""Say which engagement rounds belong to (DB-07). Only the index changes."""

from __future__ import annotations

import re

import msgspec

from minutebook.record.database import Broken, count_rows, open_database, rows_of, tag_rows
from minutebook.record.indexes import rounds_index
from minutebook.record.inscription import refresh_database
from minutebook.record.layout import Layout
from minutebook.record.reading import read_inscription
from minutebook.record.store import write_atomically, writing
from minutebook.record.tags import Tag, add_tag
from minutebook.errors import BadArgument, NotFound
from minutebook.verbs.find_inscription import find_inscription
from minutebook.verbs.rebuild import index_rows, rebuild_sessions_database

_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
NOTHING = "-"


class Tagged(msgspec.Struct, frozen=True):
    session_id: str
    rounds: int
    engagement_id: str | None


def tag(layout: Layout, session: str, rounds: str, engagement_id: str) -> Tagged:
    """Tag round N, rounds LO-HI or all; ``-`` as the engagement takes a tag off."""
    first, last = parse_rounds(rounds)
    label = engagement_id.strip()
    if not label or not label.isprintable():
        raise BadArgument(
            "An engagement id is a word or slug, like console-work; '-' takes it off."
        )
    inscription = read_inscription(find_inscription(layout, session), pictures=False)
    header, folder = inscription.header, inscription.folder
    value = None if label == NOTHING else label
    with writing(layout.lock, "tag"):
        if count_rows(folder.database) != len(inscription.rounds):
            refresh_database(layout, folder, header, index_rows(layout, inscription))
        with open_database(folder.database) as database:
            count = tag_rows(database, header.session_id, first, last, value)
            if not count:
                raise NotFound(f"Session {header.session_id[:8]} has no round {rounds}.")
            rows = rows_of(database, header.session_id)
        add_tag(layout, Tag(header.session_id, first, last, value))
        write_atomically(folder.index, rounds_index(header.session_id, rows))
        try:
            with open_database(layout.database) as database:
                tag_rows(database, header.session_id, first, last, value)
        except Broken:
            rebuild_sessions_database(layout)
    return Tagged(header.session_id, count, value)


def parse_rounds(rounds: str) -> tuple[int, int | None]:
    if rounds.strip().lower() == "all":
        return 1, None
    match = _RANGE.fullmatch(rounds.strip())
    first = int(match[1]) if match else 0
    last = int(match[2] or match[1]) if match else 0
    if first < 1 or last < first:
        raise BadArgument(f"'{rounds}' is no range of rounds: write 3, 3-7 or all.")
    return first, last
