"""Files are written under a name of their own before they get theirs (NFR-02)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

from minutebook.record.store import partial_name


def test_two_threads_never_write_the_same_partial_file(tmp_path: Path) -> None:
    """NFR-02: a web viewer's threads may write one file at once; the last one wins, none fails."""
    together = Barrier(2)

    def name(_: int) -> Path:
        together.wait()
        return partial_name(tmp_path / "lineage.json")

    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(name, range(2))
    assert first != second
