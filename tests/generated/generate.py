"""Sessions from a seed, laid out as Claude Code lays them out."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from tests.generated import agents, odd, words
from tests.generated.pen import Pen, as_line
from tests.generated.scenes import SCENES, Scene
from tests.generated.versions import VERSIONS, Version

__all__ = ["VERSIONS", "generate", "odd"]

_FIRST_DAY = datetime(2026, 3, 2, 8, 30, tzinfo=UTC)
_SCENES_EACH = 9


def generate(folder: Path, *, seed: int = 1, sessions: int = 24) -> list[Path]:
    """Write so many sessions below ``folder/projects``; the same bytes for the same seed.

    Versions take turns, and in each era the scenes come first that were played least, so that
    a few sessions show everything. The last ones are forks of earlier ones.
    """
    chance = Random(seed)
    played: Counter[tuple[str, str]] = Counter()
    forks = sessions // 5
    pens = []
    for count in range(sessions - forks):
        pen = _begin(chance, VERSIONS[count % len(VERSIONS)], count)
        for scene in _next_scenes(chance, pen.version, played):
            scene.play(pen)
        _close(pen, torn=count % 8 == 5)
        pens.append(pen)
    forked = [_fork(chance, origin, day) for day, origin in enumerate(pens[2::4][:forks])]
    return [_save(pen, folder) for pen in [*pens, *forked]]


def encoded(cwd: str) -> str:
    """The folder of a project: every other character becomes a dash."""
    return re.sub(r"[^A-Za-z0-9]", "-", cwd)


def _begin(chance: Random, version: Version, count: int) -> Pen:
    cwd = f"/home/dev/{words.PROJECTS[count % len(words.PROJECTS)]}"
    pen = Pen(chance, version, cwd, _FIRST_DAY + timedelta(days=count))
    if not version.since("2.1.30"):
        # most titles in old files are those of other sessions
        pen.bare(type="summary", summary="Somebody else's work", leafUuid=pen.uuid())
    if version.within("2.0.28", "2.1.1"):
        agents.warm_up(pen)
    if version.since("2.0.5"):
        snapshot = {"messageId": pen.uuid(), "trackedFileBackups": {}, "timestamp": pen.stamp()}
        kind = "file-history-snapshot"
        pen.bare(type=kind, messageId=pen.uuid(), snapshot=snapshot, isSnapshotUpdate=False)
    return pen


def _next_scenes(chance: Random, version: Version, played: Counter[tuple[str, str]]) -> list[Scene]:
    """Those that were played least, in any order."""
    fitting = [scene for scene in SCENES if scene.fits(version)]
    chosen = sorted(fitting, key=lambda scene: played[version.era, scene.name])[:_SCENES_EACH]
    played.update((version.era, scene.name) for scene in chosen)
    return chance.sample(chosen, len(chosen))


def _close(pen: Pen, *, torn: bool) -> None:
    """What is written when a turn ends; `torn`: the power went."""
    version = pen.version
    if version.since("2.1.1"):
        pen.system("turn_duration", durationMs=pen.chance.randint(900, 90_000))
    if not version.since("2.1.30"):
        pen.bare(type="summary", summary=f"Orchard, {version.name}", leafUuid=pen.leaf)
    for _ in range(2):
        if version.since("2.1.112"):
            title = f"Orchard work in {version.name}"
            pen.bare(type="ai-title", aiTitle=title, sessionId=pen.session_id)
        if version.since("2.1.69"):
            pen.bare(type="last-prompt", lastPrompt="go on.", sessionId=pen.session_id)
        if version.since("2.1.91"):
            pen.bare(type="permission-mode", permissionMode="default", sessionId=pen.session_id)
    if torn:
        half = as_line({"type": "assistant", "message": {"role": "assistant", "content": []}})
        pen.lines.append(half[:-30])


def _fork(chance: Random, origin: Pen, day: int) -> Pen:
    """History copied with its uuids; 1.0.x left the old session's id on some of it."""
    start = _FIRST_DAY + timedelta(days=60 + day)
    pen = Pen(chance, origin.version, origin.cwd, start)
    last = None
    for line in origin.lines[: len(origin.lines) * 2 // 3]:
        try:
            record = json.loads(line)
        except ValueError:
            continue  # nobody copies what they cannot read
        if not isinstance(record, dict) or record.get("isSidechain") or "uuid" not in record:
            continue
        if origin.version.since("1.1"):
            came = {"sessionId": origin.session_id, "messageUuid": record["uuid"]}
            record |= {"sessionId": pen.session_id, "forkedFrom": came}
        elif chance.random() < 0.7:
            record["sessionId"] = pen.session_id
        pen.lines.append(as_line(record))
        last = record["uuid"]
    pen.parent, pen.prompts = last, origin.prompts
    pen.prompt("another way, from here.")
    pen.reply(words.reply(chance))
    _close(pen, torn=False)
    return pen


def _save(pen: Pen, folder: Path) -> Path:
    """The transcript and what lies beside it."""
    project = folder / "projects" / encoded(pen.cwd)
    path = project / f"{pen.session_id}.jsonl"
    for name, content in {path.name: b"".join(pen.lines), **pen.beside}.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_bytes(content)
    return path
