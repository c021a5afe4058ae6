"""Files are written under a name of their own before they get theirs (NFR-02)."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from minutebook.record import engagements
from minutebook.record.engagements import compact
from minutebook.record.layout import Layout
from minutebook.record.store import append_line, partial_name


def test_two_threads_never_write_the_same_partial_file(tmp_path: Path) -> None:
    """NFR-02: a web viewer's threads may write one file at once; the last one wins, none fails."""
    together = Barrier(2)

    def name(_: int) -> Path:
        together.wait()
        return partial_name(tmp_path / "lineage.json")

    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(name, range(2))
    assert first != second


def test_a_line_that_a_full_disk_cuts_is_an_error(tmp_path: Path) -> None:
    """NFR-02: nobody is told that half a line was written down; the next line stands alone."""
    resource = pytest.importorskip("resource", reason="Windows has no limit for files")
    path = tmp_path / "corrections.jsonl"
    append_line(path, b"{}")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            append_line(path, b'{"said": "a long correction"}')
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    append_line(path, b"{}")
    assert path.read_bytes().splitlines()[::2] == [b"{}", b"{}"]


def test_lines_are_appended_where_a_system_has_no_pread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NFR-02: Windows has none."""
    monkeypatch.delattr(os, "pread", raising=False)
    path = tmp_path / "corrections.jsonl"
    path.write_bytes(b"{torn")
    append_line(path, b"{}")
    append_line(path, b"{}")
    assert path.read_bytes() == b"{torn\n{}\n{}\n"


def test_a_damaged_file_is_never_gone_while_it_is_compacted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NFR-02, ARC-07: a full disk or a kill leaves every record where it was."""
    layout = Layout(tmp_path)
    layout.sessions.mkdir()
    deep = b'{"session_id": "b", "x": ' + b"[" * 5_000 + b"]" * 5_000 + b"}\n"
    content = b'{"session_id": "a"}\n{damaged\n' + deep
    layout.engagements.write_bytes(content)

    def full(*_: object) -> None:
        raise OSError("No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(engagements, "write_atomically", full)
        with pytest.raises(OSError, match="No space"):
            compact(layout)
    assert layout.engagements.read_bytes() == content
    compact(layout)
    assert layout.engagements.read_bytes() == b'{"session_id": "a"}\n'
    assert all(p.read_bytes() == content for p in layout.sessions.glob("*.set-aside-*"))
