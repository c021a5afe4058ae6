"""``minutebook agents``."""

from __future__ import annotations

import click

from minutebook.cli import terminal
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_options, json_option, opened
from minutebook.verbs.agents import AgentReport, agents


@click.command("agents")
@archive_options
@json_option
def command(roots: tuple[str, ...], archive: str | None, as_json: bool) -> None:
    """List the supported coding agents: where their sessions are, and how many.

    The first column is the name that `--agent` and `minutebook config allow` take.

    \b
    Example:
      minutebook agents
    """
    found = agents(opened(archive, roots))
    if as_json:
        print_json(agents=found.agents, problems=found.problems)
        return
    names = max(len(agent.program) for agent in found.agents)
    titles = max(len(agent.title) for agent in found.agents)
    for agent in found.agents:
        name = terminal.pad(agent.program, names)
        title = terminal.pad(agent.title, titles)
        terminal.say(f"{name}  {title}  {_counts(agent)}")
        terminal.say(terminal.quiet(f"{'':{names}}  {_place(agent)}"))
    for name, reason in found.problems.items():
        said = f"The adapter {name} cannot be used: {reason}"
        terminal.note(terminal.one_line(said))


def _counts(agent: AgentReport) -> str:
    if not agent.transcripts and not agent.archived:
        return terminal.quiet("no sessions")
    return f"{terminal.plural(agent.transcripts, 'transcript')}, {agent.archived:,} archived"


def _place(agent: AgentReport) -> str:
    where = terminal.one_line(agent.home)
    if not agent.present:
        return f"{where} (not there)"
    kept = f"; deleted after {agent.retention_days} days" if agent.retention_days else ""
    sent = "" if agent.models_allowed else "; labelled offline only"
    return f"{where}{kept}{sent}"
