"""What is new in a round, measured by everything before it: files, words, tasks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from minutebook.derive.activity import Activity
from minutebook.extract.offline.words import Vocabulary

Row = dict[str, float]
Names = frozenset[str]

_NEAR = 3  # rounds
_FAR = 12
"""Rounds on each side that are compared as a whole."""


def novelties(
    rounds: Sequence[Activity],
    asked: Sequence[Names],
    answered: Sequence[Names],
    words: Vocabulary,
) -> list[Row]:
    """For every round what is new in it; `asked` and `answered` are the words of each."""
    paths = [Names(round.files) | Names(round.looked_at) for round in rounds]
    folders = [Names(map(_folder, some)) for some in paths]
    known, known_folders, said, prompted = set[str](), set[str](), set[str](), set[str]()
    tasks = set[str]()
    found = []
    for position, round in enumerate(rounds):
        row: Row = {}
        _of_paths(row, paths, position, known)
        row["new folders"] = _fresh(folders[position], known_folders)
        ahead = Names().union(*folders[position : position + _NEAR])
        row["new folders ahead"] = _fresh(ahead, known_folders)
        row["only new folders"] = bool(paths[position]) and not folders[position] & known_folders
        row["changes what was not looked at before"] = _fresh(Names(round.files), known)
        own = asked[position]
        row["words of the first prompt"] = _known(own, asked[0])
        row["words of any prompt before"] = _known(own, prompted)
        row["words said before"] = _known(own, said)
        row["words never said"] = math.log1p(len(own - said))
        _of_tasks(row, rounds, position, len(set(round.tasks) - tasks))
        _of_likeness(row, words, position, len(rounds))
        found.append({name: float(value) for name, value in row.items()})
        known |= paths[position]
        known_folders |= folders[position]
        prompted |= own
        said |= own | answered[position]
        tasks.update(round.tasks)
    return found


def _of_paths(row: Row, paths: Sequence[Names], position: int, known: AbstractSet[str]) -> None:
    here, ahead = paths[position], Names().union(*paths[position : position + _NEAR])
    recent = Names().union(*paths[max(0, position - _NEAR) : position])
    row["looks at files"] = bool(here)
    row["new files"] = _fresh(here, known)
    row["many new files"] = math.log1p(len(here - known))
    row["many known files"] = math.log1p(len(here & known))
    row["files not seen lately"] = _fresh(here, recent)
    row["files seen lately"] = bool(here & recent)
    row["only new files"] = bool(here) and not here & known
    row["looks at files soon"] = bool(ahead)
    row["new files ahead"] = _fresh(ahead, known)
    row["many new files ahead"] = math.log1p(len(ahead - known))
    row["files come back"] = len(ahead & known) / max(1, min(len(ahead), len(known)))


def _of_tasks(row: Row, rounds: Sequence[Activity], position: int, fresh: int) -> None:
    here, before = rounds[position], rounds[max(0, position - 1)]
    row["many new tasks"] = math.log1p(fresh)
    row["new tasks"] = fresh > 0
    row["tasks before"] = bool(before.tasks)
    row["the person was asked"] = bool(here.choices)
    row["the person was asked before"] = bool(before.choices)
    row["plan now"] = here.plans > 0
    row["plan two before"] = position > 1 and rounds[position - 2].plans > 0


def _of_likeness(row: Row, words: Vocabulary, position: int, length: int) -> None:
    if not position:
        return
    left, here = (position - _FAR, position), (position, position + 1)
    row["alike, far"] = words.cohesion(left, here)
    row["halves alike"] = words.cohesion(left, (position, position + _FAR))
    onward = 0.0
    if position + 1 < length:
        onward = words.cohesion(here, (position + 1, position + 1 + _NEAR))
        row["more like what follows"] = onward - words.cohesion((position - _NEAR, position), here)
    else:
        row["more like what follows"] = 0.0
    row["like what follows"] = onward


def _folder(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[0]


def _fresh(some: Names, known: AbstractSet[str]) -> float:
    return len(some - known) / len(some) if some else 0.0


def _known(some: Names, known: AbstractSet[str]) -> float:
    return len(some & known) / len(some) if some else 0.0
