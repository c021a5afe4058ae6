"""What an agent can ask; each tool is a verb, and these write nothing but the search index."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.files import find_file
from minutebook.archive.finding import bring_up_to_date, search
from minutebook.archive.folding import hidden_once, once
from minutebook.archive.instructions import compare, sessions_with
from minutebook.archive.masking import hide
from minutebook.archive.opening import reopened
from minutebook.archive.passing import ghosts_of, matching
from minutebook.archive.programs import is_agent
from minutebook.archive.projects import of_project
from minutebook.archive.semantic import Meaning
from minutebook.archive.threads import keys_of, threads, with_threads
from minutebook.derive.genealogy import Pair
from minutebook.derive.labels import known_method, known_phase
from minutebook.derive.plain import one_line
from minutebook.derive.tokens import tokens
from minutebook.derive.usage.tally import PERIODS
from minutebook.derive.usage.wording import usage_text
from minutebook.derive.wording import plural
from minutebook.errors import BadArgument
from minutebook.index.query import Filters, Query, filled, limits, parse_query
from minutebook.mcp import parameters as given
from minutebook.mcp.remedies import TOOLS
from minutebook.mcp.showing import show
from minutebook.mcp.telling import (
    HARD_LIMIT,
    MOST_TOKENS,
    answer,
    budget_head,
    counts_line,
    cut,
    damage,
    decision_line,
    engagement_line,
    hit_line,
    instruction_line,
    left_out,
    limit_lines,
    paged,
    position,
    quoted,
    round_line,
    state_of,
    touched_lines,
    usage_line,
)
from minutebook.sources.registry import SOURCES
from minutebook.verbs.context_text import account
from minutebook.verbs.decisions import decisions, newest_first
from minutebook.verbs.lineage import lineage_lines, of_agent
from minutebook.verbs.materialise import Mode as ContextMode
from minutebook.verbs.materialise import materialise
from minutebook.verbs.report import report_markdown
from minutebook.verbs.round_text import Fidelity
from minutebook.verbs.stats import stats

_MOST_HITS = 50
_AROUND = 110  # tokens of our own words around a context
_SECONDS = 2.0  # agents ask several things at once: so long a look at the folders holds


class Tools:
    """The archive as one agent sees it; calls come from several threads."""

    def __init__(self, archive: Archive) -> None:
        # One of our own: it lives for long, and masks whatever the other one does.
        self._archive = reopened(archive, patience=_SECONDS, lenient=True)
        self._meaning = Meaning(archive.layout)
        self._lock = threading.Lock()

    def search(
        self,
        query: given.Query = "",
        where: given.Where = "all",
        project: given.Project = None,
        agent: given.Agent = None,
        method: given.Method = None,
        phase: given.Phase = None,
        since: given.Since = None,
        until: given.Until = None,
        branch: given.Branch = None,
        model: given.Model = None,
        has_tools: given.HasTools = None,
        command: given.Command = None,
        error: given.Error = None,
        budget: given.Budget = None,
        instructions: given.Instructions = None,
        thread: given.Thread = None,
        side: given.Side = "both",
        sort: given.Sort = "relevance",
        mode: given.Mode = "hybrid",
        file: given.File = None,
        limit: given.Limit = 5,
        cursor: given.Cursor = None,
    ) -> str:
        """Find earlier work: what was asked, answered, decided, run, printed, read and changed.
        Answers name rounds and blocks like 3a4d64e0#12.7; read them with `show`."""
        filters = msgspec.structs.replace(
            _filters(project, agent, method, since, until),
            phase=known_phase(phase) if phase else None,
            branch=branch or None,
            model=model or None,
            tools=has_tools,
            command=command or None,
            error=error or None,
            budget=filled(budget) if budget else None,
            sessions=sessions_with(self._archive, instructions) if instructions else None,
            among=keys_of(self._archive, thread) if thread else None,
        )
        start, limit = position(cursor), max(1, min(limit, _MOST_HITS))
        if file and query.strip():
            raise BadArgument("Give a query or a file, not both.")
        if file:
            return self._touched(file, filters, start, limit)
        parsed = parse_query(query, filters)
        if query.strip() and parsed.says_nothing(filters):
            raise BadArgument("The query has no word in it.")
        with self._lock:
            found = search(
                self._archive,
                parsed,
                where=where,
                side=side,
                mode=mode,
                sort=sort,
                limit=start + limit + 1,
                **self._meaning.ways,
            )
        short = self._archive.short
        hits = with_threads(self._archive, found.hits)
        page, more = paged(hits, lambda hit: hit_line(hit, short), cursor, limit)
        remarks = "".join(
            f" {remark}"
            for remark in (
                left_out(found.ghosts_hidden, found.copies_hidden, found.hidden),
                state_of(found),
            )
            if remark
        )
        if not page:
            nothing = "Nothing was found. Other words, or fewer filters, may help."
            return self._told(nothing + remarks + self._unknown(agent))
        many = f"{'at least ' if found.capped else ''}{found.total}"
        order = "best first" if sort == "relevance" and query.strip() else "newest first"
        return self._told(answer(f"{len(page)} of {many} found, {order}.{remarks}", page, more))

    def _touched(self, file: str, filters: Filters, start: int, limit: int) -> str:
        with self._lock:
            bring_up_to_date(self._archive)
        found = find_file(self._archive, file, filters, limit=limit, offset=start, by_round=True)
        if not found.hits:
            named = f"a file like '{one_line(file)}'"
            if found.left_out:
                count = plural(found.left_out, "round")
                return self._told(f"{count} touched {named}, but none passes the filters.")
            return self._told(f"No (more) rounds touched {named}.")
        short = self._archive.short
        lines = touched_lines(found.hits, short)
        after = start + len(lines)
        more = str(after) if after < found.rounds else None
        head = f"{len(lines)} of {found.rounds} rounds that touched it, newest first:"
        return self._told(answer(head, lines, more))

    def engagements(
        self,
        project: given.Project = None,
        agent: given.Agent = None,
        method: given.Method = None,
        since: given.Since = None,
        until: given.Until = None,
        starred: given.Starred = False,
        hidden: given.Hidden = False,
        limit: given.Limit = 10,
        cursor: given.Cursor = None,
    ) -> str:
        """List pieces of work, newest first: topic, method, phase, outcome, rounds."""
        filters = msgspec.structs.replace(
            _filters(project, agent, method, since, until), starred=starred, hidden=hidden
        )
        filters = of_project(self._archive, filters)
        records = self._archive.records()
        found, copies = once(self._archive, matching(records, filters))
        hid = hidden_once(self._archive, records, filters)
        remark = left_out(len(ghosts_of(records, filters)), copies, hid)
        pairs = newest_first(found)
        short, most = self._archive.short, max(1, min(limit, 100))
        known = threads(self._archive)

        def line(pair: Pair) -> str:
            thread = known.of(pair[0].session_id, pair[1].id)
            return engagement_line(pair, short, thread.id if thread else None)

        page, more = paged(pairs, line, cursor, most)
        if not page:
            nothing = f"No (more) engagements pass. {remark}".rstrip()
            return self._told(f"{nothing} `stats` counts what there is.{self._unknown(agent)}")
        head = f"{len(page)} of {len(pairs)} engagements, newest first. {remark}".rstrip()
        return self._told(answer(head, page, more))

    def decisions(
        self,
        query: given.Subject = "",
        project: given.Project = None,
        agent: given.Agent = None,
        since: given.Since = None,
        until: given.Until = None,
        limit: given.Limit = 20,
        cursor: given.Cursor = None,
    ) -> str:
        """What was decided, newest first; with a `query` by what it is about."""
        filters = of_project(self._archive, _filters(project, agent, None, since, until))
        passing = matching(self._archive.records(), filters)
        pairs, _ = once(self._archive, passing)
        with self._lock:
            found = decisions(pairs, query, self._meaning.embedder)
        short, most = self._archive.short, max(1, min(limit, 100))
        page, more = paged(found, lambda decision: decision_line(decision, short), cursor, most)
        if not page:
            nothing = "are about that" if query.strip() else "pass these filters"
            return self._told(f"No (more) decisions {nothing}.{self._unknown(agent)}")
        return self._told(answer(f"{len(page)} of {len(found)} decisions:", page, more))

    def show(
        self,
        address: given.Address,
        thinking: given.Thinking = "omit",
        tool_input: given.ToolInput = "summary",
        tool_output: given.ToolOutput = "summary",
        cursor: given.Cursor = None,
    ) -> str:
        """Read rounds of a session: `3a4d64e0#12`, `3a4d64e0#12-14`, or one block in full:
        `3a4d64e0#12.7`, as `search` names it. Long answers come in parts; the cursor goes on."""
        fidelity = Fidelity(thinking, tool_input, tool_output)
        shown = show(self._archive, address, fidelity, cursor)
        return self._told(shown.text, shown.damaged)

    def context(
        self,
        query: given.About = None,
        sessions: given.Sessions = (),
        engagement: given.Engagement = None,
        compressed: given.Compressed = False,
        budget: given.Tokens = MOST_TOKENS,
    ) -> str:
        """Build a context within a token budget: by `query` (answers that match first, then their
        neighbours, then references), of named sessions (goal, decisions, outcome, open ends, files,
        then rounds), or of an engagement. Says what it leaves out; references name rounds for
        `show`."""
        return self._context(
            max(1, min(budget, HARD_LIMIT)),
            sessions,
            mode="compressed" if compressed else "recent",
            engagement=engagement,
            query=query,
        )

    def _context(
        self,
        budget: int,
        sessions: Sequence[str],
        *,
        mode: ContextMode = "recent",
        engagement: str | None = None,
        query: str | None = None,
    ) -> str:
        """A context that fits a budget together with our own words around it."""
        around = _AROUND
        while True:
            with self._lock:
                built = materialise(
                    self._archive,
                    list(sessions),
                    meaning=self._meaning,
                    mode=mode,
                    engagement=engagement,
                    query=query,
                    budget=budget,
                    around=around,
                    words=TOOLS,
                )
            head = f"{built.tokens} tokens of {budget}. {account(built)}"
            text = self._told(f"{head}\n{quoted(built.text)}", built.damaged)
            if (excess := tokens(text) - budget) <= 0:
                return text
            around += excess  # damaged files are named too, and their names may be long

    def report(
        self,
        project: given.Project = None,
        agent: given.Agent = None,
        since: given.Since = None,
        until: given.Until = None,
        date: given.Date = None,
        session: given.OneSession = None,
        cursor: given.Cursor = None,
    ) -> str:
        """Report on a period (default: this week) or a session: what was done, decided and shipped,
        and what is still open, by project. Addresses are for `show`."""
        found = self._archive.report(
            session, project=project, agent=agent, since=since, until=until, date=date
        )
        lines = report_markdown(found).splitlines()
        page, more = paged(lines, str, cursor, len(lines))
        head = f"{plural(found.engagements, 'engagement')} of {plural(found.sessions, 'session')}:"
        if (week := found.latest) is not None:
            head = f"The latest week with work: since={week.since}, until={week.until}.\n{head}"
        return self._told(answer(head, page, more))

    def lineage(
        self,
        session: given.Session = None,
        recorded: given.Recorded = False,
        agent: given.Agent = None,
        cursor: given.Cursor = None,
    ) -> str:
        """Which session resumes, forks, copies, continues or started which, each with
        its evidence. Without a session: all families, newest first."""
        with self._lock:
            found = self._archive.lineage(session)
        found = found.only_recorded() if recorded else found
        if session is None:
            families = found.families()
            families = of_agent(self._archive, families, agent) if agent else families
        else:
            families = [found.family(self._archive.resolve(session))]
        short = self._archive.short
        lines = [line for family in families for line in lineage_lines(family, short)]
        page, more = paged(lines, str, cursor, len(lines))
        if not any(family.edges for family in families):
            return self._told("No ties to other sessions were found.")
        many = plural(len(families), "family", "families")
        return self._told(answer(f"{many}, the older session above the newer:", page, more))

    def budget(self, session: given.NamedSession, cursor: given.Cursor = None) -> str:
        """How full the context window was in each round of a session, and what was compacted."""
        found = self._archive.budget(session)
        short = self._archive.short(found.session_id)
        lines = limit_lines(found.budget)
        lines += [round_line(short, round) for round in found.budget.rounds]
        page, more = paged(lines, str, cursor, len(lines))
        return self._told(answer(budget_head(found.budget), page, more))

    def instructions(self, session: given.NamedSession, other: given.OtherSession = None) -> str:
        """Which instructions (files like AGENTS.md) a session had when it began, with the evidence
        for each; with `other`, what changed from the one session to the other."""
        if other:
            diffs = compare(self._archive, session, other)
            lines = [f"{file.path}: {file.state}\n{file.diff}".rstrip() for file in diffs]
            text, missing = cut("\n".join(lines), HARD_LIMIT)
            head = f"{plural(len(diffs), 'file')}{' (cut)' if missing else ''}:"
            return self._told(answer(head, [text] if text else [], None))
        told = self._archive.instructions(session)
        gone = " Its project's folder is gone." if told.project == "gone" else ""
        head = f"{plural(len(told.files), 'file')} of instructions.{gone}"
        return self._told(answer(head, map(instruction_line, told.files), None))

    def stats(
        self,
        project: given.Project = None,
        agent: given.Agent = None,
        since: given.Since = None,
        until: given.Until = None,
    ) -> str:
        """How much there is: sessions, engagements, decisions; by method, project, agent,
        program, phase."""
        filters = _filters(project, agent, None, since, until)
        found = stats(self._archive, Query(filters=filters))
        lines = [
            counts_line(name, counts)
            for name, counts in (
                ("methods", found.methods),
                ("projects", found.projects),
                ("agents", found.agents),
                ("programs", found.programs),
                ("phases", found.phases),
            )
            if counts
        ]
        head = (
            f"{plural(found.sessions, 'session')}, {plural(found.engagements, 'engagement')}, "
            f"{plural(found.decisions, 'decision')}; work began on "
            f"{plural(len(found.days.keys() - {'undated'}), 'day')}. "
            f"{left_out(found.ghosts_hidden, found.copies_hidden, found.hidden)}"
        )
        return self._told(answer(head.rstrip(), lines, None))

    def usage(
        self,
        by: given.By = "day",
        session: given.OneSession = None,
        project: given.Project = None,
        agent: given.Agent = None,
        model: given.Model = None,
        branch: given.Branch = None,
        since: given.Since = None,
        until: given.Until = None,
        limit: given.Limit = 20,
        cursor: given.Cursor = None,
    ) -> str:
        """What was used: replies, five kinds of tokens, cost at API prices, active time, tool
        calls; by day, week, month, project, model, agent, session, engagement, branch, thread
        or program."""
        with self._lock:
            found = self._archive.usage(
                by,
                session=session,
                project=project,
                agent=agent,
                model=model,
                branch=branch,
                since=since,
                until=until,
            )
        rows = found.rows[::-1] if by in PERIODS else found.rows
        page, more = paged(rows, usage_line, cursor, max(1, min(limit, 100)))
        head = f"{len(page)} of {len(rows)} rows. Total: {usage_text(found.total)}."
        if found.subagents is not None:
            head += f" Of it subagents: {usage_text(found.subagents)}."
        page += [f"- {one_line(remark)}" for remark in found.remarks if more is None]
        return self._told(answer(head, page, more))

    # -- resources

    def session(self, session: str) -> str:
        """A session, one line per round."""
        return self._context(HARD_LIMIT, [session], mode="compressed")

    def round(self, session: str, round: str) -> str:
        """One round, with summaries of its tool calls."""
        return self.show(f"{session}#{round}")

    def engagement(self, engagement: str) -> str:
        """The rounds of an engagement."""
        return self._context(MOST_TOKENS, [], engagement=engagement)

    # -- what is not there

    def _unknown(self, agent: str | None) -> str:
        """A filter that no session of the archive can pass."""
        if not agent or any(
            is_agent(agent, record.source, record.agent_name, record.agent_role, record.slug)
            for record in self._archive.records().values()
        ):
            return ""
        sources = {record.source for record in self._archive.records().values()}
        known = ", ".join(sorted(SOURCES.program_of(source) for source in sources))
        named = hide(one_line(agent)[:60])
        return f" No agent here is called '{named}'; programs: {known or 'none'}."

    def _told(self, text: str, damaged: Mapping[str, str] | None = None) -> str:
        """An answer, and the damaged files it lacks: the archive's own, and its sessions'."""
        known = {str(trouble.path): trouble.reason for trouble in self._archive.troubles()}
        missed = damage({**known, **(damaged or {})})
        return f"{text}\n{missed}" if missed else text


def _filters(
    project: str | None,
    agent: str | None,
    method: str | None,
    since: str | None,
    until: str | None = None,
) -> Filters:
    given: dict[str, Any] = {"project": project or None, "agent": agent or None}
    if method:
        given["method"] = known_method(method)
    given["after"], given["before"] = limits(since, until)
    return Filters(**given)
