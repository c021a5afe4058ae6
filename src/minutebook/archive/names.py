"""The one way to name a session and its rounds (ARC-03, ARC-04).

A session is named by the start of its id, its agent's name, its title, its slug or its file;
``#3`` or ``#3-7`` behind the name are rounds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from minutebook.derive.wording import plural
from minutebook.errors import Ambiguous, BadArgument, NotFound
from minutebook.model import Round
from minutebook.record.layout import Layout
from minutebook.sources.library import may_be_transcript

_ADDRESS = re.compile(r"(.+)#(\d{1,9})(?:-(\d{1,9})|\.\d{1,9})?", re.DOTALL)
_BLOCK = re.compile(r".+#\d{1,9}\.(\d{1,9})", re.DOTALL)
_ROUNDS = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_SHORTEST = 8
_MOST_TOLD = 5


def parse_address(text: str) -> tuple[str, range | None]:
    """``<session>[#round[-round]]`` as the session's name and the rounds asked for.

    ``#round.block`` is that round (`parse_block` says which block).
    """
    match = _ADDRESS.fullmatch(text.strip())
    if match is None:
        return text.strip(), None
    first, last = int(match[2]), int(match[3] or match[2])
    if first < 1 or last < first:
        asked = text.strip()[match.end(1) :]
        raise BadArgument(f"'{asked}' is not a round or a range: rounds count from 1, like #2-5.")
    return match[1], range(first, last + 1)


def parse_block(text: str) -> int | None:
    """The block that ``<session>#round.block`` names, counted from 1."""
    match = _BLOCK.fullmatch(text.strip())
    return int(match[1]) if match else None


def block_at(round: Round, number: int) -> int:
    """The place of a block among those of its round (`Round.blocks`), where there is one."""
    count = len(round.blocks)
    if not 1 <= number <= count:
        blocks = plural(count, "block")
        raise NotFound(f"Round {round.number} has {blocks}; there is no block {number}.")
    return number - 1


def parse_rounds(text: str, count: int, *, beyond: bool = True) -> list[int]:
    """``3,7-12`` or ``all`` as numbers, in order; those the session does not have are an error.

    A range may end `beyond` the session: it is as long as the session is.
    """
    if text.strip().lower() == "all":
        return list(range(1, count + 1))
    found: set[int] = set()
    for piece in text.split(","):
        match = _ROUNDS.fullmatch(piece.strip())
        first = int(match[1]) if match else 0
        last = int(match[2] or match[1]) if match else 0
        if not 1 <= first <= last:
            raise BadArgument(f"'{piece}' is not a round or a range: write them like 3,7-12.")
        if first > count or (last > count and not beyond):
            number = first if first > count else last
            raise NotFound(f"The session has {plural(count, 'round')}; there is no round {number}.")
        found.update(range(first, min(last, count) + 1))
    return sorted(found)


def shortest(ids: Iterable[str]) -> dict[str, str]:
    """The start of each id, of eight characters or more, that none of the others has.

    Letters count the same in either size, as where a session is named. Ids that begin with their
    time have much in common.
    """
    ordered = sorted((id.lower(), id) for id in set(ids))
    found: dict[str, str] = {}
    for at, (low, id) in enumerate(ordered):
        beside = [ordered[near][0] for near in (at - 1, at + 1) if 0 <= near < len(ordered)]
        shared = max((_alike(low, other) for other in beside), default=0)
        found[id] = id[: max(_SHORTEST, shared + 1)]
    return found


def _alike(one: str, other: str) -> int:
    """With how many letters two ids begin alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def nearest(name: str, known: Iterable[str]) -> str:
    """``Did you mean …?`` with names that are spelt like one; empty where none is."""
    found = get_close_matches(name.lower(), list(dict.fromkeys(known)), 3)
    return f" Did you mean {' or '.join(repr(text) for text in found)}?" if found else ""


def only_known(given: Iterable[str], known: Iterable[str], what: str) -> None:
    """Refuse a filter that is not one of those, with the one that is spelt like it."""
    choices = sorted(known)
    for name in sorted(set(given) - set(choices)):
        near = nearest(name, choices) or f" There are {', '.join(choices)}."
        raise BadArgument(f"{what} has no filter '{name}'.{near}")


def by_id(name: str, ids: Iterable[str]) -> str | None:
    """The one session whose id begins so; None where none does."""
    wanted = name.strip().lower()
    fitting = [id for id in ids if id.lower().startswith(wanted)]
    if name.strip() in fitting:
        return name.strip()
    exact = [id for id in fitting if id.lower() == wanted]
    return only(exact or fitting, name) if fitting else None


def by_name(
    name: str,
    named: Mapping[str, Sequence[str]],
    copies: Callable[[Sequence[str]], Container[str]] = lambda _: (),
) -> str | None:
    """The one session that is called so: as a whole first, then as a part of its name.

    `copies` says which of several are nothing but copies of another one: they are not meant.
    """
    wanted = name.strip().lower()
    whole = [id for id, names in named.items() if wanted in names]
    part = [id for id, names in named.items() if any(wanted in text for text in names)]
    fitting = whole or part
    if len(fitting) > 1:
        left_out = copies(fitting)
        fitting = [id for id in fitting if id not in left_out]
    return only(fitting, name) if fitting else None


def only(found: Sequence[str], name: str) -> str:
    """The one id there is; an error that lists the candidates where there are several."""
    if len(found) == 1:
        return found[0]
    some = ", ".join(sorted(shortest(found).values())[:_MOST_TOLD])
    more = f" and {len(found) - _MOST_TOLD} more" if len(found) > _MOST_TOLD else ""
    words = f"'{name}' fits {len(found)} sessions: {some}{more}. Name one of these."
    raise Ambiguous(words, sessions=tuple(found))


def refuse_ending(name: str, found: str | None, known: Callable[[str], str | None]) -> None:
    """Say what is wrong after the ``#``, where only that keeps a name from being a session's."""
    start, mark, end = name.strip().rpartition("#")
    if found is not None or not (mark and start.strip()) or known(start) is None:
        return
    if _ROUNDS.fullmatch(end):
        raise BadArgument(f"'#{end}' names rounds, and this needs a whole session: '{start}'.")
    shown = end if len(end) < 20 else f"{end[:20]}…"
    raise BadArgument(f"'#{shown}' is not a round or a range: write it like #3 or #2-5.")


def existing_file(name: str) -> Path | None:
    """The file a name is the path of."""
    try:
        path = Path(name).expanduser()
        return path if path.is_file() else None
    except (OSError, RuntimeError, ValueError):
        return None  # too long, or there is no such user: then it is not a path


def document_file(name: str, layout: Layout, archived: Iterable[str]) -> str | None:
    """The session that a name is the document of; None where it is no such file."""
    path = existing_file(name) if name.endswith(".md") else None
    if path is None:
        return None
    known = {layout.document("x", id).name: id for id in archived}
    if path.name not in known:
        raise NotFound(f"{path} is not the document of an archived session.")
    return known[path.name]


def transcript_file(name: str) -> tuple[Path, str] | None:
    """The file that a name is the path of, and which of its sessions (``<path>#<key>``);
    None where no agent gives its transcripts such a name."""
    path, key = existing_file(name), ""
    if path is None and "#" in name:
        before, _, key = name.rpartition("#")
        path = existing_file(before)
    return (path, key) if path is not None and may_be_transcript(path) else None


def runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Numbers in order as ranges."""
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and found[-1][1] + 1 == number:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found
