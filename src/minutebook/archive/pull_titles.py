"""What pull requests are called: read in the rounds that opened them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from minutebook.archive.archive import Archive
from minutebook.derive.activity import called_pull_requests
from minutebook.derive.genealogy import Pair
from minutebook.errors import MinutebookError
from minutebook.model import ToolCall
from minutebook.model.said import Ranges


def pull_titles(archive: Archive, pairs: Iterable[Pair]) -> dict[str, str]:
    """Titles of the pull requests of engagements by their addresses, where they are recorded."""
    found: dict[str, str] = {}
    for record, engagement in pairs:
        if engagement.pull_requests:
            for call in _calls(archive, record.session_id, engagement.ranges):
                found |= called_pull_requests(call)
    return found


def _calls(archive: Archive, session_id: str, ranges: Ranges) -> Iterator[ToolCall]:
    """What was done in some rounds, without secrets."""
    for number in (n for first, last in ranges for n in range(first, last + 1)):
        try:
            round = archive.open(session_id).round(number)
        except (MinutebookError, OSError):
            continue  # it is lost, or not shared
        yield from round.calls
