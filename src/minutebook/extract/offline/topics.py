"""What a range of rounds was about, in a heading a person can read.

A heading is always somebody's own words, cleaned: of a request, a plan, a commit, a pull
request, a list of tasks, an answer, or the session's title. A model learned from labelled
sessions chooses among them (`topic_model`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from minutebook.derive.activity import Activity
from minutebook.derive.references import pulled
from minutebook.extract.offline.candidates import Heading, faults, headings, troubles
from minutebook.extract.offline.courtesies import without_courtesies
from minutebook.extract.offline.headings import (
    MOST_WORDS,
    capital,
    is_long_enough,
    is_question,
    is_vague,
    is_wide,
    length_of,
    shortened,
    telling,
    title_heading,
    uncapital,
)
from minutebook.extract.offline.places import branch_of, mainly, project_of, touched
from minutebook.extract.offline.requests import without_command
from minutebook.extract.offline.texts import (
    given_title,
    is_asked,
    is_telling,
    subject_of,
    titles_of,
    typed_of,
)
from minutebook.extract.offline.tickets import called, ticket_of
from minutebook.extract.offline.together import main_commits, together
from minutebook.extract.offline.topic_model import (
    Model,
    Range,
    described,
    explores,
    model,
    names_a_thing,
    reading,
    stems,
    words_of,
    worth,
)
from minutebook.extract.offline.verbs import is_imperative
from minutebook.extract.validation import LONGEST_TOPIC, one_line

_SAME = 0.8  # of the words of a topic
_LOOKED_AT = 500  # characters of a prompt in which a ticket is looked for
_SHORT_TITLE = 4  # words of a title that is good enough
_FEW_NAMES = 2
_SURELY = 0.2  # of the words of a title
_GIVEN = 40  # characters after a command, and of a folder
_READ = 1_500  # characters of a prompt or an answer
_WRITTEN = ("pull", "commit")  # by the person or the agent when the work was done
_AS_A_WHOLE = ("title", "plan", "head", "pull")
"""Headings that were written for all of the work."""
_STEPS = ("task", "opening")
_SAID = ("opening", "closing", "report")  # by the agent, on its way
_TYPED = ("request", "later")
_POORLY = -0.12  # as a question or a step on the way does
_BADLY = -0.2  # as a statement about something unseen does
_NUMBER = re.compile(r"#\d+")
_POINTING = re.compile(  # of verbs that stand without what it is done to
    r"^(Add|Apply|Switch|Connect|Link|Subscribe|Commit|Push|Deploy|Publish|Port|Migrate)"
    r" (?:it|them) (?=(?:to|into|in|from|on|for)\b)"
)
_THIS_BRANCH = re.compile(r" (?:in|on|of) (?:this|the|my|our|current)(?: current)? branch$")
_THIS_PULL = re.compile(r" (?:this|the|my|our) (pr|pull request|mr|merge request)$", re.IGNORECASE)
_THIS_COMMIT = re.compile(
    r"(?:review|check|verify|audit|improve|explain|simplify|double[- ]check)"
    r" (?:the|this|that|my|our|your)(?: (?:last|latest|new|current))? commit\b",
    re.IGNORECASE,
)
_MERGES = re.compile(
    r"(?:merge|rebase|cherry-pick|pull|get back to|switch to"
    r"|(?:(?:fix|resolve|handle|solve|got|have|had) )?(?:the |all |our |some )?"
    r"(?:merge |rebase )?conflicts?)\b",
    re.IGNORECASE,
)


def topic_of(
    rounds: Sequence[Activity],
    start: int,
    end: int,
    title: str | None,
    learned: Model | None = None,
    taken: Collection[str] = (),
) -> str:
    """A heading of 5 to 15 words for rounds `start` up to (not with) `end`.

    `taken` are topics of the session's other engagements.
    """
    part = rounds[start:end]
    given = given_title(rounds, title)
    if given is not None and len(part) == len(rounds):
        text = title_heading(subject_of(given))
        if text is not None and is_long_enough(text) and not _is_thin(Heading(text, "title"), part):
            return one_line(text, LONGEST_TOPIC)  # a title of everything: no need to look on
    named = headings(part, given) if any(map(is_asked, part)) or not _known(part) else ()
    before = {round.branch for round in rounds[:start]}
    branch = branch_of([round for round in part if round.branch not in before])
    if made := _made_before(part, rounds[:start]):
        return one_line(made, LONGEST_TOPIC)
    if not named:
        return one_line(_without_words(part, branch), LONGEST_TOPIC)
    of = Range(rounds, start, end, given, taken)
    learned = learned or model()
    named = ranked(named, of, learned)
    text = _several(named[0], of, titles_of(rounds[:start]))
    if text is None and _is_poor(named) and (wrong := faults(part)):
        text = ranked(wrong, of, learned)[0].text
    if text is None and is_vague(named[0].bare) and (shown := troubles(part)):
        text = shown[0].text
    if text is None:
        named[0] = _numbered(named[0], rounds[:end])
        text = _completed(named, part, rounds, branch, taken)
        plain = _POINTING.sub(r"\1 ", text)
        text = plain if is_long_enough(plain) else text
    return one_line(text, LONGEST_TOPIC)


def _is_poor(named: Sequence[Heading]) -> bool:
    """Whether the best heading reads badly or is a step, and nothing was written of the work."""
    best = named[0]
    told = best.kind in (*_SAID, *_STEPS) or best.reads <= _POORLY
    return told and not any(heading.kind in (*_WRITTEN, "title", "plan") for heading in named)


def titled(rounds: Sequence[Activity], ranges: Sequence[tuple[int, int]], title: str | None) -> int:
    """Which range a session's title is of: the first, unless another surely says more of it."""
    said = frozenset(stems(title or ""))
    if not said or len(ranges) < 2:
        return 0
    shares = [len(said & _said_in(rounds[start:end])) / len(said) for start, end in ranges]
    best = max(shares)
    return shares.index(best) if best >= shares[0] + _SURELY else 0


def _said_in(part: Sequence[Activity]) -> set[str]:
    texts = (
        text
        for round in part
        for text in (
            *(round.prompt[:_READ], round.answer[:_READ], round.plan),
            *(commit.subject for commit in round.commits),
            *round.pull_titles,
        )
    )
    return set[str]().union(*map(words_of, texts))


def _several(best: Heading, of: Range, used: Collection[str]) -> str | None:
    """What was committed, where that is more than one thing and the heading names a step of it."""
    commits = main_commits(of.part, used, of.tests)
    if len(commits) < 2:
        main = commits[0] if commits and best.kind == "commit" else None
        other = main is not None and not main.words & set(stems(best.bare))
        return main.text if main and other and is_long_enough(main.text) else None
    whole = best.kind in _AS_A_WHOLE and best.completed != "plan"
    if not whole and not (best.kind == "request" and best.sentence == 0):
        return together(commits)
    said = set(stems(best.bare))
    if best.kind != "title" or any(said & commit.words for commit in commits):
        return together(commits) if _is_thin(best, of.part) else None
    return together(commits, best.bare) or (together(commits) if _is_thin(best, of.part) else None)


def _completed(
    named: Sequence[Heading],
    part: Sequence[Activity],
    rounds: Sequence[Activity],
    branch: str,
    taken: Collection[str],
) -> str:
    """The first heading; if little can be found by it, with what was done, the files that were
    worked on most, or the branch that was made for it."""
    best = named[0]
    asks = is_question(best.bare) and telling(best.bare) >= _FEW_NAMES and best.kind in _TYPED
    badly = best.reads <= _BADLY and not asks
    told = best.kind in _SAID or badly or is_vague(best.bare)
    verb = _verb_of(part[0])
    if (
        best.kind in _STEPS
        and explores(best.bare)
        and branch
        and ticket_of(part[0].prompt[:_LOOKED_AT])
    ):
        return _of_branch(branch, part, verb)  # a ticket's branch says what it is about
    told = told or bool(verb and best.kind in _TYPED and not is_imperative(best.bare))
    alone = told and branch and (verb or not any(map(is_asked, part)))
    if not (_is_thin(best, part) or alone or badly):
        return best.text
    if (titled := [h for h in named if h.kind == "title" and not h.completed]) and not told:
        best = titled[0]
    if (done := _done(named, taken)) is not None:
        shared = len(set(stems(best.bare)) & set(stems(done.bare)))
        joined = f"{best.bare}: {uncapital(done.bare)}"
        # "The command to test" is spoken of: nobody was asked for it in these words.
        alone = told or shared > 1 or ":" in done.bare or is_question(best.bare)
        alone = alone or (best.kind in _TYPED and names_a_thing(best.bare))
        return done.text if alone or not is_long_enough(joined) else joined
    if (title := called(best.bare, rounds)) and (said := _called(best.bare, title)):
        return said
    if told:
        asked = [h for h in named if h.kind in _TYPED and is_imperative(h.bare)]
        asked = [h for h in asked if telling(h.bare) >= telling(best.bare) and not is_vague(h.bare)]
        best, told = (asked[0], False) if asked else (best, True)
    if best.text.endswith("?") or best.completed == "files":
        return best.text
    if branch and told:
        return _of_branch(branch, part, verb)
    if branch and (pointed := _THIS_BRANCH.sub(f" on branch {branch}", best.bare)) != best.bare:
        return pointed
    named_already = "branch" in best.bare.lower() and not _MERGES.match(best.bare)
    if branch and not named_already and length_of(best.bare) <= MOST_WORDS - 2:
        return f"{best.bare} (branch {branch})"
    where = mainly(part)
    if where and " in " not in best.bare and length_of(best.bare) <= MOST_WORDS - 4:
        return f"{best.bare} in {where}"
    return best.text if is_long_enough(best.text) else _with_a_step(best, named)


def _numbered(best: Heading, rounds: Sequence[Activity]) -> Heading:
    """A heading that ends with "the PR", with the number of the one that was opened last."""
    named = _THIS_PULL.search(best.bare)
    opened = pulled([url for round in rounds for url in round.pull_requests][-1:]) if named else ()
    if named is None or not opened:
        return best
    text = f"{best.bare[: named.start()]} {named[1]} {opened[0]}"
    return replace(best, text=text, said="", completed="")


def _made_before(part: Sequence[Activity], earlier: Sequence[Activity]) -> str | None:
    """What "review the commit" asks for, with what an earlier round committed last."""
    asked = next((without_courtesies(typed_of(round)) for round in part if is_asked(round)), "")
    named = _THIS_COMMIT.match(asked)
    made = [c.subject for r in earlier for c in r.commits if is_telling(c.subject)] if named else ()
    if named is None or not made:
        return None
    text = shortened(subject_of(made[-1]), MOST_WORDS - length_of(named[0]))
    return f"{capital(named[0])}: {uncapital(text)}" if text else None


def _called(heading: str, title: str) -> str | None:
    """A heading with what the issue it names is called: "Review PR #2: move clean"."""
    alone = f"{title} ({ticket})" if (ticket := ticket_of(heading)) else title
    for text in (f"{heading}: {uncapital(title)}", alone, title):
        if is_long_enough(text):
            return text
    return None


def _with_a_step(best: Heading, named: Sequence[Heading]) -> str:
    """A heading that is too short, with the first step that says something else."""
    steps = (h.bare for h in named if is_imperative(h.bare) and telling(h.bare) >= _FEW_NAMES)
    said = set(stems(best.bare))
    joined = (f"{best.bare}: {uncapital(step)}" for step in steps if said.isdisjoint(stems(step)))
    return next(filter(is_long_enough, joined), best.text)


def _verb_of(round: Activity) -> str:
    """The verb of a command that was given without a word: "/workflows:review"."""
    name = re.split(r"[/:]", round.command or round.prompt.strip())[-1]
    return name if is_imperative(name) and not is_asked(round) else ""


def _of_branch(branch: str, part: Sequence[Activity], verb: str) -> str:
    """What a branch is called, as a heading, with the project where it is short."""
    text = capital(f"{verb} branch {branch}" if verb else " ".join(re.split(r"[-_]", branch)))
    if is_long_enough(text):
        return text
    ticket = ticket_of(f"{part[0].prompt[:_LOOKED_AT]} {part[0].branch or ''}")
    if ticket and is_long_enough(numbered := f"{text} ({ticket})"):
        return numbered
    where = project_of(part)
    placed = f"{text} in {where}" if where else text
    return placed if is_long_enough(placed) else f"Work on the branch {branch}"


def _is_thin(heading: Heading, part: Sequence[Activity]) -> bool:
    """Whether a heading names little beside the project, an issue's number and a file."""
    if is_wide(heading.bare) or heading.kind in _WRITTEN:
        return False
    if _MERGES.match(heading.bare):
        return True
    known = {project_of(part).lower()}
    words = [w for w in heading.bare.split() if not _NUMBER.fullmatch(w.strip("().,:"))]
    words = [w for w in words if not ticket_of(w)]
    return telling(" ".join(w for w in words if w.lower() not in known)) < _FEW_NAMES


def _done(named: Sequence[Heading], taken: Collection[str]) -> Heading | None:
    """The pull request or commit of a range that says what was done."""
    others = [frozenset(stems(topic)) for topic in taken]
    made = [h for h in named if h.kind in _WRITTEN and telling(h.bare) >= _FEW_NAMES]
    made = [h for h in made if not _is_taken(h, others)]
    return next((h for kind in _WRITTEN for h in made if h.kind == kind), None)


def ranked(named: Sequence[Heading], given: Range, learned: Model) -> list[Heading]:
    """Headings of a range, the best first: a title given to all of it, else by what was learned.

    Only the best one has `reads` filled in.
    """
    every = list(named)
    if given.whole:
        named = _titled(named)
    named = [heading for heading in named if is_long_enough(heading.text)] or named
    taken = [frozenset(stems(topic)) for topic in given.taken]
    named = [heading for heading in named if not _is_taken(heading, taken)] or named
    rows = described(named, given, learned)
    worths = [worth(of, learned) for of in rows]
    order = sorted(range(len(named)), key=worths.__getitem__, reverse=True)
    best = replace(named[order[0]], reads=reading(rows[order[0]]))
    found = [best, *(named[place] for place in order[1:])]
    kept = set(map(id, named))
    return found + [heading for heading in every if id(heading) not in kept]


def _is_taken(heading: Heading, taken: Sequence[frozenset[str]]) -> bool:
    """Whether another engagement is called so already, in these words or nearly."""
    if not taken:
        return False
    words = frozenset(stems(heading.bare))
    return any(len(words & topic) > _SAME * len(words) for topic in taken)


def _titled(named: Sequence[Heading]) -> Sequence[Heading]:
    """The headings that say what the session's title says; all, where it has no good one."""
    titles = [heading for heading in named if heading.kind == "title"]
    if good := [heading for heading in titles if is_long_enough(heading.text)]:
        return [heading for heading in good if is_long_enough(heading.bare)][:1] or good
    short = next((h for h in titles if length_of(h.text) >= _SHORT_TITLE), None)
    if short is None:
        return named
    said = set(stems(short.text))
    longer = [h for h in named if 4 * len(said & set(stems(h.text))) >= 3 * len(said)]
    return [h for h in longer if is_long_enough(h.text)] or [short]


_COMMANDS = {
    "init": "Write the instructions for agents in",
    "review": "Review the changes in",
    "code-review": "Review the code changes in",
    "security-review": "Review the security of",
    "simplify": "Simplify the code just changed in",
    "commit": "Commit the latest changes in",
}


def _known(part: Sequence[Activity]) -> str:
    """What the command of a range does, where it is one that everybody has."""
    commands = (round.command.strip("/") for round in part if round.command)
    return next((_COMMANDS[name] for name in commands if name in _COMMANDS), "")


def _commanded(part: Sequence[Activity]) -> str:
    """What the last command of a range was given to do: "/gsd:plan-phase 14" plans phase 14."""
    for round in reversed(part):
        given = without_command(round.prompt)
        if round.command and given and len(given) <= _GIVEN and "\n" not in given:
            name = " ".join(re.split(r"[-_]", re.split(r"[/:]", round.command)[-1]))
            if is_imperative(name):
                return capital(f"{name} {given}" if not is_imperative(given) else given)
    return ""


def _without_words(part: Sequence[Activity], branch: str) -> str:
    """What can be said of a range in which nothing was said."""
    where = project_of(part, _GIVEN) or "an unnamed folder"
    command = next((round.command for round in part if round.command), "").strip("/")
    if text := _commanded(part):
        return f"{text} in {where}"
    if branch and (verb := _verb_of(part[0])):
        return _of_branch(branch, part, verb)
    if known := _known(part):
        return f"{known} {where}"
    files = touched(part)
    if files:
        return f"Work on {files} in {where}"
    if branch:
        return f"Work on branch {branch} in {where}"
    if command:
        words = command.rpartition(":")[2].replace("-", " ").replace("_", " ")
        return f"Run the {words} command in {where}"
    return f"Work without a stated request in {where}"
