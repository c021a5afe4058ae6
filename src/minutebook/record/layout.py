"""Every path of the archive. Nothing else knows where anything is."""

from __future__ import annotations

import os
import re
from pathlib import Path

from minutebook.record.media import FOLDER as MEDIA_FOLDER

DEFAULT_AGENT = "claude"


class Layout:
    """``<archive>/sessions/<agent_id>/<session>.md`` and what stands around it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.sessions = root / "sessions"
        self.lock = root / ".lock"
        self.index = self.sessions / "index.md"
        self.database = self.sessions / "sessions.db"
        self.tags = self.sessions / "tags.jsonl"
        self.engagements = self.sessions / "engagements.jsonl"
        self.engagements_index = self.sessions / "engagements-index.md"
        self.corrections = self.sessions / "corrections.jsonl"
        self.batch = self.sessions / "batch.json"
        self.ingest_lock = root / ".ingest.lock"
        self.search_database = self.sessions / "search.db"
        self.search = self.sessions / "search"
        self.search_lock = root / ".search.lock"
        self.semantic = self.sessions / "semantic.json"
        self.embed_lock = root / ".embed.lock"
        self.watch_lock = root / ".watch.lock"
        self.watch_spending = root / "watch.json"
        self.hook_log = root / "hook.log"
        self.ledger = self.sessions / "ledger.json"

    def agent(self, agent_id: str) -> Path:
        return self.sessions / agent_id

    def agent_index(self, agent_id: str) -> Path:
        return self.agent(agent_id) / "index.md"

    def document(self, agent_id: str, session_id: str) -> Path:
        return self.agent(agent_id) / f"{file_name(session_id)}.md"

    def folder(self, agent_id: str, session_id: str) -> Path:
        return self.agent(agent_id) / file_name(session_id)

    def documents(self) -> list[Path]:
        """All inscriptions there are."""
        try:
            agents = [entry.path for entry in os.scandir(self.sessions) if entry.is_dir()]
        except OSError:
            return []
        return sorted(
            Path(agent, name)
            for agent in agents
            for name in os.listdir(agent)  # noqa: PTH208 - names are enough, and many
            if name.endswith(".md") and name != "index.md" and not name.startswith(".")
        )

    def find(self, session_id: str) -> Path | None:
        """The document of a session, under whichever agent it was inscribed."""
        name = f"{file_name(session_id)}.md"
        return next((path for path in self.documents() if path.name == name), None)

    def relative(self, path: Path) -> str:
        """A path as databases and indexes write it: from the sessions folder."""
        return path.relative_to(self.sessions).as_posix()


class SessionFolder:
    """The folder beside a document."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rounds = path / "rounds"
        self.media = path / MEDIA_FOLDER
        self.subagents = path / "subagents"
        self.database = path / "session.db"
        self.index = path / "index.md"
        self.checkpoint = path / "checkpoint.json"

    def round(self, number: int) -> Path:
        return self.rounds / round_name(number)

    def subagent(self, agent_id: str) -> Path:
        return self.subagents / f"{file_name(agent_id)}.md"


def round_name(number: int) -> str:
    """``001.json``; past 999 a letter keeps the names in order: ``a1000``, ``b10000``."""
    if number < 1000:
        return f"{number:03}.json"
    return f"{chr(ord('a') + len(str(number)) - 4)}{number}.json"


def file_name(id: str) -> str:
    """An id as a file name: unchanged where it is a harmless one (every UUID is)."""
    if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,120}", id) and id != "index":
        return id
    encoded = "".join(
        chr(byte) if (chr(byte).isalnum() and byte < 128) or byte in b"_-" else f"%{byte:02X}"
        for byte in id.encode("utf-8", "replace")
    )
    return f"_{encoded[:200]}"


def agent_id_of(role: str | None) -> str:
    """The role as a slug, else ``claude`` (INS-02); never a way out of the folder."""
    slug = re.sub(r"[^a-z0-9]+", "-", (role or "").lower()).strip("-")[:60]
    return slug or DEFAULT_AGENT
