"""A loopback model server: Messages API, Message Batches, OpenAI-compatible completions.

The shared stub proves how we speak to the real API; this one answers what a test wants,
good or bad, and remembers what it was asked.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = dict[str, Any] | str | int
"""A reply object, a text that is none, or an HTTP status."""


def good_reply(*ranges: tuple[int, int], topic: str = "Fix the login redirect of orchard") -> Any:
    return {
        "session_summary": "The login redirect was fixed.",
        "agent_name": None,
        "agent_role": None,
        "engagements": [
            {
                "topic": topic,
                "project": "/home/mara/orchard",
                "method": "debug",
                "phase": "completed",
                "key_decisions": ["Keep the old route for a release."],
                "outcome": "Redirects go to the page that was asked for.",
                "turn_range": list(pair),
            }
            for pair in ranges or [(1, 3)]
        ],
    }


class Stub:
    """What was asked, and what is to be answered."""

    def __init__(self, answer: Callable[[dict[str, Any], int], Answer]) -> None:
        self.answer = answer
        self.requests: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.batches: dict[str, list[dict[str, Any]]] = {}
        self.polls = 0
        self.url = ""
        self.raw: Any = None
        """Something to answer that is no message at all."""
        self.failure: Any = None
        """What to say with a status, where it is not the usual."""
        self._lock = threading.Lock()

    def note(self, path: str, headers: dict[str, str], body: dict[str, Any] | None) -> int:
        with self._lock:
            self.paths.append(path)
            self.headers.append(headers)
            if body is not None:
                self.requests.append(body)
            return len(self.requests)


@contextmanager
def serve(answer: Callable[[dict[str, Any], int], Answer]) -> Iterator[Stub]:
    stub = Stub(answer)

    class Handler(_Handler):
        _stub = stub

    server = _Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    stub.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield stub
    finally:
        server.shutdown()
        server.hang_up()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    """Keeps connections open until the test ends: one that is closed while idle may be closed in
    the moment of the next request."""

    daemon_threads = False  # closing waits for them: no thread outlives its test

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._open: list[socket.socket] = []

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self._open.append(connection)
        return connection, address

    def hang_up(self) -> None:
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    _stub: Stub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._stub.note(self.path, dict(self.headers), None)
        name = self.path.split("?")[0].split("/")[4]
        if self.path.endswith("/results"):
            lines = [json.dumps(self._result(entry)) for entry in self._stub.batches[name]]
            self._send("\n".join(lines).encode(), kind="application/x-jsonl")
            return
        if name not in self._stub.batches:
            error = {"type": "error", "error": {"type": "not_found_error", "message": "gone"}}
            self._json(error, 404)
            return
        self._stub.polls += 1
        self._json(self._batch(name, ended=self._stub.polls > 1))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        number = self._stub.note(self.path, dict(self.headers), body)
        path = self.path.split("?")[0]
        if path.endswith("/batches"):
            name = f"msgbatch_{len(self._stub.batches) + 1}"
            self._stub.batches[name] = body["requests"]
            self._json(self._batch(name, ended=False))
            return
        if self._stub.raw is not None:
            self._json(self._stub.raw)
            return
        answer = self._stub.answer(body, number)
        if isinstance(answer, int):
            kind = "authentication_error" if answer == 401 else "api_error"
            error = {"type": "error", "error": {"type": kind, "message": f"stub {answer}"}}
            self._json(error if self._stub.failure is None else self._stub.failure, answer)
        elif path.endswith("/chat/completions"):
            message = {"role": "assistant", "content": _text(answer)}
            usage = {"prompt_tokens": 900, "completion_tokens": 100}
            self._json({"model": "local", "choices": [{"message": message}], "usage": usage})
        else:
            self._json(_message(body, answer))

    def _result(self, entry: dict[str, Any]) -> dict[str, Any]:
        answer = self._stub.answer(entry["params"], 0)
        if isinstance(answer, int):
            error = {"type": "error", "error": {"type": "api_error", "message": "stub"}}
            return {"custom_id": entry["custom_id"], "result": {"type": "errored", "error": error}}
        message = _message(entry["params"], answer)
        result = {"type": "succeeded", "message": message}
        return {"custom_id": entry["custom_id"], "result": result}

    def _batch(self, name: str, *, ended: bool) -> dict[str, Any]:
        total = len(self._stub.batches[name])
        counts = dict.fromkeys(("canceled", "errored", "expired"), 0)
        counts |= {"processing": 0 if ended else total, "succeeded": total if ended else 0}
        return {
            "id": name,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": counts,
            "created_at": "2026-11-01T00:00:00Z",
            "expires_at": "2026-11-02T00:00:00Z",
            "results_url": f"{self._stub.url}/v1/messages/batches/{name}/results",
        }

    def _json(self, value: Any, status: int = 200) -> None:
        self._send(json.dumps(value).encode(), status)

    def _send(self, body: bytes, status: int = 200, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _text(answer: dict[str, Any] | str) -> str:
    return answer if isinstance(answer, str) else json.dumps(answer)


def _message(body: dict[str, Any], answer: dict[str, Any] | str) -> dict[str, Any]:
    return {
        "id": "msg_stub",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [{"type": "text", "text": _text(answer)}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 1000,
            "output_tokens": 200,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 500,
        },
    }
