"""Every error a caller may want to catch.

::

    MinutebookError              something a person can act on
    ├── NotFound                 no such session, round, folder or file
    ├── Ambiguous                a name that fits several sessions
    ├── BadArgument              a date, range or value that cannot be understood
    ├── Locked                   another process is writing the archive
    ├── Conflict                 a file is in the way and must not be overwritten
    └── MissingExtra             an optional part is not installed

The message states the fact. How to put it right is worded where the person is: an error may name
a `remedy`, which the command line words with its options (`cli/remedies.py`) and MCP with
its parameters (`mcp/remedies.py`); the viewer shows the fact alone.

The command line prints the message and exits with status 2; anything else that
escapes is a bug, and is shown as one.
"""


class MinutebookError(Exception):
    """Base of all errors that carry a sentence for the person."""

    def __init__(self, fact: str = "", *, remedy: str = "", **told: object) -> None:
        super().__init__(fact)
        self.remedy, self.told = remedy, told


class NotFound(MinutebookError):
    """What was asked for does not exist."""


class Ambiguous(MinutebookError):
    """A name fits more than one thing."""


class Locked(MinutebookError):
    """The archive has one writer at a time, and it is not us."""


class Conflict(MinutebookError):
    """Something else stands where we wanted to write."""


class BadArgument(MinutebookError):
    """A value typed by a person makes no sense."""


class MissingExtra(MinutebookError):
    """A part of minutebook that only some people need is not installed."""

    def __init__(self, extra: str, command: str) -> None:
        super().__init__(f"This needs minutebook[{extra}], which is not installed: {command}")
        self.extra, self.command = extra, command
