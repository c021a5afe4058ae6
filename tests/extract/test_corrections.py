"""What a person said, applied to engagements: rounds are never lost, and undo is exact."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from minutebook.archive.coverage import Work, covered
from minutebook.derive.activity import Activity
from minutebook.model.engagement import Engagement, SessionRecord
from minutebook.model.said import (
    Hide,
    Join,
    Move,
    Note,
    Renumber,
    Said,
    Set,
    Split,
    Star,
    Statement,
    Tag,
    Written,
)

ROUNDS = 12


def engagement(id: str, first: int, last: int, **fields: object) -> Engagement:
    known = {"topic": f"Topic of {id}", "project": "/w", "method": "build", "phase": "started"}
    return Engagement(id=id, turn_range=(first, last), **{**known, **fields})  # type: ignore[arg-type]


def record(*cuts: int, rounds: int = ROUNDS) -> SessionRecord:
    """A session with an engagement that begins at each of some rounds."""
    starts = sorted({1, *cuts})
    ends = [*(start - 1 for start in starts[1:]), rounds]
    found = [engagement(f"e{a}", a, b) for a, b in zip(starts, ends, strict=True)]
    return SessionRecord(session_id="s", rounds=rounds, cwd="/w", engagements=tuple(found))


def saying(*statements: Written, old: bool = False, undone: int = 0) -> list[Said]:
    """Statements as the file has them; the last ones taken back."""
    held = len(statements) - undone
    return [
        Said(id=str(n), session_id="s", statement=statement, old=old, undone=n >= held)
        for n, statement in enumerate(statements)
    ]


def rounds_of(found: SessionRecord) -> list[int]:
    """Every round as often as it is in an engagement."""
    return sorted(
        number
        for engagement in found.engagements
        for first, last in engagement.ranges
        for number in range(first, last + 1)
    )


def cuts(found: SessionRecord) -> dict[str, tuple[tuple[int, int], ...]]:
    return {engagement.id: engagement.ranges for engagement in found.engagements}


NUMBERS = st.integers(1, ROUNDS)
NAMES = st.integers(0, 11)


def ref(found: SessionRecord, pick: int) -> Engagement:
    return found.engagements[pick % len(found.engagements)]


@st.composite
def sequences(draw: st.DrawFn) -> tuple[SessionRecord, list[Statement]]:
    """A session, and statements that each name an engagement that was there when it was said."""
    base = record(*draw(st.lists(NUMBERS, max_size=4)))
    said: list[Statement] = []
    for _ in range(draw(st.integers(1, 8))):
        now = covered(base, saying(*said))
        one, two = ref(now, draw(NAMES)), ref(now, draw(NAMES))
        first, last = sorted((draw(NUMBERS), draw(NUMBERS)))
        about = (one.id, one.ranges)
        choices: list[Statement] = [
            Split(*about, round=first),
            Join(*about, other=two.id, other_rounds=two.ranges),
            Move(*about, first=first, last=last),
            Star(*about),
            Hide(*about),
            Note(*about, text="n"),
            Set(*about, values={"topic": f"said {first}"}),
        ]
        said.append(draw(st.sampled_from(choices)))
    return base, said


@settings(max_examples=300, deadline=None)
@given(sequences())
def test_no_round_is_lost_or_doubled(case: tuple[SessionRecord, list[Statement]]) -> None:
    """UND-07: whatever is split, joined and moved, each round is in exactly one engagement."""
    base, said = case
    found = covered(base, saying(*said))
    assert rounds_of(found) == list(range(1, ROUNDS + 1))
    assert len(cuts(found)) == len(found.engagements)
    starts = [engagement.ranges for engagement in found.engagements]
    assert starts == sorted(starts)


@settings(max_examples=200, deadline=None)
@given(sequences(), st.integers(1, 8))
def test_undo_after_do_changes_nothing(
    case: tuple[SessionRecord, list[Statement]], many: int
) -> None:
    """UND-07: what was taken back is as if it had never been said, however much it was."""
    base, said = case
    many = min(many, len(said))
    held = said[: len(said) - many]
    assert covered(base, saying(*said, undone=many)) == covered(base, saying(*held))


@settings(max_examples=200, deadline=None)
@given(sequences(), st.lists(NUMBERS, max_size=4), st.integers(0, 5))
def test_another_extraction_loses_no_round(
    case: tuple[SessionRecord, list[Statement]], others: list[int], grown: int
) -> None:
    """ING-33: the same words laid over other cuts of a longer session: every round once."""
    _, said = case
    found = covered(record(*others, rounds=ROUNDS + grown), saying(*said))
    assert rounds_of(found) == list(range(1, ROUNDS + grown + 1))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(NUMBERS, NUMBERS, st.sampled_from(["a", "b", "e1", None])), max_size=6),
    sequences(),
)
def test_tags_among_them_double_no_round(
    tags: list[tuple[int, int, str | None]], case: tuple[SessionRecord, list[Statement]]
) -> None:
    """ARC-05: tags are laid over what is there, and a later word over tags; once each."""
    base, said = case
    laid: list[Written] = [Tag(min(a, b), max(a, b), id) for a, b, id in tags]
    found = covered(base, saying(*laid[:3], *said, *laid[3:]))
    assert rounds_of(found) == list(range(1, ROUNDS + 1))


def test_a_split_copies_labels_and_leaves_the_decisions() -> None:
    """UND-07: the new engagement is about the same; what was decided is counted once."""
    base = SessionRecord(
        session_id="s",
        rounds=6,
        engagements=(engagement("work", 1, 6, key_decisions=("this",), outcome="done"),),
    )
    one, two = covered(base, saying(Split("work", round=4, made="work-2"))).engagements
    assert (one.id, one.turn_range, one.key_decisions, one.outcome) == (
        *("work", (1, 3)),
        *(("this",), "done"),
    )
    assert (two.id, two.turn_range, two.key_decisions, two.outcome) == ("work-2", (4, 6), (), "")
    assert two.topic == one.topic


def test_a_join_keeps_the_decisions_of_both() -> None:
    """UND-07: topic and method of the first named, phase and outcome of the one that ended last."""
    base = SessionRecord(
        session_id="s",
        rounds=6,
        engagements=(
            engagement("a", 1, 3, key_decisions=("x",), outcome="half", phase="started"),
            engagement("b", 4, 6, key_decisions=("y",), outcome="all", phase="completed"),
        ),
    )
    for first, second in (("a", "b"), ("b", "a")):
        (whole,) = covered(base, saying(Join(first, other=second))).engagements
        assert (whole.id, whole.turn_range, whole.topic) == (first, (1, 6), f"Topic of {first}")
        assert whole.key_decisions == ("x", "y")
        assert (whole.phase, whole.outcome) == ("completed", "all")


def test_a_join_holds_where_another_extraction_cuts_between() -> None:
    """ING-33: rounds 1-6 are one piece of work, whatever an extractor says later."""
    said = saying(Join("e1", ((1, 3),), other="e4", other_rounds=((4, 6),)))
    assert cuts(covered(record(4, 7), said)) == {"e1": ((1, 6),), "e7": ((7, 12),)}
    assert cuts(covered(record(3, 5, 7), said)) == {"e1": ((1, 6),), "e7": ((7, 12),)}


def test_a_split_is_found_by_its_round() -> None:
    """ING-33: with other ids, or where the cut is found by itself, the labels stay in place."""
    said = saying(
        Split("gone", ((1, 12),), round=5, made="gone-2"),
        Set("gone-2", ((5, 12),), values={"topic": "The second half"}),
    )
    for base in (record(), record(5), record(3, 5, 9)):
        found = {e.turn_range[0]: e.topic for e in covered(base, said).engagements}
        assert found[5] == "The second half" or found.get(9) == "The second half"
        assert 5 in found


def test_facts_of_parts_are_found_again() -> None:
    """UND-07: times and files are those of the rounds each part has now, also with a hole."""

    def work() -> Work:
        return Work([_done(number) for number in range(1, ROUNDS + 1)])

    base = record(5)
    said = saying(
        Split("e1", ((1, 4),), round=3, made="new"),
        Join("e1", ((1, 2),), other="e5", other_rounds=((5, 12),)),
    )
    found = {e.id: e for e in covered(base, said, work).engagements}
    assert found["new"].files == ("3.py", "4.py")
    assert found["e1"].files == ("1.py", "2.py", *(f"{n}.py" for n in range(5, 13)))
    assert (found["e1"].started, found["e1"].ended) == ("01:00", "12:30")
    untouched = covered(base, saying(Star("e1")), _never)
    assert untouched.engagements[0].starred


def _done(number: int) -> Activity:
    return Activity(
        number=number,
        started=f"{number:02}:00",
        ended=f"{number:02}:30",
        files=(f"{number}.py",),
    )


def _never() -> Work:
    raise AssertionError("nothing was cut: rounds need not be read")


def test_old_corrections_come_before_old_tags() -> None:
    """ING-33: files of the first releases mean what they meant."""
    old: Sequence[Written] = (
        Move("e1", ((1, 4),), first=1, last=6),
        Set("mine", ((1, 2),), values={"method": "debug"}),
        Tag(1, 2, "mine"),
    )
    said = [*saying(*old, old=True), *saying(Star("mine", ((1, 2),)))]
    found = covered(record(5), said)
    assert cuts(found) == {"mine": ((1, 2),), "e1": ((3, 6),), "e5": ((7, 12),)}
    mine = found.engagements[0]
    assert (mine.method, mine.starred) == ("debug", True)


def test_rounds_with_new_numbers_are_mapped_once() -> None:
    """ARC-03: what was said before an upgrade moves with its rounds; what came after does not."""
    said = saying(
        Move("e1", ((1, 2),), first=1, last=2),
        Renumber({2: (2, 3), 3: (4, 5)}),
        Split("x", ((4, 12),), round=9, made="late"),
    )
    found = cuts(covered(record(3), said))
    assert found == {"e1": ((1, 3),), "e3": ((4, 8),), "late": ((9, 12),)}


def test_what_a_hand_wrote_into_the_file_does_no_harm() -> None:
    """ARC-07: statements that make no sense change nothing."""
    base = record(5)
    wrong: list[Written] = [
        Split("e1", round=99),
        Split("e1", round=-1),
        Move("e1", first=3, last=99),
        Move("e1", first=4, last=2),
        Join("e1", other="e1"),
        Join("nobody", other="e1"),
        Set("e1", values={"method": "magic", "topic": (1, 2), "id": "x", "turn_range": "x"}),
        Set(values={"title": (1, 2), "rounds": "99"}),
        Star("nobody"),
    ]
    found = covered(base, saying(*wrong))
    assert found.engagements == base.engagements
    assert found.title is None
