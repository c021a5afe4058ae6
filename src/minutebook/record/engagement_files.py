"""The engagement files of a project: found, read, written and moved.

``engagement.md`` is the current one, ``engagements/<id>.md`` others that are open,
``engagements/archive/<id>.md`` those that are closed. Links are never followed out of the
project. A file is replaced in one step, and only while it has the bytes that were read.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from minutebook.errors import BadArgument, Conflict, Locked, NotFound
from minutebook.model.prospective import CURRENT, FOLDER, EngagementFile, Place
from minutebook.record.engagement_text import MOST_BYTES, Unwritable, digest_of, read_engagement
from minutebook.record.locks import hold
from minutebook.record.store import make_folder, partial_name, sweep_beside, write_new

ARCHIVE = "archive"
_MOST_FILES = 500
_PATIENCE, _PAUSE = 2.0, 0.02  # seconds
_ID = re.compile(r"[^\W_][\w.-]{0,79}")
_HEAD = 64_000


class ProjectEngagements:
    """The engagement files of one project folder."""

    def __init__(self, project: Path) -> None:
        self.project = project
        self.current = project / CURRENT
        self.folder = project / FOLDER
        self.archive = self.folder / ARCHIVE

    def open_path(self, id: str) -> Path:
        return self.folder / f"{checked_id(id)}.md"

    def closed_path(self, id: str) -> Path:
        return self.archive / f"{checked_id(id)}.md"

    # -- reading

    def files(self) -> list[EngagementFile]:
        """Every engagement there is, the current one first; two with one id say so."""
        found = [self._read(path, place) for path, place in self._paths()]
        return _with_doubles([file for file in found if file is not None])

    def file(self, path: Path) -> EngagementFile | None:
        """The engagement at a path of ours, however many there are; None where there is none."""
        places: dict[Path, Place] = {self.project: "current", self.folder: "open"}
        return self._read(path, places.get(path.parent, "archived"))

    def _paths(self) -> Iterator[tuple[Path, Place]]:
        yield self.current, "current"
        yield from ((path, "open") for path in _markdown(self.folder))
        if not self.folder.is_symlink():
            yield from ((path, "archived") for path in _markdown(self.archive))

    def _read(self, path: Path, place: Place) -> EngagementFile | None:
        project = str(self.project)
        try:
            content, total = read_head(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            problem = f"it cannot be read: {_why(error)}"
            return EngagementFile(
                id=path.stem,
                topic=path.stem,
                project=project,
                path=str(path),
                place=place,
                problems=(problem,),
            )
        return read_engagement(
            content, project=project, path=str(path), name=path.stem, place=place, total=total
        )

    # -- writing

    def content(self, file: EngagementFile) -> bytes:
        """The bytes of a file that is to be changed; they are those that were read."""
        path = Path(file.path)
        try:
            content, total = read_head(path)
        except FileNotFoundError:
            raise NotFound(f"{path} no longer exists.") from None
        except OSError as error:
            raise Unwritable(f"{path} was left alone: {_why(error)}.") from None
        if total > len(content):
            raise Unwritable(
                f"{path} was left alone: it is larger than {MOST_BYTES // 1_000_000} MB. Move what "
                "is not about the engagement to another file first."
            )
        if digest_of(content) != file.digest:
            raise changed(path)
        return content

    def replace(self, path: Path, content: bytes, seen: str) -> None:
        """Give a file other bytes, unless it has changed since `seen` was its digest; the caller
        holds the lock."""
        sweep_beside(path)
        partial = partial_name(path)
        try:
            write_new(partial, content)
            partial.chmod(stat.S_IMODE(path.stat().st_mode))
            if digest_of(read_head(path)[0]) != seen:
                raise changed(path)
            partial.replace(path)
        except FileNotFoundError:
            raise changed(path) from None
        finally:
            partial.unlink(missing_ok=True)

    def create(self, path: Path, content: bytes) -> None:
        """A new file, whole at once; never over another."""
        if path.parent != self.project:
            self._make(path.parent)
        sweep_beside(path)
        partial = partial_name(path)
        try:
            write_new(partial, content)
            os.link(partial, path)
        except FileExistsError:
            raise Conflict(f"{path} exists already: it was left alone.") from None
        finally:
            partial.unlink(missing_ok=True)

    def move(self, path: Path, to: Path, seen: str) -> None:
        """Give a file another place, in one step; never over another file."""
        self._make(to.parent)
        if to.is_symlink() or to.exists():
            raise Conflict(f"{to} exists already: {path} stays where it is.")
        if digest_of(read_head(path)[0]) != seen:
            raise changed(path)
        path.rename(to)

    def _make(self, folder: Path) -> None:
        for part in (self.folder, self.archive):
            if part.is_symlink():
                raise Conflict(f"{part} is a link: nothing is written through it.")
        make_folder(folder)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the project folder's own lock, which leaves no file behind."""
        descriptor = _lock_of(self.project)
        try:
            _hold(descriptor, self.project)
            yield
        finally:
            os.close(descriptor)


def _lock_of(project: Path) -> int:
    """The folder itself, opened; where a system does not open folders, a file named after it."""
    try:
        return os.open(project, os.O_RDONLY)
    except PermissionError:
        if not project.is_dir() or os.name != "nt":
            raise
        name = hashlib.blake2b(os.fsencode(project.absolute()), digest_size=8).hexdigest()
        path = Path(tempfile.gettempdir()) / f"minutebook-{name}.lock"
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def _hold(descriptor: int, project: Path) -> None:
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            hold(descriptor)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise Locked(
                    f"Another program is changing the engagements of {project}. Try again."
                ) from None
            time.sleep(_PAUSE)
        except OSError:
            return  # a file system without locks: the digest is still compared


def project_folder(path: Path) -> ProjectEngagements:
    """The engagements of a folder that must be there."""
    if not path.is_dir():
        raise BadArgument(f"There is no folder {path}.")
    return ProjectEngagements(path.absolute())


def checked_id(id: str) -> str:
    """An id that is a harmless file name."""
    if not _ID.fullmatch(id) or id == ARCHIVE:
        raise BadArgument(
            f"'{id[:80]}' is not an id: letters, digits, dots, hyphens and underscores, at most 80."
        )
    return id


def read_head(path: Path) -> tuple[bytes, int]:
    """The bytes of a plain file, of one that is too long only the first; and how many it has."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags)
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor, not a path
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "it is not a plain file", str(path))
        if about.st_size > MOST_BYTES:
            return file.read(_HEAD), about.st_size
        return file.read(MOST_BYTES), about.st_size


def changed(path: Path) -> Conflict:
    return Conflict(
        f"{path} was changed by another program in the meantime. Nothing was written: check it "
        "(`minutebook engagement status`) and try again."
    )


def _why(error: OSError) -> str:
    """Why a file cannot be read, in the middle of a sentence."""
    why = "it is a link" if error.errno == errno.ELOOP else (error.strerror or str(error))
    return f"{why[0].lower()}{why[1:]}"


def _markdown(folder: Path) -> list[Path]:
    """Markdown files of a folder that is not a link; a bounded number of them."""
    if folder.is_symlink():
        return []
    try:
        with os.scandir(folder) as entries:
            names = [e.name for e in entries if e.name.endswith(".md") and e.name[:1] != "."]
    except OSError:
        return []
    return [folder / name for name in sorted(names)[-_MOST_FILES:]]


def _with_doubles(files: list[EngagementFile]) -> list[EngagementFile]:
    by_id: dict[str, list[EngagementFile]] = {}
    for file in files:
        by_id.setdefault(file.id, []).append(file)
    found = []
    for file in files:
        others = [other.path for other in by_id[file.id] if other.path != file.path]
        if others:
            problem = f"its engagement_id {file.id} is also that of {others[0]}"
            file = msgspec.structs.replace(file, problems=(*file.problems, problem))
        found.append(file)
    return found
