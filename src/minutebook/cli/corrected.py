"""What ``minutebook correct`` answers: what it is about, as it is now, and what was lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from minutebook.archive import Archive
from minutebook.archive.saying import Spoken
from minutebook.cli import terminal
from minutebook.cli.json_output import print_json
from minutebook.derive.wording import rounds_text
from minutebook.model.engagement import Engagement
from minutebook.model.said import Said, Set
from minutebook.verbs.correct import in_words, with_words

if TYPE_CHECKING:
    from minutebook.verbs.tag import Tagged

ALREADY = "Already recorded: nothing changed."


def print_spoken(book: Archive, spoken: Spoken, as_json: bool) -> None:
    if as_json:
        print_json(
            said=with_words(spoken.said),
            undone=with_words(spoken.undone),
            engagement=spoken.engagement,
            made=spoken.made,
            gone=spoken.gone,
            changed=spoken.changed,
            hidden_rounds=spoken.hidden_rounds,
            thread=spoken.thread,
            session=spoken.session,
        )
        return
    if spoken.said is None:
        terminal.note(ALREADY)
    if spoken.undone is not None:
        name = terminal.one_line(book.short(spoken.session.session_id))
        words = f"{in_words(spoken.undone)}{of_copy(book, spoken.undone)}"
        terminal.say(f"Taken back ({name}): {terminal.one_line(words)}.")
    elif spoken.engagement is not None:
        for engagement in (spoken.engagement, spoken.made):
            if engagement is not None:
                terminal.say(_line(engagement))
        if spoken.said is not None and isinstance(set_ := spoken.said.statement, Set):
            _print_set(spoken.engagement, set_)
    else:
        _print_session(book, spoken)
    name = terminal.one_line(book.short(spoken.session.session_id))
    print_recut(spoken, f"correct undo {name}")
    if not spoken.indexed:
        terminal.note("Another run is writing the archive; it will update the index page.")


def of_copy(book: Archive, said: Said) -> str:
    """That something was said of a copy of a session, where it was."""
    return f" (said of {terminal.one_line(book.short(said.said_of))})" if said.said_of else ""


def print_recut(done: Spoken | Tagged, undo: str) -> None:
    """Other engagements whose rounds changed, those that have none left, and the verb that undoes
    it."""
    for engagement in done.changed:
        terminal.say(f"Also changed: {_line(engagement)}")
    if done.hidden_rounds:
        rounds = rounds_text(done.hidden_rounds)
        terminal.say(f"Lists leave out {rounds} now, in a hidden engagement.")
    for engagement in done.gone:
        topic = f"{engagement.topic} ({rounds_text(engagement.ranges)})"
        terminal.say(terminal.one_line(f"No round is left of: {topic}."))
    if done.gone:
        terminal.say(f"`minutebook {undo}` brings {'it' if len(done.gone) == 1 else 'them'} back.")


def _print_set(engagement: Engagement, said: Set) -> None:
    """Fields that were set and are not in the line of an engagement."""
    told = {
        "project": ("Project", (engagement.project,)),
        "outcome": ("Outcome", (engagement.outcome,)),
        "key_decisions": ("Decided", engagement.key_decisions),
    }
    for field, (what, texts) in told.items():
        if field in said.values:
            for text in texts or ("",):
                terminal.say(terminal.one_line(f"{what}: {text or '(nothing)'}"))


def _line(engagement: Engagement) -> str:
    star = "★ " if engagement.starred else ""
    facts = [engagement.method, engagement.phase, rounds_text(engagement.ranges)]
    facts += ["hidden"] if engagement.hidden else []
    line = f"{star}{engagement.id}: {engagement.topic} ({', '.join(facts)})."
    return terminal.one_line(f"{line} Note: {engagement.note}" if engagement.note else line)


def _print_session(book: Archive, spoken: Spoken) -> None:
    record = spoken.session
    star = "★ " if record.starred else ""
    named = [("title", record.title), ("name", record.agent_name), ("role", record.agent_role)]
    facts = [f"{what} '{text}'" for what, text in named if text]
    facts += ["hidden"] if record.hidden else []
    line = f"{star}{book.short(record.session_id)}: {', '.join(facts) or 'no title'}."
    extra = (("Summary", record.told_summary), ("Note", record.note))
    terminal.say(terminal.one_line(line))
    for what, text in extra:
        if text:
            terminal.say(terminal.one_line(f"{what}: {text}"))
