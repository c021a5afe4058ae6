"""What a call is about, whatever its agent calls its arguments (FMT-10, AGT-03)."""

from __future__ import annotations

from typing import Any

import pytest

from minutebook.derive.calls import command_of, describe, path_of, paths_of
from minutebook.model import ToolCall

PATCH = (
    "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n"
    "*** Add File: docs/b.md\n+z\n*** End Patch\n"
)


@pytest.mark.parametrize(
    ("given", "command"),
    [
        ({"command": "ls -l"}, "ls -l"),
        ({"cmd": "ls -l"}, "ls -l"),
        ({"command": ["bash", "-lc", "ls | wc"]}, "ls | wc"),
        ({"command": ["git", "log", "a b"]}, "git log 'a b'"),
        ({"command": ["git", 7]}, ""),
        ("ls", ""),
    ],
)
def test_a_command_is_found_in_every_form(given: Any, command: str) -> None:
    """AGT-03: a text, under either name, or the words of a command line."""
    assert command_of(ToolCall("1", "shell", given, kind="run")) == command


@pytest.mark.parametrize("given", [PATCH, {"input": PATCH}, {"command": ["apply_patch", PATCH]}])
def test_a_patch_names_its_files(given: Any) -> None:
    """FMT-10: all of them, the first where one is asked for."""
    call = ToolCall("1", "apply_patch", given, kind="edit")
    assert paths_of(call) == ["a.py", "docs/b.md"]
    assert (path_of(call), describe(call)) == ("a.py", "a.py (+2 -1)")


def test_a_patch_that_is_only_quoted_changes_nothing() -> None:
    """FMT-10: text of that form in a call that is not an edit names no file."""
    assert paths_of(ToolCall("1", "note", {"input": PATCH}, kind="other")) == []
