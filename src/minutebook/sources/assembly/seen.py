"""Ids met before, in little memory: a transcript may have a million of them (FMT-22)."""

from __future__ import annotations

import base64
import binascii
import hashlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable
from itertools import chain

_MOST_EXACT = 100_000
_LARGEST = 800_000  # digests in one array; putting two together takes five times their memory


class SeenIds:
    """A set of ids. The latest are kept as they are, older ones as 8-byte digests, sorted."""

    def __init__(self, packed: str = "") -> None:
        """`packed` is what an earlier set knew."""
        self._exact: set[str] = set()
        self._digests: list[array[int]] = []
        known = array("Q")
        try:
            known.frombytes(base64.b64decode(packed))
        except (binascii.Error, ValueError):
            return
        if known:
            self._digests.append(known)

    def add(self, id: str) -> bool:
        """Whether it is new; from now on it is not."""
        exact = self._exact
        if id in exact or (self._digests and self._digested(id)):
            return False
        exact.add(id)
        if len(exact) > _MOST_EXACT:
            self._condense()
        return True

    def __contains__(self, id: str) -> bool:
        return id in self._exact or self._digested(id)

    def __len__(self) -> int:
        return len(self._exact) + sum(map(len, self._digests))

    def _digested(self, id: str) -> bool:
        digest = _digest(id)
        for known in self._digests:
            at = bisect_left(known, digest)
            if at < len(known) and known[at] == digest:
                return True
        return False

    def _condense(self) -> None:
        """Turn the exact ids into digests; arrays are put together, so that there are few."""
        fresh = _sorted_digests(map(_digest, self._exact))
        while self._digests and len(self._digests[-1]) <= len(fresh) < _LARGEST:
            fresh = _sorted_digests(chain(self._digests.pop(), fresh))
        self._digests.append(fresh)
        self._exact.clear()

    def packed(self) -> str:
        """The whole set as a short text."""
        whole = _sorted_digests(chain(*self._digests, map(_digest, self._exact)))
        return base64.b64encode(whole.tobytes()).decode()


def _sorted_digests(digests: Iterable[int]) -> array[int]:
    return array("Q", sorted(digests))


def _digest(id: str) -> int:
    """64 bits of an id, the same in every process."""
    if len(id) == 36 and id[8] == id[13] == id[18] == id[23] == "-":
        try:
            return hash(int(id.replace("-", ""), 16))  # modulo a prime: all digits count
        except ValueError:
            pass  # looks like a UUID, and is none
    hashed = hashlib.blake2b(id.encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(hashed.digest(), "little")
