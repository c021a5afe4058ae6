"""Prospective engagements: start, advance, note, close (FUT-01).

>>> from minutebook import engagement
>>> engagement.start(".", "Passkey login", "build")            # doctest: +SKIP
>>> engagement.advance(".", "implement")                       # doctest: +SKIP
>>> engagement.close(".", outcome="Passkeys work.")            # doctest: +SKIP

Only the folder that is given is written, and only ``engagement.md`` and ``engagements/`` in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from minutebook.archive.masking import hide
from minutebook.archive.names import nearest
from minutebook.config import expanded
from minutebook.derive.phase_graph import Graph, is_name
from minutebook.derive.plain import clean, one_line
from minutebook.derive.times import instant
from minutebook.errors import Ambiguous, BadArgument, Conflict, NotFound
from minutebook.extract.records import free_id, slug
from minutebook.model.prospective import ENDS, EngagementFile, Obligation
from minutebook.record.engagement_files import ProjectEngagements, checked_id, project_folder
from minutebook.record.engagement_text import Draft, digest_of, new_text
from minutebook.record.phase_graphs import PhaseGraphs, read_graphs

_LONGEST_TOPIC = 200
_LONGEST_NOTE = 10_000


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """Where an engagement stands, and what was done to get there."""

    engagement: EngagementFile
    allowed: tuple[str, ...] = ()
    """The steps that may follow."""
    overdue: tuple[Obligation, ...] = ()
    violation: bool = False
    """Whether a step was taken that the graph does not have."""
    created: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    """Files that were moved: from, to."""
    problems: tuple[str, ...] = ()
    """What is wrong with files of phase graphs."""


def start(
    project: str | Path,
    topic: str,
    method: str,
    *,
    id: str | None = None,
    child: bool = False,
    switch: bool = False,
    actors: Sequence[str] = (),
    domains: Sequence[str] = (),
    sessions: Sequence[str] = (),
    note: str = "",
    archive: Path | None = None,
    now: datetime | None = None,
) -> Standing:
    """Begin an engagement: writes ``engagement.md``.

    An open one that stands there moves to ``engagements/<id>.md``, as the new one's parent
    (`child`) or beside it (`switch`); one that has ended, to ``engagements/archive/``.
    """
    home, at = project_folder(expanded(project)), _iso(now)
    graphs = read_graphs(archive, home.project)
    if method not in graphs.methods:
        raise BadArgument(f"'{method}' is not a method; choose one of {', '.join(graphs.methods)}.")
    topic = one_line(topic)[:_LONGEST_TOPIC].strip()
    if not topic:
        raise BadArgument("Name what the engagement is about.")
    if child and switch:
        raise BadArgument(
            "A new engagement is part of the open one or replaces it, not both.",
            remedy="child-or-switch",
        )
    with home.writing():
        files = home.files()
        there = next((file for file in files if file.place == "current"), None)
        taken = {file.id for file in files} | {Path(file.path).stem for file in files}
        wanted = checked_id(id) if id else free_id(f"{at[:10]}-{slug(topic)}", taken)
        if wanted in taken:
            raise Conflict(f"There is an engagement {wanted} already: choose another id.")
        if there is not None and there.problems and not there.digest:
            raise Conflict(f"{there.path} was left alone: {there.problems[0]}. Move it away first.")
        if there is not None and not (child or switch):
            raise _in_the_way(there)
        if child and (there is None or not there.is_open):
            raise BadArgument("There is no open engagement here for this to be part of.")
        fields = {
            "engagement_id": wanted,
            "method": method,
            "phase": "started",
            "started": at,
            "updated": at,
            "phases_completed": [],
            "obligations": [],
            "actors": [one_line(name) for name in actors if name.strip()],
            "domains": [one_line(name) for name in domains if name.strip()],
            "parent_engagement": there.id if child and there is not None else None,
            "sessions": [one_line(name) for name in sessions if name.strip()],
        }
        content = new_text(fields, topic, _words(note)).encode()
        moved = [_park(home, there)] if there is not None else []
        home.create(home.current, content)
    return _standing(
        home, graphs, home.current, now, created=(str(home.current),), moved=tuple(moved)
    )


def status(
    project: str | Path,
    id: str | None = None,
    *,
    archive: Path | None = None,
    now: datetime | None = None,
) -> Standing:
    """Where an engagement stands: the current one, or the only open one, unless `id` names it."""
    home = project_folder(expanded(project))
    file = find(home, id)
    return _told(read_graphs(archive, home.project), file, now)


def advance(
    project: str | Path,
    step: str,
    *,
    id: str | None = None,
    note: str = "",
    session: str | None = None,
    force: bool = False,
    archive: Path | None = None,
    now: datetime | None = None,
) -> Standing:
    """Go on to another step; one that the graph does not have is refused, or with `force`
    recorded as a violation."""
    home = project_folder(expanded(project))
    file = find(home, id)
    graphs = read_graphs(archive, home.project)
    draft = _draft(home, file)
    violation = _go(draft, file, graphs.of(file.method), step, _iso(now), force=force)
    _add(draft, file, note, session, _iso(now))
    _write(home, file, draft)
    return _standing(home, graphs, Path(file.path), now, changed=(file.path,), violation=violation)


def note(
    project: str | Path,
    text: str = "",
    *,
    id: str | None = None,
    obligation: str | None = None,
    due: str | None = None,
    done: int | None = None,
    session: str | None = None,
    archive: Path | None = None,
    now: datetime | None = None,
) -> Standing:
    """Add a line to an engagement's text; an obligation, with the day it is due; or say that the
    obligation of a number (from 1) is done."""
    home, at = project_folder(expanded(project)), _iso(now)
    if not (text.strip() or obligation or done or session):
        raise BadArgument("Give a text, an obligation, or the number of one that is done.")
    if due and not obligation:
        raise BadArgument("A due date needs an obligation.", remedy="obligation")
    file = find(home, id)
    draft = _draft(home, file)
    if obligation:
        item = {"what": one_line(obligation)[:_LONGEST_TOPIC]}
        draft.append("obligations", item | ({"due": _due(due, now)} if due else {}))
    if done is not None:
        if not 1 <= done <= len(file.obligations):
            raise NotFound(
                f"There is no obligation {done}: {file.id} has {len(file.obligations)} of them."
            )
        draft.set_in("obligations", done - 1, "done", at, of=len(file.obligations))
    _add(draft, file, text, session, at)
    draft.set("updated", at)
    _write(home, file, draft)
    graphs = read_graphs(archive, home.project)
    return _standing(home, graphs, Path(file.path), now, changed=(file.path,))


def close(
    project: str | Path,
    *,
    id: str | None = None,
    phase: str = "completed",
    outcome: str = "",
    session: str | None = None,
    force: bool = False,
    archive: Path | None = None,
    now: datetime | None = None,
) -> Standing:
    """End an engagement and move its file to ``engagements/archive/<id>.md``; the parent it
    interrupted becomes the current one again."""
    if phase not in ENDS:
        raise BadArgument(f"'{phase}' is not an end; choose one of {', '.join(ENDS)}.")
    home = project_folder(expanded(project))
    file = find(home, id)
    if file.place == "archived":
        raise Conflict(f"{file.id} is closed already: {file.path}.")
    graphs = read_graphs(archive, home.project)
    draft = _draft(home, file)
    violation = False
    if file.phase not in ENDS:
        graph = graphs.of(file.method)
        violation = _go(draft, file, graph, phase, _iso(now), force=force)
    _add(draft, file, f"Outcome: {outcome}" if outcome.strip() else "", session, _iso(now))
    target = home.closed_path(file.id)
    with home.writing():
        if target.exists() or target.is_symlink():
            raise Conflict(f"{target} exists already: {file.path} was left alone.")
        content = draft.content
        home.replace(Path(file.path), content, file.digest)
        home.move(Path(file.path), target, digest_of(content))
        moved = [(file.path, str(target))]
        if file.place == "current" and file.parent_engagement:
            moved += _back(home, file.parent_engagement)
    return _standing(home, graphs, target, now, moved=tuple(moved), violation=violation)


def listed(project: str | Path) -> list[EngagementFile]:
    """Every engagement of a project, the current one first."""
    return project_folder(expanded(project)).files()


# -- pieces


def find(home: ProjectEngagements, id: str | None) -> EngagementFile:
    """The engagement that is meant: by its id or the start of it; else the current one, else the
    only open one."""
    files = home.files()
    if id:
        fitting = [f for f in files if f.id == id] or [f for f in files if f.id.startswith(id)]
        if len(fitting) > 1:
            paths = " and ".join(file.path for file in fitting[:3])
            raise Ambiguous(f"'{id}' is the id of several engagements: {paths}.")
        if not fitting:
            known = nearest(id, [file.id for file in files])
            raise NotFound(f"There is no engagement '{id}' in {home.project}.{known}")
        return fitting[0]
    for file in files:
        if file.place == "current":
            return file
    still = [file for file in files if file.is_open]
    if len(still) == 1:
        return still[0]
    if still:
        raise Ambiguous(
            f"Several engagements are open: {', '.join(file.id for file in still[:10])}.",
            remedy="which-id",
        )
    raise NotFound(f"No engagement is open in {home.project}.", remedy="start")


def _draft(home: ProjectEngagements, file: EngagementFile) -> Draft:
    if any("is also that of" in problem for problem in file.problems):
        raise Ambiguous(f"{file.path} was left alone: {file.problems[-1]}.")
    return Draft(home.content(file), file.path)


def _go(
    draft: Draft, file: EngagementFile, graph: Graph, step: str, at: str, *, force: bool
) -> bool:
    """Take a step; whether it is one the graph does not have."""
    allowed = graph.allowed(file.phase, file.phases_completed)
    fits = step in allowed
    if step == file.phase:
        raise BadArgument(f"{file.id} is in '{step}' already.")
    if not fits and not force:
        after = f"choose one of {', '.join(allowed)}" if allowed else "nothing follows it"
        raise BadArgument(
            hide(f"'{one_line(step)}' does not follow '{file.phase}' in {file.method}: {after}."),
            remedy="force-step",
        )
    if not is_name(step):
        raise BadArgument("A step is a word of letters and hyphens.")
    draft.append("phases_completed", {"phase": file.phase or "started", "at": at})
    if not fits:
        draft.append("violations", {"from": file.phase, "to": step, "at": at})
    draft.set("phase", step)
    draft.set("updated", at)
    return not fits


def _add(draft: Draft, file: EngagementFile, text: str, session: str | None, at: str) -> None:
    if text.strip():
        draft.note(f"- {at}: {_words(text)}")
    if session and one_line(session) not in file.sessions:
        draft.append("sessions", one_line(session))


def _words(text: str) -> str:
    if len(text) > _LONGEST_NOTE:
        raise BadArgument(
            f"A note has at most {_LONGEST_NOTE:,} characters: write a longer text into the file."
        )
    return "\n".join(clean(text).strip().splitlines())


def _write(home: ProjectEngagements, file: EngagementFile, draft: Draft) -> None:
    content = draft.content
    with home.writing():
        home.replace(Path(file.path), content, file.digest)


def _in_the_way(file: EngagementFile) -> Conflict:
    """None can be begun beside the current one."""
    who = f"'{file.topic}' ({file.id})"
    if file.is_open:
        return Conflict(hide(f"{who} is open in {file.path}."), remedy="in-the-way")
    return Conflict(
        hide(f"{who} has ended, but is still in {file.path}."), remedy="ended-in-the-way"
    )


def _park(home: ProjectEngagements, file: EngagementFile) -> tuple[str, str]:
    """Put the current engagement aside."""
    if file.problems and not file.digest:
        raise Conflict(f"{file.path} was left alone: {file.problems[0]}.")
    id = file.id if file.id != home.current.stem else "set-aside"
    to = home.open_path(id) if file.is_open else home.closed_path(id)
    home.move(home.current, to, file.digest)
    return file.path, str(to)


def _back(home: ProjectEngagements, parent: str) -> list[tuple[str, str]]:
    file = next((f for f in home.files() if f.id == parent and f.place == "open"), None)
    if file is None or not file.digest:
        return []
    home.move(Path(file.path), home.current, file.digest)
    return [(file.path, str(home.current))]


def _standing(
    home: ProjectEngagements,
    graphs: PhaseGraphs,
    path: Path,
    now: datetime | None,
    *,
    created: tuple[str, ...] = (),
    changed: tuple[str, ...] = (),
    moved: tuple[tuple[str, str], ...] = (),
    violation: bool = False,
) -> Standing:
    file = home.file(path)
    if file is None:
        raise NotFound(f"{path} was written, but has disappeared.")
    return msgspec.structs.replace(
        _told(graphs, file, now), created=created, changed=changed, moved=moved, violation=violation
    )


def _told(graphs: PhaseGraphs, file: EngagementFile, now: datetime | None) -> Standing:
    graph = graphs.of(file.method)
    odd = list(file.problems)
    if file.method and file.method not in graphs.methods:
        odd.append(f"'{file.method}' is not a method: it may take the steps every method has")
    elif file.phase and file.phase not in graph.steps:
        odd.append(f"'{file.phase}' is not a step of {file.method}")
    return Standing(
        engagement=msgspec.structs.replace(file, problems=tuple(odd)),
        allowed=graph.allowed(file.phase, file.phases_completed),
        overdue=file.overdue(now or datetime.now().astimezone()),
        problems=tuple(f"{path} is not used: {why}" for path, why in graphs.problems.items()),
    )


def _due(text: str, now: datetime | None) -> str:
    """A day or a moment as people say it: ISO, ``today``, ``tomorrow``, ``5d``."""
    word = text.strip().lower()
    days = {"today": 0, "tomorrow": 1}.get(word, -1)
    if word.endswith("d") and word[:-1].isdecimal() and len(word) < 5:
        days = int(word[:-1])
    if days >= 0:
        return f"{(now or datetime.now()).astimezone() + timedelta(days=days):%Y-%m-%d}"
    if instant(text.strip()) is None:
        raise BadArgument(
            f"'{one_line(text)}' is not a day: write 2026-03-31, today, tomorrow or 5d."
        )
    return text.strip()


def _iso(now: datetime | None) -> str:
    """Local time with its offset."""
    return (now or datetime.now()).astimezone().isoformat(timespec="seconds")
