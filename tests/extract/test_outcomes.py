"""What came of a range, and what was decided in it, offline (UND-03, UND-04)."""

from __future__ import annotations

import pytest

from minutebook.derive.activity import Activity, Commit
from minutebook.derive.calls import Choice
from minutebook.extract.offline.decisions import decisions_of
from minutebook.extract.offline.outcomes import outcome_of


def answered(answer: str, prompt: str = "Fix the login", **fields: object) -> Activity:
    return Activity(number=1, prompt=prompt, answer=answer, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("## Done\n\n**The store** now keeps rows in `SQLite`. Want me to commit?",
         "The store now keeps rows in SQLite."),
        ("Done! I've added a flag that hides the password form.\n\nTests pass.",
         "Added a flag that hides the password form."),
        ("All tests pass.\n\n1. **auth.py** - Fixed the redirect after the login form",
         "Fixed the redirect after the login form."),
        ("Fixed [omp.zsh:165](src/omp.zsh:165): the prompt no longer prints the job twice.",
         "Fixed omp.zsh: the prompt no longer prints the job twice."),
    ],
)  # fmt: skip
def test_an_outcome_says_what_was_accomplished(answer: str, outcome: str) -> None:
    """UND-04: the sentence that reports a result, whole and without Markdown."""
    assert outcome_of([answered(answer, edits=1)]) == outcome


@pytest.mark.parametrize(
    "answer",
    [
        "Not stuck — it died.",
        "Would you like me to open a pull request for this change?",
        "Want me to commit? Let me know if you would like anything else.",
        "Done.",
        "All 42 tests pass and lint is clean.",
        "Committed as `1a2b3c4` on `main`.",
        "Let me run the tests again to be sure:",
        "API Error: 529 the service is overloaded right now",
        "You've hit your usage limit reached for today",
        "",
    ],
)
def test_what_is_no_outcome_is_not_shown(answer: str) -> None:
    """UND-04: no question, offer, bare "Done." or status; what was committed stands in for it."""
    commit = Commit("1a2b3c4", "fix(auth): keep the query string")
    assert outcome_of([answered(answer)]) == ""
    assert outcome_of([answered(answer, commits=(commit,), committing=1)]) == (
        "Committed: Keep the query string."
    )
    assert outcome_of([answered(answer, edits=2, files=("/o/auth.py",))]) == (
        "Changed code in auth.py."
    )


def test_an_answer_is_the_outcome_of_a_question() -> None:
    """UND-04: where nothing was changed, the outcome is what was answered, without its "Yes"."""
    told = "Yes, the DNS records need the proxy mode disabled, because it rewrites them."
    assert outcome_of([answered(told, prompt="Should the proxy be off?")]) == (
        "The DNS records need the proxy mode disabled, because it rewrites them."
    )


def test_what_the_person_chose_comes_first() -> None:
    """UND-03: an answer to a question is a decision, with what it was chosen over."""
    asked = Choice("Which store should keep the rows?", "SQLite (Recommended)", ("Postgres",))
    procedure = Choice("What would you like to do with this todo?", "Work on it now", ("Skip",))
    round = Activity(
        number=1,
        prompt="Let's keep the old reader instead of the new one for a release.",
        choices=(procedure, asked),
        commits=(Commit("1a2b3c4", "refactor: use rows instead of documents"),),
    )
    assert decisions_of([round]) == (
        "“SQLite”, not “Postgres” (Which store should keep the rows?).",
        "Keep the old reader instead of the new one for a release.",
        "Use rows instead of documents.",
    )


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("Why did you use SQLite instead of Postgres?", ""),
        ("Should we use SQLite instead of Postgres for the rows?", ""),
        ("I want to see the harvest chart on the page", ""),
        ("It returns a stale row instead of failing with an error", ""),
        ("Use the writing skill for the whole text please", ""),
        ("", "We could use SQLite instead of Postgres if you prefer that."),
        ("", "I would recommend SQLite rather than Postgres for a single user."),
        ("", "The function returns null instead of an empty list in that case."),
        ("pick up where we left off", ""),
        ("\x1b[31m" + "instead of " * 9_000, "rather than " * 9_000),
    ],
)
def test_what_is_no_decision_is_not_shown(prompt: str, answer: str) -> None:
    """UND-03: questions, wishes, complaints, proposals and ways to work are no decisions."""
    assert decisions_of([answered(answer, prompt=prompt)]) == ()


def test_what_is_called_a_decision_is_one() -> None:
    """ING-15: a sentence that says it is a decision is taken as one; three are enough."""
    said = "Not yet. **Decision:** store challenges under their own id."
    assert decisions_of([answered(said)]) == ("Store challenges under their own id.",)
    waits = "The storage is parked on a decision: new ids would change one crate in five."
    assert decisions_of([answered(waits)]) == ()
    many = [answered("", f"Let's use the {word} store instead of files.") for word in "abcde"]
    assert len(decisions_of(many)) <= 3


@pytest.mark.parametrize(
    "prompt",
    [
        "Bitte verwende SQLite statt Postgres für die Zeilen.",
        "Utilise SQLite plutôt que Postgres pour les lignes.",
        "Usa SQLite en lugar de Postgres para las filas.",
    ],
)
def test_decisions_are_found_in_other_languages(prompt: str) -> None:
    """UND-03: a choice made in German, French or Spanish is one."""
    assert len(decisions_of([answered("", prompt=prompt)])) == 1


def test_what_was_opened_comes_before_what_was_said() -> None:
    """UND-04: a pull request says best what was accomplished."""
    round = answered("I've added a flag.", edits=1, pull_titles=("feat: hide the form",))
    assert outcome_of([round]) == "Opened a pull request: Hide the form."


def test_a_report_that_goes_on_in_a_list_stands_without_it() -> None:
    """UND-04: "Removed the start command:" reports a result, whatever the list says."""
    round = answered("Done. Removed the start command of the shop:\n- one\n- two", edits=1)
    assert outcome_of([round]) == "Removed the start command of the shop."


def test_the_answer_to_a_commit_is_not_the_outcome() -> None:
    """UND-04: the state of the branch is not what came of the work."""
    rounds = [
        answered("Added a lock to the basket store.", edits=1),
        answered("Only the two files were included.", prompt="commit"),
    ]
    assert outcome_of(rounds) == "Added a lock to the basket store."


def test_what_is_left_to_the_agent_is_not_decided() -> None:
    """UND-03: "You decide" chooses nothing."""
    choice = Choice("Where should the key go?", "You decide", ("In the settings",))
    assert decisions_of([answered("Done.", choices=(choice,))]) == ()


def test_an_outcome_speaks_of_the_topic() -> None:
    """UND-04: the result of the work comes first, then what else was done; no late touch."""
    rounds = [
        answered(
            "All done. Changed the harvest telemetry to be off unless somebody asks.", edits=2
        ),
        answered("Added timing to both methods.", prompt="print how long it takes", edits=2),
        answered("Removed the trailing blank of a log line.", prompt="tidy up", edits=0),
    ]
    assert outcome_of(rounds, "Change the harvest telemetry default to off") == (
        "Changed the harvest telemetry to be off unless somebody asks; added timing to both"
        " methods."
    )


def test_an_outcome_that_leads_to_a_list_is_told_without_it() -> None:
    """UND-04: "has been redesigned:" reports a result, and its list is left out."""
    told = answered("The summary of harvests has been redesigned:\n\n- **Groups** by tree", edits=1)
    assert outcome_of([told]) == "The summary of harvests has been redesigned."


def test_files_are_changed_for_something() -> None:
    """UND-04: where no result was told, files say what they were changed for."""
    round = answered("", edits=2, files=("/o/auth.py",))
    assert outcome_of([round], "Add a lock to the login form") == (
        "Changed code in auth.py to add a lock to the login form."
    )
    assert outcome_of([round], "Login form redesign in auth.py") == (
        "Changed code in auth.py for “Login form redesign”."
    )


def test_a_commit_that_names_nothing_is_no_outcome() -> None:
    """UND-04: "Address review findings" stands back behind what the answer reports."""
    commit = Commit("1a2b3c4", "fix: address review findings")
    told = answered("Replaced the made-up picture with a real one.", commits=(commit,), edits=1)
    assert outcome_of([told]) == "Replaced the made-up picture with a real one."
