"""Reading and labelling by the workers of a Dask scheduler: a first ingest of a very large archive
over several machines (TEAM-05).

Workers see the same folders at the same paths (a shared file system) and write sessions where this
process would; everything that says what there is (minutes, ledger, databases, indexes) is written
here, session by session in the order one process has. So the archive has the same bytes, however
many workers there are, and whichever of them dies: a session's files appear as a whole, and one
that was lost is read again by another worker.
"""

from __future__ import annotations

import asyncio
import secrets
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from minutebook.archive.archive import Archive
from minutebook.archive.run import WritingRun
from minutebook.archive.writing import Done
from minutebook.errors import BadArgument, Conflict, NotFound
from minutebook.extract.extractor import Extraction, Extractor
from minutebook.extract.material import Material
from minutebook.extract.offline import OfflineExtractor
from minutebook.extras import needed
from minutebook.model.engagement import SessionRecord
from minutebook.model.said import Said
from minutebook.record.ledger import Entry
from minutebook.record.store import sweep, write_new
from minutebook.verbs.label import Knowledge, Labelling, Seen
from minutebook.verbs.select import OFFLINE, Selected

_TIMEOUT = 10  # seconds to reach a scheduler, and for it to have a worker
_PATIENCE = 60  # seconds without any worker
_AHEAD = 2_000  # sessions handed out before the first of them is back


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """What the sessions of a run have in common; it travels to workers, and has no secret."""

    archive: Path
    mark: str
    """A file in the archive: a worker that reads it sees the same archive."""
    word: str
    ended: bool
    again: bool
    backlog: bool
    extractor: Described


class Described(msgspec.Struct, frozen=True):
    """An extractor that is only asked what it is: models are asked by the process that has the
    key."""

    name: str
    model: str | None
    version: str
    destination: str | None

    def forecast(self, material: Material) -> float | None:  # noqa: ARG002 - the protocol's
        return None

    def extract(self, material: Material) -> Extraction:
        raise NotImplementedError("Workers ask no model.")

    def close(self) -> None:
        """Nothing is open."""


class Told(msgspec.Struct, frozen=True):
    """What a worker is told of a session, so that it need not read the archive's lists."""

    entry: Entry | None
    record: SessionRecord | None
    with_said: SessionRecord | None
    said: tuple[Said, ...]

    def stored(self, session_id: str) -> SessionRecord | None:  # noqa: ARG002 - its only one
        return self.record

    def merged(self, session_id: str) -> SessionRecord | None:  # noqa: ARG002
        return self.with_said

    def heard(self, session_id: str) -> Sequence[Said]:  # noqa: ARG002
        return self.said


def label_on_workers(
    scheduler: str,
    run: WritingRun,
    knowledge: Knowledge,
    extractor: Extractor,
    items: Sequence[Selected],
    *,
    ended: bool,
    again: bool,
    backlog: bool,
) -> Iterator[tuple[Selected, Seen]]:
    """Each session and what came of it, in the order of `items`."""
    described = Described(extractor.name, extractor.model, extractor.version, extractor.destination)
    with _connected(scheduler) as client, _marked(run.archive) as (mark, word):
        job = Job(
            archive=run.layout.root.resolve(),
            mark=mark,
            word=word,
            ended=ended,
            again=again,
            backlog=backlog,
            extractor=described,
        )
        _check(client, job, scheduler)
        waiting: deque[tuple[Selected, Any]] = deque()
        left = iter(items)
        while True:
            while len(waiting) < _AHEAD and (item := next(left, None)) is not None:
                told = _told(run, knowledge, item.session_id)
                waiting.append((item, client.submit(label_there, job, item, told, pure=False)))
            if not waiting:
                break
            item, future = waiting.popleft()
            yield item, _result(client, future, item)
    sweep(run.layout.sessions, "", "*/")  # what killed workers left behind


def label_there(job: Job, item: Selected, told: Told) -> Seen:
    """On a worker: read a session, write it down, and label it by rules."""
    # One of its own: a worker has several threads. The lock is held where sessions are handed out.
    run = WritingRun(_archive(job), "ingest", ended=job.ended)
    if told.entry is not None:
        run.ledger.sessions[item.session_id] = told.entry
    if item.transcript is not None and not item.transcript.path.exists():
        raise Conflict(f"A worker does not see {item.transcript.path}.")
    extractor = OfflineExtractor() if job.extractor.name == OFFLINE else job.extractor
    return Labelling(run, told, extractor, again=job.again, backlog=job.backlog)(item)


def seen_there(job: Job) -> tuple[str, str]:
    """On a worker: its version, and what is wrong with its folders."""
    try:
        _archive(job)
    except Conflict as error:
        return version("minutebook"), str(error)
    return version("minutebook"), ""


@lru_cache(maxsize=1)
def _archive(job: Job) -> Archive:
    """The archive of a job, where it is the same that the job comes from."""
    try:
        found = (job.archive / job.mark).read_text(encoding="utf-8")
    except OSError:
        found = ""
    if found != job.word:
        raise Conflict(f"A worker does not see {job.archive}, or another folder of that name.")
    return Archive(job.archive)


def _told(run: WritingRun, knowledge: Knowledge, session_id: str) -> Told:
    return Told(
        run.entry(session_id),
        knowledge.stored(session_id),
        knowledge.merged(session_id),
        tuple(knowledge.heard(session_id)),
    )


@contextmanager
def _connected(scheduler: str) -> Iterator[Any]:
    needed("cluster")
    try:
        parts = urlsplit(scheduler)
        usual = parts.scheme in ("tcp", "tls") and parts.hostname and parts.port
    except ValueError:
        usual = False
    if not usual:
        raise BadArgument(f"'{scheduler}' is not a scheduler: write it like tcp://10.0.0.5:8786.")
    import distributed
    from distributed.versions import VersionMismatchWarning

    try:
        # A client that was refused tries for long to close what it never had.
        asyncio.run(_greeted(scheduler))
        with warnings.catch_warnings():
            # A table of Dask's own packages; what matters is looked at in `_check`.
            warnings.simplefilter("ignore", VersionMismatchWarning)
            client: Any = distributed.Client(  # type: ignore[no-untyped-call] # it has none
                scheduler, timeout=_TIMEOUT, set_as_default=False
            )
    except Exception:  # whatever Dask makes of an answer that is not a scheduler's
        raise NotFound(
            f"No scheduler answers at {scheduler}: start one (`dask scheduler`).",
            remedy="no-scheduler",
        ) from None
    with client:
        yield client


async def _greeted(scheduler: str) -> None:
    """Shake hands with a scheduler, once."""
    from distributed.comm.core import connect

    known = await connect(scheduler, timeout=_TIMEOUT)  # type: ignore[no-untyped-call]
    await known.close()


@contextmanager
def _marked(archive: Archive) -> Iterator[tuple[str, str]]:
    """A file that only those who see this archive can read."""
    word = secrets.token_hex(16)
    path = archive.layout.root / f".cluster-{word[:8]}"
    write_new(path, word.encode())
    try:
        yield path.name, word
    finally:
        path.unlink(missing_ok=True)


def _check(client: Any, job: Job, scheduler: str) -> None:
    """Every worker there is now sees the archive, and runs the same code."""
    own = version("minutebook")
    try:
        client.wait_for_workers(1, timeout=_TIMEOUT)
    except TimeoutError:
        raise NotFound(
            f"The scheduler has no workers: start some (`dask worker {scheduler}`)."
        ) from None
    try:
        found = client.run(seen_there, job)
    except Exception:  # whatever a worker without our code comes up with
        raise Conflict(f"A worker cannot run this: install minutebook {own} on all.") from None
    for worker, (there, problem) in found.items():
        if there != own:
            raise Conflict(f"The worker {worker} has minutebook {there}: install {own} there.")
        if problem:
            raise Conflict(f"{worker}: {problem} Workers need the same folders at the same paths.")


def _result(client: Any, future: Any, item: Selected) -> Seen:
    """What a worker made of a session; one that workers do not survive is a failure of its own."""
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError

    idle = 0
    while True:
        try:
            seen: Seen = future.result(timeout=_TIMEOUT)
        except TimeoutError:
            idle = 0 if client.scheduler_info()["workers"] else idle + _TIMEOUT
            if idle >= _PATIENCE:
                raise Conflict(
                    "No worker is left: start one, and run this again; it goes on there."
                ) from None
        except KilledWorker:
            problem = f"{item.place or item.session_id}: workers died over it again and again"
            return Seen(done=Done(problem=problem), failure=problem)
        except (FutureCancelledError, OSError):
            raise Conflict("The scheduler went away: run this again; it goes on there.") from None
        else:
            return seen
