"""Tool calls, what they answer, and the structured twin of the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.generated import words
from tests.generated.pen import Pen, Record

# a red and a blue pixel
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAADUlEQVR4nGP4zwAE/wEHAAH/4iOeWQAAAABJRU5E"
    "rkJggg=="
)
PDF = "JVBERi0xLjQKJSVFT0YK"


class Used(NamedTuple):
    """A call with its answer."""

    call: Record
    content: Any
    twin: Any = None
    error: bool = False


def image() -> Record:
    return {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": PNG},
    }


def bash(pen: Pen) -> Used:
    output = words.listing(pen.chance, pen.chance.randint(2, 12))
    call = pen.call("Bash", {"command": "pytest -q tests", "description": "Run the tests"})
    return Used(call, output, {"stdout": output, "stderr": "", "interrupted": False})


def failing_bash(pen: Pen) -> Used:
    call = pen.call("Bash", {"command": "make lint && git push", "description": "Lint, push"})
    said = "Exit code 2\nruff: not found"
    return Used(call, said, f"Error: {said}", error=True)


def silent_bash(pen: Pen) -> Used:
    """No content at all, as for a command that prints nothing."""
    call = pen.call("Bash", {"command": "mkdir -p build"})
    return Used(call, None, {"stdout": "", "stderr": "", "interrupted": False, "isImage": False})


def read(pen: Pen) -> Used:
    code = pen.chance.choice(words.CODE)
    path = pen.path(f"src/part_{pen.chance.randrange(40)}.py")
    lines = code.split("\n")
    shown = "\n".join(f"{n:6}→{line}" for n, line in enumerate(lines, 1))
    shown += "\n\n<system-reminder>\nConsider whether this file is malware.\n</system-reminder>\n"
    whole = {"numLines": len(lines), "startLine": 1, "totalLines": len(lines)}
    twin = {"type": "text", "file": {"filePath": path, "content": code, **whole}}
    return Used(pen.call("Read", {"file_path": path}), shown, twin)


def read_picture(pen: Pen) -> Used:
    path = pen.path("docs/chart.png")
    twin = {"type": "image", "file": {"base64": PNG, "type": "image/png", "originalSize": 70}}
    return Used(pen.call("Read", {"file_path": path}), [image()], twin)


def edit(pen: Pen) -> Used:
    code = pen.chance.choice(words.CODE)
    path = pen.path(f"src/part_{pen.chance.randrange(40)}.py")
    old = code.split("\n")[1]
    new = f"{old}  # {pen.hexadecimal(6)}"
    lines = [f" {code.split(chr(10))[0]}", f"-{old}", f"+{new}"]
    hunk = {"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": lines}
    twin = {
        "filePath": path,
        "oldString": old,
        "newString": new,
        "originalFile": code,
        "structuredPatch": [hunk],
        "userModified": False,
        "replaceAll": False,
    }
    call = pen.call("Edit", {"file_path": path, "old_string": old, "new_string": new})
    return Used(call, f"The file {path} has been updated.", twin)


def write(pen: Pen) -> Used:
    code = pen.chance.choice(words.CODE)
    path = pen.path(f"src/new_{pen.hexadecimal(4)}.py")
    twin = {"type": "create", "filePath": path, "content": code, "structuredPatch": []}
    call = pen.call("Write", {"file_path": path, "content": code})
    return Used(call, f"File created successfully at: {path}", twin)


def grep(pen: Pen) -> Used:
    names = [pen.path(f"src/part_{n}.py") for n in range(3)]
    call = pen.call("Grep", {"pattern": "Basket", "output_mode": "files_with_matches"})
    twin = {"mode": "files_with_matches", "filenames": names, "numFiles": 3}
    return Used(call, "Found 3 files\n" + "\n".join(names), twin)


def todo(pen: Pen) -> Used:
    tasks = [{"content": "Find the cause", "status": "pending", "activeForm": "Finding"}]
    call = pen.call("TodoWrite", {"todos": tasks})
    return Used(call, "Todos have been modified.", {"oldTodos": [], "newTodos": tasks})


def mcp(pen: Pen) -> Used:
    """Blocks as content, a list as twin."""
    parts = [{"type": "text", "text": f"Issue {n}: {words.SAID[n]}"} for n in range(2)]
    return Used(pen.call("mcp__linear__list_issues", {"limit": 2}), parts, parts)


def fetch(pen: Pen) -> Used:
    call = pen.call("WebFetch", {"url": "https://example.org/guide", "prompt": "What is new?"})
    said = "# Guide\n\n- One page.\n- Nothing else.\n"
    return Used(call, said, {"bytes": 71, "code": 200, "codeText": "OK", "result": said})


def refused(pen: Pen) -> Used:
    """The person said no."""
    call = pen.call("Bash", {"command": "rm -rf build", "description": "Remove the build"})
    said = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    return Used(call, said, "User rejected tool use", error=True)


Tool = Callable[[Pen], Used]
TOOLS: tuple[Tool, ...] = (
    *(bash, failing_bash, silent_bash, read, read_picture, edit),
    *(write, grep, todo, mcp, fetch),
)
