"""The command line. Verbs are imported when they are used: start-up is a feature."""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module

import click

from minutebook.errors import MinutebookError

# name → (one-line help, shown without importing the verb)
VERBS = {
    "ingest": "Find out what was worked on, decided and achieved, session by session.",
    "serve": "See what was worked on: timeline, decisions, transcripts, search, in your browser.",
    "search": "Find when you worked on something, what you asked and what was answered.",
    "sessions": "List your sessions, newest first.",
    "show": "Read a session, or some rounds of it.",
    "stats": "Count engagements by method, project, agent, program, phase and day.",
    "budget": "Show how full the model's window was, round by round or over all sessions.",
    "instructions": "Show which instructions a session had, and what changed between two.",
    "usage": "Show tokens, cost at API prices, time and work, by day, project, model and more.",
    "report": "Write the minutes of a period: what was done, decided, shipped, and is still open.",
    "similar": "Find turns of other sessions that are about the same as one.",
    "semantic": "Configure semantic search; show embedding progress.",
    "corpus": "Build and search a corpus of turn pairs: what you asked, what was answered.",
    "correct": "Correct sessions and engagements; your word wins over every later extraction.",
    "agents": "List the coding agents whose sessions can be read, and where they are.",
    "doctor": "Show what the transcripts look like, and which will be deleted.",
    "context": "Give an agent exactly the rounds it needs, within its budget.",
    "mcp": "Let agents search, read and build contexts, over the Model Context Protocol.",
    "watch": "Keep the minutes current by itself, as sessions grow; until Ctrl-C.",
    "install": "Make it happen by itself: a skill and a hook for Claude Code, or a service.",
    "inscribe": "Write sessions down: documents, rounds, databases, indexes.",
    "append": "Add what is new to inscribed sessions; safe while they are running.",
    "status": "Show what is inscribed, what has grown, and what is about to be deleted.",
    "config": "Show the settings of an archive, or set one.",
    "check": "Compare inscriptions with their sources, and prove the way back.",
    "export-claude": "Write an inscribed session as a transcript that `claude --resume` accepts.",
    "export-codex": "Write an inscribed session as a transcript that `codex resume` accepts.",
    "tag": "Say which engagement rounds belong to.",
    "thread": "Say which thread an engagement belongs to; your word wins over what was found.",
    "lineage": "Show which session comes from which: resumed, forked, copied, continued.",
    "engagement": "Keep an engagement while you work: start, advance, note, close; what is owed.",
    "rebuild": "Make databases, indexes, lost documents and lost round files again.",
    "demo": "Try minutebook on example sessions.",
}


HIDDEN = frozenset({"welcome", "refresh", "hook"})  # for `make run`, benchmarks, the hook


class LazyGroup(click.Group):
    """A group whose commands live in modules of the same name."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        if name not in VERBS and name not in HIDDEN:
            return None
        command: click.Command = import_module(f"minutebook.cli.{name.replace('-', '_')}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in {*VERBS, *HIDDEN} and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], VERBS, 1)
            hint = f" Did you mean '{near[0]}'?" if near else " `minutebook --help` lists them."
            raise click.UsageError(f"There is no verb '{args[0]}'.{hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="minutebook", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show a traceback when something breaks.")
@click.pass_context
def cli(ctx: click.Context, debug: bool) -> None:  # noqa: ARG001 - main() looks for it
    """The minutes of your coding agents.

    Reads the transcripts that coding agents leave behind, and keeps them. Without a verb it
    shows what it finds and what to try.
    """
    if ctx.invoked_subcommand is None:
        from minutebook.cli.overview import print_overview

        print_overview()


def main(args: list[str] | None = None) -> None:
    """Run, and turn every way of ending into the right exit status."""
    arguments = sys.argv[1:] if args is None else args
    os.umask(0o077)  # whatever library makes a file in an archive makes it private (NFR-01)
    # numpy would start a thread for each core, which takes longer than all we ask of it.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # A terminal that cannot show a character shows a question mark, and goes on.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        status = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our pipe has enough. Python would complain at shutdown.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 141
    except OSError as error:
        status = _say_error(error)
    sys.exit(status)


def _run(arguments: list[str]) -> int:
    try:
        # Not `cli.main`: click would end the process itself when a pipe closes.
        with cli.make_context("minutebook", list(arguments)) as ctx:
            cli.invoke(ctx)
        return 0
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        error.show()
        return 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("Stopped.", err=True)
        return 130
    except MinutebookError as error:
        from minutebook.archive.masking import hide  # it may name a title or a file's words

        click.echo(_printable(hide(str(error))), err=True)
        return 2
    except BrokenPipeError:
        raise
    except OSError as error:
        if "--debug" in arguments:
            raise
        return _say_error(error)
    except Exception as error:
        if "--debug" in arguments:
            raise
        click.echo(
            f"This is a bug in minutebook: {type(error).__name__}: {_printable(str(error))}\n"
            "Run it again as `minutebook --debug …` for the details.",
            err=True,
        )
        return 1


def _say_error(error: OSError) -> int:
    """The machine refused something: which file, and why."""
    place = f"{error.filename}: " if error.filename else ""
    click.echo(_printable(f"{place}{error.strerror or error}."), err=True)
    return 2


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() or char == "\n" else "?" for char in text)
