"""What a person typed, understood: words, phrases, exclusions, prefixes, filters.

Anything typed is a query. What looks like an operator and is none is a word.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import msgspec

from minutebook.derive.labels import known_method, known_phase
from minutebook.derive.periods import period, since, until
from minutebook.errors import BadArgument
from minutebook.index.analysis import STOP_WORDS

_LONGEST = 2_000
_MOST_WORDS = 32
_PIECE = re.compile(
    r'(?P<minus>[-\u2212])?(?:(?P<field>[a-z]{2,8}):)?(?:"(?P<phrase>[^"]*)"|(?P<word>\S+))'
)
_EXCLUDED = re.compile(r"\"?[^\W_](?=.{2})\w*(?:[-.]\w+)*\"?")  # longer than options are
_FIELDS = frozenset(
    "project agent method phase branch model session before after date budget".split()
)
_BUDGET = re.compile(r"(?P<sign>>=|<=|>|<)?\s*(?P<percent>\d{1,3}(?:\.\d)?)\s*%?")
_FULLEST = 10_000  # tenths of a percent; more than any window holds

_DATES = ("before", "after", "date")


class Filters(msgspec.Struct, frozen=True, omit_defaults=True):
    """Everything a hit must be; all of it at once (SRCH-08)."""

    project: str | None = None
    """As it was asked for: a project's name, or a part of its path."""
    projects: frozenset[str] | None = None
    """The projects of exactly that name, where there are any (`archive.projects`)."""
    agent: str | None = None
    method: str | None = None
    methods: tuple[str, ...] = ()
    """Of usage: any of these; empty for all."""
    phase: str | None = None
    branch: str | None = None
    model: str | None = None
    session: str | None = None
    after: int | None = None
    """Seconds since the epoch, from then on."""
    before: int | None = None
    """Seconds since the epoch, up to but not with."""
    tools: bool | None = None
    command: str | None = None
    """Words of a command that tools ran, in their order."""
    error: str | None = None
    """Words of what a failed call printed, in their order."""
    budget: tuple[int, int] | None = None
    """The least and the most the window was filled in a round, in tenths of a percent."""
    sessions: frozenset[str] | None = None
    """Only these sessions."""
    ghosts: bool = False
    among: frozenset[tuple[str, str]] | None = None
    """Only these engagements, by session and id: those of a thread."""
    copies: bool = False
    """Whether engagements of copied conversations are listed, too."""
    starred: bool = False
    """Only what a person marked with a star: the engagement, or its session."""
    hidden: bool = False
    """Whether what a person hid is listed and counted, too."""

    @property
    def of_rounds(self) -> bool:
        """Whether something is asked of rounds that is worth a list of them."""
        return bool(self.command or self.error or self.budget)


class Query(msgspec.Struct, frozen=True):
    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    filters: Filters = Filters()
    typed: str = ""
    """All that was typed but filters and exclusions: it may be a line somebody copied."""

    @property
    def is_empty(self) -> bool:
        return not (self.words or self.phrases or self.prefixes)

    def says_nothing(self, beside: Filters) -> bool:
        """Whether something was typed that has neither a word nor a filter of its own."""
        return self.is_empty and self.filters == beside

    @property
    def telling(self) -> tuple[str, ...]:
        """Words that say something; all of them where none does."""
        return tuple(w for w in self.words if w.lower() not in STOP_WORDS) or self.words

    @property
    def text(self) -> str:
        """The query as a sentence, for those who compare meanings."""
        return " ".join((*self.words, *self.phrases, *self.prefixes))


def parse_query(typed: str, filters: Filters = Filters()) -> Query:  # noqa: B008 - frozen
    """A query, with what its `field:value` pieces add to the filters."""
    plain = "".join(char if char.isprintable() else " " for char in typed[:_LONGEST])
    found: dict[str, list[str]] = {"words": [], "phrases": [], "prefixes": [], "excluded": []}
    copied: list[str] = []
    special = False
    for match in _PIECE.finditer(plain):
        text = match["phrase"] if match["phrase"] is not None else match["word"].strip('"')
        if not any(char.isalnum() for char in text):
            continue
        if text == "budget:":  # the shell took the rest for the name of a file
            raise BadArgument("Quote it for the shell: 'budget:>80'.")
        if match["field"] in _FIELDS and not match["minus"]:
            try:
                filters = _narrowed(filters, _filter(match["field"], text))
            except BadArgument as error:
                if match["field"] in _DATES and match["word"] and plain[match.end() :].strip():
                    raise BadArgument(
                        f'{error} One with a space needs quotes: {match["field"]}:"last week".'
                    ) from None
                raise
            special = True
            continue
        if match["field"]:
            text = f"{match['field']}:{text}"
        before = len(found["excluded"])
        if match["minus"] and _is_word(match["phrase"], match["word"]):
            found["excluded"].append(text)
            special = True
        elif match["phrase"] is not None:
            found["phrases"].append(text)
        elif text.endswith("*") and len(text) > 2:
            found["prefixes"].append(text.rstrip("*"))
        else:
            found["words"].append(text)
        if len(found["excluded"]) == before:
            copied.append(match[0])
    kept = {name: tuple(dict.fromkeys(texts))[:_MOST_WORDS] for name, texts in found.items()}
    return Query(**kept, filters=filters, typed=" ".join(copied) if special else plain.strip())


def _is_word(phrase: str | None, word: str | None) -> bool:
    """Whether `-this` leaves something out; `-rf`, `-rw-r--r--` and `--all` are words of a line."""
    text = (word or "").rstrip("*")
    return phrase is not None or not text.isascii() or bool(_EXCLUDED.fullmatch(text))


def _narrowed(filters: Filters, more: dict[str, Any]) -> Filters:
    """Filters with some more; all count at once, so a second one cannot replace a first."""
    for name, value in more.items():
        known = getattr(filters, name)
        if name == "after" and known is not None:
            value = max(known, value)
        elif name == "before" and known is not None:
            value = min(known, value)
        elif name == "budget" and known is not None:
            value = (max(known[0], value[0]), min(known[1], value[1]))
        elif known is not None and known != value:
            raise BadArgument(f"There are two values for {name}: '{known}' and '{value}'.")
        filters = msgspec.structs.replace(filters, **{name: value})
    return filters


def _filter(field: str, value: str) -> dict[str, Any]:
    if field == "method":
        return {"method": known_method(value)}
    if field == "phase":
        return {"phase": known_phase(value)}
    if field == "before":
        return {"before": span(value)[0]}
    if field == "after":
        return {"after": int(since(value).timestamp())}
    if field == "date":
        after, before = span(value)
        return {"after": after, "before": before}
    if field == "budget":
        return {"budget": filled(value)}
    return {field: value}


def filled(text: str) -> tuple[int, int]:
    """``>80``, ``>=80``, ``<50``, ``<=50`` or ``80`` (from there on) as tenths of a percent."""
    match = _BUDGET.fullmatch(text.strip().removeprefix("budget:"))
    if match is None:
        raise BadArgument(
            f"'{text}' is not a share of the window: write 'budget:>80' or 'budget:<50', in quotes."
        )
    tenths = round(float(match["percent"]) * 10)
    sign = match["sign"] or ">="
    if sign[0] == ">":
        return tenths + (sign == ">"), _FULLEST
    return 0, tenths - (sign == "<")


def span(text: str) -> tuple[int, int]:
    """The limits of a day, or of a longer period that somebody names (SRCH-05, SRCH-21)."""
    start, end = period(text)
    return int(start.timestamp()), int(end.timestamp())


def limits(
    since_when: str | None, until_when: str | None, *periods: str | None
) -> tuple[int | None, int | None]:
    """From when on, and up to when, dates as people say them ask for: one period, or its limits."""
    spans: list[tuple[int | None, int | None]] = [span(text) for text in periods if text]
    if len(set(spans)) > 1:
        raise BadArgument("There are two periods: name one (date, today or week).")
    if spans and (since_when or until_when):
        raise BadArgument(
            "These dates contradict each other: name a period (date, today or week), or its "
            "limits (since, until)."
        )
    if since_when:
        spans.append((int(since(since_when).timestamp()), None))
    if until_when:
        spans.append((None, int(until(until_when).timestamp())))
    after = max((start for start, _ in spans if start is not None), default=None)
    before = min((end for _, end in spans if end is not None), default=None)
    if after is not None and before is not None and after >= before:
        begins, ends = date.fromtimestamp(after), date.fromtimestamp(before - 1)
        raise BadArgument(f"These dates contain no day: {ends} is before {begins}.")
    return after, before
