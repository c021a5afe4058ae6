"""Ids met before, in little memory: a transcript may have a million of them (FMT-22)."""

from __future__ import annotations

import base64
import binascii
import hashlib
from array import array
from bisect import bisect_left

_MOST_EXACT = 100_000


class SeenIds:
    """A set of ids. The latest are kept as they are, older ones as 8-byte digests, sorted."""

    def __init__(self, packed: str = "") -> None:
        """`packed` is what an earlier set knew."""
        self._exact: set[str] = set()
        self._digests = array("Q")
        try:
            self._digests.frombytes(base64.b64decode(packed))
        except (binascii.Error, ValueError):
            self._digests = array("Q")

    def add(self, id: str) -> bool:
        """Whether it is new; from now on it is not."""
        exact = self._exact
        if id in exact or (self._digests and self._digested(id)):
            return False
        exact.add(id)
        if len(exact) > _MOST_EXACT:
            self._digests = self._merged()
            exact.clear()
        return True

    def __contains__(self, id: str) -> bool:
        return id in self._exact or self._digested(id)

    def _digested(self, id: str) -> bool:
        known = self._digests
        digest = _digest(id)
        at = bisect_left(known, digest)
        return at < len(known) and known[at] == digest

    def __len__(self) -> int:
        return len(self._exact) + len(self._digests)

    def packed(self) -> str:
        """The whole set as a short text."""
        return base64.b64encode(self._merged().tobytes()).decode()

    def _merged(self) -> array[int]:
        return array("Q", sorted([*self._digests, *map(_digest, self._exact)]))


def _digest(id: str) -> int:
    """64 bits of an id, the same in every process."""
    if len(id) == 36 and id[8] == id[13] == id[18] == id[23] == "-":
        try:
            return hash(int(id.replace("-", ""), 16))  # modulo a prime: all digits count
        except ValueError:
            pass  # looks like a UUID, and is none
    hashed = hashlib.blake2b(id.encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(hashed.digest(), "little")
