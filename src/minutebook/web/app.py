"""The application: addresses, and who answers them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from minutebook.archive import Archive
from minutebook.archive.masking import hide
from minutebook.errors import Ambiguous, MinutebookError, NotFound
from minutebook.index.entry import seconds
from minutebook.record.layout import Layout
from minutebook.record.store import make_folder
from minutebook.verbs.watch import sessions_of, watched
from minutebook.web import (
    api,
    files,
    kept,
    lineage,
    pages,
    said,
    session,
    sharing,
    threads,
    underway,
    using,
)
from minutebook.web.board import Boards
from minutebook.web.decisions import decisions_page, where_page
from minutebook.web.finding import search_page
from minutebook.web.home import board_page, card
from minutebook.web.ingesting import BackgroundIngest
from minutebook.web.live import Hub, watch_archive, watch_sources
from minutebook.web.mending import mend, mend_page
from minutebook.web.pages import render
from minutebook.web.security import Guard
from minutebook.web.selection import Selection
from minutebook.web.state import ServerState
from minutebook.web.story import story_page
from minutebook.web.year import year_file

_ATTEMPTS = 5
_LOOKS = 60.0  # seconds between looks at what a team has
STATIC = Path(__file__).parent / "static"
Answer = Callable[..., Response]


class Viewer:
    """The pages, those who look at them, and what goes on in the background."""

    def __init__(
        self,
        layout: Layout,
        places: tuple[Path, ...],
        *,
        team: Archive | None = None,
        take: bool = True,
        watch: bool = False,
        read_only: bool = False,
    ) -> None:
        self.state = ServerState(layout.root, places, team)
        self.hub = Hub()
        self.background = BackgroundIngest(
            layout.root, places, self.hub, partial(self.state.grows, True), self._ingested
        )
        self.state.count.news = lambda: self.hub.publish("minutes")
        own = team is None  # of a team everything is only read
        self._take, self._watch = take and own, watch and own
        self._read_only = read_only or not own
        self._stop = asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()

    def routes(self) -> list[Route | Mount]:
        at = "/session/{id}"
        agent = f"{at}/agents/{{agent}}"
        block = "/{round:count}/{block:count}"
        found: list[Route | Mount] = [
            Route("/", self._page(self._board)),
            Route("/year.svg", self._page(year_file)),
            Route("/card/{id}/{engagement}", self._page(_of_session(card))),
            Route("/decisions", self._page(decisions_page)),
            Route("/decisions/where", self._page(where_page)),
            Route("/search", self._page(search_page)),
            Route("/usage", self._page(using.usage_page)),
            Route("/usage.csv", self._page(using.usage_csv)),
            Route("/files", self._page(files.files_page)),
            Route("/threads", self._page(threads.threads_page)),
            Route("/threads/{id:path}", self._page(threads.thread_page)),
            Route("/lineage", self._page(lineage.lineage_page)),
            Route("/lineage/{id}", self._page(_of_session(lineage.family_page))),
            Route("/engagements", self._page(underway.under_way_page)),
            Route("/events", self._events),
            Route("/favicon.ico", _favicon),
            Route(at, self._page(_of_session(session.session_page))),
            Route(f"{at}/media/{{name}}", self._page(_of_session(session.picture))),
            Route(f"{at}/markdown", self._page(_of_session(session.markdown))),
            Route(f"{at}/story", self._page(_of_session(story_page))),
            Route(f"{at}/share", self._page(_of_session(sharing.share_page))),
            Route(f"{at}/export", self._page(_of_session(sharing.exported))),
            Route("/report", self._page(sharing.report_page)),
            Route("/report/file", self._page(sharing.report_download)),
            Route(f"{at}/mend", self._mend, methods=["POST"]),
            Route(f"{at}/mend", self._page(_of_session(mend_page))),
            Route(agent, self._page(_scroll(session.agent_page))),
        ]
        for base in (at, agent):
            found += [
                Route(f"{base}/parts/{{part:count}}", self._page(_scroll(session.part_fragment))),
                Route(f"{base}/blocks{block}", self._page(_scroll(session.block_fragment))),
                Route(f"{base}/raw{block}", self._page(_scroll(session.raw_block))),
            ]
        # Only what holds no words of anybody is compressed: lengths of pages tell nothing then.
        static = GZipMiddleware(StaticFiles(directory=STATIC), minimum_size=1_000)
        return [*found, *self._api(), Mount("/static", static)]

    def _api(self) -> list[Route | Mount]:
        base, one = "/api/v1", "/api/v1/sessions/{id}"
        plain: dict[str, Answer] = {
            f"{base}/stats": api.stats,
            f"{base}/usage": api.usage,
            f"{base}/engagements": api.engagements,
            f"{base}/sessions": api.sessions,
            f"{base}/search": api.search,
            f"{base}/decisions": api.decisions,
            f"{base}/budget": api.budgets,
            f"{base}/engagement-files": kept.listed,
            f"{base}/timeline": api.timeline_data,
            f"{base}/lineage": api.lineage,
            f"{base}/files": files.listed,
            f"{base}/threads": threads.listed,
            f"{base}/threads/{{id:path}}": threads.one,
            f"{base}/open": underway.listed,
        }
        named: dict[str, Answer] = {
            one: api.session,
            f"{one}/outline": api.outline,
            f"{one}/budget": api.budget,
            f"{one}/instructions": api.instructions,
            f"{one}/rounds": api.rounds,
            f"{one}/find": api.find,
            f"{one}/lineage": api.session_lineage,
            f"{one}/said": said.listed,
            f"{one}/rounds/{{round:count}}/secrets/{{digest}}": api.secret,
        }
        return [
            *(Route(path, self._json(answer)) for path, answer in plain.items()),
            *(Route(path, self._json(_of_session(answer))) for path, answer in named.items()),
            Route(f"{one}/said", self._say, methods=["POST"]),
            Route(f"{base}/status", self._status),
            Route(f"{base}/ingest", self._ingest, methods=["POST"]),
        ]

    # -- answering

    def _board(self, state: ServerState, request: Request) -> Response:
        return board_page(state, request, self.hub.progress)

    def _page(self, answer: Answer) -> Callable[[Request], Any]:
        return self._endpoint(answer, self._sorry)

    def _sorry(self, error: MinutebookError) -> Response:
        """A sentence; of a name that fits several sessions, links to them."""
        fitting = error.told.get("sessions") if isinstance(error, Ambiguous) else None
        if not isinstance(fitting, tuple):
            return _sorry(error)
        known = self.state.archive.records()
        records = [known[id] for id in fitting if id in known]
        records.sort(key=lambda record: seconds(record.started), reverse=True)
        return render("which.html", 400, records=records, page="sorry", title="Which session?")

    def _json(self, answer: Answer) -> Callable[[Request], Any]:
        return self._endpoint(answer, api.sorry)

    def _endpoint(
        self, answer: Answer, sorry: Callable[[MinutebookError], Response]
    ) -> Callable[[Request], Any]:
        """An answer made in a thread; what a person can act on is said, not thrown."""

        async def endpoint(request: Request) -> Response:
            try:
                with pages.mending(self._may_mend):
                    return await run_in_threadpool(answer, self.state, request)
            except MinutebookError as error:
                return sorry(error)

        return endpoint

    async def _status(self, _request: Request) -> Response:
        return await run_in_threadpool(
            api.status, self.state, self.hub.progress, read_only=self._read_only
        )

    async def _say(self, request: Request) -> Response:
        return await self._write_down(request, said.JSON, said.say)

    async def _mend(self, request: Request) -> Response:
        fragment = pages.wants_fragment(request.headers)
        write = partial(mend, fragment=fragment)
        # Without a script, a person reads what went wrong.
        return await self._write_down(request, said.FORM, write, as_page=not fragment)

    async def _write_down(
        self,
        request: Request,
        kind: str,
        write: Answer,
        *,
        as_page: bool = False,
    ) -> Response:
        """What a person says; nothing where this viewer or this request may not say it."""
        if (refused := said.refusal(request, kind, read_only=not self._may_mend)) is not None:
            return _refused(*refused, as_page=as_page)
        if (body := await said.body_of(request)) is None:
            return _refused(413, "This correction is too long.", as_page=as_page)

        def written() -> Response:
            return write(self.state, self.state.session_id(request.path_params["id"]), body)

        try:
            with pages.mending(self._may_mend):
                return await run_in_threadpool(written)
        except MinutebookError as error:
            return _sorry(error) if as_page else api.sorry(error)

    @property
    def _may_mend(self) -> bool:
        return not self._read_only and self.state.is_writable

    async def _ingest(self, _request: Request) -> Response:
        if self._read_only:
            return api.answer(403, problem="This viewer is read-only.")
        return api.answer(202, started=self.background.start())

    async def _events(self, _request: Request) -> Response:
        return StreamingResponse(self.hub.listen(), media_type="text/event-stream")

    # -- living

    @asynccontextmanager
    async def lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        self.hub.start()
        if self.state.archive.remote is not None:
            self._spawn(self._watch_team())
        else:
            self._watch_files()
        self._spawn(self._begin())
        try:
            yield
        finally:
            self._stop.set()
            self.hub.close()
            await self.background.stop()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _watch_files(self) -> None:
        with suppress(OSError):  # an archive that cannot be written can still be read
            make_folder(self.state.archive.layout.sessions)
        self._spawn(watch_archive(self.state.archive.layout, self._minutes_changed, self._stop))
        self._spawn(self._watch_sources())

    async def _watch_team(self) -> None:
        """Tell pages when somebody pushed, or took something back."""
        known = self.state.archive.minutes.version
        while not self._stop.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), _LOOKS)
            with suppress(MinutebookError):  # away for a while
                now = await run_in_threadpool(lambda: self.state.archive.minutes.version)
                if now != known:
                    known = now
                    self.hub.publish("minutes")

    def _spawn(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _begin(self) -> None:
        """Be ready for the first page; take the minutes of what is new."""
        await run_in_threadpool(pages.warm)
        if self._take and self.state.is_writable:
            self.background.start()
            return
        await run_in_threadpool(self.state.archive.sessions)  # read what has no minutes
        await run_in_threadpool(self._warm)

    def _warm(self) -> None:
        """Be ready for the first page and the first keystroke."""
        Boards(self.state, Selection(), patience=None)
        self.state.warm()

    async def _watch_sources(self) -> None:
        places = await run_in_threadpool(watched, self.state.archive.places)
        await watch_sources(places, self._sources_changed, self._stop)

    def _minutes_changed(self, paths: set[Path]) -> None:
        self.hub.publish("minutes")
        if self.state.archive.layout.corrections.name in {path.name for path in paths}:
            self._spawn(run_in_threadpool(self._look, []))  # what was said can be searched for

    def _sources_changed(self, paths: set[Path]) -> None:
        self._spawn(self._take_up(paths))

    async def _take_up(self, paths: set[Path]) -> None:
        ids = await run_in_threadpool(self._changed_sessions, paths)
        self.hub.publish("sessions", ids=ids)
        if self._watch:
            self.background.start()
        else:
            await run_in_threadpool(self._look, ids)

    def _changed_sessions(self, paths: set[Path]) -> list[str]:
        """The sessions some files belong to, those that are gone included."""
        known = self.state.archive.ids()
        self.state.look_again()
        return sorted(sessions_of(paths) & (known | self.state.archive.ids()))

    def _look(self, ids: list[str]) -> None:
        """Show sessions that have no minutes as they are now, and make all searchable."""
        if set(ids) - self.state.archive.records().keys():
            self.hub.publish("minutes")
        for _ in range(_ATTEMPTS):
            if self.background.is_running:
                return
            self.state.refresh_index()
            if not self.state.stale:
                return
            time.sleep(1)  # another process is writing the index

    def _ingested(self) -> None:
        self.state.grows(False)
        self.state.look_again()
        self.state.stale = False
        self.hub.publish("minutes")
        self._spawn(run_in_threadpool(self._warm))


def _of_session(answer: Answer) -> Answer:
    """An answer about the session that the address names."""

    def found(state: ServerState, request: Request) -> Response:
        return answer(state, request, state.session_id(request.path_params["id"]))

    return found


def _scroll(answer: Answer) -> Answer:
    """Likewise, or about a subagent of it."""

    def found(state: ServerState, request: Request) -> Response:
        id = state.session_id(request.path_params["id"])
        return answer(state, request, id, request.path_params.get("agent"))

    return found


def _sorry(error: MinutebookError) -> Response:
    status, title = (404, "Not here") if isinstance(error, NotFound) else (400, "Not understood")
    return render("sorry.html", status, words=hide(str(error)), page="sorry", title=title)


def _refused(status: int, words: str, *, as_page: bool) -> Response:
    if as_page:
        return render("sorry.html", status, words=words, page="sorry", title="Not written down")
    return api.answer(status, problem=words)


async def _favicon(_request: Request) -> Response:
    return Response((STATIC / "icon.svg").read_bytes(), media_type="image/svg+xml")


async def _not_found(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    words = "There is no such page."
    if request.url.path.startswith("/api/"):
        return api.answer(status, problem=words)
    return render("sorry.html", status, words=words, page="sorry", title="Not here")


async def _bug(request: Request, error: Exception) -> Response:
    words = f"This is a bug in minutebook: {type(error).__name__}."
    if request.url.path.startswith("/api/"):
        return api.answer(500, problem=words)
    return render("sorry.html", 500, words=words, page="sorry", title="A bug")


class _Count(Convertor[int]):
    """A number of reasonable length in an address."""

    regex = "[0-9]{1,9}"

    def convert(self, value: str) -> int:
        return int(value)

    def to_string(self, value: int) -> str:
        return str(value)


register_url_convertor("count", _Count())


def create_app(
    viewer: Viewer, *, port: int, host: str | None = None, token: str | None = None
) -> ASGIApp:
    """The application behind its guard, which sees every answer, also that of a bug."""
    app = Starlette(
        routes=viewer.routes(),
        exception_handlers={404: _not_found, 405: _not_found, Exception: _bug},
        lifespan=viewer.lifespan,
    )
    return Guard(app, port=port, host=host, token=token)
