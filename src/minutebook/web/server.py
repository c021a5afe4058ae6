"""Serving on this machine: the port, the loop, the way to stop."""

from __future__ import annotations

import asyncio
import json
import socket
import urllib.request
from collections.abc import Callable
from contextlib import closing

import uvicorn
from starlette.types import ASGIApp

from minutebook.errors import BadArgument, Conflict
from minutebook.web.live import Hub

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def bound(host: str, port: int, token: str | None) -> socket.socket:
    """A socket to serve on; an error that says who has the port, and what to do."""
    if host not in _LOOPBACK and not token:
        raise BadArgument(
            f"{host} can be reached from other machines, and transcripts hold secrets: "
            "a token is required.",
            remedy="token",
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
    except OSError as error:
        found.close()
        if isinstance(error, socket.gaierror):
            raise BadArgument(f"There is no '{host}' on this machine.") from None
        if isinstance(error, PermissionError):
            raise BadArgument(
                f"Port {port} needs more rights.", remedy="port", port=18821
            ) from None
        raise Conflict(
            f"Port {port} is in use{_whose(port)}.", remedy="port", port=port + 1
        ) from None
    return found


def _whose(port: int) -> str:
    """Who answers on a port of this machine, where it is one of us."""
    address = f"http://127.0.0.1:{port}/api/v1/status"
    try:
        with closing(urllib.request.urlopen(address, timeout=1)) as answer:
            told = json.loads(answer.read(100_000))
        if told.get("program") == "minutebook":
            return f" by a minutebook viewer of {told.get('archive')} (http://127.0.0.1:{port}/)"
    except (OSError, ValueError, AttributeError):
        pass  # somebody else, who does not speak like us
    return ""


class _Server(uvicorn.Server):
    """uvicorn, but asleep while nobody asks: its own loop wakes ten times a second."""

    def __init__(self, config: uvicorn.Config, hub: Hub, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._hub, self._ready = hub, ready
        self._ending: asyncio.Event | None = None

    async def main_loop(self) -> None:
        self._ending = asyncio.Event()
        self._ready()
        if not self.should_exit:
            await self._ending.wait()

    def handle_exit(self, sig: int, frame: object) -> None:
        super().handle_exit(sig, frame)  # type: ignore[arg-type]  # uvicorn's own annotation
        self._hub.close()
        if self._ending is not None:
            asyncio.get_running_loop().call_soon_threadsafe(self._ending.set)


def serve(app: ASGIApp, hub: Hub, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until interrupted."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        lifespan="on",
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=1,
        timeout_keep_alive=60,
    )
    _Server(config, hub, ready).run([listening])
