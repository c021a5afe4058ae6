"""Who may ask, and what a page may do (VIEW-01, VIEW-12).

Only names of this machine are answered, so no foreign page can reach the viewer by pointing
its own name at 127.0.0.1; nothing that writes is done for another origin; no page of ours
runs a script that is not ours.
"""

from __future__ import annotations

import hmac
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
COOKIE = "minutebook"
_POLICY = "; ".join(
    (
        "default-src 'none'",
        *("script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'"),
        *("base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"),
    )
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Nothing to other sites; but a form of ours says where it comes from.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guard:
    """Middleware around the whole application."""

    def __init__(
        self, app: ASGIApp, port: int, host: str | None = None, token: str | None = None
    ) -> None:
        self._app, self._token = app, token
        names = [*LOOPBACK, *([host.lower()] if host else [])]
        self._hosts = {f"{name}:{port}" for name in names}
        if port == 80:
            self._hosts |= set(names)
        self._any_host = host in ("0.0.0.0", "::", "[::]")  # then the token is the guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                # Our own scripts may be kept and asked about; what is in a transcript may not.
                fixed = scope["path"].startswith("/static/")
                headers.setdefault("Cache-Control", "no-cache" if fixed else "no-store")
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, guarded)
        else:
            await self._app(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        if host not in self._hosts and not self._any_host:
            return PlainTextResponse(
                f"This viewer answers to {', '.join(sorted(self._hosts))} only.\n", 403
            )
        if scope["method"] not in ("GET", "HEAD"):
            origin = headers.get("origin", "").lower()
            ours = origin in (f"http://{host}", f"https://{host}")
            if not ours or headers.get("sec-fetch-site", "same-origin") != "same-origin":
                return PlainTextResponse("Only the viewer's own pages may do that.\n", 403)
        return self._without_token(scope, headers) if self._token else None

    def _without_token(self, scope: Scope, headers: Headers) -> ASGIApp | None:
        assert self._token is not None
        query = scope["query_string"].decode("latin-1")
        asked = dict(parse_qsl(query)).get("token", "")
        if _same(asked, self._token):
            # From the address into a cookie: it should not stay in the history.
            rest = [(n, v) for n, v in parse_qsl(query, keep_blank_values=True) if n != "token"]
            path = "/" + scope["path"].lstrip("/")
            answer = RedirectResponse(path + (f"?{urlencode(rest)}" if rest else ""), 303)
            answer.set_cookie(COOKIE, self._token, httponly=True, samesite="strict")
            return answer
        kept = _cookie(headers.get("cookie", ""))
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        if _same(kept, self._token) or _same(bearer, self._token):
            return None
        return PlainTextResponse("Open the address that `minutebook serve` printed.\n", 401)


def _cookie(header: str) -> str:
    """Our own cookie; those of other servers on this machine may look like anything."""
    for piece in header.split(";"):
        name, _, value = piece.strip().partition("=")
        if name == COOKIE:
            return value.strip('"')
    return ""


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode(), wanted.encode())
