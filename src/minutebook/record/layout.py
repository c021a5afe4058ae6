"""Every path of the archive. No other module builds one."""

from __future__ import annotations

import os
import re
from pathlib import Path

_ROUND_NAME = re.compile(r"[a-z]?(\d{3,9})\.json")


class Layout:
    """``<archive>/sessions/<agent_id>/<session>.md`` and what stands around it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.sessions = root / "sessions"
        self.format = root / "archive.json"
        self.settings = root / "config.json"
        self.roster = root / "agent-roster.jsonl"
        self.before_upgrade = root / "before-upgrade"
        self.lock = root / ".lock"
        self.index = self.sessions / "index.md"
        self.database = self.sessions / "sessions.db"
        self.tags = self.sessions / "tags.jsonl"  # of older versions
        self.threads = self.sessions / "threads.jsonl"  # of an older version (record/said.py)
        self.threads_folded = self.sessions / "threads.folded.jsonl"
        self.engagements = self.sessions / "engagements.jsonl"
        self.prospective = self.sessions / "prospective.json"
        self.engagements_index = self.sessions / "engagements-index.md"
        self.corrections = self.sessions / "corrections.jsonl"
        self.batch = self.sessions / "batch.json"
        self.ingest_lock = root / ".ingest.lock"
        self.said_lock = root / ".said.lock"
        self._search_in(self.sessions, root)
        self.semantic = self.sessions / "semantic.json"
        self.watch_lock = root / ".watch.lock"
        self.watch_spending = root / "watch.json"
        self.hook_log = root / "hook.log"
        self.instructions = root / "instructions"
        self.session_instructions = self.instructions / "sessions.jsonl"
        self.corpora = root / "corpora"
        self.team = root / "team.json"
        self.team_lock = root / ".team.lock"
        self.ledger = self.sessions / "ledger.json"
        self.usage = self.sessions / ".usage"
        self.prices = self.usage / "prices.json"

    def search_aside(self) -> None:
        """Have the search index in a temporary folder: the archive can only be read."""
        from tempfile import TemporaryDirectory

        self._aside = TemporaryDirectory(prefix="minutebook-")
        self._search_in(Path(self._aside.name), Path(self._aside.name))

    def _search_in(self, folder: Path, locks: Path) -> None:
        self.search_database = folder / "search.db"
        self.search = folder / "search"
        self.lineage = self.search / "lineage.json"
        self.traces = self.search / "traces.json"
        self.search_lock = locks / ".search.lock"
        self.embed_lock = locks / ".embed.lock"

    def usage_digest(self, session_id: str) -> Path:
        return self.usage / f"{file_name(session_id)}.digest"

    def agent(self, agent_id: str) -> Path:
        return self.sessions / agent_id

    def agent_index(self, agent_id: str) -> Path:
        return self.agent(agent_id) / "index.md"

    def document(self, agent_id: str, session_id: str) -> Path:
        return self.agent(agent_id) / f"{file_name(session_id)}.md"

    def folder(self, agent_id: str, session_id: str) -> Path:
        return self.agent(agent_id) / file_name(session_id)

    def present(self) -> dict[str, str]:
        """Sessions there are, by the name of their files: the agent each is filed under.

        A session is there as long as its folder or its document is; where they are filed under
        two agents, a move was interrupted, and the folder counts.
        """
        found: dict[str, str] = {}
        for agent in self._agents():
            for name in os.listdir(self.sessions / agent):  # noqa: PTH208 - names are enough
                if name.startswith(".") or name == "index.md" or ".set-aside-" in name:
                    continue
                if name.endswith(".md"):
                    found.setdefault(name.removesuffix(".md"), agent)
                elif self._is_filed(name, found.get(name), agent):
                    found[name] = agent
        return found

    def _is_filed(self, name: str, known: str | None, agent: str) -> bool:
        """Whether a session's folder is here, and nowhere else so far."""
        if known == agent or (known is not None and (self.sessions / known / name).is_dir()):
            return False
        return (self.sessions / agent / name).is_dir()

    def _agents(self) -> list[str]:
        try:
            with os.scandir(self.sessions) as entries:
                return sorted(e.name for e in entries if e.is_dir() and not _is_ours(e.name))
        except OSError:
            return []

    def relative(self, path: Path) -> str:
        """A path as databases and indexes write it: from the sessions folder."""
        return path.relative_to(self.sessions).as_posix()


class SessionFolder:
    """The folder beside a document."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.facts = path / "session.json"
        self.rounds = path / "rounds"
        self.media = path / "media"
        self.subagents = path / "subagents"
        self.database = path / "session.db"
        self.index = path / "index.md"
        self.checkpoint = path / "checkpoint"

    @property
    def document(self) -> Path:
        """The document the folder belongs to."""
        return self.path.with_name(f"{self.path.name}.md")

    def round(self, number: int) -> Path:
        return self.rounds / round_name(number)

    def numbers(self) -> list[int]:
        """The rounds that have a file, in order."""
        try:
            names = os.listdir(self.rounds)  # noqa: PTH208 - names are enough
        except OSError:
            return []
        return sorted(int(match[1]) for name in names if (match := _ROUND_NAME.fullmatch(name)))

    def subagent(self, agent_id: str) -> SubagentFolder:
        return SubagentFolder(self.subagents / file_name(agent_id), self.media)


class SubagentFolder(SessionFolder):
    """The same for a subagent; its pictures are among those of its session."""

    def __init__(self, path: Path, media: Path) -> None:
        super().__init__(path)
        self.media = media


def _is_ours(name: str) -> bool:
    """Whether a folder among the agents' is not an agent's."""
    return name.startswith(".") or name == "search"


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


def agent_id_of(role: str | None, program: str) -> str:
    """The role as a slug, else the program's own name (INS-02); never a way out of the folder."""
    slug = re.sub(r"[^a-z0-9]+", "-", (role or "").lower()).strip("-")[:60]
    return slug if slug and not _is_ours(slug) else program
