"""How well the lineage of sessions is inferred where nothing records it (FUT-02).

    python benchmarks/lineage.py                        generated forks, resumes and copies
    python benchmarks/lineage.py recorded               real pairs, their recorded links hidden
    python benchmarks/lineage.py continues --out FOLDER inferred continuations, for a reader

``generated``: 210 sessions are cut from as many real ones at random rounds, every id renewed, half
of them at other moments, some going on with words of their own; 80 more only begin like a real
session (of one template, or with the same prompts and other answers). All shared Claude sessions
are there as well. An edge is right when pair, kind and direction are; of a whole copy at the same
moments nothing tells which came first, so there the direction does not count.
``recorded``: what ids and fields record is compared with what is found when both are taken away.
``continues``: for each edge a file with its evidence, the end of the earlier session and the
beginning of the later one; FOLDER must be outside the project, because it has other people's words.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import Counter
from pathlib import Path

import msgspec

from benchmarks.made_copies import Made, make, make_negatives, originals
from minutebook.archive import Archive
from minutebook.archive.lineage import known_sessions
from minutebook.derive.evidence import why
from minutebook.derive.lineage import Known, edges_of
from minutebook.errors import MinutebookError
from minutebook.model import Round, Text
from minutebook.model.lineage import COPYING, Edge

PROJECT = Path(__file__).resolve().parents[1]
SHARED = PROJECT.parent / "shared"
CORPUS = Path(os.environ.get("MINUTEBOOK_CORPUS") or SHARED / "corpus")
ROOTS = (CORPUS / "claude", SHARED / "training" / "claude")
_CHARS = 1_500


class Score(msgspec.Struct):
    """What became of the generated sessions."""

    made: Counter[str] = msgspec.field(default_factory=Counter)
    found: Counter[str] = msgspec.field(default_factory=Counter)
    """Pairs, whatever kind and direction they were given."""
    right: Counter[str] = msgspec.field(default_factory=Counter)
    wrong: list[str] = []

    @property
    def precision(self) -> float:
        right = sum(self.right.values())
        return right / max(1, right + len(self.wrong))

    @property
    def recall(self) -> float:
        return sum(self.right.values()) / max(1, sum(self.made.values()))


def judge(made: list[Made], edges: list[Edge]) -> Score:
    """Inferred edges of copied history against what was made; every other one is wrong."""
    score = Score(wrong=[])
    true = {frozenset((one.session_id, one.origin)): one for one in made}
    for one in made:
        score.made[_name(one)] += 1
    for edge in edges:
        if edge.kind not in COPYING or edge.recorded:
            continue
        meant = true.get(frozenset((edge.older, edge.newer)))
        told = f"{edge.older[:8]} → {edge.newer[:8]} {edge.kind} {edge.confidence}"
        if meant is None:
            score.wrong.append(f"{told}: not a copy")
            continue
        score.found[_name(meant)] += 1
        turned = meant.directed and edge.newer != meant.session_id
        if edge.kind != meant.kind or turned:
            truth = f"{meant.session_id[:8]} {meant.kind} {meant.origin[:8]}"
            score.wrong.append(f"{told}: {truth}")
        else:
            score.right[_name(meant)] += 1
    return score


def _name(one: Made) -> str:
    return f"{one.kind}, {'other moments' if one.shifted else 'same moments'}"


def generated(count: int, negatives: int, seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        pool = originals(ROOTS, alone(known_sessions(Archive(place / "real", ROOTS))))
        made = make(place / "made", pool, count, seed)
        make_negatives(place / "made", pool, negatives, seed)
        archive = Archive(place / "archive", (*ROOTS, place / "made"))
        start = time.perf_counter()
        edges = edges_of(with_own_ids(known_sessions(archive), made))
        took = time.perf_counter() - start
        recorded = {
            id for edge in edges if edge.recorded and edge.kind in COPYING for id in _ends(edge)
        }
        assert not recorded & {one.session_id for one in made}, "a recorded link is left"
        score = judge(made, edges)
        sessions = len(archive.ids())
    print(f"{sessions} sessions: {len(made)} made from {len(pool)}, {negatives} only begin alike.")
    print(f"\n{'':28}{'made':>8}{'pair found':>12}{'right':>8}")
    for name in sorted(score.made):
        print(f"{name:28}{score.made[name]:>8}{score.found[name]:>12}{score.right[name]:>8}")
    print(f"\nprecision {score.precision:.3f} (wanted 0.95)")
    print(f"recall    {score.recall:.3f} (wanted 0.80)")
    print(f"{took:.1f} s for all of it, each transcript read once")
    for line in score.wrong:
        print(f"  wrong: {line}")


def with_own_ids(known: list[Known], made: list[Made]) -> list[Known]:
    """Prompts that waited in a queue have no ids to renew: theirs follow from words and moment, so
    that a copy would be recorded after all. Here they have ids of their own, too."""
    ids = {one.session_id for one in made}
    return [_hidden(one) if one.info.id in ids else one for one in known]


def alone(known: list[Known]) -> set[str]:
    """Sessions that are no copies: of those it is clear what is made from them."""
    tied = {id for edge in edges_of(known) if edge.kind in COPYING for id in _ends(edge)}
    return {one.info.id for one in known} - tied


def _ends(edge: Edge) -> tuple[str, str]:
    return edge.older, edge.newer


def recorded() -> None:
    with tempfile.TemporaryDirectory() as folder:
        versions = sorted(path for path in (CORPUS / "cli-versions").iterdir() if path.is_dir())
        fixtures = [CORPUS / "fixtures"] if (CORPUS / "fixtures").is_dir() else []
        places = (*ROOTS, *versions, *fixtures)
        known = known_sessions(Archive(Path(folder) / "archive", places, lenient=True))
    true = [e for e in edges_of(known) if e.recorded and e.kind in COPYING]
    there = {one.info.id for one in known}
    inferred = {frozenset(_ends(e)): e for e in edges_of(map(_hidden, known)) if e.kind in COPYING}
    found = 0
    print(f"{len(known)} sessions, {len(true)} recorded links:\n")
    for edge in true:
        other = inferred.pop(frozenset(_ends(edge)), None)
        same = other is not None and (other.kind, other.newer) == (edge.kind, edge.newer)
        found += same
        told = "found" if same else "the other is not here" if edge.older not in there else "missed"
        if other is not None and not same:
            told = f"found as {other.older[:8]} → {other.newer[:8]} {other.kind}"
        what = ", ".join(f"{e.what} {e.count or ''}".strip() for e in edge.evidence)
        print(f"  {edge.older[:8]} → {edge.newer[:8]}  {edge.kind:8}  {what:32}  {told}")
    reachable = sum(edge.older in there for edge in true)
    print(f"\n{found} of {reachable} whose sessions are both here; {len(inferred)} beyond them")
    for edge in inferred.values():
        print(f"  beyond: {edge.older} → {edge.newer}  {edge.kind}  {edge.confidence}")


def _hidden(one: Known) -> Known:
    """A session without anything that records where it comes from."""
    rounds = tuple(
        msgspec.structs.replace(round, id=f"{one.info.id}/{number}")
        for number, round in enumerate(one.trace.rounds)
    )
    return Known(
        msgspec.structs.replace(one.info, links=(), slug=None),
        msgspec.structs.replace(one.trace, rounds=rounds, named=()),
    )


def continues(out: Path) -> None:
    if out.resolve().is_relative_to(PROJECT):
        raise SystemExit("FOLDER must be outside the project: it will hold other people's words.")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        archive = Archive(Path(folder) / "archive", ROOTS)
        lineage = archive.lineage()
        edges = [edge for edge in lineage.edges if edge.kind == "continues"]
        for number, edge in enumerate(edges, 1):
            (out / f"{number:03}.md").write_text(_page(archive, edge), encoding="utf-8")
    print(f"{len(edges)} inferred continuations in {out}")
    for what, count in Counter(e.evidence[0].what for e in edges).most_common():
        print(f"  {count:4}  mostly by {what}")


def _page(archive: Archive, edge: Edge) -> str:
    earlier, later = archive.summary(edge.older), archive.summary(edge.newer)
    ends = archive.open(edge.older)
    begins = archive.open(edge.newer)
    lines = [
        f"# Does {edge.newer[:8]} go on with the work of {edge.older[:8]}?",
        "",
        f"- {why(edge, archive.short)}",
        f"- earlier: {earlier.name} ({earlier.info.started} to {earlier.info.ended})",
        f"- later: {later.name} ({later.info.started} to {later.info.ended})",
        "",
        f"## The earlier session began ({ends.count} rounds in all)",
        _told(ends.round(1)),
        "## … and ended",
        *(_told(ends.round(n)) for n in range(max(1, ends.count - 1), ends.count + 1)),
        f"## The later session began ({begins.count} rounds in all)",
        *(_told(begins.round(n)) for n in range(1, min(2, begins.count) + 1)),
    ]
    return "\n".join(lines) + "\n"


def _told(round: Round) -> str:
    asked = round.prompt.said if round.prompt is not None else ""
    answers = [b.text for m in round.replies for b in m.blocks if isinstance(b, Text)]
    return (
        f"\n**#{round.number} asked:** {asked[:_CHARS]}\n\n"
        f"**answered, first:** {(answers or [''])[0][: _CHARS // 3]}\n\n"
        f"**answered, last:** {(answers or [''])[-1][-_CHARS:]}\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument(
        "what", nargs="?", default="generated", choices=["generated", "recorded", "continues"]
    )
    parser.add_argument("--count", type=int, default=210)
    parser.add_argument("--negatives", type=int, default=80)
    parser.add_argument("--seed", type=int, default=16)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    try:
        if given.what == "generated":
            generated(given.count, given.negatives, given.seed)
        elif given.what == "recorded":
            recorded()
        elif given.out is None:
            parser.error("continues needs --out FOLDER")
        else:
            continues(given.out)
    except MinutebookError as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
