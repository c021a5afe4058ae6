"""Whose a session is: what ``--agent`` and ``--project`` mean (AGT-01, SRCH-04)."""

from __future__ import annotations

from minutebook.index.query import Filters
from minutebook.model.session import project_of
from minutebook.sources.registry import SOURCES


def is_agent(wanted: str, source: str, *names: str | None) -> bool:
    """Whether a session of a source is this agent's: exactly a program's name means the program,
    anything else is a part of the persona's name, role or slug.

    A program whose adapter is gone still is one, by the name its sessions have.
    """
    if (known := SOURCES.by_program(wanted)) is not None:
        return source == known.name
    return wanted.lower() == source.lower() or within(wanted, *names)


def within(part: str, *texts: str | None) -> bool:
    """Whether one of some texts has a part, in letters of either size."""
    return any(part.lower() in text.lower() for text in texts if text)


def in_project(filters: Filters, *paths: str | None) -> bool:
    """Whether one of some folders is of the project that filters ask for, if they ask for one: of
    that name where there is such a project; with ``=orchard`` of that name in any case (with ``=``
    of none); else any whose path has that part."""
    wanted = filters.project
    if not wanted:
        return True
    if filters.projects is not None:
        return any(project_of(path) in filters.projects for path in paths if path)
    if wanted == "=":
        return not any(paths)
    if wanted.startswith("="):
        name = wanted[1:].lower()
        return any(project_of(path).lower() == name for path in paths if path)
    return within(wanted, *paths)
