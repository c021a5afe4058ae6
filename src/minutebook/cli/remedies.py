"""What to do about an error, in words of the command line (OPS).

Lower floors state facts and name a remedy; only here is a remedy an option or a command.
"""

from __future__ import annotations

from minutebook.errors import MinutebookError

REMEDIES = {
    "projects": "Use --project NAME (repeatable) or --all.",
    "all-or-some": "Leave out --all or --project.",
    "pushed-sessions": "`minutebook team status --sessions` lists yours.",
    "own-database": "Or use --url to name a PostgreSQL that you already have.",
    "folder": "--folder names one.",
    "cache": "Choose another folder with --cache.",
    "url": "Or give it with --url postgresql://… (or service=…).",
    "keyless": "`--extractor claude-cli` uses your own `claude`; `offline` needs no key.",
    "no-scheduler": "Or leave out --scheduler.",
    "no-limit": "Leave out --max-cost.",
    "endpoint": "Use --model and --base-url.",
    "token": "Add --token with any long word, or leave out --host.",
    "port": "Try --port {port}.",
    "no-round-filters": "Leave out --command, --error and budget:.",
    "no-batch": "Leave out --batch.",
    "inscribe": "`minutebook inscribe --all` makes one.",
    "cwd": "Give one with --cwd.",
    "elsewhere": "Write elsewhere with --out, or use --force (it keeps a copy of the old file).",
    "root": "Name one with --root.",
    "shell": "Choose one with --shell.",
    "child-or-switch": "Choose --child or --switch.",
    "obligation": "Add --obligation TEXT.",
    "which-id": "Choose one with --id.",
    "force-step": "--force takes the step anyway, and records that.",
    "force": "--force overwrites it.",
    "refresh": "Leave out --no-refresh, and it is made.",
    "no-place": "Leave out --in engagements.",
    "where": "Say what to look for, or leave out --in {where}.",
    "has-tools": "Or leave out --has-tools.",
    "threads": "`minutebook search --threads` lists them.",
    "archive": "`minutebook ingest --archive {root}` makes one.",
    "engagements": "`minutebook search --in engagements --json` has their ids.",
    "one-of-sessions": "Name the session before it: `minutebook export SESSION ENGAGEMENT`, or "
    "`minutebook context SESSION --engagement ID`.",
    "embedding-model": "Give it with --model.",
    "sessions": "`minutebook sessions --ghosts` lists them all.",
    "start": "`minutebook engagement start` begins one.",
    "in-the-way": "--child begins a part of it, --switch puts it aside, and "
    "`minutebook engagement close` ends it.",
    "ended-in-the-way": "`minutebook engagement close` or --switch moves it to "
    "engagements/archive/.",
}
"""By the name an error gives; fields are what the error tells."""


def worded(error: MinutebookError) -> str:
    """The fact, and what to do about it."""
    advice = REMEDIES.get(error.remedy, "").format(**error.told)
    return f"{error} {advice}".rstrip()
