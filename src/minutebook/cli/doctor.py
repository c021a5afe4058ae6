"""``minutebook doctor``."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable

import click
import msgspec

from minutebook.archive import Archive
from minutebook.cli import terminal
from minutebook.cli.bars import WORTH_A_BAR
from minutebook.cli.json_output import print_json
from minutebook.cli.options import archive_options, json_option, opened
from minutebook.verbs.doctor import SOON_DAYS, AgentDiagnosis, CleanUp, Diagnosis, diagnose
from minutebook.verbs.lacking import lacking

_MOST = 12


@click.command("doctor")
@archive_options
@click.option("--report", is_flag=True, help="Print only what is safe to paste into an issue.")
@json_option
def command(roots: tuple[str, ...], archive: str | None, report: bool, as_json: bool) -> None:
    """Show what cannot be read, and what will be deleted; what transcripts contain.

    --report prints versions, counts and kinds of records to paste into an issue: no text, no
    names, no paths.

    \b
    Examples:
      minutebook doctor
      minutebook doctor --report
    """
    chosen = opened(archive, roots)
    diagnosis = examine(chosen)
    if report:
        _print_report(chosen, diagnosis, as_json=as_json)
        return
    if as_json:
        print_json(diagnosis=diagnosis, lacking=lacking(chosen))
        return
    print_diagnosis(diagnosis, chosen.short)
    print_lacking(chosen)


def _print_report(archive: Archive, diagnosis: Diagnosis, *, as_json: bool) -> None:
    from minutebook.verbs.doctor_report import anonymous

    found = anonymous(archive, diagnosis)
    if as_json:
        print_json(report=found)
        return
    terminal.say(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
    terminal.note("Read it before you paste it. It contains no text, names or paths.")


def print_lacking(archive: Archive) -> None:
    """What was set up and cannot work as things are, with what mends it."""
    for lack in lacking(archive):
        terminal.note(f"minutebook[{lack.extra}] is missing ({lack.what}): {lack.command}")


def examine(archive: Archive) -> Diagnosis:
    """Diagnose with a progress bar where a person is watching."""
    total = sum(transcript.size for transcript in archive.library.transcripts)
    if not sys.stderr.isatty() or total < WORTH_A_BAR:
        return diagnose(archive)
    with click.progressbar(length=total, label="Reading", file=sys.stderr) as bar:
        return diagnose(archive, progress=bar.update)


def print_diagnosis(diagnosis: Diagnosis, short: Callable[[str], str]) -> None:
    """First what could not be read and what will be deleted, then what transcripts contain."""
    report = diagnosis.report
    if not diagnosis.sessions and not diagnosis.foreign and not diagnosis.troubles:
        terminal.note("No transcripts found. Name a folder that has some with --root.")
        if diagnosis.archived:
            count = terminal.plural(diagnosis.archived, "session is", "sessions are")
            terminal.note(f"{count} in the archive; `minutebook check --all` looks at those.")
        return
    _print_problems(diagnosis)
    for clean_up in diagnosis.clean_ups:
        _print_clean_up(clean_up, short)
    _heading("Transcripts")
    terminal.say(
        f"  {terminal.plural(diagnosis.sessions, 'session')}, {terminal.size(diagnosis.size)}, "
        f"{terminal.plural(report.files, 'file')} with their subagents, "
        f"{terminal.plural(report.lines, 'line')}"
    )
    if report.versions and len(diagnosis.agents) < 2:
        terminal.say(f"  written by version {_span(report.versions)}")
    if len(diagnosis.agents) > 1:
        _print_agents(diagnosis.agents)
    _table("Records", report.records)
    _table("Blocks", report.blocks)
    _table("Left out on purpose (bookkeeping, copies)", report.left_out)
    _table("Repaired while reading", _lines(report.repaired))
    _table("Not understood (kept, and shown as such)", report.unknown)


def _print_agents(agents: Iterable[AgentDiagnosis]) -> None:
    """A line or two for each coding agent; each has versions and kinds of records of its own."""
    _heading("Agents")
    for agent in agents:
        facts = [terminal.plural(agent.sessions, "session"), terminal.size(agent.size)]
        if agent.versions:
            facts.append(f"version {_span(agent.versions)}")
        kept = f"deleted after {agent.retention_days} days" if agent.retention_days else "kept"
        facts.append(kept)
        if agent.bad_lines:
            facts.append(terminal.plural(agent.bad_lines, "line") + " that could not be read")
        if agent.troubles:
            facts.append(terminal.plural(agent.troubles, "file") + " skipped")
        terminal.say(terminal.prose(f"  {agent.program}: {', '.join(facts)}"))
        if agent.unknown:
            named = ", ".join(f"{terminal.one_line(k)} × {n}" for k, n in agent.unknown.items())
            terminal.say(terminal.quiet(f"    not understood, kept: {named}"))


def _span(versions: Iterable[str]) -> str:
    """``1.0.1``, or ``0.20.0 to 0.166.0``."""
    known = sorted(versions, key=_version_key)
    span = known[0] if len(known) == 1 else f"{known[0]} to {known[-1]}"
    return terminal.one_line(span)


def _print_clean_up(clean_up: CleanUp, short: Callable[[str], str]) -> None:
    _heading(f"Clean-up of {clean_up.root}")
    terminal.say(f"  {clean_up.agent} deletes transcripts after {clean_up.days} days.")
    if clean_up.overdue:
        count = terminal.plural(clean_up.overdue, "session is", "sessions are")
        line = f"  {count} older already: {clean_up.agent} deletes them the next time it starts."
        terminal.say(click.style(line, fg="red"))
    if clean_up.soon:
        count = terminal.plural(clean_up.soon, "session follows", "sessions follow")
        terminal.say(click.style(f"  {count} within a week.", fg="yellow"))
    if clean_up.next_in_days is not None:
        terminal.say(f"  Days until the next one is deleted: {clean_up.next_in_days:g}.")
    if clean_up.next_session is not None:
        name = terminal.one_line(short(clean_up.next_session))
        terminal.say(f"  First to be deleted: {name} (`minutebook show {name}`).")


def warn_of_clean_ups(clean_ups: Iterable[CleanUp]) -> None:
    """How many transcripts each agent is about to delete."""
    threatened: Counter[str] = Counter()
    for item in clean_ups:
        threatened[item.agent] += item.overdue + item.soon
    for agent, number in threatened.items():
        if number:
            count = terminal.plural(number, "transcript")
            line = f"{agent} will delete {count} within {SOON_DAYS} days."
            terminal.say(click.style(line, fg="yellow"))


def _print_problems(diagnosis: Diagnosis) -> None:
    if diagnosis.bad_files:
        _heading("Lines that could not be read")
        for file in diagnosis.bad_files:
            for bad in file.bad_lines[:_MOST]:
                line = f":{bad.line}" if bad.line else ""
                terminal.say(f"  {terminal.one_line(str(file.path))}{line}: {bad.reason}")
            if len(file.bad_lines) > _MOST:
                terminal.say(terminal.quiet(f"  … {len(file.bad_lines) - _MOST} more in this file"))
    for files, one, more in (
        (diagnosis.unusable, "unusable file", "unusable files"),
        (diagnosis.orphans, "subagent without its session", "subagents without their sessions"),
    ):
        if files:
            _heading(terminal.plural(len(files), one, more))
        for trouble in files:
            terminal.say(f"  {terminal.one_line(str(trouble.path))}: {trouble.reason}")
    if not (diagnosis.bad_files or diagnosis.unusable or diagnosis.orphans):
        terminal.say()
        terminal.say(click.style("Every line of every transcript could be read.", fg="green"))


def _heading(text: str) -> None:
    terminal.say()
    terminal.say(click.style(terminal.one_line(text), bold=True))


_REPAIRS = {
    "glued records": ("line with two records", "lines with two records"),
    "lone surrogate": ("line with half a character", "lines with half a character"),
    "odd field": ("field of an unexpected type", "fields of an unexpected type"),
}


def _lines(repaired: Counter[str]) -> Counter[str]:
    """What was repaired, in words that go with their number."""
    words = {kind: _REPAIRS.get(kind, (kind, kind)) for kind in repaired}
    return Counter({words[kind][count != 1]: count for kind, count in repaired.items()})


def _table(title: str, counts: Counter[str]) -> None:
    if not counts:
        return
    _heading(title)
    names = [(terminal.one_line(name) or "(none)", count) for name, count in counts.most_common()]
    cell = max(terminal.width(name) for name, _ in names) + 12
    across = max(1, (terminal.columns() - 2) // cell)
    down = -(-len(names) // across)
    for row in range(down):
        cells = names[row::down]
        line = "".join(f"{count:>8,}  {terminal.pad(name, cell - 10)}" for name, count in cells)
        terminal.say(line.rstrip())


def _version_key(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
