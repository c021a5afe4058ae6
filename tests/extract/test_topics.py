"""Topics a person finds a session by, offline (UND-02, ING-11)."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minutebook.derive.activity import Activity, Commit
from minutebook.examples import write_examples
from minutebook.extract.offline.candidates import headings
from minutebook.extract.offline.extractor import extract_offline
from minutebook.extract.offline.headings import capital, heading_of, is_long_enough, length_of
from minutebook.extract.offline.topic_model import FEATURES, MODEL, Range, described, model
from minutebook.extract.offline.topics import titled, topic_of
from minutebook.extract.offline.verbs import is_imperative
from tests.extract.test_offline import rounds_of


def topic(*rounds: Activity, title: str | None = None) -> str:
    return topic_of(rounds, 0, len(rounds), title)


def asked(prompt: str, **fields: object) -> Activity:
    return Activity(number=1, prompt=prompt, cwd="/home/dev/orchard", **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        (
            "Good morning buddy, it's 24 July 26 at 0546 local philly time. "
            "Please fix the login redirect in the auth module.",
            "Fix the login redirect in the auth module",
        ),
        (
            "Oh sorry, I had fell asleep while you were working. "
            "Can you now draw a bar chart of the weekly harvest?",
            "Draw a bar chart of the weekly harvest",
        ),
        (
            "Implement the following plan:\n\n# Plan: Add passkey login to the orchard shop\n\n"
            "## Context\n\nPasswords are weak.",
            "Add passkey login to the orchard shop",
        ),
        (
            "https://github.com/dev/orchard/issues/12 can you fix the broken harvest export?",
            "Fix the broken harvest export (issue #12)",
        ),
        ("/deploy the harvest service to the staging cluster",
         "Deploy the harvest service to the staging cluster"),
        ("<system-note>hidden</system-note> Rename the **orchard** module to `grove` everywhere",
         "Rename the orchard module to grove everywhere"),
    ],
)  # fmt: skip
def test_a_topic_is_what_was_asked_for(prompt: str, expected: str) -> None:
    """UND-02: greetings, apologies, tags, links and "implement the plan" are not in a topic."""
    assert topic(asked(prompt)) == expected


@pytest.mark.parametrize(
    "prompt",
    [
        "Good morning buddy, it's 24 July 26 at 0546 local philly time",
        "/e2e-debug",
        "Oh sorry, I had fell asleep while you were working",
        "https://github.com/dev/orchard/actions/runs/29339084745",
        "<command-message>init</command-message>",
        "Implement the following plan:",
        "src/orchard/harvest/baskets/export.py",
        "pick up where we left off",
        "yes",
        "npm run start",
        "can you fix this and open a PR?",
        "",
    ],
)
def test_what_is_no_topic_never_becomes_one(prompt: str) -> None:
    """UND-02: a greeting, a bare command, a tag, a link, a path, a follow-up is no heading; what
    is known of the work stands in for it."""
    assert heading_of(prompt) is None
    command = prompt if prompt.startswith("/") else None
    said = topic(asked(prompt, command=command))
    assert prompt not in said or not prompt
    assert is_long_enough(said)
    committed = asked(
        prompt, commits=(Commit("1a2b3c4", "fix(shop): keep the basket after login"),)
    )
    assert topic(committed).startswith("Keep the basket after login")


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("Guten Morgen! Kannst du bitte den Fehler beim Anmelden im Shop beheben?",
         "Den Fehler beim Anmelden im Shop beheben"),
        ("Bonjour, peux-tu corriger les tests du panier, s'il te plaît ?",
         "Corriger les tests du panier"),
        ("Hola, ¿puedes arreglar el botón de exportar la cosecha, por favor?",
         "Arreglar el botón de exportar la cosecha"),
        ("こんにちは。ログイン画面のバグを修正してください。", "ログイン画面のバグを修正"),
        ("你好，请帮我修复登录页面的错误，谢谢", "修复登录页面的错误"),
        ("Hey Claude, could you please add an export button to the toolbar? Thanks!",
         "Add an export button to the toolbar"),
    ],
)  # fmt: skip
def test_courtesies_of_six_languages_go(prompt: str, expected: str) -> None:
    """UND-02: a topic in German, French, Spanish, Japanese or Chinese is as plain as in English."""
    assert topic(asked(prompt)) == expected


def test_a_title_of_the_whole_session_is_its_topic() -> None:
    """UND-02: one engagement under a good title is called by it; a short title is completed."""
    session = rounds_of("make it faster please", "and now commit")
    assert topic(*session, title="Speed up the weekly harvest export") == (
        "Speed up the weekly harvest export"
    )
    here = [msgspec.structs.replace(round, cwd="/home/dev/orchard") for round in session]
    assert topic(*here, title="Harvest export speed") == "Harvest export speed in orchard"
    assert "faster" not in topic(*here, title="Harvest export speed")


def test_the_first_line_of_a_prompt_is_no_title() -> None:
    """UND-06: a title that only repeats the first prompt is not used as it is."""
    prompt = "Good morning! Please add an export button to the toolbar of the shop."
    assert topic(asked(prompt), title=prompt[:30] + "…") == (
        "Add an export button to the toolbar of the shop"
    )


def test_a_long_sentence_ends_where_a_thought_ends() -> None:
    """UND-02: no topic is cut off in the middle, none is longer than fifteen words."""
    long = (
        "Add an export button to the toolbar of the shop because the customers of the harvest"
        " market have asked for it many times over the last two years"
    )
    assert heading_of(long) == "Add an export button to the toolbar of the shop"
    assert heading_of("word " * 40) is None


@pytest.mark.parametrize(
    "hostile",
    [
        "\x1b]0;owned\x07\x1b[31mFix the red login button of the shop\x1b[0m",
        "Fix <script>alert(1)</script> the login button of the shop",
        "Fix the login button of the shop \u202egnihton\u202c",
        "Fix the login button " + "of the shop " * 50_000,
        "[" * 20_000 + "x](" + "(" * 20_000,
        "`" * 30_000,
        ", and " * 20_000,
        "\ud800 fix the login button of the shop",
    ],
)
def test_hostile_text_is_harmless(hostile: str) -> None:
    """UND-02: whatever was typed or answered, a topic is one short line that nothing obeys."""
    said = topic(asked(hostile, answer=hostile, opening=hostile, plan=hostile, tasks=(hostile,)))
    assert len(said) <= 200
    assert said.isprintable()
    assert "<" not in said and "script>" not in said


def test_every_example_has_topics_of_the_right_length(tmp_path: pytest.TempPathFactory) -> None:
    """ING-11: the topics of the example sessions have 5 to 15 words."""
    from pathlib import Path

    from minutebook.derive.identity import identify
    from minutebook.extract.material import material_of
    from minutebook.model import Roster
    from minutebook.sources.base import read_session
    from minutebook.sources.claude_code.read import ClaudeReading

    write_examples(Path(str(tmp_path)))
    topics = []
    for path in sorted(Path(str(tmp_path)).glob("projects/*/*.jsonl")):
        session = read_session(ClaudeReading(path, "full"))
        info = session.info
        material = material_of(info, identify(info, Roster()), session.rounds)
        if material.rounds:
            reply, _ = extract_offline(material.rounds, info.title, material.project)
            topics += [part.topic for part in reply.engagements]
    assert topics
    assert [said for said in topics if not is_long_enough(said)] == []


def test_the_model_says_what_it_was_made_from() -> None:
    """UND-01: the file is small, plain, and names its labels; its features are the code's."""
    learned = model()
    assert "sessions" in learned.made_from and "sha256" in learned.made_from
    assert learned.features == FEATURES
    assert len(learned.words) == len(FEATURES)
    assert MODEL.stat().st_size < 300_000


@given(st.lists(st.text(max_size=80), min_size=1, max_size=6), st.none() | st.text(max_size=40))
def test_any_range_has_one_topic(prompts: list[str], title: str | None) -> None:
    """ING-11: any words give a topic, the same one each time, of at most fifteen words."""
    rounds = rounds_of(*prompts)
    said = topic(*rounds, title=title)
    assert said and said == topic(*rounds, title=title)
    assert length_of(said) <= 20


@pytest.mark.parametrize(
    ("prompt", "heading"),
    [
        (
            "Is there something in my instructions that makes you ask before each and every edit "
            "of a basket or of a tree",
            None,
        ),
        ("do you have access to the tracker?", None),
        ("! git switch main", None),
        ("conda activate orchard", None),
        ("Fix: Add a lock to the basket store", "Add a lock to the basket store"),
        ("--- FAIL: TestHarvest_AfterMerge (3.72s)", "Fix failing TestHarvest_AfterMerge"),
        ("How can we support another shell?", "How to support another shell?"),
        ("Plan: Show all baskets in the harvest plan", "Show all baskets in the harvest plan"),
        ("check the basket store. perhaps it needs a lock too", "Check the basket store"),
    ],
)
def test_a_heading_is_whole_and_says_something(prompt: str, heading: str | None) -> None:
    """UND-02: half a question, a question to the agent, a shell command make no heading."""
    assert heading_of(prompt) == heading


def test_an_issue_is_named_by_its_number() -> None:
    """UND-02: "this issue" is named by the number the prompt links to."""
    round = asked("Reproduce this issue: https://github.com/dev/orchard/issues/9431")
    assert "issue #9431" in topic(round)


def test_two_engagements_are_not_called_the_same() -> None:
    """UND-02: a topic that another engagement has is passed over where there is a good one."""
    rounds = [
        asked("Add a gradient to the harvest chart. Document the gradient stops in the guide")
    ]
    first = topic_of(rounds, 0, 1, None)
    assert topic_of(rounds, 0, 1, None, taken=[first]) != first


def test_work_that_names_nothing_is_named_by_its_files() -> None:
    """UND-02: "address the findings" is found by where it was worked."""
    files = ("/home/dev/orchard/cache.py", "/home/dev/orchard/store.py")
    found = topic(asked("Please address all of the review findings now", files=files, edits=3))
    assert found.endswith(" in cache.py and store.py") and is_long_enough(found)


@pytest.mark.parametrize(
    "said", ["Remember also you have LSP tool access", "Changes made to the plan in README.md"]
)
def test_what_is_said_to_the_agent_is_no_heading(said: str) -> None:
    """UND-02: how to work, and the sections of a report, are not what was worked on."""
    assert heading_of(said) is None


SUBJECT = "fix(shop): keep the basket of a guest after login"


@pytest.mark.parametrize(
    ("prompt", "fields", "expected"),
    [
        (
            "Address the review comments on https://github.com/dev/orchard/pull/96",
            {"commits": (Commit("1a2b3c4", SUBJECT),), "references": ("dev/orchard#96",)},
            "Keep the basket of a guest after login",
        ),
        (
            "Please review the changes with a focus on best practices",
            {"branch": "ann/ent-12-harvest-import-limits"},
            "Review the changes with a focus on best practices (branch harvest-import-limits)",
        ),
        (
            "",
            {"command": "/workflows:review", "branch": "harvest-import-limits"},
            "Review branch harvest-import-limits in orchard",
        ),
    ],
)
def test_what_names_little_is_completed_by_the_work(
    prompt: str, fields: dict[str, object], expected: str
) -> None:
    """UND-02: a request that names nothing is found by what was done, or by its branch."""
    assert expected.lower() in topic(asked(prompt, **fields)).lower()


def test_a_title_that_names_little_is_completed_by_the_work() -> None:
    """UND-02: an issue's number alone is found by nobody; what was done for it is."""
    done = asked("Solve the issue please", commits=(Commit("1a2b3c4", SUBJECT),), edits=1)
    assert topic(done, title="orchard shop issue #7670") == (
        "Orchard shop issue #7670: keep the basket of a guest after login"
    )


def test_an_older_branch_names_nothing_new() -> None:
    """UND-02: a branch that an earlier engagement worked on does not name a later one."""
    branch = "harvest-import-limits"
    rounds = [
        asked("Add limits to the import of harvests", branch=branch),
        asked("Now review all of the changes with best practices", branch=branch),
    ]
    assert branch in topic_of(rounds[1:], 0, 1, None)
    assert branch not in topic_of(rounds, 1, 2, None)


@pytest.mark.parametrize(
    ("prompt", "torn"),
    [
        ("Check that the harvest worker of the orchard should also have the ability to determine if"
         " a basket given to it needs rest", "determine"),
        ("Can I pass an env. variable when connecting to the remote orchard?",
         "Variable when connecting"),
        ("If the hook is missing, the backup is restored.\n\nExample scenario:\n\n"
         "Install the orchard hook over an old one\n", "Install the orchard"),
    ],
)  # fmt: skip
def test_no_topic_breaks_off_or_begins_amid_a_sentence(prompt: str, torn: str) -> None:
    """UND-02: a sentence does not end before what it needs, nor begin after an abbreviation; the
    steps of an example are not asked for."""
    said = topic(asked(prompt))
    assert not said.endswith(torn) and not said.startswith(torn)


def test_what_the_agent_says_to_the_person_is_no_topic() -> None:
    """UND-02: "Let me address your question" announces an answer."""
    told = asked("Think it over", opening="Let me address your question about the basket hooks.")
    assert "your" not in topic(told)


def test_a_branch_that_is_pointed_at_is_named() -> None:
    """UND-02: "this branch" is found by its name."""
    said = topic(asked("Review the changes in this branch", branch="ann/harvest-import-limits"))
    assert said == "Review the changes on branch harvest-import-limits"


def test_a_merge_is_called_by_what_it_brought() -> None:
    """UND-02: merging and pushing is housekeeping; what was committed is the work."""
    merged = asked("Merge main into the orchard/refactor", commits=(Commit("1a2b3c4", SUBJECT),))
    assert topic(merged).endswith("eep the basket of a guest after login")


@pytest.mark.parametrize(
    ("subjects", "expected"),
    [
        (
            ("feat(harvest): group crates by orchard", "feat(harvest): add a weekly chart"),
            "Harvest: group crates by orchard; add a weekly chart",
        ),
        (
            ("feat: group crates by orchard", "test: cover empty crates", "docs: describe crates",
             "fix(store): keep apples of closed orchards"),
            "Group crates by orchard; keep apples of closed orchards",
        ),
        (
            ("Group all crates of the harvest by orchard to make them easier to count by hand",
             "Add a weekly chart of the harvest for visitors without an account"),
            "Group all crates of the harvest by orchard; add a weekly chart of the harvest",
        ),
        (
            ("feat: group crates by orchard", "feat: add a weekly chart",
             'Revert "feat: group crates by orchard"', "fix: sort orchards by name in exports"),
            "Add a weekly chart; sort orchards by name in exports",
        ),
    ],
)  # fmt: skip
def test_several_commits_are_named_together(subjects: tuple[str, ...], expected: str) -> None:
    """UND-02: a range of several commits is called by the main ones, not by the last: features
    and fixes before tests and documents, none that was reverted, in fifteen words at most."""
    commits = tuple(Commit(f"{place:07x}", subject) for place, subject in enumerate(subjects))
    told = topic(asked("go on with the next one, please"), asked("continue", commits=commits))
    assert told == expected
    assert length_of(told) <= 15


def test_a_short_title_is_completed_by_several_commits() -> None:
    """UND-02: a title that says nothing of what was committed is followed by that."""
    commits = (Commit("a", "feat: group crates by orchard"), Commit("b", "fix: sort labels by age"))
    rounds = (asked("which are feasible?"), asked("do both", commits=commits), asked("thanks"))
    told = topic_of((*rounds, asked("What is next?")), 0, 3, "Open wishes for the grove")
    assert told == "Open wishes for the grove: group crates by orchard; sort labels by age"


def test_a_commit_of_an_earlier_engagement_is_not_named_with_others() -> None:
    """UND-02: what was committed before is not what a later range is about."""
    before = asked("Group the crates", commits=(Commit("a", "Group all crates by orchard"),))
    again = (
        Commit("b", "Group all crates by orchard"),
        Commit("c", "Sort the labels by their age"),
    )
    rounds = (before, asked("now the labels", commits=again))
    assert "roup" not in topic_of(rounds, 1, 2, None)


@pytest.mark.parametrize(
    ("asked_for", "tasks", "expected"),
    [
        (
            ("Keep the apples of closed orchards in the store", "Add a focused unit test for it"),
            (),
            "Keep the apples of closed orchards in the store",
        ),
        (
            ("Keep the apples of closed orchards in the store",),
            ("Find the code paths of closed orchards",),
            "Keep the apples of closed orchards in the store",
        ),
        (
            ("Add unit tests for the sorting of labels",),
            (),
            "Add unit tests for the sorting of labels",
        ),
    ],
)
def test_a_step_on_the_way_is_not_the_topic(
    asked_for: tuple[str, ...], tasks: tuple[str, ...], expected: str
) -> None:
    """UND-02: tests, lint and looking around do not name work that changed something, unless they
    were what was asked for."""
    changed = {"edits": 3, "files": ("/home/dev/orchard/store.py",)}
    first = asked(asked_for[0], tasks=tasks, **changed)
    rest = [asked(prompt, edits=1) for prompt in asked_for[1:]]
    assert topic(first, *rest).startswith(expected)


def test_a_ticket_is_completed_by_what_it_is_called() -> None:
    """UND-02: a number names nothing; the issue's title, where it was said, does."""
    answer = (
        "Posted as a comment on [GRO-95](https://tracker.example/GRO-95/group-crates-by-orchard)."
    )
    told = topic(asked("I'd like to work on GRO-95", answer=answer), asked("yes"))
    assert told == "Work on GRO-95: group crates by orchard"
    review = asked("Review PR #2", answer="Target: PR #2 - Move the harvest to the store")
    assert topic(review) == "Review PR #2: move the harvest to the store"
    report = (
        "What issue #7 says:\n\n**Title:** Crates are counted twice after a refund\n**By:** Ann"
    )
    told = topic(asked("what's going on in issue #7", answer=report))
    assert told.endswith("rates are counted twice after a refund")


@pytest.mark.parametrize(
    "typed", ["/code-review medium the commit", "Please review the last commit"]
)
def test_a_commit_that_is_meant_is_named(typed: str) -> None:
    """UND-02: "the commit" is the one an earlier round made; how much effort a command is to take
    is no part of the topic."""
    made = asked(
        "Count crates once", commits=(Commit("a", "fix: count crates once after refunds"),)
    )
    review = msgspec.structs.replace(asked(typed, answer="Three findings."), number=2)
    told = topic_of((made, review), 1, 2, None)
    assert told.endswith("commit: count crates once after refunds")
    assert told.startswith("Review the")


def test_a_clause_that_leads_up_to_trouble_is_not_the_trouble() -> None:
    """UND-02: after a command, "when …" is not what is to be done: what follows it is."""
    typed = "/grove:debug when an orchard has no trees and is opened, the harvest page stays empty"
    told = topic(asked(typed, edits=2, files=("/home/dev/orchard/page.py",)))
    assert "he harvest page stays empty" in told
    assert not told.startswith("Debug when")


def test_an_ellipsis_that_stands_for_words_ends_no_clause() -> None:
    """UND-02: "the run of make ... will fail" is not about "the run of make"."""
    typed = "The hook is run by itself; the later harvest of crates ... will use the parent's path"
    assert topic(asked(typed)) != "The later harvest of crates"


def test_a_thing_that_is_spoken_of_gives_way_to_what_was_done() -> None:
    """UND-02: "can you give me the …" names no work where a commit does."""
    commits = (Commit("a", "feat: prune trees in batches of twenty"),)
    told = topic(asked("can you give me the command to test this", commits=commits))
    assert told == "Prune trees in batches of twenty"


@pytest.mark.parametrize(
    "typed",
    [
        "orchard enable --quiet-harvest",
        "replace with a configuration instead",
        "rather than adding a chart to achieve the same effect",
    ],
)
def test_a_command_or_half_a_clause_is_no_heading(typed: str) -> None:
    """UND-02: a bare command with its flags, and a verb without what it is about, name nothing."""
    assert heading_of(typed) is None


def test_what_comes_after_every_work_is_left_out() -> None:
    """UND-02: "and then commit it" is no part of what was worked on."""
    prompt = 'Rename the "Open Orchard" button to "Add to Orchard" and then commit it'
    assert heading_of(prompt) == "Rename the Open Orchard button to Add to Orchard"


def test_that_the_agent_looks_around_names_nothing() -> None:
    """UND-02: before a look around comes what the person has trouble with."""
    prompt = (
        "I am having trouble when I start the picker from a nested folder while frost guard runs, "
        "becuase it is not writing rows"
    )
    looks = "I'll investigate the codebase to understand how pickers and rows are created."
    told = topic(asked(prompt, opening=looks, answer=looks))
    assert told == "Trouble when I start the picker from a nested folder while frost guard runs"


@pytest.mark.parametrize(
    "prompt",
    [
        "Is this the right order of rows?",
        "A slow pump failing to reach the tank or something",
        "Add something there like every tree has its own ladder",
        "I've noticed you being rather slow today",
        "Ist das die richtige Reihenfolge davon?",
    ],
)
def test_what_leaves_open_what_it_is_about_gives_way(prompt: str) -> None:
    """UND-02: "something", or whether "this" is so, is no name where another request has one."""
    told = topic(asked(prompt), asked("Prune the apple trees before the winter frost"))
    assert told == "Prune the apple trees before the winter frost"
    assert heading_of("Remove (unknown to the orchard guide)") is None


def test_what_a_review_left_over_is_not_the_topic() -> None:
    """UND-02: "late polish from PR #12 review" does not head the work of many rounds."""
    made = (Commit("1a2b3c4", "chore(pump): late polish from PR #12 review"),)
    more = (Commit("2b3c4d5", "feat: water the saplings by soil moisture"),)
    told = topic(asked("Review PR #12", commits=made), asked("next", commits=more))
    assert "polish" not in told


def test_a_commit_that_a_rebase_made_anew_is_not_the_work() -> None:
    """UND-02, UND-04: replayed commits are named neither by topic nor by outcome."""
    replayed = Commit("1a2b3c4", "Paint the gate of the north field", replayed=True)
    told = {"merges": 1, "commits": (replayed,), "answer": "Rebased; nine seed tests pass."}
    rounds = [asked("Rebase onto main and resolve the conflicts in the seed store", **told)]
    said = extract_offline(rounds, None, "/home/dev/orchard")[0].engagements[0]
    assert "gate" not in f"{said.topic} {said.outcome}"


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Go ahead, sort the labels of all apples by age", "Sort the labels of all apples by age"),
        ("Unfortunately, the market has no stalls for seeds", "The market has no stalls for seeds"),
        ("Sort the labels by the age of the apples t", "Sort the labels by the age of the apples"),
        ("Rewrite the image loader of the game in c",
         "Rewrite the image loader of the game in c"),
        ("Rename the variable of the barn from i to k",
         "Rename the variable of the barn from i to k"),
        ("Mount the backup disk of the barn on drive d",
         "Mount the backup disk of the barn on drive d"),
        ("Describe the orchard by plan and option c", "Describe the orchard by plan and option c"),
    ],
)  # fmt: skip
def test_neither_courtesies_nor_broken_words_are_left(sentence: str, expected: str) -> None:
    """UND-02: "go ahead" is not the work, and a word that was never finished is not shown."""
    assert heading_of(sentence) == expected


def test_a_topic_does_not_add_them_to_something() -> None:
    """UND-02: what "them" are is not to be seen in a topic."""
    told = topic(asked("Reports? add them to the shelf of the north barn", edits=1))
    assert " them " not in told


@pytest.mark.parametrize("blank", ["\r", " \n\t", "\x0b"])
def test_a_heading_of_blanks_has_no_verb(blank: str) -> None:
    """UND-02: whatever was typed, looking for the verb of a heading does not fail."""
    assert not is_imperative(blank)
    assert capital(blank) == blank


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("Add them to the shelf of the barn", "Add to the shelf of the barn"),
        ("Turn it into a plugin for pears", "Turn it into a plugin for pears"),
        ("Move them to the new shelf", "Move them to the new shelf"),
    ],
)
def test_a_verb_keeps_what_it_needs(typed: str, expected: str) -> None:
    """UND-02, ING-11: only verbs that stand alone lose "them", and five words stay five."""
    assert topic(asked(typed, edits=1)).startswith(expected)


def test_an_error_that_was_only_shown_is_named() -> None:
    """UND-02: "I get this error:" and a console is found by what the console printed."""
    prompt = (
        "I'm getting this error in the barn:\n\n❯ pick resume\nyou have uncounted crates. Stop\n"
    )
    assert topic(asked(prompt, edits=1)) == "Fix error: you have uncounted crates"


def test_what_stands_between_lines_of_a_console_was_not_typed() -> None:
    """UND-02: hints that a program prints are not what is asked for."""
    prompt = (
        "can you help me understand the check of seeds:\n\n❯ make seeds\n[seeds] Checking …\n\n"
        "✗ Found 1 seed\n\nIf it is fine, add it to .allowed-seeds\n[seeds] ERROR task failed\n"
    )
    assert ".allowed-seeds" not in topic(asked(prompt, edits=1))


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("could you change this to use the new harvest store?", "Use the new harvest store"),
        ("change them to blue tiles of the map", "Change them to blue tiles of the map"),
        (
            "can you check if there would be issues using the barn door on days when it freezes "
            "instead of the gate that everybody knows?",
            "Check for issues with the barn door on days when it freezes",
        ),
        (
            "check if there are any issues related to the seed store",
            "Check if there are any issues related to the seed store",
        ),
        (
            "see if there are issue templates for reports of frost",
            "See if there are issue templates for reports of frost",
        ),
        (
            "Show the area of every orchard in ㎡ instead of acres",
            "Show the area of every orchard in ㎡ instead of acres",
        ),
    ],
)
def test_a_heading_says_what_is_to_be_there(sentence: str, expected: str) -> None:
    """UND-02: "change this to" names nothing; a contrast is the first thing to leave out."""
    assert heading_of(sentence) == expected


def test_the_pull_request_that_is_meant_has_its_number() -> None:
    """UND-02: "the PR" is found by its number, where one was opened."""
    opened = ("https://github.com/orchard/orchard/pull/45",)
    told = topic(asked("Run a thorough review of the PR", pull_requests=opened))
    assert told == "Run a thorough review of PR #45"
    assert topic(asked("Run a thorough review of the PR")).endswith("the PR")
    on_branch = asked(
        "Do a careful review of the MR please", pull_requests=opened, branch="seed-store"
    )
    assert topic(on_branch).startswith("Do a careful review of the MR #45".replace("the MR", "MR"))


def test_conflicts_are_found_by_their_branch() -> None:
    """UND-02: any branch has merge conflicts."""
    told = topic(asked("Fix merge conflicts from our parent branch", branch="seed-store", edits=1))
    assert told == "Fix merge conflicts from our parent branch (branch seed-store)"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            "**Root Cause:** The `PICKING_TOOLS` list in `tools.py` was missing the `shake` tool.",
            "Fix: PICKING_TOOLS list in tools.py was missing the shake tool",
        ),
        (
            "Die Ursache war, dass der Zähler der Kisten nicht gespeichert wurde.",
            "Fix: der Zähler der Kisten nicht gespeichert wurde",
        ),
    ],
)
def test_where_a_person_only_says_it_fails_the_cause_is_named(said: str, expected: str) -> None:
    """UND-02: a bug is found by what was wrong, where nobody's request names it."""
    opening = "I'll investigate the orchard integration to see what happens."
    told = topic(asked("can you take a look at it?", answer=said, opening=opening, edits=2))
    assert told == expected


def test_a_cause_does_not_replace_what_was_asked_for() -> None:
    """UND-02: a request that names the work stays its topic, whatever was found on the way."""
    found = "The problem was that the crate parser dropped the last pear."
    told = topic(asked("Sort the labels of all apples by age", answer=found, edits=2))
    assert told == "Sort the labels of all apples by age"


def test_a_request_that_was_taken_back_is_not_the_topic() -> None:
    """UND-02: after "thinking again" the second request counts, in every language."""
    first = asked('let\'s make the "north gate" command hidden', edits=1)
    for begins in ("thinking again: let's completely", "やっぱり completely", "stattdessen:"):
        second = asked(f"{begins} remove the north gate command", edits=3)
        assert "emove the north gate" in topic(first, second)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Gate cmd/readFile/stat/glob behind trusted templates",
         "Gate cmd/readFile/stat/glob behind trusted templates"),
        ("Support zsh/bash/fish in the picking shell",
         "Support zsh/bash/fish in the picking shell"),
        ("Fix the parser in src/orchard/parse/rows.py first",
         "Fix the parser in rows.py first"),
        ("Fix the parser in ./orchard/parse/rows first", "Fix the parser in rows first"),
        ("The helper functions of the barn also lack unit tests",
         "Add unit tests for helper functions of the barn"),
        ("isRipe used a stale list of pears (FIXED)", "isRipe used a stale list of pears"),
        ("The changes add the crate's owner to the weekly list",
         "Add the crate's owner to the weekly list"),
    ],
)  # fmt: skip
def test_a_heading_keeps_what_names_the_work(sentence: str, expected: str) -> None:
    """UND-02: a list with slashes is no path; what lacks tests gets some; "(FIXED)" is no name."""
    assert heading_of(sentence) == expected


def test_a_link_on_its_own_line_belongs_to_the_sentence_before_it() -> None:
    """UND-02: "delete the PR from here:" and the link below it are one request."""
    prompt = "Can you delete the branch and PR from here:\nhttps://github.com/dev/orchard/pull/45"
    assert topic(asked(prompt)) == "Delete the branch and PR from here: PR #45"


def test_numbers_that_point_at_an_answer_are_no_topic() -> None:
    """UND-02: "address 1 first" names nothing where another request does."""
    told = topic(
        asked("Address 1 first, and let it go on"), asked("Water the saplings by moisture")
    )
    assert told.startswith("Water the saplings by moisture")


def test_an_imperative_may_have_a_clause() -> None:
    """UND-02: "update the guide that we always …" asks for something: it states nothing."""
    asks = asked("can you update the guide that we should always weigh crates before loading")
    found = headings([asks], None)
    (row,) = described(found[:1], Range([asks], 0, 1, None), model())
    assert found[0].text.startswith("Update the guide that") and not row["statement"]


def test_a_question_that_names_something_is_better_than_the_branch() -> None:
    """UND-02: what was asked on an old branch is not found by that branch."""
    prompt = "Why is the frost siren still running in my barn. Uninstall it"
    told = topic(asked(prompt, branch="cache-not-showing", edits=1))
    assert told == "Why is the frost siren still running in my barn"


def test_a_command_is_named_by_what_it_was_given() -> None:
    """UND-02: "/plan:discuss-phase 14" discusses phase 14, whatever branch was left before it."""
    left = asked("! git switch main", branch="feat/seed-store")
    given = asked("/plan:discuss-phase 14", command="/plan:discuss-phase", branch="main")
    assert topic(left, given) == "Discuss phase 14 in orchard"


def test_a_title_heads_the_work_it_is_of() -> None:
    """UND-06: a title that came late in a session is not put over its first, other work."""
    talk = rounds_of("Which pears are ripe in the north field this week?")
    work = rounds_of("Now migrate the crate database to the new seed store", edits=9, committing=1)
    rounds = [*talk, *(msgspec.structs.replace(r, number=2) for r in work)]
    assert titled(rounds, [(0, 1), (1, 2)], "Crate database migration to the seed store") == 1
    assert titled(rounds, [(0, 1), (1, 2)], "Pears that are ripe in the north field") == 0
    assert titled(rounds, [(0, 1), (1, 2)], None) == 0


def test_instructions_are_written_for_a_folder_of_any_name() -> None:
    """UND-02: a long folder is named where nothing else was said, and hung on no other topic."""
    cwd = "/home/dev/react-native-live-orchard-view"
    told = Activity(number=1, prompt="/init", command="/init", cwd=cwd)
    assert topic(told) == "Write the instructions for agents in react-native-live-orchard-view"
    assert "orchard-view" not in topic(Activity(number=1, prompt="Prune the old trees", cwd=cwd))


def test_steps_of_a_scenario_are_no_requests() -> None:
    """UND-02: what follows "verifies the behavior when:" is told, not asked for."""
    prompt = (
        "Consider adding a test of the barn door that verifies the behavior when:\n\n"
        "Install Gate (creates backup of lock A)\nUser replaces lock by hand"
    )
    assert "Install Gate" not in topic(asked(prompt))


@pytest.mark.parametrize(
    ("typed", "edits", "expected"),
    [
        (
            "We are now using several ways of watering, in several groves",
            0,
            "Discuss “we are now using several ways of watering, in several groves”",
        ),
        (
            "We are now using several ways of watering, in several groves",
            2,
            "Work on “we are now using several ways of watering, in several groves”",
        ),
        ("the error the shop gets from the scale", 2, "Fix the error the shop gets from the scale"),
        (
            "the scale hangs after weighing empty crates",
            2,
            "Fix: the scale hangs after weighing empty crates",
        ),
    ],
)
def test_what_was_told_is_no_torn_heading(typed: str, edits: int, expected: str) -> None:
    """UND-02: what somebody told is quoted where nothing was asked for; a named trouble is no
    sentence after a colon."""
    fields = {
        "edits": edits,
        "files": ("/home/dev/orchard/a.py", "/o/b.py", "/o/c.py")[: 3 * edits],
    }
    assert topic(asked(typed, **fields)) == expected


def test_work_everywhere_is_in_no_file() -> None:
    """UND-02: a heading that says it is about everything is not placed in one file."""
    files = {"files": ("/home/dev/orchard/AGENTS.md",), "edits": 1}
    told = topic(asked("Strip old labels across the codebase", **files))
    assert told == "Strip old labels across the codebase"


def test_what_trails_off_is_left_out() -> None:
    """UND-02: a heading ends where a sentence trails off into something else."""
    said = heading_of("Fix the page that remains stuck in `loading...` authorization failed")
    assert said == "Fix the page that remains stuck in loading"
