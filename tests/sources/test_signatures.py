"""Whose name a signature gives (ID-05)."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.conftest import ReadRecords, assistant, tool_use, user

OWN = "11111111"  # of the session `read_records` writes
REED = "[claude:opus::Reed]"


def signed(read_records: ReadRecords, *blocks: Any) -> tuple[str, ...]:
    """The names at both depths, which must agree."""
    records = [user("go"), *(assistant(block, id=f"m{n}") for n, block in enumerate(blocks))]
    skim, full = (
        read_records(*records, depth=depth)[0].info.names.signatures for depth in ("skim", "full")
    )
    assert skim == full
    return full


WROTE: dict[str, Any] = {
    "text": f"Posted.\n\n{REED}",
    "write": tool_use("c", "Write", file_path="board.md", content=f"Done. {REED}"),
    "edit": tool_use("c", "Edit", file_path="b.md", old_string="x", new_string=REED),
    "edits": tool_use("c", "MultiEdit", file_path="b", edits=[{"new_string": REED}]),
    "comment": tool_use("c", "Write", file_path="a.py", content=f"# reviewed {REED}\nx = 1"),
    "data": tool_use("c", "Write", file_path="b.jsonl", content=f'{{"by": "{REED}"}}'),
    "echo": tool_use("c", "Bash", command=f'echo "hello {REED}" >> board.md'),
    "here": tool_use("c", "Bash", command=f"cat >> b.md <<'EOF'\nlook; grep on\n{REED}\nEOF"),
    "after a search": tool_use("c", "Bash", command=f"grep x b && echo {REED} >> b"),
    "own id": f"[claude:opus-4:{OWN}:Reed]",
}


@pytest.mark.parametrize("where", WROTE)
def test_what_a_session_writes_names_it(read_records: ReadRecords, where: str) -> None:
    """ID-05: its words, what it puts into files, what it tells the shell to write."""
    assert signed(read_records, WROTE[where]) == ("Reed",)


NOT_ITS_OWN: dict[str, Any] = {
    "another's id": "[claude:opus:deadbeef:Reed]",
    "replaced": tool_use("c", "Edit", file_path="b.md", old_string=REED, new_string="x"),
    "searched": tool_use("c", "Grep", pattern=REED),
    "grep": tool_use("c", "Bash", command=f"cat board.md | grep -F '{REED}' | head"),
    "git grep": tool_use("c", "Bash", command=f"LC_ALL=C git grep '{REED}'"),
    "sed": tool_use("c", "Bash", command=f"cd a; sed -n '/{REED}/p' b"),
    "read": tool_use("c", "Read", file_path=REED),
    "code span": f"Sign with `{REED}` please",
    "long code span": f"Sign with `` ` {REED} `` please",
    "code block": f"Like this:\n```\n{REED}\n```\n",
    "quotation": f"Wren wrote:\n> hello\n> {REED}",
    "string": tool_use("c", "Write", file_path="t.py", content=f'SIGNED = "{REED}"'),
    "placeholder": "[claude:opus::AgentName]",
    "placeholders": "[claude:opus::Name] [claude:opus::<name>] [claude:model::Reed]",
    "templates": "[claude:opus::{name}] [claude:opus::$NAME] [claude:opus::...]",
    "your name": "[claude:opus::your-name]",
}


@pytest.mark.parametrize("where", NOT_ITS_OWN)
def test_what_a_session_quotes_names_nobody(read_records: ReadRecords, where: str) -> None:
    """ID-05: another session's, replaced or searched text, quoted code, placeholders."""
    assert signed(read_records, NOT_ITS_OWN[where]) == ()


def test_the_first_signature_wins(read_records: ReadRecords) -> None:
    """ID-05: later ones are copied from others."""
    later = "Forwarding. [claude:opus::Wren]"
    assert signed(read_records, NOT_ITS_OWN["code span"], REED, later) == ("Reed",)


def test_ticks_without_end_do_not_hang(read_records: ReadRecords) -> None:
    """No expression backtracks over what a transcript holds."""
    start = time.monotonic()
    text = "".join("`" * (n % 700) + "a" for n in range(3_000)) + "<<" * 50_000 + REED
    signed(read_records, text, tool_use("c", "Bash", command=f"A=1 {'x=y ' * 50_000}{REED}"))
    assert time.monotonic() - start < 5
