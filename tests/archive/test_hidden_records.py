"""Records are masked once, and whoever is given them cannot spoil them."""

from __future__ import annotations

import msgspec

from minutebook.archive.masking import HiddenRecords, Hide, hide
from minutebook.model.engagement import SessionRecord
from minutebook.team.lazily import Lazily


def record(id: str, title: str) -> SessionRecord:
    return SessionRecord(session_id=id, title=title)


def test_what_is_handed_out_belongs_to_its_taker() -> None:
    """ARC-06: a caller that changes its answer changes nobody else's, now or later."""
    shown = HiddenRecords(hide)
    found = {"a": record("a", "PGPASSWORD=winterowl7"), "b": record("b", "pears")}
    shown.of(found).clear()
    assert "winterowl7" not in str(shown.of(found)["a"])
    more = {**found, "c": record("c", "plums")}
    assert shown.of(more).keys() == {"a", "b", "c"}


def test_only_what_changed_is_masked_again() -> None:
    """ARC-06: a record that stays as it was costs nothing."""
    seen: list[str] = []

    def noting(secret: str, _where: object) -> str:
        seen.append(secret)
        return "•••"

    shown = HiddenRecords(Hide(noting))
    found = {"a": record("a", "PGPASSWORD=winterowl7"), "b": record("b", "plums")}
    shown.of(found)
    seen.clear()
    changed = {**found, "b": msgspec.structs.replace(found["b"], title="PGPASSWORD=summerfig8")}
    assert shown.of(changed)["b"].title == "PGPASSWORD=•••"
    assert set(seen) == {"summerfig8"}


def test_a_session_that_a_team_took_back_and_shared_again() -> None:
    """TEAM-02: between two lists a record may be gone for a moment."""
    there = {"a": record("a", "pears"), "b": record("b", "plums")}

    def fetch(ids: object) -> dict[str, SessionRecord]:
        return {id: there[id] for id in ids if id in there}  # type: ignore[attr-defined] # a collection

    shown, withdrawn = HiddenRecords(hide), there.pop("b")
    assert shown.of(Lazily(["a", "b"], fetch)).keys() == {"a"}
    there["b"] = withdrawn
    assert shown.of(Lazily(["a", "b"], fetch)).keys() == {"a", "b"}
