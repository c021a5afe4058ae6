"""Segment and label a session with small learned models, offline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import msgspec

from minutebook.derive.activity import Activity, Commit
from minutebook.derive.titles import topics_summary
from minutebook.extract.offline.boundaries import Cut, find_cuts
from minutebook.extract.offline.decisions import decisions_of
from minutebook.extract.offline.features import Session
from minutebook.extract.offline.methods import method_of
from minutebook.extract.offline.model import Models, models
from minutebook.extract.offline.outcomes import outcome_of
from minutebook.extract.offline.phases import phase_of
from minutebook.extract.offline.provenance import why_decided, why_outcome, why_topic
from minutebook.extract.offline.reasons import Reason, Why
from minutebook.extract.offline.texts import titles_of
from minutebook.extract.offline.topic_model import Model as TopicModel
from minutebook.extract.offline.topics import titled, topic_of
from minutebook.extract.offline.words import Vocabulary
from minutebook.extract.reply import Reply, ReplyEngagement
from minutebook.extract.validation import one_line


@dataclass(frozen=True)
class Explanation:
    """Why an engagement begins where it does, and is called what it is."""

    first: int
    last: int
    cut: tuple[Reason, ...]
    """Empty for the first engagement of a session."""
    method: str
    method_reasons: tuple[Reason, ...]
    phase: str
    phase_reasons: tuple[Reason, ...]
    topic_reasons: tuple[Reason, ...]
    """The first says where the topic is from."""
    outcome_reason: str
    decision_reasons: tuple[str, ...]
    """Whose words each decision is."""


def extract_offline(
    rounds: Sequence[Activity],
    title: str | None,
    project: str,
    learned: Models | None = None,
    headed: TopicModel | None = None,
) -> tuple[Reply, list[Explanation]]:
    """What a language model would answer, found without one, and why.

    `learned` and `headed` are other models than those of the package: a benchmark's, trained
    without the sessions it asks about.
    """
    reply, explanations = _extracted(rounds, title, project, learned, headed)
    return reply, [explained() for explained in explanations]


def reply_offline(rounds: Sequence[Activity], title: str | None, project: str) -> Reply:
    """The same without reasons, which nobody asked for."""
    return _extracted(rounds, title, project, None, None)[0]


def _extracted(
    rounds: Sequence[Activity],
    title: str | None,
    project: str,
    learned: Models | None,
    headed: TopicModel | None,
) -> tuple[Reply, list[Callable[[], Explanation]]]:
    learned = learned or models()
    words = Vocabulary(rounds)
    session = Session(rounds, words)
    cuts = find_cuts(session, learned)
    engagements: list[ReplyEngagement] = []
    explanations: list[Callable[[], Explanation]] = []
    ranges = list(_ranges(cuts, len(rounds)))
    rounds = [round for start, end, _ in ranges for round in _standing(rounds[start:end])]
    whose = titled(rounds, [(start, end) for start, end, _ in ranges], title)
    for place, (start, end, cut) in enumerate(ranges):
        part = rounds[start:end]
        taken = {engagement.topic for engagement in engagements}
        decided = [said for engagement in engagements for said in engagement.key_decisions]
        topic = topic_of(rounds, start, end, title if place == whose else None, headed, taken)
        method, why = method_of(session, start, end, learned)
        phase, because = phase_of(session, start, end, learned)
        engagements.append(
            ReplyEngagement(
                topic=topic,
                project=next((r.cwd for r in part if r.cwd), None) or project,
                method=method,
                phase=phase,
                key_decisions=[one_line(decision) for decision in decisions_of(part, decided)],
                outcome=one_line(outcome_of(part, topic, titles_of(rounds[:start]))),
                turn_range=[part[0].number, part[-1].number],
            )
        )
        explanations.append(
            partial(
                _explained,
                engagements[-1],
                cut,
                why,
                because,
                partial(
                    why_topic,
                    rounds,
                    start,
                    end,
                    title if place == whose else None,
                    headed,
                    taken,
                    topic,
                ),
                part,
            ),
        )
    summary = one_line(topics_summary(title, [engagement.topic for engagement in engagements]))
    return Reply(summary, None, None, engagements), explanations


def _standing(part: Sequence[Activity]) -> Iterator[Activity]:
    """The rounds of a range without commits that say nothing of it: those a rebase only made anew,
    and those that an amended one took the place of."""
    made = [(round.number, c) for round in part for c in round.commits if not c.replayed]
    stand: list[tuple[int, Commit]] = []
    for number, commit in made:
        if commit.amends and stand and stand[-1][1].subject != commit.subject:
            stand.pop()
        stand.append((number, commit))
    for round in part:
        own = tuple(commit for number, commit in stand if number == round.number)
        yield round if own == round.commits else msgspec.structs.replace(round, commits=own)


def _explained(
    said: ReplyEngagement,
    cut: Cut | None,
    method: Why,
    phase: Why,
    topic: Why,
    part: Sequence[Activity],
) -> Explanation:
    first, last = said.turn_range
    return Explanation(
        first,
        last,
        cut.why() if cut else (),
        said.method,
        method(),
        said.phase,
        phase(),
        topic(),
        why_outcome(said.outcome),
        tuple(why_decided(decision, part) for decision in said.key_decisions),
    )


def _ranges(cuts: list[Cut], length: int) -> Iterator[tuple[int, int, Cut | None]]:
    """Start, end and the cut that opens it, of every range."""
    starts: list[tuple[int, Cut | None]] = [(0, None), *((cut.position, cut) for cut in cuts)]
    ends = [start for start, _ in starts[1:]] + [length]
    for (start, cut), end in zip(starts, ends, strict=True):
        yield start, end, cut
