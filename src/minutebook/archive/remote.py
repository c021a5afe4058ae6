"""An archive whose sessions are not on this machine: what it is asked beside them.

`Archive` answers from files; where it has a `remote`, everything that is found out from files
otherwise (the search index, digests of usage, lineage) comes from there. A team's database is one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Protocol

from minutebook.index.rows import OwnRows, Rows

if TYPE_CHECKING:
    from minutebook.archive.archive import Archive
    from minutebook.archive.masking import Hide
    from minutebook.derive.usage.digest import Digest
    from minutebook.index.engine import Engine
    from minutebook.model.lineage import Edge


class Remote(Protocol):
    """Where an archive's sessions are."""

    @property
    def name(self) -> str:
        """What a person calls it."""
        ...

    def opened(self, *, hide: Hide, patience: float | None) -> Archive:
        """The same archive once more: masked otherwise, or looked at for as long."""
        ...

    def engine(self) -> Engine: ...

    def reading(self) -> AbstractContextManager[Rows]: ...

    def digests(self, only: Collection[str] | None) -> dict[str, Digest]:
        """What sessions used, of all or of some."""
        ...

    def edges(self) -> tuple[Edge, ...]:
        """Which session comes from which."""
        ...

    def agents(self) -> dict[str, str]:
        """What subagents were started for, as far as it is known."""
        ...

    def person(self, session_id: str) -> str | None:
        """Whose session it is."""
        ...

    def said_by_agents(self, session_id: str, round: int) -> list[str]:
        """Words of a round's subagents."""
        ...


def engine_of(archive: Archive) -> Engine:
    """The search index of an archive."""
    from minutebook.index.engine import Engine

    if archive.remote is not None:
        return archive.remote.engine()
    return Engine(archive.layout.search_database, archive.layout.search)


@contextmanager
def rows_of(archive: Archive) -> Iterator[Rows]:
    """The rows of its index, while they are read."""
    from minutebook.index.database import open_search

    if archive.remote is not None:
        with archive.remote.reading() as rows:
            yield rows
        return
    with open_search(archive.layout.search_database, readonly=True) as connection:
        yield OwnRows(connection)


def archive_name(archive: Archive) -> str:
    """What a person calls an archive: its folder, or the team's address."""
    return archive.remote.name if archive.remote is not None else str(archive.root)


def person_of(archive: Archive, session_id: str) -> str | None:
    """Whose session it is, where it may be another person's."""
    return archive.remote.person(session_id) if archive.remote is not None else None
