"""Which projects a filter means: those of exactly that name, if there are any (SRCH-03)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

import msgspec

from minutebook.archive.programs import in_project
from minutebook.index.query import Filters
from minutebook.model.session import project_of

if TYPE_CHECKING:
    from minutebook.archive import Archive


def of_project(archive: Archive, filters: Filters) -> Filters:
    """Filters that know whether a project has the name they ask for: part of other names as well,
    it still means that project alone."""
    if not filters.project or filters.projects is not None:
        return filters
    return named(filters, folders(archive))


def named(filters: Filters, paths: Iterable[str]) -> Filters:
    """The same where these are all folders there are."""
    if not filters.project:
        return filters
    names = {project_of(path) for path in paths}
    return msgspec.structs.replace(filters, projects=meant(filters.project, names))


def folders(archive: Archive) -> set[str]:
    """Every folder, or project, of sessions and engagements; of transcripts alone where nothing is
    archived yet: all of them are read then."""
    found: set[str] = set()
    for entry in archive.ledger().sessions.values():
        found.update(entry.info.cwds)
    for record in archive.minutes.records().values():
        found.update(filter(None, (record.cwd, *(e.project for e in record.engagements))))
    if found:
        return found
    every = archive.sessions(ghosts=True, hidden=True, copies=True).sessions
    return {cwd for session in every for cwd in session.info.cwds}


def meant(wanted: str, names: Collection[str]) -> frozenset[str] | None:
    """The projects of a name: as it is written, else in any case; None where there is none."""
    name = wanted.removeprefix("=")
    if name in names:
        return frozenset({name})
    return frozenset(n for n in names if n.casefold() == name.casefold()) or None


def projects_of(archive: Archive, filters: Filters) -> list[str]:
    """The names of the projects that filters ask for; none where they ask for none."""
    if not filters.project:
        return []
    return sorted({project_of(path) for path in folders(archive) if in_project(filters, path)})


def several(wanted: str, names: Collection[str]) -> str:
    """That a part of a path means several projects, and which."""
    return f"'{wanted}' is part of the path of {len(names)} projects: {', '.join(names)}."
