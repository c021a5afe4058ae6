"""Principles of topics, outcomes and decisions that readers of minutes asked for, offline."""

from __future__ import annotations

import msgspec
import pytest

from minutebook.derive.activity import Activity, Commit
from minutebook.extract.offline.decisions import decisions_of
from minutebook.extract.offline.extractor import extract_offline
from minutebook.extract.offline.headings import heading_of
from minutebook.extract.offline.outcomes import outcome_of
from minutebook.extract.offline.picks import picked
from minutebook.extract.offline.requests import clauses, without_output
from minutebook.extract.offline.texts import titles_of
from minutebook.extract.offline.topics import topic_of


def worked(answer: str = "", prompt: str = "Mend the basket", **fields: object) -> Activity:
    given: dict[str, object] = {"number": 1, "edits": 1, "cwd": "/home/dev/orchard", **fields}
    return Activity(prompt=prompt, answer=answer, **given)  # type: ignore[arg-type]


def committed(*subjects: str, **fields: object) -> Activity:
    commits = tuple(Commit(f"{n:07x}", subject) for n, subject in enumerate(subjects, 1))
    return worked(commits=commits, committing=1, **fields)  # type: ignore[arg-type]


PAIRS = (
    *(("prune", "oldest pears"), ("water", "young apples"), ("paint", "garden fence")),
    ("label", "wooden crates"),
)

# Outcomes (UND-04)


def test_a_commit_comes_before_a_report() -> None:
    """UND-04: what was committed says more than a sentence of the answer."""
    round = committed("feat: weigh apples by the crate", answer="Added a lock to the scale.")
    assert outcome_of([round]) == "Committed: Weigh apples by the crate."


def test_the_commit_closest_to_the_topic_is_told() -> None:
    """UND-04: of several commits first the one the engagement is about."""
    round = committed("feat: weigh apples by the crate", "fix: round pears down")
    told = outcome_of([round], "Weigh the apples of a crate")
    assert told == "Committed: Weigh apples by the crate; round pears down."


def test_a_commit_that_was_folded_away_is_not_told() -> None:
    """UND-04: an outcome names no commit that an amended one took the place of."""
    first = committed("feat: weigh crates", number=1)
    amended = Commit("9f", "feat: weigh crates", amends=True)
    folded = committed("docs: describe the scale", number=2)
    folded = msgspec.structs.replace(folded, commits=(*folded.commits, amended))
    reply, _ = extract_offline([first, folded], None, "/o")
    told = " ".join(part.outcome + part.topic for part in reply.engagements)
    assert "eigh crates" in told and "describe the scale" not in told


def test_commits_that_do_not_fit_are_counted() -> None:
    """UND-04: an outcome names up to three main commits, each thing once, and counts the rest;
    what an earlier engagement committed is not among them."""
    subjects = [f"feat: {verb} the {thing} of the grove" for verb, thing in PAIRS]
    earlier = committed("feat: mow the meadow of the grove")
    told = outcome_of([committed(*subjects, "docs: describe labels")], "", titles_of([earlier]))
    assert told.count(";") == 2
    assert told.endswith("(and 2 more commits).")
    again = outcome_of([committed("feat: mow the meadow of the grove", *subjects[:1])], "",
                       titles_of([earlier]))  # fmt: skip
    assert again == "Committed: Prune the oldest pears of the grove."


@pytest.mark.parametrize("small", ["wip", "Merge branch 'main' into scale", "docs: name the scale"])
def test_a_small_commit_stands_behind_a_feature(small: str) -> None:
    """UND-04: no merge, "wip" or chore where there is a feature or a fix."""
    assert "Weigh crates" in outcome_of([committed("feat: weigh crates", small)])


def test_a_commit_of_an_earlier_engagement_is_not_told_again() -> None:
    """UND-04: an amended commit belongs to where it was made."""
    first = committed("feat: weigh crates")
    again = committed("feat: weigh crates", answer="Fixed the rounding of pears in the scale.")
    told = outcome_of([again], used=titles_of([first]))
    assert told == "Fixed the rounding of pears in the scale."


def test_a_summary_comes_before_items_of_a_list() -> None:
    """UND-04: the sentence that opens the report, not a bullet deep in it."""
    answer = (
        "The scale now rounds pears to whole grams.\n\n"
        "- Added a `round_pears` helper to scale.py\n- Updated the comment of the basket loop"
    )
    assert outcome_of([worked(answer)]) == "The scale now rounds pears to whole grams."


def test_the_round_that_did_the_work_is_reported() -> None:
    """UND-04: a late touch does not stand for the whole."""
    rounds = [
        worked("Implemented the harvest calendar in the shop page.", edits=9),
        worked("Removed the blank line of the header comment.", prompt="Drop that line", edits=1),
    ]
    told = outcome_of(rounds, "Add a harvest calendar to the shop page")
    assert told == "Implemented the harvest calendar in the shop page."


@pytest.mark.parametrize(
    "answer",
    [
        "Analysis is done — here's the landscape of the orchard and its crates.",
        "Yes, related — but the coworker is half right about crates.",
        "No, it's only setting the weight of crates in the local scale.",
        "The scale still fails because the crates haven't been weighed yet.",
        "Crate rewrite dispatched, built on the frozen snapshot of pears.",
        "Also fixed an unrelated crate of pears in the scale.",
        "Already fixed in your follow-up commit of the pears scale.",
        "Reverted and pushed (well, committed) the pears locally.",
        "Die Umstellung der Kisten läuft noch auf dem Server der Waage.",
        "La pesée des cagettes est encore en cours sur le serveur.",
        "秤の更新はまだ終わっていませんので待ってください。",
    ],
)
def test_announcements_answers_and_passing_states_are_no_outcome(answer: str) -> None:
    """UND-04: nothing is better than what announces, answers unseen questions, or passes."""
    assert outcome_of([worked(answer)]) == ""


@pytest.mark.parametrize(
    "answer",
    [
        "Der Fehler beim Runden der Birnen wurde in der Waage behoben.",
        "Le calcul du poids des poires a été corrigé dans la balance.",
        "El redondeo de las peras ha sido corregido en la balanza.",
        "梨の重さの丸め処理を修正しました。",
        "已修复秤中梨的重量四舍五入问题。",
    ],
)
def test_results_are_found_in_other_languages(answer: str) -> None:
    """UND-04: a report in German, French, Spanish, Japanese or Chinese is one."""
    assert outcome_of([worked(answer)]) == answer


def test_changed_files_are_the_last_resort_and_named() -> None:
    """UND-04: "Changed 3 files" says nothing; names and the kind of change say a little."""
    files = ("/o/scale.py", "/o/crate.py", "/o/test_scale.py")
    assert (
        outcome_of([worked(files=files)])
        == "Changed code in scale.py and crate.py and their tests."
    )
    assert outcome_of([worked(files=("/o/GUIDE.md",))]) == "Changed documentation in GUIDE.md."


def test_a_plan_that_was_only_written_is_told_as_one() -> None:
    """UND-04: nothing was done yet, but it was planned."""
    round = worked(files=("/home/dev/.claude/plans/pear.md",), plan="Plan: Weigh pears by hand")
    assert outcome_of([round]) == "Planned: Weigh pears by hand."


# Topics (UND-02)


@pytest.mark.parametrize(
    "sentence",
    [
        "Wrap the other failures as well (e.g., open the scale, ensure the crate branch)",
        "Wrap the other failures as well, for example open the scale, ensure the crate branch",
        "Fange auch die anderen Fehler ab, z. B. open the scale, ensure the crate branch",
        "Gère aussi les autres erreurs, par exemple open the scale, ensure the crate branch",
        "Trata también los otros fallos, por ejemplo open the scale, ensure the crate branch",
        "他のエラーも処理する、例えば open the scale, ensure the crate branch",
        "也处理其他错误，例如 open the scale, ensure the crate branch",
    ],
)
def test_an_example_is_no_piece_of_a_request(sentence: str) -> None:
    """UND-02: no fragment from inside brackets or after "e.g."."""
    assert not any("crate" in clause for clause in clauses(sentence))


def test_what_a_console_printed_is_not_typed() -> None:
    """UND-02: no line of a console, a log or a program's output is a topic."""
    prompt = (
        "Join the two lines:\n✓ Crate strategy enabled\n\n"
        "❯ make weigh\nAllowed pears: Conference Williams\n\nand keep the rest"
    )
    assert without_output(prompt) == "Join the two lines:\n\n\nand keep the rest"


def test_a_failing_test_is_still_named() -> None:
    """UND-02: of what a test run printed, the name of the test that fails stays."""
    kept = without_output("--- FAIL: TestScale (0.1s)\n    scale.go:9: Copied pears to the crate")
    assert kept == "--- FAIL: TestScale (0.1s)"


@pytest.mark.parametrize(
    "sentence",
    [
        "can you explain 3. crate.Builder optional for five pears",
        "Until recently we used the old scale for the pears",
        "[ScaleRoutes] Pear agent is available in the orchard",
        "causing the crates of the orchard to fail on the scale",
        "e.g. weigh the crates of pears on the old scale",
        "Bis vor kurzem wurde die alte Waage für Birnen benutzt",
    ],
)
def test_fragments_and_background_are_no_headings(sentence: str) -> None:
    """UND-02: no list number inside, no background, no log tag, no half clause."""
    assert heading_of(sentence) is None


def test_the_tail_of_a_question_is_no_topic() -> None:
    """UND-02: "do the translation on the fly?" asks of what nobody sees."""
    asked = "if we would ship pears to a depot that takes crates could we do the packing on the go?"
    round = worked(prompt=asked, commits=(Commit("1", "Pack pears for depots that take crates"),))
    assert topic_of([round], 0, 1, None) == "Pack pears for depots that take crates"


def test_review_comments_are_named_by_their_pull_request() -> None:
    """UND-02: "this comment" and a link: the request's number says which."""
    link = "https://github.com/dev/orchard/pull/31#discussion_r1"
    round = worked(prompt=f"Can you address this comment?\n{link}", references=("dev/orchard#31",))
    assert topic_of([round], 0, 1, None) == "Address the review comments on PR #31"


def test_what_quotes_the_answer_before_is_no_request() -> None:
    """UND-02: a line copied from the agent's answer is the agent's."""
    quoted = "The scale now weighs crates by default"
    rounds = [
        worked(f"Done.\n- {quoted}\n", prompt="Weigh the pears of every basket in the shop"),
        worked(prompt=f"- {quoted}\n\nThis should not be so", number=2),
    ]
    assert topic_of(rounds, 0, 2, None) == "Weigh the pears of every basket in the shop"


def test_a_request_comes_before_its_background() -> None:
    """UND-02: a statement that leads up to a request is not the topic."""
    prompt = "The pear ledger mentions that crates are lost. Please check the crates of a depot."
    assert topic_of([worked(prompt=prompt)], 0, 1, None) == "Check the crates of a depot"


# Decisions (UND-03)

_OFFER = (
    "Two ways to go:\n\n### Option 1: Keep the crate ledger (simplest)\n- no change\n\n"
    "### Option 2: Move crates into a database\n- faster\n\nWhich one do you prefer?"
)
_LETTERS = "How shall the label look?\n\nA) Printed above the crate\nB) Burnt into the wood"


@pytest.mark.parametrize(
    "reply",
    [
        "Option 1",
        "let's go with option 1",
        "1",
        "I like Option 1, as it is small",
        "Nimm bitte Option 1",
        "option 1, d'accord",
        "Opción 1, por favor",
        "オプション1でお願いします",
        "方案1吧",
    ],
)
def test_a_picked_option_is_told_in_its_words(reply: str) -> None:
    """UND-03: "Option 1" says nothing to others; the text of the option does."""
    rounds = [worked(_OFFER), worked(prompt=reply, number=2)]
    assert decisions_of(rounds) == (
        "Chose: Keep the crate ledger, not Move crates into a database.",
    )


def test_a_letter_picks_an_option() -> None:
    """UND-03: options by letter, in the answer's list."""
    assert picked(_LETTERS, "B please") == (
        "Chose: Burnt into the wood, not Printed above the crate"
    )


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        (_OFFER, "Option 3"),
        (_OFFER, "What is the difference of option 1 to the ledger we have?"),
        ("I weighed the pears.\n1. Washed the crates\n2. Counted the pears", "1"),
        ("Next?\n1. Commit and push\n2. Stop here for today", "1"),
        ("Which?\n1. Quick fix\n2. Long fix of all crates", "1"),
        ("", "A"),
        ("1. " * 3_000 + "?", "1"),
    ],
)
def test_what_picks_nothing_is_no_decision(answer: str, reply: str) -> None:
    """UND-03: no such option, a question, a list of what was done, a procedure: none."""
    assert picked(answer, reply) is None


@pytest.mark.parametrize(
    "prompt",
    [
        "Only add crates then for now, but leave the others, I'll ask the author of the scale.",
        "Keep all the colour changes we made.",
        "Choose version B and go on to the next crate.",
        "Use this instead of that for the crates here.",
    ],
)
def test_speech_only_two_understand_is_no_decision(prompt: str) -> None:
    """UND-03: raw speech is left out: what are "the others", who is "I"?"""
    assert decisions_of([worked(prompt=prompt)]) == ()


def test_a_decision_is_told_once_in_a_session() -> None:
    """UND-03: the same choice in two engagements is in the first."""
    round = worked(prompt="Let's use the crate ledger instead of the pear database.")
    first = decisions_of([round])
    assert len(first) == 1
    assert decisions_of([round], first) == ()


def test_a_session_tells_each_thing_once() -> None:
    """UND-02, UND-04: no two engagements with one topic, or with one commit."""
    rounds = [
        committed("feat: weigh crates by the dozen", prompt="Weigh crates by the dozen", number=n)
        for n in range(1, 13)
    ]
    reply, _ = extract_offline(rounds, None, "orchard")
    told = [e.outcome for e in reply.engagements if e.outcome.startswith("Committed")]
    assert len(told) == 1
