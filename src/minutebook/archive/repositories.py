"""Read an untrusted repository: read-only, without hooks, within a time limit.

A transcript names a folder; what is in it may be anybody's. Git is told to run nothing, to lock
nothing, to fetch nothing, and to read no configuration but the repository's own.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

import msgspec

_SECONDS = 5.0
_MOST_BYTES = 262_144  # of a file of instructions
_MOST_OUTPUT = 8_000_000
_COMMITS = 2_000
_SAFE = (
    *("core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "protocol.allow=never"),
    *("log.showSignature=false", "core.sshCommand=false", "gc.auto=0", "core.attributesFile="),
    *("safe.bareRepository=explicit", "core.alternateRefsCommand="),
)
_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",  # unknown to a git before 2.45
    # No protocol at all: protocol.allow gives way to a repository's own protocol.ext.allow.
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_CEILING_DIRECTORIES": "",
}


class Revision(msgspec.Struct, frozen=True):
    """What a commit made of a file."""

    commit: str
    at: int
    """Seconds since the epoch."""
    blob: str | None
    """None where the commit removed the file."""
    link: bool = False
    """Whether it only is a link to another file."""


class Repository:
    """The history of some files of a repository, read once."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self._histories: dict[tuple[str, tuple[str, ...]], dict[str, list[Revision]]] = {}
        self._revisions: dict[str, str] = {}
        self._contents: dict[str, str | None] = {}

    def history(self, branch: str | None, patterns: Sequence[str]) -> dict[str, list[Revision]]:
        """Paths from the top → what became of them, the newest first, on a branch that is still
        there or else where the repository is now."""
        revision = self._revision(branch)
        key = (revision, tuple(patterns))
        if key not in self._histories:
            self._histories[key] = self._log(revision, patterns)
        return self._histories[key]

    def content(self, blob: str) -> str | None:
        """A file's content; None where it is too large to be instructions, or lost."""
        if blob not in self._contents:
            self._contents[blob] = self._blob(blob)
        return self._contents[blob]

    def _revision(self, branch: str | None) -> str:
        if not branch or branch == "HEAD":
            return "HEAD"
        if branch not in self._revisions:
            name = f"refs/heads/{branch}"
            known = _git(self.top, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
            self._revisions[branch] = name if known else "HEAD"
        return self._revisions[branch]

    def _log(self, revision: str, patterns: Sequence[str]) -> dict[str, list[Revision]]:
        told = _git(
            self.top,
            *("log", "-z", f"--max-count={_COMMITS}", "--format=%x01%H %ct"),
            # What the branch had at a time: not the commits of a branch that was merged later.
            *("--first-parent", "-m"),
            *("--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv"),
            *("--end-of-options", revision, "--", *patterns),
        )
        found: dict[str, list[Revision]] = {}
        commit, at = "", 0
        pieces = iter((told or b"").split(b"\0"))
        for piece in pieces:
            text = piece.decode("utf-8", "replace").lstrip("\n")
            if text.startswith("\x01"):
                commit, _, stamp = text[1:].partition(" ")
                at = int(stamp) if stamp.strip().isdigit() else 0
            elif text.startswith(":"):
                path = next(pieces, b"").decode("utf-8", "replace")
                _, mode, _, blob, *_ = text[1:].split(" ")
                gone = set(blob) == {"0"}
                revised = Revision(commit, at, None if gone else blob, link=mode == "120000")
                found.setdefault(path, []).append(revised)
        return found

    def _blob(self, blob: str) -> str | None:
        size = _git(self.top, "cat-file", "-s", blob)
        if not size or not size.strip().isdigit() or int(size) > _MOST_BYTES:
            return None
        content = _git(self.top, "cat-file", "blob", blob)
        return content.decode("utf-8", "replace") if content is not None else None


def repository_of(folder: Path) -> Repository | None:
    """The repository a folder is in; None where it is in none that may be looked at."""
    told = _git(folder, "rev-parse", "--show-toplevel")
    if not told:
        return None
    top = Path(os.fsdecode(told.rstrip(b"\n")))
    real = folder.resolve()
    return Repository(top) if top == real or top in real.parents else None


def in_force(history: Iterable[Revision], when: float) -> Revision | None:
    """The last revision up to a moment; None where there was no such file yet."""
    return next((revision for revision in history if revision.at <= when), None)


def pathspecs(top: Path, folders: Iterable[Path], names: Iterable[str]) -> list[str]:
    """What to ask git for: some names in some folders of a repository."""
    found = []
    for folder in folders:
        inside = PurePosixPath(folder.relative_to(top).as_posix())
        for name in names:
            place = (inside / name).as_posix()
            if "*" not in name:
                found.append(f":(top,literal){place}")
            elif not any(sign in inside.as_posix() for sign in "*?[\\"):
                found.append(f":(top,glob){place}")
    return found


def _git(folder: Path, *arguments: str) -> bytes | None:
    """What git says; None where it fails, or takes too long."""
    settings = [part for setting in _SAFE for part in ("-c", setting)]
    command = ["git", "--no-optional-locks", "--no-pager", "--no-replace-objects"]
    try:
        done = subprocess.run(
            [*command, "-C", str(folder), *settings, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
            env={"PATH": os.environ.get("PATH", os.defpath), **_ENVIRONMENT},
        )
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return done.stdout[:_MOST_OUTPUT] if done.returncode == 0 else None
