"""``minutebook lineage``."""

from __future__ import annotations

import click

from minutebook.archive import Archive
from minutebook.cli import completion, terminal
from minutebook.cli.filters import AGENT_OPTION
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_options, json_option, opened, team_option
from minutebook.derive.evidence import grade, reasons, why
from minutebook.errors import BadArgument
from minutebook.model.lineage import Lineage, Node
from minutebook.verbs.lineage import DOWN, Line, dot, mermaid, named, of_agent, tree

_DEEPEST = 6
"""Steps a tree is indented by at most: a long chain stays readable."""


@click.command("lineage")
@click.argument("session", shell_complete=completion.sessions, required=False)
@click.option(
    "--recorded", is_flag=True, help="Only links that transcripts record; nothing inferred."
)
@click.option("--mermaid", "as_mermaid", is_flag=True, help="Write a Mermaid flow chart.")
@click.option("--dot", "as_dot", is_flag=True, help="Write a Graphviz graph.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, metavar="N", show_default=True)
@AGENT_OPTION
@archive_options
@team_option
@json_option
def command(
    session: str | None,
    recorded: bool,
    as_mermaid: bool,
    as_dot: bool,
    limit: int,
    agent: str | None,
    roots: tuple[str, ...],
    archive: str | None,
    team: bool,
    as_json: bool,
) -> None:
    """Show which session resumes, forks or continues which.

    Every link comes with its evidence. Without SESSION: all families of two or more sessions,
    newest first.

    \b
    Examples:
      minutebook lineage
      minutebook lineage Reed --recorded
    """
    if as_json + as_mermaid + as_dot > 1:
        raise BadArgument("Choose one of --json, --mermaid and --dot.")
    book = opened(archive, roots, team=team)
    if session is not None and agent is not None:
        raise BadArgument("--agent filters families: leave out --agent or SESSION.")
    if session is not None:
        asked = book.resolve(session)
        found = book.lineage(asked)
        found = found.only_recorded().family(asked) if recorded else found
        families, total = [found], 1
    else:
        asked = None
        whole = book.lineage()
        every = (whole.only_recorded() if recorded else whole).families()
        every = of_agent(book, every, agent) if agent else every
        families, total = every[:limit], len(every)
    if as_mermaid or as_dot:
        ids = {node.id for family in families for node in family.nodes}
        joined = families[0] if asked is not None else whole.among(ids)
        graph = mermaid if as_mermaid else dot
        click.echo(graph(joined.only_recorded() if recorded else joined, book.short), nl=False)
    elif as_json and asked is not None:
        print_json(session_id=asked, lineage=families[0])
    elif as_json:
        print_json(total=total, families=families)
    else:
        _print_families(book, families, total, asked)


def _print_families(book: Archive, families: list[Lineage], total: int, asked: str | None) -> None:
    for family in families:
        sessions = [node for node in family.nodes if node.type != "subagent"]
        projects = dict.fromkeys(node.project for node in sessions if node.project)
        head = ", ".join(terminal.one_line(project) for project in projects)
        count = terminal.plural(len(sessions), "session")
        terminal.say(click.style(terminal.fit(f"{head}: {count}", terminal.columns()), bold=True))
        for line in tree(family):
            _print_line(book, line, asked)
        if asked is not None:
            _print_subagents(family, asked)
        terminal.say()
    if asked is not None:
        if sum(node.type != "subagent" for node in families[0].nodes) < 2:
            terminal.note("No links to other sessions found.")
    elif not total:
        terminal.note("No links between sessions found.")
    else:
        what = terminal.plural(total, "family", "families")
        more = f"The newest {len(families)} of {what} (--limit {total} for all)."
        terminal.note(more if total > len(families) else f"{what}.")


def _print_line(book: Archive, line: Line, asked: str | None) -> None:
    indent = "   " * min(line.depth, _DEEPEST)
    relation = f"{DOWN[line.edge.kind]} " if line.edge is not None else ""
    day = (line.node.started or "undated   ")[:10]
    address = book.short(line.node.id)
    branch = ("└ " if line.last else "├ ") if line.edge is not None else ""
    mark = "→ " if line.node.id == asked else branch
    start = f"{indent}{mark}{relation}"
    facts = _facts(line)
    room = terminal.columns() - terminal.width(start) - len(day) - len(address) - len(facts) - 4
    title = terminal.fit(terminal.one_line(named(line.node)), max(10, room))
    styled = click.style(terminal.one_line(address), fg="cyan")
    terminal.say(f"{start}{day}  {styled}  {title}{terminal.quiet(facts)}")
    if line.edge is not None:
        # Where one session is asked for, all that says so; in a list as much as fits on a line.
        told = [why(line.edge, book.short)]
        if asked is not None:
            first, *others = reasons(line.edge, book.short)
            told = [f"{grade(line.edge)}: {first}", *others]
        for reason in told:
            inside = f"{indent}    "
            fitted = terminal.fit(reason, terminal.columns() - len(inside))
            terminal.say(terminal.quiet(f"{inside}{fitted}"))


def _facts(line: Line) -> str:
    if line.again:
        return "  (above)"
    rounds = f"  {terminal.plural(line.node.rounds, 'round')}" if line.node.rounds else ""
    agents = f", {terminal.plural(line.subagents, 'subagent')}" if line.subagents else ""
    return f"{rounds}{agents}"


def _print_subagents(family: Lineage, asked: str) -> None:
    """The subagents of the session that was asked for, by the round that started them."""
    nodes: dict[str, Node] = {node.id: node for node in family.nodes}
    started = [
        (edge.evidence[0].older or 0, named(nodes[edge.newer]))
        for edge in family.below(asked)
        if nodes[edge.newer].type == "subagent"
    ]
    for number, name in sorted(started):
        line = terminal.fit(f"#{number} started {name}", terminal.columns() - 3)
        terminal.say(terminal.quiet(f"   {line}"))
