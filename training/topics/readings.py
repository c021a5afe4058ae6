"""Sessions with their minutes, for a reader to judge; written outside of the project.

    python -m training.topics.readings --seed 15 --out FOLDER [--sessions 60] [--without SEED …]

Draws sessions of ``../shared`` at random and labels each by models that saw nothing of its
repository. One text file for each: what the person and the agent said, shortened, then topics,
decisions and outcomes. Transcripts are not part of the project, so FOLDER must not be, either.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from minutebook.derive.activity import Activity
from minutebook.extract.offline.extractor import extract_offline
from minutebook.extract.reply import ReplyEngagement
from training.offline.fit import known as read_all_of
from training.offline.fit import models_without
from training.offline.sessions import load
from training.topics.labels import LONG, PROJECT, SHORT, Read, labelled, read_all
from training.topics.learn import examples, learn

PROMPT, ANSWER = 1_200, 900
"""Characters of a prompt and of an answer that a reader is shown: beginning and end."""


def drawn(seed: int, count: int, without: Sequence[int] = ()) -> list[Read]:
    """Sessions of all shared ones, and none that the seeds `without` draw; the same each time."""
    every = read_all()
    seen = {s.id for other in without for s in random.Random(other).sample(every, count)}
    left = [session for session in every if session.id not in seen]
    return random.Random(seed).sample(left, min(count, len(left)))


def minutes(sessions: Sequence[Read]) -> Iterator[tuple[Read, list[ReplyEngagement]]]:
    """Each session by models that have not seen its repository."""
    cuts, topics = load(), labelled(*LONG, *SHORT)
    read = read_all_of(cuts)
    known = {session.id: examples([session]) for session in topics}
    folds = {session.repository: session.fold for session in cuts}
    for repository in sorted({session.repository for session in sessions}):
        models = models_without(read, folds.get(repository, ""))
        others = [e for s in topics if s.repository != repository for e in known[s.id]]
        headed = learn(others, f"all but {repository}")
        for session in sessions:
            if session.repository == repository:
                reply, _ = extract_offline(
                    session.rounds, session.title, session.project, models, headed
                )
                yield session, reply.engagements


def page(session: Read, found: Sequence[ReplyEngagement]) -> str:
    """What a reader is shown: the text first, the minutes at the end."""
    lines = [f"session {session.id}, title: {session.title or 'none'}", ""]
    for round in session.rounds:
        lines += [f"[{round.number}] PERSON: {_short(round.prompt, PROMPT)}", ""]
        lines += [f"    ({fact})" for fact in _facts(round)]
        lines += [f"[{round.number}] AGENT: {_short(round.answer, ANSWER)}", ""]
    lines.append("=== MINUTES ===")
    for number, part in enumerate(found, 1):
        lines.append(f"E{number} rounds {part.turn_range[0]}-{part.turn_range[1]} ({part.method})")
        lines.append(f"E{number} TOPIC: {part.topic}")
        lines.append(f"E{number} OUTCOME: {part.outcome or '(none)'}")
        lines += [f"E{number} DECISION: {decision}" for decision in part.key_decisions]
    return "\n".join(lines) + "\n"


def _facts(round: Activity) -> Iterator[str]:
    yield from (f"commit: {commit.subject}" for commit in round.commits)
    yield from (f"pull request: {title}" for title in round.pull_titles)
    yield from (f"asked: {c.question} answered: {c.answer}" for c in round.choices)
    if round.files:
        yield f"changed: {', '.join(round.files[:8])}"


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit * 2 // 3]} […] {text[-limit // 3 :]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--sessions", type=int, default=60)
    parser.add_argument("--without", type=int, nargs="*", default=(), help="seeds already read")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    out: Path = options.out.resolve()
    if out.is_relative_to(PROJECT):
        raise SystemExit(f"{out} is inside the project: choose a folder outside of it.")
    out.mkdir(parents=True, exist_ok=True)
    found = sorted(
        minutes(drawn(options.seed, options.sessions, options.without)), key=lambda pair: pair[0].id
    )
    for number, (session, parts) in enumerate(found, 1):
        name = f"{number:02}-{session.id[:8]}.txt"
        (out / name).write_text(page(session, parts), encoding="utf-8")
    count = sum(len(parts) for _, parts in found)
    print(f"{out}: {len(found)} sessions, {count} engagements")


if __name__ == "__main__":
    main()
