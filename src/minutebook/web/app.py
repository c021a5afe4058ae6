"""The application: addresses, and who answers them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from minutebook.archive.masking import hide
from minutebook.errors import MinutebookError, NotFound
from minutebook.record.layout import Layout
from minutebook.record.store import make_folder
from minutebook.verbs.watch import sessions_of, watched
from minutebook.web import api, kept, pages, said, session
from minutebook.web.board import board_page
from minutebook.web.decisions import decisions_page
from minutebook.web.finding import search_page
from minutebook.web.ingesting import BackgroundIngest
from minutebook.web.live import Hub, watch_archive, watch_sources
from minutebook.web.pages import render
from minutebook.web.security import Guard
from minutebook.web.state import ServerState

_ATTEMPTS = 5
STATIC = Path(__file__).parent / "static"
Answer = Callable[..., Response]


class Viewer:
    """The pages, those who look at them, and what goes on in the background."""

    def __init__(
        self,
        layout: Layout,
        places: tuple[Path, ...],
        *,
        take: bool = True,
        watch: bool = False,
        read_only: bool = False,
    ) -> None:
        self.state = ServerState(layout.root, places)
        self.hub = Hub()
        self.background = BackgroundIngest(layout.root, places, self.hub, self._ingested)
        self._take, self._watch, self._read_only = take, watch, read_only
        self._stop = asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()

    def routes(self) -> list[Route | Mount]:
        at = "/session/{id}"
        agent = f"{at}/agents/{{agent}}"
        block = "/{round:count}/{block:count}"
        found: list[Route | Mount] = [
            Route("/", self._page(self._board)),
            Route("/decisions", self._page(decisions_page)),
            Route("/search", self._page(search_page)),
            Route("/events", self._events),
            Route("/favicon.ico", _favicon),
            Route(at, self._page(_of_session(session.session_page))),
            Route(f"{at}/media/{{name}}", self._page(_of_session(session.picture))),
            Route(f"{at}/markdown", self._page(_of_session(session.markdown))),
            Route(agent, self._page(_scroll(session.agent_page))),
        ]
        for base in (at, agent):
            found += [
                Route(f"{base}/parts/{{part:count}}", self._page(_scroll(session.part_fragment))),
                Route(f"{base}/blocks{block}", self._page(_scroll(session.block_fragment))),
                Route(f"{base}/raw{block}", self._page(_scroll(session.raw_block))),
            ]
        return [*found, *self._api(), Mount("/static", StaticFiles(directory=STATIC))]

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
        return self._endpoint(answer, _sorry)

    def _json(self, answer: Answer) -> Callable[[Request], Any]:
        return self._endpoint(answer, api.sorry)

    def _endpoint(
        self, answer: Answer, sorry: Callable[[MinutebookError], Response]
    ) -> Callable[[Request], Any]:
        """An answer made in a thread; what a person can act on is said, not thrown."""

        async def endpoint(request: Request) -> Response:
            try:
                return await run_in_threadpool(answer, self.state, request)
            except MinutebookError as error:
                return sorry(error)

        return endpoint

    async def _status(self, _request: Request) -> Response:
        return await run_in_threadpool(
            api.status, self.state, self.hub.progress, read_only=self._read_only
        )

    async def _say(self, request: Request) -> Response:
        if (refused := said.refusal(request, read_only=self._read_only)) is not None:
            return refused
        if (body := await said.body_of(request)) is None:
            return api.answer(413, problem="This is too long to be said.")
        try:
            return await run_in_threadpool(self._write_down, request.path_params["id"], body)
        except MinutebookError as error:
            return api.sorry(error)

    def _write_down(self, name: str, body: bytes) -> Response:
        return said.say(self.state, self.state.session_id(name), body)

    async def _ingest(self, _request: Request) -> Response:
        if self._read_only:
            return api.answer(403, problem="This viewer was started with --read-only.")
        return api.answer(202, started=self.background.start())

    async def _events(self, _request: Request) -> Response:
        return StreamingResponse(self.hub.listen(), media_type="text/event-stream")

    # -- living

    @asynccontextmanager
    async def lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        self.hub.start()
        with suppress(OSError):  # an archive that cannot be written can still be read
            make_folder(self.state.archive.layout.sessions)
        self._spawn(watch_archive(self.state.archive.layout, self._minutes_changed, self._stop))
        self._spawn(self._watch_sources())
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
        await run_in_threadpool(self.state.warm)

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
        self.state.look_again()
        self.state.stale = False
        self.hub.publish("minutes")
        self._spawn(run_in_threadpool(self.state.warm))


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
    status = 404 if isinstance(error, NotFound) else 400
    return render("sorry.html", status, words=hide(str(error)), page="sorry", title="Not here")


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
