"""What an agent can ask; each tool is a verb, and nothing is written but the search index."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from minutebook.record.layout import Layout
from minutebook.record.roster import load_roster
from minutebook.derive.plain import one_line
from minutebook.derive.times import since as parse_since
from minutebook.derive.tokens import tokens
from minutebook.errors import BadArgument
from minutebook.index.query import Filters, known_method, parse_query
from minutebook.mcp.telling import (
    HARD_LIMIT,
    MOST_TOKENS,
    answer,
    cut,
    decision_line,
    engagement_line,
    hit_line,
    paged,
    position,
    quoted,
)
from minutebook.sources.library import Library
from minutebook.verbs.decisions import decisions, newest_first
from minutebook.verbs.find import parse_address
from minutebook.verbs.materialise import Shelf, materialise, parse_rounds
from minutebook.verbs.minutes import Minutes
from minutebook.verbs.round_text import Fidelity, Level, round_text
from minutebook.verbs.search import matching, search
from minutebook.verbs.semantic import Meaning
from minutebook.verbs.stats import tally

_MOST_HITS = 50
_SECONDS = 2.0


class Tools:
    """The archive as one agent sees it; calls come from several threads."""

    def __init__(self, layout: Layout, places: tuple[Path, ...]) -> None:
        self._layout, self._places = layout, places
        self._minutes = Minutes(layout)
        self._meaning = Meaning(layout)
        self._lock = threading.Lock()
        self._found: tuple[float, Library] | None = None

    def _library(self) -> Library:
        """The transcripts there are; agents ask several things at once, so for two seconds."""
        now = time.monotonic()
        if self._found is None or now - self._found[0] > _SECONDS:
            self._found = (now, Library(self._places, lenient=True))
        return self._found[1]

    def _shelf(self) -> Shelf:
        roster = load_roster(self._layout.root)
        return Shelf(self._layout, self._library(), roster, self._minutes, self._meaning)

    def search(
        self,
        query: str,
        where: Literal["all", "engagements", "turns"] = "all",
        project: str | None = None,
        agent: str | None = None,
        method: str | None = None,
        since: str | None = None,
        limit: int = 5,
        cursor: str | None = None,
    ) -> str:
        """Find earlier work: what was asked, answered, decided. Words or meaning; "a phrase",
        -without, begin*. Answers name rounds like 3a4d64e0#12; read them with `show`."""
        filters = _filters(project, agent, method, since)
        start, limit = position(cursor), max(1, min(limit, _MOST_HITS))
        with self._lock:
            found = search(
                self._layout,
                self._library(),
                parse_query(query, filters),
                where=where,
                limit=start + limit + 1,
                embedder=self._meaning.embedder,
                ready=self._meaning.ready,
                records=self._minutes.records(),
            )
        page, more = paged(found.hits, hit_line, cursor, limit)
        if not page:
            return "Nothing was found. Other words, or fewer filters, may help."
        return answer(f"{len(page)} found, best first:", page, more)

    def engagements(
        self,
        project: str | None = None,
        agent: str | None = None,
        method: str | None = None,
        since: str | None = None,
        limit: int = 10,
        cursor: str | None = None,
    ) -> str:
        """List pieces of work, newest first: topic, method, phase, outcome, rounds. `since` is a
        date like 2026-03-01 or days like 7d."""
        filters = _filters(project, agent, method, since)
        pairs = newest_first(matching(self._minutes.records(), filters))
        page, more = paged(pairs, engagement_line, cursor, max(1, min(limit, 100)))
        if not page:
            return "No (more) engagement passes. `stats` says what there is."
        return answer(f"{len(page)} of {len(pairs)} engagements:", page, more)

    def decisions(
        self,
        words: str = "",
        project: str | None = None,
        agent: str | None = None,
        since: str | None = None,
        limit: int = 20,
        cursor: str | None = None,
    ) -> str:
        """What was decided, newest first, where all `words` stand in or around the decision."""
        pairs = matching(self._minutes.records(), _filters(project, agent, None, since))
        found = decisions(pairs, words)
        page, more = paged(found, decision_line, cursor, max(1, min(limit, 100)))
        if not page:
            return "No (more) decision is written down with these words."
        return answer(f"{len(page)} of {len(found)} decisions:", page, more)

    def show(
        self,
        address: str,
        thinking: Level = "omit",
        tool_input: Level = "summary",
        tool_output: Level = "summary",
        cursor: str | None = None,
    ) -> str:
        """Read rounds of a session: `3a4d64e0#12`, `3a4d64e0#12-14`, or a name with #rounds. Long
        answers are cut at whole rounds; the cursor goes on."""
        shelf = self._shelf()
        name, wanted = parse_address(address)
        session = shelf.open(shelf.called(name))
        if wanted is None:
            raise BadArgument(f"Say which rounds: {name}#1 … #{session.count}.")
        numbers = parse_rounds(f"{wanted.start}-{wanted.stop - 1}", session.count)
        start = position(cursor)
        told: list[str] = []
        spent = 0
        fidelity = Fidelity(thinking, tool_input, tool_output)
        for number in numbers[start:]:
            where = f"{session.session_id[:8]}#{number}"
            text = round_text(where, session.round(number), fidelity)
            spent += tokens(text)
            if told and spent > MOST_TOKENS:
                break
            told.append(text)
        text, missing = cut("".join(told), HARD_LIMIT)
        after = start + len(told)
        more = str(after) if after < len(numbers) else None
        head = f"{len(told)} of {len(numbers)} rounds of {session.session_id[:8]}"
        if missing:
            head += " (the last one is cut: ask for it with tool_output='omit')"
        return answer(f"{head}:", [text], more)

    def context(
        self,
        query: str | None = None,
        sessions: Sequence[str] = (),
        engagement: str | None = None,
        compressed: bool = False,
        budget: int = MOST_TOKENS,
    ) -> str:
        """Build a context within a token budget: by `query` (what is relevant in full, the rest as
        references), of named sessions, or of an engagement. References name rounds for `show`."""
        budget = max(1, min(budget, HARD_LIMIT))
        with self._lock:
            built = materialise(
                self._shelf(),
                list(sessions),
                mode="compressed" if compressed else "recent",
                engagement=engagement,
                query=query,
                budget=budget,
            )
        return f"{built.tokens} tokens of {budget}:\n{quoted(built.text)}"

    def stats(
        self, project: str | None = None, agent: str | None = None, since: str | None = None
    ) -> str:
        """How much there is: sessions, engagements, decisions; by method, project, agent, phase."""
        found = tally(matching(self._minutes.records(), _filters(project, agent, None, since)))
        lines = [
            f"- {name}: " + ", ".join(f"{one_line(k)} {v}" for k, v in list(counts.items())[:12])
            for name, counts in (
                ("methods", found.methods),
                ("projects", found.projects),
                ("agents", found.agents),
                ("phases", found.phases),
            )
            if counts
        ]
        head = (
            f"{found.sessions} sessions, {found.engagements} engagements, "
            f"{found.decisions} decisions, {len(found.days)} active days."
        )
        return answer(head, lines, None)

    # -- resources

    def session(self, session: str) -> str:
        """A session, a line a round."""
        built = materialise(self._shelf(), [session], mode="compressed", budget=HARD_LIMIT)
        return quoted(built.text)

    def round(self, session: str, round: str) -> str:
        """One round, with summaries of its tool calls."""
        return self.show(f"{session}#{round}")

    def engagement(self, engagement: str) -> str:
        """The rounds of an engagement."""
        built = materialise(self._shelf(), [], engagement=engagement, budget=MOST_TOKENS)
        return quoted(built.text)


def _filters(
    project: str | None, agent: str | None, method: str | None, since: str | None
) -> Filters:
    given: dict[str, Any] = {"project": project or None, "agent": agent or None}
    if method:
        given["method"] = known_method(method)
    if since:
        given["after"] = int(parse_since(since).timestamp())
    return Filters(**given)
