"""The learned half of the offline extractor: cuts, methods, phases, each with its reasons."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import time
from collections import Counter

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from training.offline.packing import packed

from minutebook.derive.activity import Activity, Commit
from minutebook.derive.calls import Choice
from minutebook.extract.offline.boundaries import choose, cut_rows
from minutebook.extract.offline.cues import holds
from minutebook.extract.offline.extractor import Explanation, extract_offline, reply_offline
from minutebook.extract.offline.features import Session, hear, of_session
from minutebook.extract.offline.model import FILE, Linear, models
from minutebook.extract.offline.novelty import _FAR
from minutebook.extract.offline.reasons import USUAL, grouped, worded
from minutebook.extract.offline.requests import is_reply
from minutebook.extract.offline.segments import of_ending, of_range, texts_of_range
from minutebook.extract.offline.wording import FILE as WORDS
from minutebook.extract.offline.wording import OPENS, Said, unpacked, word_key
from minutebook.extract.offline.words import REACH, Vocabulary, content_words
from minutebook.extract.reply import Reply
from minutebook.model.engagement import METHODS


def at(minute: int) -> str:
    return f"2026-03-02T{9 + minute // 60 % 14:02}:{minute % 60:02}:00.000Z"


def rounds_of(*prompts: str, **fields: object) -> list[Activity]:
    plain = {"answer": "Done.", **fields}
    return [
        Activity(number=n, started=at(2 * n), ended=at(2 * n), prompt=prompt, **plain)  # type: ignore[arg-type] # a test names what it sets
        for n, prompt in enumerate(prompts, 1)
    ]


def labelled(rounds: list[Activity]) -> tuple[Reply, list[Explanation]]:
    return extract_offline(rounds, None, "/orchard")


def two_jobs() -> list[Activity]:
    """Four rounds on a login, a commit, a long pause, four rounds on a chart."""
    login = rounds_of(
        "Fix the login redirect in the auth module",
        "The redirect still drops the query string",
        "yes",
        "commit it",
        edits=2,
        files=("auth.py",),
    )
    login[-1] = Activity(
        number=4, started=at(8), ended=at(9), prompt="commit it", answer="Committed.",
        committing=1, commits=(Commit("1a2b3c4", "fix: keep the query string"),),
    )  # fmt: skip
    chart = [
        Activity(
            number=4 + number,
            started=at(60 + number * 2),
            ended=at(60 + number * 2),
            prompt=prompt,
            answer="The chart has bars now.",
            edits=3,
            files=("chart.ts",),
        )
        for number, prompt in enumerate(
            (
                "Next, draw a bar chart of the weekly harvest on the dashboard page",
                "Use green bars for the chart",
                "ok",
                "Add labels to the chart axis",
            ),
            1,
        )
    ]
    return [*login, *chart]


def test_a_session_is_cut_where_the_work_changes() -> None:
    """A commit, a pause, other words and files: one cut at that round, with reasons (ING-10)."""
    reply, why = labelled(two_jobs())
    assert [part.turn_range for part in reply.engagements] == [[1, 4], [5, 8]]
    assert [part.method for part in reply.engagements] == ["debug", "build"]
    assert why[0].cut == () and len(why[1].cut) > 3


def test_answers_are_not_cut() -> None:
    """Replies belong to what they answer (ING-10)."""
    assert is_reply("yes") and is_reply("2") and not is_reply("add it")
    reply, _ = labelled(rounds_of("Draw a chart", "yes", "1", "go on", "ok", "yes", "2", "b"))
    assert len(reply.engagements) == 1


@pytest.mark.parametrize("count", [1, 2])
def test_a_session_of_one_or_two_prompts_is_one_engagement(count: int) -> None:
    """A short session has a method and a phase, and no cut (UND-01)."""
    asked = ("Add an export button to the toolbar", "commit it")[:count]
    (part,) = labelled(rounds_of(*asked, edits=4))[0].engagements
    assert (part.method, part.phase, part.turn_range) == ("build", "completed", [1, count])


def test_cuts_are_never_next_to_each_other() -> None:
    """Of two neighbours the likelier one is the cut, and only as many as are expected (ING-10)."""
    assert choose([-3, 4, 3.9, -3, -3, 5, -3], [0.0, 0.1, 0.8, 0.1]) == [1, 5]
    assert choose([-3, -1, -1.1, -3, -3, -1, -3], [1.0, 0.0, 0.0, 0.0]) == []
    assert choose([-3, -1, -1.1, -3, -3, 1, -3], [1.0, 0.0, 0.0, 0.0]) == [5]
    assert choose([0.0], [0.0, 1.0, 0.0, 0.0]) == [0]


@pytest.mark.parametrize(
    ("prompt", "fields", "method"),
    [
        ("Fix the crash when the list is empty", {"edits": 1}, "debug"),
        ("Rename the module and move the helpers", {"edits": 9}, "reorg"),
        ("Review PR #36", {"shells": 3}, "review"),
        ("Update the README with a short guide", {"edits": 2, "files": ("README.md",)}, "write"),
        ("/brainstorm how should we design the cache", {"command": "/brainstorm"}, "design"),
        ("Add an export button to the toolbar", {"edits": 4}, "build"),
        ("What does this warning mean?", {}, "discuss"),
        ("Compare the three databases, find out which is fastest", {"lookups": 5}, "research"),
        ("Deploy the release to production", {"deploys": 2, "shells": 2}, "deploy"),
        ("Triage the backlog and prioritize", {"shells": 1}, "triage"),
    ],
)
def test_methods_from_words_and_deeds(prompt: str, fields: dict[str, object], method: str) -> None:
    """The method follows from the request and what the tools did (ING-13)."""
    reply, why = labelled(rounds_of(prompt, **fields))
    assert reply.engagements[0].method == why[0].method == method


DEBUG = (
    "Fix the crash when the list is empty",
    "Behebe den Absturz bei leerer Liste",
    "Corrige l'erreur quand la liste est vide",
    "Arregla el fallo cuando la lista está vacía",
    "リストが空のときのエラーを修正して",
    "修复列表为空时的崩溃错误",
)
REVIEW = (
    "Review PR #36",
    "Überprüfe den Pull Request #36",
    "Vérifie la pull request #36",
    "Revisa el pull request #36",
    "PR #36 をレビューして",
    "审查 PR #36",
)


@pytest.mark.parametrize(("prompts", "method"), [(DEBUG, "debug"), (REVIEW, "review")])
def test_methods_in_six_languages(prompts: tuple[str, ...], method: str) -> None:
    """The same request has the same method in every listed language (UND-01)."""
    deeds = {"edits": 1} if method == "debug" else {"shells": 3}
    found = {labelled(rounds_of(p, **deeds))[0].engagements[0].method for p in prompts}
    assert found == {method}


@pytest.mark.parametrize(
    ("relation", "prompts"),
    [
        ("agrees", "yes|ja, mach das|oui, vas-y|sí, adelante|はい、お願いします|可以"),
        ("begins anew", "next, the chart|jetzt das Diagramm|ensuite le graphique|ahora el gráfico"
         "|次に、グラフを|接下来，图表"),
        ("continues", "go on|weiter|continue|sigue|続けて|继续"),
        ("adds", "also the axis|auch die Achse|aussi l'axe|también el eje|また、軸も|还有坐标轴"),
        ("objects", "but it fails|aber es geht|mais ça échoue|pero falla|でも失敗|但是失败了"),
    ],
)  # fmt: skip
def test_how_a_prompt_relates_in_six_languages(relation: str, prompts: str) -> None:
    """Openers, go-aheads and follow-ups are heard in every listed language (UND-01)."""
    for prompt in prompts.split("|"):
        assert relation in hear(Activity(number=1, prompt=prompt)).relations, prompt


@pytest.mark.parametrize(
    ("fields", "phase"),
    [
        ({"answer": "All tests pass."}, "completed"),
        ({"answer": ""}, "in-progress"),
        ({"answer": "Half way.", "interrupted": True}, "in-progress"),
        ({"answer": "Now let me run the tests:"}, "in-progress"),
        ({"answer": "Want me to commit this?"}, "in-progress"),
        ({"answer": "Committed. Anything else?", "committing": 1}, "completed"),
        ({"answer": "I cannot continue: blocked by a missing token."}, "blocked"),
        ({"answer": "Ich kann nicht weitermachen: blockiert durch ein Token."}, "blocked"),
        ({"answer": "I can’t proceed until you grant access to the barn."}, "blocked"),
        ({"answer": "Saved.", "command": "/handoff"}, "handed-off"),
    ],
)
def test_phases_from_the_end(fields: dict[str, object], phase: str) -> None:
    """The phase is how the last round ended (ING-14, UND-05)."""
    rounds = [*rounds_of("Do the thing"), Activity(number=2, prompt="go on", **fields)]  # type: ignore[arg-type]
    reply, why = labelled(rounds)
    assert reply.engagements[-1].phase == why[-1].phase == phase


@pytest.mark.parametrize("prompt", ["revert this change", "mach das rückgängig", "撤销这个修改"])
def test_what_is_taken_back_is_abandoned(prompt: str) -> None:
    """A range that ends with the person undoing it is abandoned (UND-05)."""
    reply, _ = labelled(rounds_of("Try a cache for the parser", prompt, edits=1))
    assert reply.engagements[-1].phase == "abandoned"


@pytest.mark.parametrize(
    ("fields", "prompt"),
    [({}, "Roll back first, explain later"), ({"edits": 2}, "Add an undo button to the editor")],
)
def test_an_undo_that_takes_nothing_back_is_not_abandoned(
    fields: dict[str, object], prompt: str
) -> None:
    """A rollback is work, and so is an undo button: precision first (UND-05)."""
    reply, _ = labelled(rounds_of("The service is down", prompt, **fields))
    assert reply.engagements[-1].phase != "abandoned"


def test_what_is_no_longer_blocked_is_not_blocked() -> None:
    """Only words that say it now waits for something count (UND-05)."""
    said = "Cleaned up the clones, so that commits won't be blocked by them."
    assert labelled(rounds_of("commit", answer=said))[0].engagements[0].phase == "completed"


def test_one_round_without_work_is_started() -> None:
    """A single request that was interrupted before anything changed is started (UND-05)."""
    rounds = rounds_of("Add a schema document", answer="Let me look around.", interrupted=True)
    assert labelled(rounds)[0].engagements[0].phase == "started"


def test_every_label_says_why() -> None:
    """Reasons add up to the score that decided, in words: what is usual, then the largest first
    (ING-32)."""
    rounds = two_jobs()
    session = Session(rounds, Vocabulary(rounds))
    _, (_, second) = labelled(rounds)
    (odds,) = models().cut.scores(cut_rows(session, models())[3])
    assert sum(reason.weight for reason in second.cut) == pytest.approx(odds, abs=1e-6)
    named = [abs(reason.weight) for reason in second.cut[1:]]
    assert second.cut[0].what == USUAL and named == sorted(named, reverse=True)
    for reasons in (second.cut, second.method_reasons, second.phase_reasons):
        assert reasons and all(reason.what for reason in reasons)


@pytest.mark.parametrize(
    ("fields", "topic_from", "outcome_from"),
    [
        ({}, "the first request", "nothing that was said"),
        ({"answer": "Fixed the gate of the oldest orchard for good."}, "request", "the answers"),
        ({"commits": (Commit("a", "feat: paint the gate of the barn"),)}, "", "the commits"),
        ({"files": ("/o/gate.py",), "edits": 1, "answer": ""}, "", "the files"),
        ({"pull_titles": ("Paint the gate of the barn in red",)}, "", "the pull request"),
    ],
)
def test_what_was_written_says_where_it_is_from(
    fields: dict[str, object], topic_from: str, outcome_from: str
) -> None:
    """ING-32: the sources of topic and outcome are told, the signs of a heading by their weight."""
    (why,) = labelled(rounds_of("Repair the squeaking gate of the oldest orchard", **fields))[1]
    source, *signs = why.topic_reasons
    assert source.what.startswith("taken from ") and topic_from in source.what
    assert signs and [abs(s.weight) for s in signs] == sorted(
        (abs(s.weight) for s in signs), reverse=True
    )
    assert outcome_from in why.outcome_reason


def test_a_decision_says_whose_words_it_is() -> None:
    """ING-32: the person's answer, the person's words, a commit."""
    asked = Choice("Which colour?", "Red as the barn", ("Green as the field",))
    rounds = rounds_of("Paint the gate", choices=(asked,), answer="Painted the gate red.")
    (why,) = labelled(rounds)[1]
    assert why.decision_reasons == ("your answer when the agent asked",)


def test_signs_that_read_alike_are_one() -> None:
    """What two features say in the same words counts once, by their sum (ING-32)."""
    (reason,) = grouped([("answers debug", 0.5, -0.2), ("last answer debug", 0.0, 0.3)])
    assert reason.what == "the answers: answers that speak of debugging"
    assert reason.weight == pytest.approx(0.1)


def test_no_weight_is_left_untold() -> None:
    """A reason names its strongest signs, says how many more there are, and never sets off what
    speaks for something against what speaks against it (ING-32)."""
    signs = [("edits", math.log1p(count), count / 10) for count in (1, 2, 3, 4)]
    against = ("any tests", 1.0, -0.7)
    assert [(r.what, round(r.weight, 3)) for r in grouped([*signs, against])] == [
        ("what was done: 4 edits; 3 edits; 2 edits; and 1 weaker", 1.0),
        ("what was done: any test runs", -0.7),
    ]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("opening asks to commit or open a pull request", 1, "an opening request that asks to"),
        ("opening asks mostly build", 0.5, "an opening request for hardly anything but building"),
        ("asks reorg anew", 1, "words that ask for reorganising, as none just before"),
        ("pushes before", math.log1p(2), "2 pushes in the round before"),
        ("pushes", math.log1p(1), "1 push"),
        ("answer before: a table", 1, "an answer just before with a table"),
        ("answer: offers more", 1, "an answer that offers more"),
        ("any shells", 0, "shell commands"),
    ],
)
def test_a_sign_is_worded_as_a_noun(name: str, value: float, words: str) -> None:
    """A reason can be read aloud: "not there: …" fits every one (ING-32)."""
    assert worded(name, value).startswith(words)


def test_every_feature_has_words() -> None:
    """No shipped feature is told by its bare name where that is not a noun (ING-32)."""
    learned = models()
    names = {*learned.cut.features, *learned.method.features, *learned.ending.features}
    bare = {name for name in names if worded(name, 0) == name}
    nouns = re.compile(
        r"(a|any|many|new|few|pull|files|words|names|edits|reads|rounds)\b|[a-z]+s\b"
    )
    assert sorted(name for name in bare if not nouns.match(name)) == []


def test_the_model_file_is_small_and_says_what_it_was_made_from() -> None:
    """At most 500 KB with the weights of words: sessions, repositories, seed, versions (UND-01)."""
    assert FILE.stat().st_size + WORDS.stat().st_size <= 500_000
    content = json.loads(FILE.read_text(encoding="utf-8"))
    about = content["about"]
    assert about["sessions"] == sum(about["repositories"].values())
    assert {"seed", "made with", "newest", "labels"} <= about.keys()
    assert set(content["models"]["method"]["classes"]) == set(METHODS)


def test_models_and_features_know_the_same_names() -> None:
    """A model file of other features than the code's is noticed here (UND-01)."""
    rounds = two_jobs()
    session = Session(rounds, Vocabulary(rounds))
    learned = models()
    cuts = cut_rows(session, learned)
    assert list(learned.cut.features) == list(cuts[0])
    assert list(learned.count.features) == list(of_session(len(rounds), [-2.0] * len(cuts)))
    assert list(learned.method.features) == list(of_range(rounds, session.heard))
    assert list(learned.ending.features) == list(of_ending(rounds, session.heard))
    assert set(learned.wording.groups) == {OPENS, *texts_of_range(rounds, session.heard)}


def test_words_are_kept_as_checksums_and_weights() -> None:
    """Nobody's text is in the file: a number for each word, and a step for each weight (UND-01)."""
    header, _, rest = WORDS.read_bytes().partition(b"\n")
    about = json.loads(header)
    columns = sum(about["groups"].values())
    assert len(rest) == about["words"] * (4 + columns)
    read = unpacked(WORDS.read_bytes())
    assert word_key("crash") in read.lexicon.keys
    alone = [Said({row: 1.0}) for row in range(about["words"])]
    weights = {group: [read.scores(group, said) for said in alone] for group in read.groups}
    assert packed(read.lexicon, weights, {}).partition(b"\n")[2] == rest


def test_a_word_counts_less_among_many() -> None:
    """Words share what a text says, and keep the form they were written in (UND-01)."""
    lexicon = models().wording.lexicon
    read, told = lexicon.read, ["the crash of the other list, when it is shown"]
    ((row, alone),) = read(["Crash"]).shares.items()
    assert alone == 1.0 and lexicon.spelt(told)[row] == "crash" and read(told).shares[row] < 0.5
    assert read(["", "ｑｑ 12 _"]).shares == {}


def test_words_say_why_a_method_was_chosen() -> None:
    """A word is named with the place it was said in (ING-32)."""
    _, (why, *_) = labelled(rounds_of("Review the changes of the parser", shells=3))
    assert any("the word 'review' in the opening request" in r.what for r in why.method_reasons)


def test_reasons_are_worked_out_only_for_whoever_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ingesting labels as `--explain` does, and weighs no reason (ING-32)."""
    rounds = rounds_of("Review the changes of the parser", shells=3)
    reply, _ = labelled(rounds)

    def asked(*_: object) -> None:
        raise AssertionError("nobody asked")

    monkeypatch.setattr(Linear, "reasons", asked)
    assert reply_offline(rounds, None, "/orchard") == reply


def test_words_of_an_unlabelled_language_say_nothing() -> None:
    """Where no labelled session has the words, cues decide: no guess from afar (UND-01)."""
    assert (
        models().wording.lexicon.read(["Überprüfe Absturz, 修复列表为空时的崩溃错误"]).shares == {}
    )


def test_running_needs_no_library_of_numbers() -> None:
    """Labels come without numpy, which takes long to load, and without scikit-learn (UND-01)."""
    program = (
        "import sys\n"
        "sys.modules['numpy'] = sys.modules['sklearn'] = sys.modules['scipy'] = None\n"
        "from minutebook.derive.activity import Activity\n"
        "from minutebook.extract.offline.extractor import extract_offline\n"
        "rounds = [Activity(number=n, prompt='Fix the bug', edits=2) for n in (1, 2, 3)]\n"
        "assert extract_offline(rounds, None, 'x')[0].engagements\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


PROMPTS = st.text("abcd ", max_size=60).map(lambda text: text.replace("a", "apple "))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(PROMPTS, min_size=1, max_size=8).map(lambda some: some * 5),
    st.data(),
    st.integers(1, _FAR),
    st.integers(1, _FAR),
)
def test_stretches_are_as_alike_as_their_words(
    prompts: list[str], data: st.DataObject, before: int, after: int
) -> None:
    """No stretch is added up word by word, and the cosine is the same (UND-01)."""
    assert REACH >= 2 * _FAR
    middle = data.draw(st.integers(0, len(prompts)))
    words = Vocabulary(rounds_of(*prompts, answer=""))
    found = words.cohesion((middle - before, middle), (middle, middle + after))
    left, right = Counter[str](), Counter[str]()
    counts = [Counter(content_words(prompt)) for prompt in prompts]
    spread = Counter(word for count in counts for word in count)
    for place, count in enumerate(counts):
        for word, times in count.items():
            weight = (1 + math.log(2 * times)) * math.log(1 + len(prompts) / spread[word])
            if middle - before <= place < middle:
                left[word] += weight  # type: ignore[assignment] # a sum of weights
            elif middle <= place < middle + after:
                right[word] += weight  # type: ignore[assignment] # a sum of weights
    norm = math.hypot(*left.values()) * math.hypot(*right.values())
    cosine = sum(left[word] * right[word] for word in left) / norm if norm else 0.0
    assert found == pytest.approx(cosine, abs=1e-9)


def test_five_thousand_rounds_take_bounded_time() -> None:
    """Time grows with the rounds, not with their square (UND-01)."""
    jobs = two_jobs()
    rounds = [
        msgspec.structs.replace(jobs[n % len(jobs)], number=n + 1, started=at(n), ended=at(n))
        for n in range(5_000)
    ]
    session = Session(rounds, Vocabulary(rounds))
    start = time.process_time()
    rows = cut_rows(session, models())
    odds = [models().cut.scores(row)[0] for row in rows]
    cuts = choose(odds, [0.0, 0.0, 0.0, 1.0])
    assert time.process_time() - start < 15
    assert 0 < len(cuts) <= 5_000 // 12 + 4


HOSTILE = (
    "a" * 4_000, "ok " * 1_300, "`" * 4_000, "a." * 2_000, "a_" * 2_000, "-" * 4_000, "--a" * 1_300,
    "\n- " * 1_300, "はい、" * 1_000, "let me " * 600, "/" * 4_000, "\ud800" * 50,
    "#1" * 2_000, "\x00" * 99, "Yes " + "-" * 60 + " 5 it works", "ja " + "! " * 2_000,
    "no, " * 900, "The cause is " * 400, "the fix " * 600, "git -a b" * 500,
    "check if there is trouble " * 200, "PR #2" + "*" * 2_900, "okay, " * 600, "#7 " + "-" * 2_900,
)  # fmt: skip


def test_hostile_prompts_cost_little() -> None:
    """No pattern runs away on what a prompt may hold (UND-01)."""
    start = time.process_time()
    for text in HOSTILE:
        labelled([Activity(number=n, prompt=text, answer=text) for n in (1, 2, 3)])
    assert time.process_time() - start < 10


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=80), st.integers(0, 9)), min_size=1, max_size=12))
def test_the_same_session_is_labelled_the_same(said: list[tuple[str, int]]) -> None:
    """Two runs agree in every label and every reason (UND-01)."""
    rounds = [Activity(number=n, prompt=p, edits=e) for n, (p, e) in enumerate(said, 1)]
    assert labelled(rounds) == labelled(rounds)


def test_what_was_never_looked_at_is_new() -> None:
    """Files count as new by everything before, changed or only read (UND-01)."""
    rounds = [
        Activity(number=1, prompt="Fix the login", files=("/a/login.py",)),
        Activity(number=2, prompt="Look again", looked_at=("/a/login.py",)),
        Activity(number=3, prompt="Draw a chart", looked_at=("/b/chart.py",)),
    ]
    _, again, chart = Session(rounds, Vocabulary(rounds)).novelties
    assert (again["new files"], again["only new folders"]) == (0.0, 0.0)
    assert (chart["new files"], chart["only new folders"]) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("text", "found"),
    [("plan it", True), ("a plan", True), ("planet", False), ("explan", False), ("次の計画", True)],
)
def test_cues_are_whole_words(text: str, found: bool) -> None:
    """UND-01: however fast it is looked for, a word is not part of another."""
    quick, plain = (
        holds(r"plan|re(?:do|view)s?", "計画"),
        holds(r"(?:plan)|re(?:do|view)s?", "計画"),
    )
    assert (quick.search(text) is not None, plain.search(text) is not None) == (found, found)


@pytest.mark.parametrize("mark", ["'", "’"])
def test_apostrophes_are_read_as_they_are_typed(mark: str) -> None:
    """ING-32: "doesn’t work" is trouble and "let’s add" a request, whichever sign stands in it."""
    broken, wish = (
        hear(Activity(number=1, prompt=text.replace("'", mark)))
        for text in ("the gate doesn't work", "let's add a second gate")
    )
    assert "debug" in broken.asks
    assert "turns to work" in wish.contents


@pytest.mark.parametrize(
    ("one", "more", "other"),
    [
        ("请修复登录页面的重定向", "登录页面的退出也要处理", "给仓库库存报表添加导出"),
        (
            "ログイン画面のリダイレクトを修正してください",
            "ログイン画面のログアウトも対応してください",
            "倉庫在庫のレポートに出力を追加してください",
        ),
    ],
)
def test_words_are_found_where_no_blanks_are_between(one: str, more: str, other: str) -> None:
    """UND-01, ING-32: in Chinese and Japanese, too, two requests about one page have words in
    common, and one about something else has not."""
    first, second, third = (set(content_words(text)) for text in (one, more, other))
    assert len(first) > 5
    assert len(first & second) >= 3
    assert len(first & third) <= 1
