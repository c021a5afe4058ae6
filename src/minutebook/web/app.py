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
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from minutebook.record.layout import Layout
from minutebook.record.store import make_folder
from minutebook.errors import BadArgument, MinutebookError, NotFound
from minutebook.verbs.find import parse_address
from minutebook.verbs.watch import sessions_of, watched
from minutebook.web import api, pages, session
from minutebook.web.board import board_page
from minutebook.web.decisions import decisions_page
from minutebook.web.desk import Desk
from minutebook.web.finding import search_page
from minutebook.web.live import Hub, watch_archive, watch_sources
from minutebook.web.pages import render
from minutebook.web.security import Guard
from minutebook.web.taking import Taker

_ATTEMPTS = 5
STATIC = Path(__file__).parent / "static"
Answer = Callable[..., Response]


class Viewer:
    """The desk, those who look, and what goes on behind."""

    def __init__(
        self, layout: Layout, places: tuple[Path, ...], *, take: bool = True, watch: bool = False
    ) -> None:
        self.desk = Desk(layout, places)
        self.hub = Hub()
        self.taker = Taker(layout, places, self.hub, self._taken)
        self._take, self._watch = take, watch
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
            Route(at, self._page(_by_id(session.session_page))),
            Route(f"{at}/media/{{name}}", self._page(_picture)),
            Route(f"{at}/markdown", self._page(_markdown)),
            Route(agent, self._page(_agent_page)),
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
            f"{base}/engagements": api.engagements,
            f"{base}/sessions": api.sessions,
            f"{base}/search": api.search,
            f"{base}/decisions": api.decisions,
            f"{base}/timeline": api.timeline_data,
        }
        named: dict[str, Answer] = {
            f"{one}/rounds": api.rounds,
            f"{one}/find": api.find,
            f"{one}/rounds/{{round:count}}/secrets/{{digest}}": api.secret,
        }
        return [
            *(Route(path, self._json(answer)) for path, answer in plain.items()),
            *(Route(path, self._json(_by_id(answer))) for path, answer in named.items()),
            Route(one, self._json(_id_only(api.session))),
            Route(f"{one}/outline", self._json(_id_only(api.outline))),
            Route(f"{base}/status", self._status),
            Route(f"{base}/ingest", self._ingest, methods=["POST"]),
        ]

    # -- answering

    def _board(self, desk: Desk, request: Request) -> Response:
        return board_page(desk, request, self.hub.progress)

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
                return await run_in_threadpool(answer, self.desk, request)
            except MinutebookError as error:
                return sorry(error)

        return endpoint

    async def _status(self, _request: Request) -> Response:
        def state() -> Response:
            return api.answer(
                program="minutebook",
                archive=str(self.desk.layout.root),
                sessions=len(self.desk.records()),
                indexed=self.desk.is_indexed,
                progress=self.hub.progress,
            )

        return await run_in_threadpool(state)

    async def _ingest(self, _request: Request) -> Response:
        return api.answer(202, started=self.taker.start())

    async def _events(self, _request: Request) -> Response:
        return StreamingResponse(self.hub.listen(), media_type="text/event-stream")

    # -- living

    @asynccontextmanager
    async def lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        self.hub.start()
        with suppress(OSError):  # an archive that cannot be written can still be read
            make_folder(self.desk.layout.sessions)
        self._spawn(watch_archive(self.desk.layout, self._minutes_changed, self._stop))
        self._spawn(self._watch_sources())
        self._spawn(self._begin())
        try:
            yield
        finally:
            self._stop.set()
            self.hub.close()
            await self.taker.stop()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _spawn(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _begin(self) -> None:
        """Be ready for the first page; take the minutes of what is new, if anything is."""
        await run_in_threadpool(pages.warm)
        if self._take and await run_in_threadpool(self._has_news):
            self.taker.start()
            return
        if not self._take:
            await run_in_threadpool(self.desk.look_into_new)
        else:
            await run_in_threadpool(self.desk.refresh_index)
        await run_in_threadpool(self.desk.warm)

    def _has_news(self) -> bool:
        records = self.desk.records()
        for transcript in self.desk.library().transcripts:
            record = records.get(transcript.session_id)
            origin = record.origin if record is not None else None
            if origin is None or (origin.size, origin.mtime) != (transcript.size, transcript.mtime):
                return True
        return False

    async def _watch_sources(self) -> None:
        places = await run_in_threadpool(watched, self.desk.places)
        await watch_sources(places, self._sources_changed, self._stop)

    def _minutes_changed(self, _paths: set[Path]) -> None:
        self.hub.publish("minutes")

    def _sources_changed(self, paths: set[Path]) -> None:
        self._spawn(self._take_up(paths))

    async def _take_up(self, paths: set[Path]) -> None:
        ids = await run_in_threadpool(self._changed_sessions, paths)
        self.hub.publish("sessions", ids=ids)
        if self._watch:
            self.taker.start()
        else:
            await run_in_threadpool(self._look)

    def _changed_sessions(self, paths: set[Path]) -> list[str]:
        """The sessions some files belong to, those that are gone included."""
        known = {transcript.session_id for transcript in self.desk.library().transcripts}
        self.desk.forget_directories()
        known |= {transcript.session_id for transcript in self.desk.library().transcripts}
        return sorted(sessions_of(paths) & known)

    def _look(self) -> None:
        """Find out what the new sessions are, and make them searchable."""
        if self.desk.look_into_new():
            self.hub.publish("minutes")
        for _ in range(_ATTEMPTS):
            if self.taker.is_running:
                return
            self.desk.refresh_index()
            if not self.desk.stale:
                return
            time.sleep(1)  # somebody else is writing the index

    def _taken(self) -> None:
        self.desk.forget_directories()
        self.desk.stale = False
        self.hub.publish("minutes")
        self._spawn(run_in_threadpool(self.desk.warm))


def _by_id(answer: Answer) -> Answer:
    def found(desk: Desk, request: Request) -> Response:
        return answer(desk, request, request.path_params["id"])

    return found


def _id_only(answer: Answer) -> Answer:
    return lambda desk, request: answer(desk, request.path_params["id"])


def _scroll(answer: Answer) -> Answer:
    def found(desk: Desk, request: Request) -> Response:
        return answer(desk, request, request.path_params["id"], request.path_params.get("agent"))

    return found


def _agent_page(desk: Desk, request: Request) -> Response:
    return session.agent_page(
        desk, request, request.path_params["id"], request.path_params["agent"]
    )


def _picture(desk: Desk, request: Request) -> Response:
    return session.picture(desk, request.path_params["id"], request.path_params["name"])


def _markdown(desk: Desk, request: Request) -> Response:
    asked = request.query_params.get("rounds")
    rounds = parse_address(f"x#{asked}")[1] if asked else None
    if asked and rounds is None:
        raise BadArgument("rounds is a round or a range of them, like 3 or 3-17.")
    return PlainTextResponse(session.markdown(desk, request.path_params["id"], rounds))


def _sorry(error: MinutebookError) -> Response:
    status = 404 if isinstance(error, NotFound) else 400
    return render("sorry.html", status, words=str(error), page="sorry", title="Not here")


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
