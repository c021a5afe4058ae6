"""`doctor --report`: what helps to fix a fault, without your words, names or paths.

Numbers, versions and the names that formats give their own records. A kind of record that is not
known to us is named only where it looks like an identifier and has nothing of the person's in it
(login, machine, project, title, secret); anything else is counted.
"""

from __future__ import annotations

import getpass
import platform
import re
import sqlite3
import sys
from collections import Counter
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec

from minutebook.archive import Archive
from minutebook.archive.formats import archive_format
from minutebook.archive.masking import hide
from minutebook.archive.settings import NAMES, read_settings
from minutebook.extras import EXTRAS, missing
from minutebook.verbs.doctor import Diagnosis

_PACKAGES = ("click", "msgspec", "numpy", "tantivy", "starlette", "uvicorn", "genai-prices")
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,39}(?: [A-Za-z][A-Za-z0-9_.-]{0,39}){0,2}")
_VERSION = re.compile(r"\d{1,4}(?:\.\d{1,10}){1,3}(?:-(?:alpha|beta|rc|dev|nightly)[.\d]*)?")
_OURS = frozenset({"record", "attachment", "block", "assistant", "user"})  # put before a kind by us
_WORD = re.compile(r"[^\W_]{3,}")


class DoctorReport(msgspec.Struct, frozen=True):
    """What can be pasted into an issue."""

    minutebook: str
    python: str
    system: str
    sqlite: str
    packages: dict[str, str]
    extras: list[str]
    """Those that are installed."""
    archive: dict[str, int]
    settings: dict[str, int]
    agents: list[dict[str, object]]
    records: dict[str, int]
    blocks: dict[str, int]
    not_understood: dict[str, int]
    repaired: dict[str, int]
    unreadable_lines: int
    unusable_files: int
    damaged_archive_files: int


def anonymous(archive: Archive, diagnosis: Diagnosis) -> DoctorReport:
    """A diagnosis with nothing in it that is somebody's own."""
    report = diagnosis.report
    settings, _ = read_settings(archive.layout)
    own = _own_words(archive)
    return DoctorReport(
        minutebook=_installed("minutebook") or "?",
        python=sys.version.split()[0],
        system=f"{platform.system()} {platform.machine()}",
        sqlite=sqlite3.sqlite_version,
        packages={name: found for name in _PACKAGES if (found := _installed(name))},
        extras=[name for name in EXTRAS if not missing(name)],
        archive={"format": archive_format(archive.layout), "sessions": diagnosis.archived},
        settings={name: getattr(settings, name) for name in NAMES},
        agents=[
            {
                "program": agent.program,
                "sessions": agent.sessions,
                "bytes": agent.size,
                "versions": _versions(agent.versions),
                "not_understood": _named(agent.unknown, own),
                "unreadable_lines": agent.bad_lines,
            }
            for agent in diagnosis.agents
        ],
        records=_named(report.records, own, report.unknown),
        blocks=_named(report.blocks, own, report.unknown),
        not_understood=_named(report.unknown, own),
        repaired=dict(report.repaired.most_common()),
        unreadable_lines=sum(len(file.bad_lines) for file in diagnosis.bad_files),
        unusable_files=len(diagnosis.foreign) + len(diagnosis.troubles),
        damaged_archive_files=len(archive.troubles()) if archive.root.is_dir() else 0,
    )


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _own_words(archive: Archive) -> frozenset[str]:
    """Words of a person's own names: login, home, machine; projects and titles of the sessions."""
    names = [Path.home().name, platform.node(), *map(str, _logins())]
    for row in archive.sessions(ghosts=True).sessions:
        names += [row.info.project or "", row.info.cwd or "", row.info.branch or "", *row.names]
        names += [row.identity.role or ""]
    return frozenset(word.casefold() for name in names for word in _WORD.findall(name)) - _OURS


def _logins() -> list[str]:
    try:
        return [getpass.getuser()]
    except (OSError, KeyError):  # nobody's process, as some containers have it
        return []


def _named(
    counts: Mapping[str, int], own: frozenset[str], unknown: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Counts by kind. Unknown kinds (all, if none are given) that could be a person's: together."""
    found: Counter[str] = Counter()
    for kind, count in counts.items():
        known = unknown is not None and not any(f" {name}".endswith(f" {kind}") for name in unknown)
        found[kind if known or _harmless(kind, own) else "(other)"] += count
    return dict(found.most_common())


def _harmless(kind: str, own: frozenset[str]) -> bool:
    words = {word.casefold() for word in _WORD.findall(kind)}
    return bool(_IDENTIFIER.fullmatch(kind)) and not words & own and hide(kind) == kind


def _versions(counts: Mapping[str, int]) -> list[str]:
    return sorted({name if _VERSION.fullmatch(name) else "(other)" for name in counts})
