"""A database as OpenCode keeps it, made row by row; and what a real one holds, counted by hand."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

SCHEMA = """
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text,
  slug text NOT NULL, directory text NOT NULL, title text NOT NULL, version text NOT NULL,
  agent text, time_created integer NOT NULL, time_updated integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE credential (id text PRIMARY KEY, access_token text);
INSERT INTO credential VALUES ('c1', 'a-token-of-an-account');
"""
BEGAN = 1_790_000_000_000
BESIDE = ("", "-wal", "-shm")


class Store:
    """A running OpenCode: its connection stays open, so that rows stay in the log."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.path = folder, folder / "opencode.db"
        self.connection = sqlite3.connect(self.path, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.executescript(SCHEMA)
        self._clock, self._parts = BEGAN, 0

    def tick(self) -> int:
        self._clock += 1000
        return self._clock

    def session(self, id: str, *, parent: str | None = None, title: str = "A title") -> None:
        row = (id, "p", parent, "slug", "/w/orchard", title, "1.18.33", None, BEGAN, self.tick())
        self.connection.execute(f"INSERT INTO session VALUES ({','.join('?' * 10)})", row)

    def message(self, session: str, id: str, data: dict[str, Any], *parts: dict[str, Any]) -> None:
        at = self.tick()
        data = {"time": {"created": at}, **data}
        row = (id, session, data["time"]["created"], at, json.dumps(data))
        self.connection.execute("INSERT OR REPLACE INTO message VALUES (?,?,?,?,?)", row)
        for part in parts:
            self._parts += 1
            cells = (f"prt_{self._parts:06d}", id, session, at, at, json.dumps(part))
            self.connection.execute("INSERT INTO part VALUES (?,?,?,?,?,?)", cells)

    def ask(self, session: str, id: str, text: str, **more: Any) -> None:
        self.message(session, id, {"role": "user"}, {"type": "text", "text": text, **more})

    def reply(self, session: str, id: str, *parts: dict[str, Any], **fields: Any) -> None:
        """A finished reply, unless `done` is False."""
        at = self.tick()
        times = {"created": at} | ({"completed": at + 500} if fields.pop("done", True) else {})
        data = {"role": "assistant", "modelID": "m", "time": times, **fields}
        self.message(session, id, data, *parts)

    def round(self, session: str, number: int) -> None:
        self.ask(session, f"msg_{session}_{number}a", f"Fix step {number}")
        words = {"type": "text", "text": f"Step {number} is fixed."}
        self.reply(session, f"msg_{session}_{number}b", words)

    def close(self) -> None:
        self.connection.close()


def files(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """What a folder holds, to the last byte and moment."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        str(path.relative_to(folder)): (
            path.stat().st_size,
            path.stat().st_mtime_ns,
            path.read_bytes(),
        )
        for path in found
    }


# ------------------------------------------------------------ counted by hand

Messages = list[tuple[dict[str, Any], list[dict[str, Any]]]]


def raw_database(path: Path, session: str) -> Messages:
    """A session's messages with their parts; `path` is a copy of one's own."""
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT id, data FROM message WHERE session_id = ?", (session,))
    found = []
    for id, data in rows.fetchall():
        parts = connection.execute("SELECT data FROM part WHERE message_id = ?", (id,))
        found.append((json.loads(data), [json.loads(part) for (part,) in parts]))
    connection.close()
    return found


def raw_tree(storage: Path, session: str) -> Messages:
    parts = [
        json.loads(path.read_bytes()) | {"in": path.parent.name}
        for path in storage.glob("part/**/*.json")
    ]
    found = []
    for path in storage.glob(f"message/{session}/*.json"):
        message = json.loads(path.read_bytes())
        own = [p for p in parts if message["id"] in (p.get("messageID"), p["in"])]
        found.append((message, own))
    return found


def counted(messages: Messages) -> Counter[str]:
    """Prompts, words, thoughts, calls, results and pictures."""
    found: Counter[str] = Counter()
    for message, parts in messages:
        person = message["role"] == "user"
        summary = message.get("summary") is True
        real = [p for p in parts if not p.get("synthetic")]
        typed = [p["text"] for p in real if p["type"] == "text"]
        if person:
            found["prompts"] += bool(typed)
            found["prompt characters"] += sum(map(len, typed))
            found["pictures"] += sum(p["type"] == "file" for p in parts)
            found["compactions"] += any(p["type"] == "compaction" for p in parts)
            continue
        thoughts = [p["text"] for p in parts if p["type"] == "reasoning"]
        tools = [p["state"] for p in parts if p["type"] == "tool"]
        found["words"] += 0 if summary else sum(map(len, typed))
        found["thoughts"] += 0 if summary else sum(map(len, thoughts))
        found["calls"] += len(tools)
        results = [t.get("output") or t.get("error") or "" for t in tools]
        found["result characters"] += sum(map(len, results))
        found["failed"] += sum(
            t["status"] == "error" or bool((t.get("metadata") or {}).get("exit")) for t in tools
        )
        name = (message.get("error") or {}).get("name")
        found["interruptions"] += name == "MessageAbortedError"
    return +found
