"""Tools that keep engagements while an agent works; they write in the project folder they are
given, and nowhere else (FUT-01)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from minutebook.archive.archive import Archive
from minutebook.archive.masking import hidden, hide
from minutebook.archive.prospective import prospective
from minutebook.derive.plain import one_line
from minutebook.errors import BadArgument
from minutebook.mcp.telling import answer, paged
from minutebook.model.engagement import Method
from minutebook.model.prospective import EngagementFile
from minutebook.verbs import engagement as verbs
from minutebook.verbs.engagement import Standing

Folder = Annotated[
    str,
    Field(
        description="The project folder: an absolute path that exists. Only engagement.md and "
        "engagements/ in it are written."
    ),
]
Id = Annotated[
    str | None, Field(description="Use this engagement of the folder, not the current one.")
]
Session = Annotated[
    str | None, Field(description="The id of your session, if you know it: it is listed.")
]
Force = Annotated[
    bool, Field(description="Take a step the graph does not have; the file records the violation.")
]


class EngagementTools:
    """Engagement files as an agent keeps them."""

    def __init__(self, archive: Archive) -> None:
        # One of our own, which masks whatever the other one does.
        self._archive = Archive(archive.root, archive.places, lenient=True)

    def engagement_start(
        self,
        project: Folder,
        topic: Annotated[str, Field(description="What it is about, in 3 to 15 words.")],
        method: Annotated[Method, Field(description="What kind of work it is.")],
        child: Annotated[bool, Field(description="Make it part of the open engagement.")] = False,
        switch: Annotated[bool, Field(description="Set the open engagement aside.")] = False,
        actors: Annotated[Sequence[str], Field(description="Who takes part.")] = (),
        domains: Annotated[Sequence[str], Field(description="What it belongs to.")] = (),
        note: Annotated[str, Field(description="The first text below the title.")] = "",
        session: Session = None,
    ) -> str:
        """Start an engagement worth tracking: writes engagement.md in the project folder. If one is
        open there, close it first, or give child or switch."""
        done = verbs.start(
            _folder(project),
            topic,
            method,
            child=child,
            switch=switch,
            actors=actors,
            domains=domains,
            note=note,
            sessions=[session] if session else [],
            archive=self._archive.root,
        )
        return _told(done)

    def engagement_status(self, project: Folder, id: Id = None) -> str:
        """Where the engagement of a project folder stands: phase, steps that may follow, what is
        owed and overdue. Writes nothing."""
        return _told(verbs.status(_folder(project), id, archive=self._archive.root))

    def engagement_advance(
        self,
        project: Folder,
        step: Annotated[str, Field(description="One of the steps that `engagement_status` names.")],
        note: Annotated[str, Field(description="A line for its text.")] = "",
        id: Id = None,
        session: Session = None,
        force: Force = False,
    ) -> str:
        """Move the engagement on to another step: changes its file in the project folder."""
        done = verbs.advance(
            _folder(project),
            step,
            id=id,
            note=note,
            session=session,
            force=force,
            archive=self._archive.root,
        )
        return _told(done)

    def engagement_note(
        self,
        project: Folder,
        text: Annotated[str, Field(description="A line for its text.")] = "",
        obligation: Annotated[str | None, Field(description="Something still owed.")] = None,
        due: Annotated[str | None, Field(description="Its day: 2026-03-31, tomorrow, 5d.")] = None,
        done: Annotated[
            int | None, Field(description="The number of an obligation to mark as done.")
        ] = None,
        id: Id = None,
        session: Session = None,
    ) -> str:
        """Add a line or an obligation to the engagement's file in the project folder, or mark an
        obligation as done."""
        found = verbs.note(
            _folder(project),
            text,
            id=id,
            obligation=obligation,
            due=due,
            done=done,
            session=session,
            archive=self._archive.root,
        )
        return _told(found)

    def engagement_close(
        self,
        project: Folder,
        outcome: Annotated[str, Field(description="What came of it, in one sentence.")] = "",
        phase: Annotated[
            Literal["completed", "abandoned"], Field(description="How it ended.")
        ] = "completed",
        id: Id = None,
        session: Session = None,
        force: Force = False,
    ) -> str:
        """End the engagement: its file moves to engagements/archive/ in the project folder."""
        done = verbs.close(
            _folder(project),
            id=id,
            outcome=outcome,
            phase=phase,
            session=session,
            force=force,
            archive=self._archive.root,
        )
        return _told(done)

    def engagement_list(
        self,
        project: Annotated[
            str | None, Field(description="Only this folder. [default: every project]")
        ] = None,
        closed: Annotated[bool, Field(description="Include closed engagements.")] = False,
        limit: Annotated[int, Field(description="At most this many results.")] = 20,
        cursor: Annotated[
            str | None, Field(description="The cursor of the last answer, for the next page.")
        ] = None,
    ) -> str:
        """List engagements that are kept in projects: open ones, with what is overdue. Writes
        nothing."""
        if project:
            files = [hidden(file, hide) for file in verbs.listed(_folder(project))]
        else:
            files = prospective(self._archive).files
        shown = [file for file in files if closed or file.is_open or file.problems]
        now = datetime.now().astimezone()
        page, more = paged(shown, lambda f: _line(f, now), cursor, max(1, min(limit, 100)))
        if not page:
            return "No engagement is open."
        return answer(f"{len(page)} of {len(shown)} engagements:", page, more)


def _folder(project: str) -> Path:
    path = Path(project)
    if not path.is_absolute():
        raise BadArgument(f"'{one_line(project)}' is not an absolute path: name the whole folder.")
    return path


def _told(found: Standing) -> str:
    """What was written, in our words; what the file says, quoted."""
    found = hidden(found, hide)
    file = found.engagement
    did = [f"Wrote {one_line(path)}." for path in found.created]
    did += [f"Changed {one_line(path)}." for path in found.changed]
    did += [f"Moved {one_line(a)} to {one_line(b)}." for a, b in found.moved]
    if found.violation:
        did.append("The step is not in the graph: the file records that.")
    then = ", ".join(found.allowed) if found.allowed else "nothing; it has ended"
    lines = [f"- {file.id} [{file.method}, {file.phase}] {file.topic}", f"- next: {then}"]
    for number, item in enumerate(file.obligations, 1):
        if item.done is None:
            state = "overdue" if item in found.overdue else "owed"
            due = f" (due {item.due})" if item.due else ""
            lines.append(f"- {state} {number}: {item.what}{due}")
    lines += [f"- problem: {problem}" for problem in (*file.problems, *found.problems)]
    return answer(" ".join(did) or "Nothing was written.", map(one_line, lines), None)


def _line(file: EngagementFile, now: datetime) -> str:
    late, owed = len(file.overdue(now)), len(file.owed)
    facts = [
        f"{file.id} [{file.method}, {file.phase}] {file.topic} ({file.path})",
        f"{owed} owed, {late} overdue" if owed else "",
        "its file is gone" if file.gone else "",
        "; ".join(file.problems),
    ]
    return one_line("- " + " · ".join(fact for fact in facts if fact))
