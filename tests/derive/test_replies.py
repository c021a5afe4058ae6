"""One rule says which sighting of a reply is believed."""

from __future__ import annotations

from itertools import product

from minutebook.derive.replies import better_reply
from minutebook.derive.usage.digest import Row, better
from minutebook.model import Reply, Usage
from minutebook.sources.claude_code.usage import UsageFields, is_better

TIMES = (None, "2026-03-01T10:00:00.000Z", "2026-03-01T10:00:01.000Z")


def test_all_believe_the_same_sighting() -> None:
    """USE-01: as it is read, as it is kept and as it is counted."""
    sightings = list(product((1, 2), enumerate(TIMES)))
    for (new, (new_at, new_stamp)), (old, (old_at, old_stamp)) in product(sightings, sightings):
        if (new, new_at) == (old, old_at):
            continue
        first, second = (
            Reply("r", old_stamp, usage=Usage(old)),
            Reply("r", new_stamp, usage=Usage(new)),
        )
        kept = better_reply(second, first) is second
        counted = better(Row("r", new_at, 0, 1, 0, new), Row("r", old_at, 0, 1, 0, old))
        read = is_better(UsageFields(new), new_stamp, Usage(old), old_stamp)
        assert kept == counted == read
