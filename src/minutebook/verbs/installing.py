"""Our hooks in an agent's configuration: installed, and removed without a trace.

Settings belong to the person. Only our hook is added, and a copy of what was there is kept; a
file that cannot be understood is left alone, and so is a file of ours that somebody else has put
there. Taking the hook away gives the very bytes back, unless the file was changed since: then
only our hook is taken out of it.
"""

from __future__ import annotations

import hashlib
from difflib import SequenceMatcher
from pathlib import Path

import msgspec

from minutebook.archive.masking import hide
from minutebook.errors import Conflict, NotFound
from minutebook.record.store import make_folder, write_atomically
from minutebook.verbs.hook_settings import Settings


class Installed(msgspec.Struct, frozen=True):
    """What was done, or would be."""

    files: list[Path]
    settings: Path | None
    """None where the agent finds our file by itself."""
    backup: Path | None
    already: bool = False
    removed: bool = False
    remark: str | None = None
    contents: dict[str, str] = {}
    """In a dry run: path → the text that would be written there."""
    added: list[str] = []
    """In a dry run: the lines that the settings file would have more."""
    emptied: bool = False
    """Whether the settings file held nothing but our hook, and is deleted."""


class _State(msgspec.Struct):
    """What taking it away needs to know."""

    existed: bool
    """Whether there was a settings file."""
    written: str
    """Digest of the settings as we left them."""
    backup: str = ""
    """Name of the copy of what was there."""
    before: str = ""
    """Digest of what was there."""
    made: list[str] = []
    """Folders that were not there before."""


class Installation:
    """A configuration folder of an agent, and what of ours belongs into it."""

    def __init__(
        self, root: Path, files: dict[Path, bytes], state: Path, settings: Settings | None
    ) -> None:
        self.root = root
        self.settings = settings
        self._files, self._state = files, state

    # -- putting it there

    def install(self, *, dry_run: bool = False) -> Installed:
        state = self._known_state()
        self._refuse_what_is_not_ours(state)
        before = self._read()
        after = self.settings.added(before) if self.settings is not None else None
        already = state is not None if self.settings is None else after == before
        backup = self._free_name() if before is not None and not already else None
        done = Installed(list(self._files), self._place, backup, already)
        if dry_run:
            texts = {str(path): content.decode() for path, content in self._files.items()}
            added = _more_lines(before or b"", after or b"")
            return msgspec.structs.replace(done, contents=texts, added=added)
        folders = {path.parent for path in self._files}
        parents = {p for folder in folders for p in (folder, *folder.parents)}
        inside = [p for p in parents if p == self.root or self.root in p.parents]
        made = [str(p) for p in sorted(inside) if not p.exists()]
        for path, content in self._files.items():
            make_folder(path.parent)
            write_atomically(path, content)
            path.chmod(0o700 if path.suffix == ".sh" else 0o600)
        if not already:
            if before is not None and backup is not None:
                write_atomically(backup, before)
            if after is not None:
                self._write(after)
            kept = backup.name if backup is not None else ""
            was, written = _digest(before), _digest(after)
            state = _State(before is not None, written, kept, was, made)
            write_atomically(self._state, msgspec.json.encode(state))
        return done

    def _refuse_what_is_not_ours(self, state: _State | None) -> None:
        for path, content in self._files.items():
            if state is None and path.exists() and path.read_bytes() != content:
                raise Conflict(f"{path} was not written by minutebook. It was left untouched.")

    def _free_name(self) -> Path:
        assert self.settings is not None
        first = f"{self.settings.name}.before-minutebook"
        name, number = first, 1
        while (self.root / name).exists():
            number += 1
            name = f"{first}-{number}"
        return self.root / name

    # -- taking it away

    def uninstall(self, *, dry_run: bool = False) -> Installed:
        state = self._known_state()
        current = self._read()
        after, remark = self._without_hook(state, current)
        files = [
            p
            for p, content in self._files.items()
            if p.exists() and (state is not None or p.read_bytes() == content)
        ]
        files += [self._state] if state is not None else []
        if not files and after == current:
            raise NotFound(f"Nothing of ours is installed in {self.root}.")
        emptied = self.settings is not None and current is not None and after is None
        done = Installed(files, self._place, None, removed=True, remark=remark, emptied=emptied)
        if dry_run:
            return done
        if self.settings is not None and after is None:
            self.settings.path.unlink(missing_ok=True)
        elif after is not None and after != current:
            self._write(after)
        if state is not None and state.backup and remark is None:
            (self.root / state.backup).unlink(missing_ok=True)
        for path in files:
            path.unlink(missing_ok=True)
        made = [Path(path) for path in reversed(state.made)] if state is not None else []
        ours = [p.parent for p in (self._state,) if p.parent.name == "minutebook"]
        for folder in (*ours, *made):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
        return done

    def _without_hook(
        self, state: _State | None, current: bytes | None
    ) -> tuple[bytes | None, str | None]:
        """The settings as they are to be (None: no file), and what to say of it."""
        if current is None or self.settings is None:
            return None, None
        if state is not None and _digest(current) == state.written:
            if not state.existed:
                return None, None
            kept = self.root / state.backup
            if state.backup and kept.is_file() and _digest(kept.read_bytes()) == state.before:
                return kept.read_bytes(), None
            remark = "the copy of your settings is gone: only our hook went"
            return self.settings.removed(current), remark
        after = self.settings.removed(current)
        changed = after != current
        return (
            after,
            "the settings were changed since: only our hook was taken out" if changed else None,
        )

    def _known_state(self) -> _State | None:
        try:
            return msgspec.json.decode(self._state.read_bytes(), type=_State)
        except (OSError, msgspec.DecodeError):
            return None

    # -- the settings file

    @property
    def _place(self) -> Path | None:
        return self.settings.path if self.settings is not None else None

    def _write(self, content: bytes) -> None:
        """Replace the settings; who may read them stays as it was."""
        assert self.settings is not None
        path = self.settings.path
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
        write_atomically(path, content)
        path.chmod(mode)

    def _read(self) -> bytes | None:
        try:
            return self.settings.path.read_bytes() if self.settings is not None else None
        except FileNotFoundError:
            return None


def _more_lines(before: bytes, after: bytes) -> list[str]:
    """Lines of ours; one of the person's that only gets a comma is not shown."""
    old, new = (text.decode("utf-8", "replace").splitlines() for text in (before, after))
    was, now = ([line.strip().rstrip(",") for line in lines] for lines in (old, new))
    changes = SequenceMatcher(None, was, now, autojunk=False).get_opcodes()
    added = (line for what, _, _, at, end in changes if what != "equal" for line in new[at:end])
    return [hide(line) for line in added]  # a file on one line is written anew


def _digest(content: bytes | None) -> str:
    return hashlib.sha256(content).hexdigest() if content is not None else ""
