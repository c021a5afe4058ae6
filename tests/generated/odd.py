"""Scenes that are not as they should be: odd characters, unknown things, broken lines."""

from __future__ import annotations

from tests.generated import tools, words
from tests.generated.pen import Pen, as_line
from tests.generated.scenes import scene


@scene()
def odd_characters(pen: Pen) -> None:
    """In prompts, replies, thinking, inputs and results."""
    for name, text in pen.chance.sample(list(words.ODDITIES.items()), 5):
        pen.prompt(f"{name}\n{text}")
        call = pen.call("Bash", {"command": f"echo {text}", "description": name})
        pen.reply(pen.thinking(text), text, call, stop="tool_use")
        pen.result(call, text, {"stdout": text, "stderr": ""})
        pen.reply(f"# {name}\n\n{text}\n\n---\n")


@scene()
def unknown_things(pen: Pen) -> None:
    """Records, blocks, attachments and subtypes of a version to come."""
    pen.prompt("what is new?", {"type": "hologram", "depth": 3})
    pen.bare(type="moon-phase", phase="waxing", sessionId=pen.session_id)
    pen.system("tide", content="high", level="info")
    pen.attachment("scent", notes=["apple", "rain"])
    pen.reply({"type": "gesture", "name": "nod"}, "Nobody knows yet.")


@scene()
def broken_lines(pen: Pen) -> None:
    """Half a record in the middle, an empty line, something else entirely, two on one line."""
    pen.prompt()
    pen.reply(words.reply(pen.chance))
    half = as_line({"type": "user", "message": {"role": "user", "content": "cut off he"}})
    pen.lines += [half[:40] + b"\n", b"\n", b"not JSON at all\n", b"[1,2,3]\n", b'"text"\n']
    pen.prompt("is everything there?")
    glued = pen.lines.pop().rstrip(b"\n")
    pen.reply("It is.")
    pen.lines[-1] = glued + pen.lines[-1]


@scene()
def repeated_records(pen: Pen) -> None:
    """The same lines again, and once more."""
    start = len(pen.lines)
    pen.prompt()
    pen.reply("I look.", (used := tools.edit(pen)).call, stop="tool_use")
    pen.result(used.call, used.content, used.twin)
    pen.lines += pen.lines[start:] * 2
    pen.reply(words.reply(pen.chance))


@scene()
def answers_without_calls(pen: Pen) -> None:
    """The call is in a part of the history that is not here."""
    pen.prompt()
    pen.result(pen.call("Bash", {}), "an answer to nobody", None)
    pen.reply(words.reply(pen.chance))
    late = tools.read(pen)
    pen.reply(late.call, stop="tool_use")
    pen.prompt("do not wait.")
    pen.reply(words.reply(pen.chance))
    pen.result(late.call, late.content, late.twin)
    pen.reply(words.reply(pen.chance))
