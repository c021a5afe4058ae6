"""The prompts of sessions that hold one conversation, each under one id (UND-08)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from minutebook.derive.genealogy import one_id_each
from minutebook.errors import MinutebookError

if TYPE_CHECKING:
    from minutebook.archive.archive import Archive


def prompt_ids(archive: Archive, session_id: str) -> Sequence[str]:
    """The ids of its rounds' prompts, as it has them; empty for a round without one."""
    entry = archive.ledger().sessions.get(session_id)
    if entry is not None and len(entry.info.prompt_ids) == entry.info.rounds:
        return entry.info.prompt_ids  # one each: no need to read the rounds
    try:
        rounds = archive.open(session_id).stored_rounds()
        return [(round.prompt.id or "") if round.prompt is not None else "" for round in rounds]
    except OSError:
        return []


def of_copies(archive: Archive, sessions: Iterable[str]) -> dict[str, Sequence[str]]:
    """The same of sessions that begin alike, one id for each prompt."""
    return as_one(archive, {id: prompt_ids(archive, id) for id in sessions})


def as_one(archive: Archive, rounds: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    """Ids of prompts that are known, one for each prompt."""

    def asked(session_id: str, number: int) -> str:
        try:
            prompt = archive.open(session_id).stored(number).prompt
        except (MinutebookError, OSError):
            prompt = None
        return " ".join(prompt.said.split()) if prompt is not None else ""

    return one_id_each(rounds, asked)
