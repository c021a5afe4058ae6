"""A session as a story: what happened in which round, from what the archive keeps of it.

Nothing here reads a whole session: errors, files, commits and requests are in its usage digest,
how full the window was is in the index, compactions are in the shapes of its rounds. Only the
rounds that committed something are read, for what the commits are called.
"""

from __future__ import annotations

from collections import Counter

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.budgets import peaks_of
from minutebook.archive.digests import digest_of
from minutebook.archive.masking import hidden
from minutebook.derive.activity import commits_of
from minutebook.derive.usage.digest import Digest
from minutebook.errors import MinutebookError


class CommitMade(msgspec.Struct, frozen=True):
    round: int
    hash: str
    subject: str = ""
    """Empty where a subagent made it."""


class Request(msgspec.Struct, frozen=True):
    """A pull request that was opened."""

    round: int
    address: str


class FileChanged(msgspec.Struct, frozen=True):
    path: str
    round: int
    """The first round that changed it."""
    times: int
    added: int
    removed: int


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """What happened when; rounds are the places."""

    rounds: int
    errors: dict[int, int] = {}
    """Rounds → how many calls failed, those of subagents too."""
    compactions: dict[int, int] = {}
    filled: dict[int, float] = {}
    """Rounds → how full the window was at most, in percent, where it is known."""
    commits: list[CommitMade] = []
    requests: list[Request] = []
    files: list[FileChanged] = []
    """Changed files, those with most changes first."""


def story_of(archive: Archive, session_id: str) -> Story:
    """The story of a session."""
    session = archive.open(session_id)
    digest = digest_of(archive, session_id)
    compactions = {s.number: s.compactions for s in session.shapes() if s.compactions}
    errors, files = _calls(digest) if digest is not None else ({}, [])
    commits = _commits(archive, session_id, digest) if digest is not None else []
    requests = _requests(digest) if digest is not None else []
    return Story(
        rounds=session.count,
        errors=errors,
        compactions=compactions,
        filled=peaks_of(archive, session_id),
        commits=[hidden(made, archive.hide) for made in commits],
        requests=[hidden(request, archive.hide) for request in requests],
        files=[hidden(file, archive.hide) for file in files],
    )


def _calls(digest: Digest) -> tuple[dict[int, int], list[FileChanged]]:
    """Failed calls by round, and the files that the others changed."""
    errors: Counter[int] = Counter()
    files: dict[int, FileChanged] = {}
    for call in digest.calls:
        round = digest.rows[call.row].round
        if call.error:
            errors[round] += 1
        elif call.path >= 0:
            path = digest.paths[call.path]
            known = files.get(call.path, FileChanged(path, round, 0, 0, 0))
            files[call.path] = FileChanged(
                path,
                min(known.round, round),
                known.times + 1,
                known.added + call.added,
                known.removed + call.removed,
            )
    most_first = sorted(files.values(), key=lambda file: (-file.added - file.removed, file.path))
    return dict(sorted(errors.items())), most_first


def _requests(digest: Digest) -> list[Request]:
    return [Request(digest.rows[row].round, address) for row, address in digest.pulls]


def _commits(archive: Archive, session_id: str, digest: Digest) -> list[CommitMade]:
    session = archive.open(session_id)
    subjects: dict[str, str] = {}
    for number in {digest.rows[row].round for row, _ in digest.commits}:
        try:
            calls = list(session.round(number).calls)
        except (MinutebookError, OSError):
            continue  # lost since; its commits still count
        subjects |= {made.hash: made.subject for call in calls for made in commits_of(call)}
    return [
        CommitMade(digest.rows[row].round, hash, subjects.get(hash, ""))
        for row, hash in digest.commits
    ]
