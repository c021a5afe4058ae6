"""Progress of an ingest: first bytes read, then sessions asked about, with cost and time left."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any

import click

from minutebook.verbs.ask import Asked

WORTH_A_BAR = 20_000_000  # bytes


class Bars:
    """One bar after the other, on standard error; none where that is not a terminal."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._note = ""
        self._done = 0

    def __enter__(self) -> Bars:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    def start_reading(self, bytes: int) -> None:
        if bytes >= WORTH_A_BAR:
            self._open(bytes, "Reading")

    def read(self, bytes: int) -> None:
        if self._bar is not None:
            self._bar.update(bytes)

    def start_asking(self, calls: int) -> None:
        self._open(calls, "Asking", show_eta=True)

    def asked(self, asked: Asked) -> None:
        self._note = f"{asked.spent.calls} calls, ${asked.spent.cost_usd:.2f}"
        if self._bar is not None:
            self._bar.update(max(0, asked.done - self._done))
            self._done = asked.done

    def end(self) -> None:
        """The next lines stand below the bar."""
        if self._bar is not None:
            self._bar.render_finish()
            self._bar = None

    def _open(self, length: int, label: str, *, show_eta: bool = False) -> None:
        if not sys.stderr.isatty():
            return
        self._bar = click.progressbar(
            length=length,
            label=label,
            file=sys.stderr,
            show_pos=show_eta,
            show_eta=show_eta,
            item_show_func=lambda _: self._note,
        )
        self._bar.render_progress()
