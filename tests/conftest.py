"""Shared fixtures: the example sessions, the corpus, and a house of one's own."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Generator, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from minutebook.archive import writing
from minutebook.examples import write_examples
from minutebook.model import FormatReport, Session
from minutebook.sources.base import Depth, read_session
from minutebook.sources.claude_code.read import ClaudeReading
from tests.may_skip import FOREIGN, WITHOUT_ROUNDS, may_skip

PROJECT = Path(__file__).resolve().parent.parent
CORPUS = Path(os.environ.get("MINUTEBOOK_CORPUS") or PROJECT / ".." / "shared" / "corpus").resolve()

# In CI the same examples every time; a developer's machine goes on looking for new ones.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

_PERSONAL = (
    *("CLAUDE_CONFIG_DIR", "MINUTEBOOK_ARCHIVE", "NO_COLOR", "COLUMNS"),
    *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"),
    *("OPENAI_API_KEY", "OPENAI_BASE_URL"),
)
# Files whose tests share a server, a browser or an archive: one worker runs them all.
_TOGETHER = (
    "_browser.py",
    "test_index.py",
    "test_mcp.py",
    "test_search_verbs.py",
    "test_surgery.py",
)
LAST_WORD_OLD = writing.OVER_SECONDS
Record = dict[str, Any]
ReadRecords = Callable[..., tuple[Session, FormatReport]]


# ------------------------------------------------------------ the suite itself


def pytest_configure() -> None:
    """Let the processes tests start be interrupted, even under ``nohup make test &``.

    A shell starts background jobs with SIGINT ignored, and children inherit that. What is
    handled here, in whichever way, is back at its default in every child.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Keep together what shares an expensive fixture.

    The plugin's own groups rename tests, which pytest 9.2 no longer lets it do: every worker
    would make each fixture again.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):  # type: ignore[misc]  # the plugin has no types
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::", 1)[0]
            return file if file.endswith(_TOGETHER) else nodeid

    return Together(config, log)


@pytest.fixture(scope="session", autouse=True)
def files_stand_for_sessions() -> Iterator[None]:
    """Sessions of tests have dates of their own: whether one runs is told by its file's age.

    What a session's own last word says of that is tested with `last_words_count`.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing, "OVER_SECONDS", float("inf"))
        yield


@pytest.fixture
def last_words_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session whose own last word is old is over, however young its file is."""
    monkeypatch.setattr(writing, "OVER_SECONDS", LAST_WORD_OLD)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first, the browser's: what is left at the end keeps every worker busy."""
    items.sort(key=lambda item: not item.path.name.endswith("_browser.py"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a test that skips without being on the list (`tests.may_skip`)."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        _must_be_listed(report, item.path)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Likewise a file that skips as a whole."""
    report = yield
    if report.skipped:
        _must_be_listed(report, collector.path)
    return report


def _must_be_listed(report: pytest.TestReport | pytest.CollectReport, path: Path) -> None:
    told = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    reason = told.removeprefix("Skipped: ")
    file = path.relative_to(PROJECT).as_posix() if path.is_relative_to(PROJECT) else str(path)
    if not may_skip(file, reason):
        report.outcome = "failed"
        report.longrepr = f"skipped, and not on the list in tests/may_skip.py: {file}: {reason}"


# ------------------------------------------------------------ the corpus


def corpus_files(pattern: str) -> list[Path]:
    """Files of the corpus; none where it is absent, and `needs_corpus` says so."""
    return sorted(path for path in CORPUS.glob(pattern) if path.is_file())


needs_corpus = pytest.mark.skipif(
    not CORPUS.is_dir(),
    reason=f"needs the real transcripts: none at {CORPUS} (set MINUTEBOOK_CORPUS)",
)


def is_listed(path: Path, names: tuple[tuple[str, str], ...]) -> bool:
    """Whether a file of the corpus is on a list of `tests.may_skip`."""
    return path.relative_to(CORPUS).as_posix() in dict(names)


def corpus_sessions(*patterns: str) -> list[Path]:
    """Claude Code's sessions in the corpus that have a round to show; subagents' files aside."""
    return [
        path
        for pattern in patterns
        for path in corpus_files(pattern)
        if not path.name.startswith("agent-") and not is_listed(path, FOREIGN + WITHOUT_ROUNDS)
    ]


def short(path: Path) -> str:
    """A test id for a file."""
    return "/".join(path.parts[-3:])[-70:] if isinstance(path, Path) else str(path)


# ------------------------------------------------------------ fixtures


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folders for `own_home`; `mktemp` looks at all there are before it makes one more."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in count())


@pytest.fixture(autouse=True)
def own_home(homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test sees the developer's own transcripts or archive."""
    home = next(homes)
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("TZ", "UTC")
    for name in _PERSONAL:
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture(scope="session")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A configuration folder with the example sessions."""
    folder = tmp_path_factory.mktemp("examples")
    write_examples(folder)
    return folder


@pytest.fixture
def read_records(tmp_path: Path) -> ReadRecords:
    """Writes records (or raw lines) to a transcript and reads it back."""

    def read(
        *records: Record | bytes,
        depth: Depth = "full",
        name: str = "11111111-2222-4333-8444-555555555555",
    ) -> tuple[Session, FormatReport]:
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(b"".join(as_line(record) + b"\n" for record in records))
        reading = ClaudeReading(path, depth)
        session = read_session(reading)
        return session, reading.report

    return read


def as_line(record: Record | bytes) -> bytes:
    if isinstance(record, bytes):
        return record
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode()


def user(content: Any, **fields: Any) -> Record:
    """A user record with the fields a real one has."""
    return {
        "type": "user",
        "message": {"role": "user", "content": content},
        "timestamp": "2026-03-01T10:00:00.000Z",
        **fields,
    }


def assistant(*blocks: Record | str, id: str = "msg_1", **fields: Any) -> Record:
    """An assistant record; a string is a text block."""
    content = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
    message = {"id": id, "role": "assistant", "model": "claude-opus-4-6", "content": content}
    return {
        "type": "assistant",
        "message": message,
        "timestamp": "2026-03-01T10:00:05.000Z",
        **fields,
    }


def tool_use(id: str, name: str = "Bash", **input: Any) -> Record:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def tool_result(id: str, content: Any = "ok", **fields: Any) -> Record:
    return user([{"type": "tool_result", "tool_use_id": id, "content": content}], **fields)
