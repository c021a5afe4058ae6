"""The command line. Verbs are imported when they are used: start-up is a feature."""

from __future__ import annotations

import io
import os
import re
import sys
from importlib import import_module

import click

from minutebook.errors import MinutebookError

# What people want → name → one-line help, shown without importing the verb.
GROUPS = {
    "Take minutes": {
        "ingest": "Find out what was worked on, decided and achieved.",
        "watch": "Keep the archive up to date, until Ctrl-C.",
        "inscribe": "Archive sessions; do not look for engagements.",
        "append": "Add new rounds to archived sessions.",
        "correct": "Correct sessions and engagements; your word wins.",
        "tag": "Assign rounds to an engagement.",
        "thread": "Assign an engagement to a thread.",
        "engagement": "Keep an engagement while you work.",
    },
    "Find": {
        "search": "Find when you worked on something.",
        "similar": "Find rounds that are similar to one.",
        "lineage": "Show which session resumes, forks or continues which.",
        "semantic": "Configure semantic search; show embedding progress.",
        "corpus": "Build and search a corpus of turn pairs.",
    },
    "Read": {
        "serve": "Start the viewer for your browser.",
        "sessions": "List your sessions, newest first.",
        "show": "Read a session, or some of its rounds.",
        "report": "Report on a period: done, decided, shipped, open.",
        "stats": "Count engagements by method, project, agent, day.",
        "instructions": "Show which instructions a session had.",
    },
    "Keep and give back": {
        "check": "Compare the archive with the transcripts.",
        "export": "Write a session to a file for other people.",
        "export-claude": "Restore a session for `claude --resume`.",
        "export-codex": "Restore a session for `codex resume`.",
    },
    "Cost": {
        "usage": "Show tokens, cost at API prices, and time.",
        "budget": "Show how full the model's context window was.",
    },
    "Agents": {
        "context": "Build a context for an agent, within a budget.",
        "mcp": "Run an MCP server for agents.",
        "agents": "List the supported coding agents.",
        "install": "Install a hook, a background service or completion.",
    },
    "Team": {
        "team": "Share what you choose with a team.",
    },
    "Care": {
        "status": "Show what is archived, and what has grown.",
        "doctor": "Show what cannot be read, and what will be deleted.",
        "config": "Show the settings of an archive, or change one.",
        "rebuild": "Recreate databases, indexes and lost documents.",
        "demo": "Try minutebook on example sessions.",
        "help": "Explain a verb, or a word such as ghost or thread.",
    },
}
VERBS = {name: line for verbs in GROUPS.values() for name, line in verbs.items()}


# What people type for a verb that has another name, where spelling would lead elsewhere.
MEANT = {
    **dict.fromkeys(("find", "grep", "recall"), "search"),
    **dict.fromkeys(("list", "ls", "history"), "sessions"),
    **dict.fromkeys(("read", "cat", "view"), "show"),
    **dict.fromkeys(("open", "web", "ui", "viewer"), "serve"),
    **dict.fromkeys(("summary", "summarize", "summarise", "minutes", "today", "week"), "report"),
    **dict.fromkeys(("cost", "costs", "tokens", "price"), "usage"),
    **dict.fromkeys(("resume", "restore"), "export-claude"),
    **dict.fromkeys(("share", "send", "save"), "export"),
    **dict.fromkeys(("fix", "edit", "label", "rename", "set", "undo"), "correct"),
    **dict.fromkeys(("import", "scan", "sync", "update", "index"), "ingest"),
    **dict.fromkeys(("projects", "count"), "stats"),
    "archive": "inscribe",
    "verify": "check",
    "settings": "config",
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
        widest = max(map(len, VERBS))
        for want, verbs in GROUPS.items():
            with formatter.section(want):
                # One width for all groups, so that they read as one table.
                formatter.write_dl([(name.ljust(widest), line) for name, line in verbs.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in {*VERBS, *HIDDEN} and not args[0].startswith("-"):
            from difflib import get_close_matches

            word = args[0].casefold()
            near = [MEANT[word]] if word in MEANT else get_close_matches(word, VERBS, 1)
            hint = f" Did you mean '{near[0]}'?" if near else " `minutebook --help` lists them."
            raise click.UsageError(f"There is no verb '{args[0]}'.{hint}", ctx)
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not ctx.resilient_parsing:
            from minutebook.cli.values import keep_options
            from minutebook.cli.words import WordsCommand

            if not isinstance(command, WordsCommand):  # which sorts options out of words itself
                keep_options(ctx, command, rest)
        return name, command, rest


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="minutebook", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show a traceback when something breaks.")
@click.pass_context
def cli(ctx: click.Context, debug: bool) -> None:  # noqa: ARG001 - main() looks for it
    """Keep and search the sessions of your coding agents.

    Without a verb it shows what it finds and what to do next. `minutebook help VERB` and
    `minutebook help WORD` explain more.

    \b
    Examples:
      minutebook
      minutebook demo
      minutebook search passkey login
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
    if os.environ.get("_MINUTEBOOK_COMPLETE"):  # a shell asks what may follow
        from minutebook.cli.completion import answer

        return answer(cli)
    try:
        # Not `cli.main`: click would end the process itself when a pipe closes.
        with cli.make_context("minutebook", list(arguments)) as ctx:
            cli.invoke(ctx)
        return 0
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        click.echo(_wrapped(_sentence(error)), err=True)
        return 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("Stopped.", err=True)
        return 130
    except MinutebookError as error:
        from minutebook.archive.masking import hide  # it may name a title or a file's words
        from minutebook.cli.remedies import worded

        click.echo(_wrapped(hide(worded(error))), err=True)
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


# click's names of types, which nobody types.
_NO_NUMBER = re.compile(r"is not a valid (?:integer|float)(?: range)?")


def _sentence(error: click.ClickException) -> str:
    """What was typed wrong, in one sentence, and what may have been meant."""
    if isinstance(error, click.NoSuchOption):
        from difflib import get_close_matches

        near = get_close_matches(error.option_name, error.possibilities or (), 1)
        hint = f" Did you mean {near[0]}?" if near else ""
        return f"There is no option {error.option_name}.{hint}"
    told = error.format_message()
    if told.startswith("Usage: "):  # a group without its command: click gives the whole help
        return told
    told = _NO_NUMBER.sub("is not a number", " ".join(told.split()))
    if isinstance(error, click.MissingParameter) and error.ctx is not None:
        told += f" `{error.ctx.command_path} --help` explains it."
    if "://" in told:  # an address may have a password in it
        from minutebook.archive.masking import hide

        told = hide(told)
    return told if told.endswith((".", "?", "!")) else f"{told}."


def _say_error(error: OSError) -> int:
    """The machine refused something: which file, and why."""
    place = f"{error.filename}: " if error.filename else ""
    click.echo(_printable(f"{place}{error.strerror or error}."), err=True)
    return 2


def _wrapped(text: str) -> str:
    """What can be printed of a text, wrapped at words where a person reads it."""
    from minutebook.cli import terminal

    return terminal.prose(_printable(text))


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() or char == "\n" else "?" for char in text)
