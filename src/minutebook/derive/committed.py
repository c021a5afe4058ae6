"""Commits as a reader counts them: each subject once, without what was only on the way."""

from __future__ import annotations

import re
from collections.abc import Iterable

_HASH = re.compile(r"[0-9a-f]{4,64}(?:\s+|$)")
_STEP = re.compile(r"(?:fixup|squash|amend)! |wip\b", re.IGNORECASE)
_MERGE = re.compile(
    r"Merge (?:(?:remote-tracking )?branch(?:es)?|tag|commit) '|Merge pull request #\d"
)
_REVERT = re.compile(r'Revert "(.+)"')
_REAPPLY = re.compile(r'Reapply "(.+)"')


def subject_of(commit: str) -> str:
    """``1a2b3c4 subject`` without its hash; the hash where nobody recorded a subject."""
    found = _HASH.match(commit)
    return (commit[found.end() :].strip() if found else "") or commit.strip()


def last_of_each(commits: Iterable[str]) -> tuple[str, ...]:
    """The commits that count, oldest first.

    A subject counts once, as it was committed last: an amended commit has the same subject.
    Steps (``fixup!``, ``squash!``, ``wip``) and merges, as git names them, do not count, nor does
    a commit that was reverted, nor its revert. The revert of something that is not among them does.
    """
    kept: dict[str, str] = {}
    undone: dict[str, str] = {}
    for commit in commits:
        subject = subject_of(commit)
        if _STEP.match(subject) or _MERGE.match(subject):
            continue
        back = _REVERT.fullmatch(subject) or _REAPPLY.fullmatch(subject)
        what = _reverted(back[1]) if back else ""
        if back and subject.startswith("Revert") and back[1] in kept:
            undone[back[1]] = kept.pop(back[1])
        elif back and what in undone:
            kept[what] = undone.pop(what)
        else:
            kept.pop(subject, None)
            kept[subject] = commit
    return tuple(kept.values())


def _reverted(subject: str) -> str:
    """What a revert takes back: of ``Revert "X"`` it is X."""
    found = _REVERT.fullmatch(subject)
    return found[1] if found else subject
