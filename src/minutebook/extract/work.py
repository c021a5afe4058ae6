"""What was done in each round, as one line: counts, file names, commit subjects, requests.

Facts about calls, never their text: no command, no argument, no output.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from minutebook.derive.activity import Activity
from minutebook.extract.material import hidden

MOST_CHARS = 9_000
"""Of all lines together; with many rounds each line is shorter."""
_WIDTHS = (320, 200, 120, 80, 60)
_MOST_FILES = 4
_MOST_COMMITS = 3
_SUBJECT_CHARS = 90
_NUMBER = re.compile(r"\d+$")


def work_lines(rounds: Sequence[Activity]) -> str:
    """The lines of all rounds in which something was done, masked, within `MOST_CHARS`."""
    lines = [hidden(f"[{round.number}] {done}") for round in rounds if (done := line_of(round))]
    for width in _WIDTHS:
        text = "".join(f"{_fit(line, width)}\n" for line in lines)
        if len(text) <= MOST_CHARS:
            return text
    half = MOST_CHARS // 2
    first, last = text[: text.rindex("\n", 0, half) + 1], text[text.index("\n", -half) + 1 :]
    return f"{first}[... some rounds left out here ...]\n{last}"


def line_of(round: Activity) -> str:
    """What was done in one round; empty where nothing was."""
    parts = [
        _edits(round),
        _count(round.reads, "read"),
        _count(round.lookups, "web lookup"),
        _count(round.shells, "command"),
        "tests run" if round.tests else "",
        "deployed" if round.deploys else "",
        _count(round.agents, "subagent"),
        "plan handed over" if round.plans else "",
        *_commits(round),
        "pushed" if round.pushes else "",
        "merged or rebased" if round.merges else "",
        *(
            f"opened PR #{number[0]}"
            for url in round.pull_requests
            if (number := _NUMBER.search(url))
        ),
        "interrupted by the person" if round.interrupted else "",
    ]
    return "; ".join(part for part in parts if part)


def _edits(round: Activity) -> str:
    if not round.edits:
        return ""
    names = list(dict.fromkeys(_name(path) for path in round.files))
    more = f" and {len(names) - _MOST_FILES} more" if len(names) > _MOST_FILES else ""
    where = f" in {', '.join(names[:_MOST_FILES])}{more}" if names else ""
    return _count(round.edits, "edit") + where


def _commits(round: Activity) -> list[str]:
    if not round.commits:
        return ["committed"] if round.committing else []
    told = [f'commit "{_fit(hidden(commit.subject), _SUBJECT_CHARS)}"' for commit in round.commits]
    more = len(told) - _MOST_COMMITS
    return [*told[:_MOST_COMMITS], *([f"{more} more commits"] if more > 0 else [])]


def _name(path: str) -> str:
    """The last two parts of a path: the file and its folder."""
    return "/".join(path.replace("\\", "/").rsplit("/", 2)[-2:]).lstrip("/")


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}" if count else ""


def _fit(text: str, width: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1]}…"
