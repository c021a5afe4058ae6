"""Every error a caller may want to catch.

::

    MinutebookError              something a person can act on; the message says how
    ├── NotFound                 no such session, round, folder or file
    ├── Ambiguous                a name that fits several sessions
    ├── BadArgument              a date, range or option that cannot be understood
    ├── Locked                   somebody else is writing the archive
    └── Conflict                 a file that is in the way and must not be overwritten

The command line prints the message and exits with status 2; anything else that
escapes is a bug, and is shown as one.
"""


class MinutebookError(Exception):
    """Base of all errors that carry a sentence for the person."""


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
