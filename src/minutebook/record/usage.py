"""``.usage/``: digests of what sessions used, and prices that were looked up. Disposable.

They spare a look into every round; what is missing, damaged or outdated is made again.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import msgspec

from minutebook.derive.prices import Steps
from minutebook.derive.usage.digest import VERSION, Digest
from minutebook.record.layout import Layout
from minutebook.record.ledger import Entry
from minutebook.record.store import make_folder, write_atomically

_digest = msgspec.json.Decoder(Digest)


class KnownPrices(msgspec.Struct, frozen=True):
    """Prices, and which version of the library said so."""

    library: str
    prices: dict[str, Steps | None]


def stamp_of(entry: Entry) -> str:
    """What a digest of an archived session was made from."""
    return f"{entry.rounds} {entry.written.messages} {entry.size} {entry.mtime} {entry.beside}"


def read_digest(layout: Layout, session_id: str, stamp: str | None) -> Digest | None:
    """The digest of a session, whatever it was made from if there is no stamp; None where it has
    to be made."""
    try:
        content = layout.usage_digest(session_id).read_bytes()
        known = _digest.decode(content)
    except (OSError, msgspec.DecodeError, RecursionError):
        return None
    return known if known.version == VERSION and stamp in (None, known.stamp) else None


def write_digest(layout: Layout, session_id: str, digest: Digest) -> None:
    """Keep a digest; where the archive can only be read, it is made again each time."""
    with suppress(OSError):
        make_folder(layout.usage)
        write_atomically(layout.usage_digest(session_id), msgspec.json.encode(digest))


def read_prices(layout: Layout, library: str) -> Mapping[str, Steps | None]:
    """Prices that this version of the library has told before."""
    try:
        known = msgspec.json.decode(layout.prices.read_bytes(), type=KnownPrices)
    except (OSError, msgspec.DecodeError, RecursionError):
        return {}
    return known.prices if known.library == library else {}


def write_prices(layout: Layout, library: str, prices: Mapping[str, Steps | None]) -> None:
    with suppress(OSError):
        make_folder(layout.usage)
        known = KnownPrices(library, dict(sorted(prices.items())))
        write_atomically(layout.prices, msgspec.json.encode(known) + b"\n")
