"""The start of an id is what lists print: it names its session, however alike ids begin."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from minutebook.archive.names import by_id, shortest

# Ids of one minute, as agents with UUIDv7 give them, and odd ones.
_TAIL = st.text("0123456789abcdefAF-_", max_size=12)
_IDS = st.lists(
    st.builds(
        "{}{}".format, st.sampled_from(["01a1e3c9-4bbd-7507-", "01a1e3c9-", "ses_", ""]), _TAIL
    ),
    min_size=1,
    max_size=12,
    unique_by=str.lower,
).filter(all)


@given(ids=_IDS)
def test_what_is_printed_names_the_session(ids: list[str]) -> None:
    """ARC-04, AGT-01: typed back, each printed start resolves to its own session."""
    for id, printed in shortest(ids).items():
        assert by_id(printed, ids) == id


@given(ids=_IDS)
def test_eight_letters_where_they_are_enough(ids: list[str]) -> None:
    """ARC-04: no longer than needed."""
    for id, printed in shortest(ids).items():
        assert id.startswith(printed)
        shorter = printed[:-1].lower()
        alone = sum(other.lower().startswith(shorter) for other in ids) == 1
        assert len(printed) <= 8 or not alone
