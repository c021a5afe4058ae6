"""The transcripts a person has, found once and read as often as needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import msgspec

from minutebook.errors import Ambiguous, NotFound
from minutebook.model import FormatReport, SessionInfo
from minutebook.sources.base import Depth, Reading, Source, Transcript, Trouble, reason_of
from minutebook.sources.fan_out import fan_out
from minutebook.sources.files import is_folder
from minutebook.sources.registry import SOURCES


class Overview(msgspec.Struct, frozen=True):
    """What a skim of a whole session leaves: small enough to send between processes."""

    info: SessionInfo | None
    """None where the file is not a transcript at all, or could not be read."""
    problem: str | None = None


class Library:
    """All transcripts under some places (or, with none given, in the sources' own homes)."""

    def __init__(self, places: Sequence[Path] = (), *, lenient: bool = False) -> None:
        self.places = tuple(places)
        self._lenient = lenient
        """Whether a place that is not there is an empty one: for servers, which outlive places."""

    @cached_property
    def _found(self) -> tuple[list[Transcript], list[Trouble]]:
        listed: dict[tuple[Path, str], list[Transcript]] = {}
        troubles: list[Trouble] = []
        for source, places in self._shares():
            try:
                found, odd = source.discover(places)
            except OSError as error:  # what one agent closed to us costs only its own sessions
                found, odd = [], [Trouble(place, reason_of(error)) for place in places]
            for transcript in found:
                listed.setdefault((transcript.path, transcript.key), []).append(transcript)
            troubles += odd
        transcripts = [_owned(rivals) for rivals in listed.values()]
        transcripts.sort(key=lambda t: (-t.mtime, str(t.path)))
        return transcripts, troubles

    def _shares(self) -> Iterator[tuple[Source, tuple[Path, ...]]]:
        """Each source with its places: of those named, the ones it claims; else its own home."""
        named = [place for place in self.places if not self._lenient or place.exists()]
        claimed = {place: _claimed(place) for place in named}
        for source in SOURCES.values():
            if self.places:
                places = tuple(place for place in named if source.name in claimed[place])
            else:
                places = tuple(place for place in [source.default_root()] if is_folder(place))
            yield source, places

    @property
    def transcripts(self) -> list[Transcript]:
        """Newest first, by modification."""
        return self._found[0]

    @property
    def troubles(self) -> list[Trouble]:
        """Files and folders that could not be looked into."""
        return self._found[1]

    @property
    def orphans(self) -> list[Trouble]:
        """Subagent files that belong to no session found here."""
        ids = {transcript.session_id for transcript in self.transcripts}
        found: dict[Path, Trouble] = {}
        for source, places in self._shares():
            own = {t.path.parent for t in self.transcripts if t.source == source.name}
            folders = [place for place in places if is_folder(place)]
            for top in source.folders(folders) if folders else ():
                own.update((top, *(path for path in top.rglob("*") if path.is_dir())))
            for folder in sorted(own):
                found |= {trouble.path: trouble for trouble in source.orphans(folder, ids)}
        return list(found.values())

    def overviews(
        self, transcripts: Sequence[Transcript] | None = None, jobs: int | None = None
    ) -> Iterator[tuple[Transcript, Overview]]:
        """A skim of each transcript, in the order they are ready."""
        chosen = self.transcripts if transcripts is None else transcripts
        return fan_out(overview, chosen, jobs)

    def reports(self, jobs: int | None = None) -> Iterator[tuple[Transcript, FormatReport]]:
        """The format report of each transcript and its subagents, from a full read."""
        return fan_out(format_report, self.transcripts, jobs)


def _claimed(place: Path) -> list[str]:
    """Whose transcripts are at a place; nobody's is the first source's, which says so."""
    found = [source.name for source in SOURCES.values() if source.claims(place)]
    return found or [next(iter(SOURCES))]


def _owned(rivals: list[Transcript]) -> Transcript:
    """A file is one agent's: of several that list it, in a folder that has files of more than
    one, the one that knows it by what is in it."""
    if len(rivals) == 1:
        return rivals[0]
    known = (rival for rival in rivals if SOURCES[rival.source].claims(rival.path))
    return next(known, rivals[0])


def chosen_copies(
    transcripts: Iterable[Transcript], preferred: Mapping[str, str]
) -> dict[str, Transcript]:
    """One file for each session: of several copies the preferred one, else the largest."""
    chosen: dict[str, Transcript] = {}
    for transcript in transcripts:
        id = transcript.session_id
        rival = chosen.get(id)
        if (
            rival is None
            or transcript.location == preferred.get(id)
            or (rival.location != preferred.get(id) and transcript.size > rival.size)
        ):
            chosen[id] = transcript
    return chosen


def open_file(path: Path, key: str = "") -> Transcript:
    """The transcript at a path a person named; `key` says which, where it holds several."""
    every = Library([path]).transcripts
    found = [transcript for transcript in every if not key or transcript.key == key]
    if not found:
        raise NotFound(f"There is no session {key} in {path}.".replace("  ", " "))
    if len(found) > 1:
        raise Ambiguous(f"{path} has {len(found)} sessions: name one, like {found[0].location}.")
    return found[0]


def may_be_transcript(path: Path) -> bool:
    """Whether a file's name is one that some agent gives its transcripts."""
    return any(source.matters(path) for source in SOURCES.values())


def open_transcript(transcript: Transcript, depth: Depth = "full") -> Reading:
    """Begin a reading with the source that found the transcript."""
    return SOURCES[transcript.source].read(transcript, depth)


def overview(transcript: Transcript) -> Overview:
    """Skim one transcript. A file that vanished or is closed to us is a problem, not an error."""
    reading = open_transcript(transcript, "skim")
    try:
        for _ in reading.rounds():
            pass
    except OSError as error:
        return Overview(None, problem=reason_of(error))
    if reading.report.foreign:
        return Overview(None, problem=reading.report.foreign)
    return Overview(reading.info())


def format_report(transcript: Transcript) -> FormatReport:
    """Read one transcript in full and keep only the report."""
    reading = open_transcript(transcript)
    try:
        for _ in reading.rounds():
            pass
        for _ in reading.subagents():
            pass
    except OSError as error:
        reading.report.foreign = reason_of(error)
    return reading.report
