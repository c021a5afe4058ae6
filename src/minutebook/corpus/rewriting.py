"""Writing an index of a corpus: entries, pairs, synopses."""

from __future__ import annotations

import hashlib
import json
import time
import zlib
from collections.abc import Callable, Collection, Sequence

import msgspec

from minutebook.corpus.policy import Policy
from minutebook.corpus.reading import Looked, Read
from minutebook.corpus.strategy import KINDS, TurnStrategy, pair_key
from minutebook.derive.turn_pairs import TurnMetadata, TurnPair
from minutebook.index import database as db
from minutebook.index.entry import Entry, seconds
from minutebook.index.update import Update

TABLES = """
CREATE TABLE IF NOT EXISTS pairs (
  session_id TEXT, key TEXT, position INTEGER, at INTEGER, digest TEXT, metadata TEXT, texts BLOB,
  PRIMARY KEY (session_id, key)
);
CREATE TABLE IF NOT EXISTS looked (session_id TEXT PRIMARY KEY, told TEXT);
CREATE TABLE IF NOT EXISTS synopses (
  session_id TEXT, key TEXT, signal TEXT, text TEXT, PRIMARY KEY (session_id, key)
);
"""


def packed(pair: TurnPair) -> tuple[bytes, bytes]:
    """A pair as the database holds it: its metadata, and its texts."""
    # Not msgspec for texts: a function may give some with half a character in them.
    texts = (pair.id, pair.user_prompt, pair.assistant_summary, pair.assistant_full)
    return msgspec.json.encode(pair.metadata), json.dumps(texts).encode()


def unpacked(metadata: str, texts: bytes) -> TurnPair:
    id, asked, summary, full = json.loads(zlib.decompress(texts))
    return TurnPair(id, asked, summary, full, _decoder.decode(metadata))


_decoder = msgspec.json.Decoder(TurnMetadata)


class Rewrite:
    """One run of changes to an index and its pairs."""

    def __init__(
        self, connection: db.Connection, run: Update, strategy: TurnStrategy, policy: Policy
    ) -> None:
        self._connection, self._run = connection, run
        self._strategy, self._policy = strategy, policy
        self.sessions: set[str] = set()
        self.added = self.removed = 0
        self.wrote = False

    def put(self, read: Read) -> None:
        """Make the turns of a session these."""
        pairs = {self._strategy.entry(pair).key: pair for pair in reversed(read.pairs)}
        pairs = dict(reversed(pairs.items()))  # two of one id: the first
        synopsis = self._synopsis(read)
        entries: list[Entry] = []
        for pair in pairs.values():
            entries += self._strategy.entries(pair, synopsis(pair))
        if pairs and (title := self._strategy.title(list(pairs.values()))) is not None:
            entries.append(title)
        self._count(read.session_id, entries)
        self._run.put(read.session_id, KINDS, entries)
        self._run.note(read.session_id, read.state)
        self._keep(read.session_id, pairs)
        self.sessions.add(read.session_id)
        if self._policy.synopsis is not None:
            self._run.commit()  # somebody may have paid for them

    def forget(self, sessions: Collection[str]) -> None:
        """Take sessions out that are gone, or do not count any more."""
        for session_id in sessions:
            self._count(session_id, [])
            self._run.put(session_id, ("rest",), [])
            self._run.forget(session_id)  # with its turns and its title
            self._keep(session_id, {})
            self._connection.execute("DELETE FROM synopses WHERE session_id = ?", (session_id,))

    def note(self, news: dict[str, Looked]) -> None:
        """Remember where sessions worked, also those that are not of the corpus."""
        self._connection.executemany(
            "INSERT OR REPLACE INTO looked VALUES (?, ?)",
            [(id, msgspec.json.encode(looked).decode()) for id, looked in news.items()],
        )

    def _count(self, session_id: str, entries: Sequence[Entry]) -> None:
        """How many turns come and go; one that has changed does both."""
        signals = db.signals(self._connection, session_id, KINDS)
        known = {key: signal for key, (_, signal) in signals.items()}
        new = {entry.key: entry.signal for entry in entries}
        came = {pair_key(key) for key, signal in new.items() if known.get(key) != signal}
        gone = {pair_key(key) for key, signal in known.items() if new.get(key) != signal}
        self.wrote = self.wrote or bool(came or gone)
        self.added += len(came - {None})
        self.removed += len(gone - {None})

    def _keep(self, session_id: str, pairs: dict[str, TurnPair]) -> None:
        """Keep the pairs; those that are the same are left alone."""
        query = "SELECT key, digest FROM pairs WHERE session_id = ?"
        known = dict(self._connection.execute(query, (session_id,)).fetchall())
        for position, (key, pair) in enumerate(pairs.items()):
            metadata, texts = packed(pair)
            digest = hashlib.blake2b(metadata + texts + b"%d" % position, digest_size=8).hexdigest()
            if known.pop(key, None) != digest:
                self.wrote = True
                self._connection.execute(
                    "INSERT OR REPLACE INTO pairs VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (
                        *(session_id, key, position, seconds(pair.metadata.timestamp), digest),
                        *(metadata.decode(), zlib.compress(texts, 1)),
                    ),
                )
        for key in known:
            self._connection.execute(
                "DELETE FROM pairs WHERE session_id = ? AND key = ?", (session_id, key)
            )

    def _synopsis(self, read: Read) -> Callable[[TurnPair], str]:
        """Synopses of a session's turns: those that are known, and new ones if it is recent."""
        make, days = self._policy.synopsis, self._policy.synopsis_days
        if make is None:
            return lambda _: ""
        recent = days is None or read.at >= time.time() - days * 86_400
        query = "SELECT key, signal, text FROM synopses WHERE session_id = ?"
        known = {
            key: (signal, text)
            for key, signal, text in self._connection.execute(query, (read.session_id,))
        }

        def told(pair: TurnPair) -> str:
            entry = self._strategy.entry(pair)
            signal, text = known.get(entry.key, ("", ""))
            if signal == entry.signal or not recent:
                return text if signal == entry.signal else ""
            text = make(pair)
            self._connection.execute(
                "INSERT OR REPLACE INTO synopses VALUES (?, ?, ?, ?)",
                (read.session_id, entry.key, entry.signal, text),
            )
            return text

        return told
