"""Why the offline extractor labels a session as it does, and where a person said otherwise.

Writes nothing: the labels are worked out anew, whatever is in the minutes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from minutebook.archive.archive import Archive
from minutebook.derive.titles import session_title
from minutebook.extract.corrections import overlap
from minutebook.extract.offline.extractor import Explanation, extract_offline
from minutebook.extract.reply import ReplyEngagement
from minutebook.model.said import Join, Move, Said, Set, Split, Tag
from minutebook.verbs.correct import in_words, value_in_words
from minutebook.verbs.label import read_material, would_be_ghost


class Explained(msgspec.Struct, frozen=True, kw_only=True):
    """One engagement as the offline extractor would have it."""

    engagement: ReplyEngagement
    why: Explanation
    corrected: dict[str, str] = {}
    """Fields that a person set otherwise → the words of the correction."""


class ExplainedSession(msgspec.Struct, frozen=True, kw_only=True):
    session_id: str
    title: str
    ghost: bool = False
    """It gets no labels, and so has no engagements here."""
    extractor: str | None = None
    """What labelled it last."""
    corrected: dict[str, str] = {}
    """Fields of the session that a person set."""
    said: list[str] = []
    """What a person said of where its engagements begin and end."""
    engagements: list[Explained] = []


def explain(archive: Archive, session_id: str) -> ExplainedSession | None:
    """The offline extractor's answer for a session, with its reasons; None for what is not a
    transcript."""
    material = read_material(archive, session_id)
    if material is None or not material.rounds:
        return None
    stored = archive.minutes.stored().get(session_id)
    said = [item for item in archive.minutes.heard(session_id) if not item.undone]
    known = archive.minutes.records().get(session_id)
    title = known.title if known is not None else None
    if would_be_ghost(archive, material.info, stored):
        title = title or session_title(material.info) or ""
        return ExplainedSession(session_id=session_id, title=title, ghost=True)
    reply, reasons = extract_offline(material.rounds, material.info.title, material.project)
    own, fields = _fields(said, [(why.first, why.last) for why in reasons])
    parts = zip(reply.engagements, reasons, fields, strict=True)
    return ExplainedSession(
        session_id=session_id,
        title=title or session_title(material.info, reply.engagements) or "",
        extractor=stored.extractor if stored is not None else None,
        corrected=own,
        said=[in_words(x) for x in said if isinstance(x.statement, Split | Join | Move | Tag)],
        engagements=[
            Explained(engagement=part, why=why, corrected=set_) for part, why, set_ in parts
        ],
    )


def _fields(
    said: Iterable[Said], spans: Sequence[tuple[int, int]]
) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Fields a person set of the session, and of each engagement: of the one that has most of the
    rounds that were meant."""
    own: dict[str, str] = {}
    found: list[dict[str, str]] = [{} for _ in spans]
    for item in said:
        if isinstance(statement := item.statement, Set):
            words = {field: value_in_words(value) for field, value in statement.values.items()}
            common = [overlap((span,), statement.rounds) for span in spans]
            if not statement.engagement:  # an empty value takes back what was said
                own = {field: told for field, told in {**own, **words}.items() if told}
            elif max(common, default=0):
                found[common.index(max(common))].update(words)
    return own, found
