"""Scenes: what happens in a session, one thing each. Every scene begins with a prompt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.generated import agents, tools, words
from tests.generated.pen import Pen, Reply
from tests.generated.versions import Version

Play = Callable[[Pen], None]


@dataclass(frozen=True)
class Scene:
    name: str
    play: Play
    first: str
    last: str

    def fits(self, version: Version) -> bool:
        return version.within(self.first, self.last)


SCENES: list[Scene] = []


def scene(first: str = "0.0", last: str = "9.0") -> Callable[[Play], Play]:
    """Register a scene, with the first and last version it can happen in."""

    def register(play: Play) -> Play:
        SCENES.append(Scene(play.__name__, play, first, last))
        return play

    return register


def _use(pen: Pen, *used: tools.Used) -> None:
    """Calls in one reply, and then their answers."""
    pen.reply(*(one.call for one in used), stop="tool_use")
    for one in used:
        _answer(pen, one)


def _answer(pen: Pen, used: tools.Used) -> None:
    pen.result(used.call, used.content, used.twin, error=used.error)


# ------------------------------------------------------------ talk and tools


@scene()
def talk(pen: Pen) -> None:
    pen.prompt()
    pen.reply(words.reply(pen.chance))


@scene()
def every_tool(pen: Pen) -> None:
    pen.prompt()
    for tool in pen.chance.sample(tools.TOOLS, len(tools.TOOLS)):
        _use(pen, tool(pen))
    pen.reply(words.reply(pen.chance))


@scene()
def parallel_calls(pen: Pen) -> None:
    """Answers come back in another order, and while the reply still streams."""
    pen.prompt()
    first, *others = (tool(pen) for tool in pen.chance.sample(tools.TOOLS, 4))
    reply = Reply(pen, 6, "tool_use")
    reply.add(pen.thinking())
    reply.add({"type": "text", "text": "Four things at once."})
    reply.add(first.call)
    streams = not pen.version.whole_messages
    if streams:
        _answer(pen, first)
    for one in others:
        reply.add(one.call)
    for one in reversed(others if streams else [first, *others]):
        _answer(pen, one)
    pen.reply(pen.thinking(), words.reply(pen.chance))


@scene("1.0.35")
def withheld_thinking(pen: Pen) -> None:
    pen.prompt()
    redacted = {"type": "redacted_thinking", "data": pen.token("EmwKAhgB", 200)}
    pen.reply(pen.thinking(), redacted, words.reply(pen.chance))


@scene("2.1.0")
def spilled_output(pen: Pen) -> None:
    """Too large an output is moved to a file; another one's file is gone."""
    pen.prompt()
    for kept in (True, False):
        output = words.listing(pen.chance, 400)
        name = f"{pen.hexadecimal(9)}.txt"
        path = f"/home/dev/.claude/projects/x/{pen.session_id}/tool-results/{name}"
        if kept:
            pen.beside[f"{pen.session_id}/tool-results/{name}"] = output.encode()
        call = pen.call("Bash", {"command": "pytest -v", "description": "All of it"})
        told = (
            f"<persisted-output>\nOutput too large ({len(output) / 1024:.1f}KB). Full output "
            f"saved to: {path}\n\nPreview (first 2KB):\n{output[:2000]}\n...\n</persisted-output>"
        )
        pen.reply(call, stop="tool_use")
        twin = {"stdout": output, "stderr": "", "interrupted": False}
        pen.result(call, told, {**twin, "persistedOutputPath": path, "persistedOutputSize": 9})
    pen.reply(words.reply(pen.chance))


@scene()
def pictures(pen: Pen) -> None:
    pen.prompt("what is wrong with this chart?", tools.image())
    pen.user([{"type": "text", "text": "[Image: source: /tmp/chart.png]"}], isMeta=True)
    pen.reply("The axis starts at 40.")
    source = {"type": "base64", "media_type": "application/pdf", "data": tools.PDF}
    pen.prompt("and with this paper?", {"type": "document", "source": source})
    pen.reply("It has no pages.")


# ------------------------------------------------------------ subagents


@scene()
def subagent(pen: Pen) -> None:
    pen.prompt("look for every use of `Basket`; use an agent.")
    agents.spawn(pen)
    pen.reply(words.reply(pen.chance))


@scene()
def two_subagents(pen: Pen) -> None:
    """At once; the second one fails."""
    pen.prompt("two agents: one reads the code, one the tests.")
    agents.spawn_two(pen)
    pen.reply(words.reply(pen.chance))


# ------------------------------------------------------------ the queue


@scene("2.0.71")
def queued_and_sent(pen: Pen) -> None:
    """Typed while the model works; comes back as a user record."""
    pen.prompt()
    pen.reply(words.reply(pen.chance))
    text = pen.asked("and when that is done, the changelog.")
    pen.queue("enqueue", text)
    pen.queue("dequeue")
    pen.user(text)
    pen.reply(words.reply(pen.chance))


@scene("2.1.0", "2.1.89")
def queued_and_injected(pen: Pen) -> None:
    """Only the queue holds what was typed."""
    pen.prompt()
    used = tools.bash(pen)
    pen.reply(used.call, stop="tool_use")
    pen.queue("enqueue", pen.asked("stop after the first failure."))
    pen.queue("remove")
    pen.result(used.call, used.content, used.twin)
    pen.reply(words.reply(pen.chance))


@scene("2.1.100")
def queued_and_attached(pen: Pen) -> None:
    pen.prompt()
    used = tools.bash(pen)
    pen.reply(used.call, stop="tool_use")
    text = pen.asked("leave the fixtures alone.")
    pen.queue("enqueue", text)
    pen.queue("remove")
    pen.result(used.call, used.content, used.twin)
    pen.attachment("queued_command", prompt=text, commandMode="prompt")
    pen.reply(words.reply(pen.chance))


@scene("2.0.71")
def taken_back(pen: Pen) -> None:
    """Typed, and taken back into the editor: never said."""
    pen.prompt()
    text = "NEVER-SAID: delete everything."
    pen.queue("enqueue", text)
    pen.queue("popAll", text)
    pen.reply(words.reply(pen.chance))


# ------------------------------------------------------------ the harness speaks


@scene()
def compaction(pen: Pen) -> None:
    pen.prompt()
    pen.reply(words.reply(pen.chance))
    before, version = pen.parent, pen.version
    if version.since("1.0.117"):
        meta = {"trigger": "auto", "preTokens": pen.context}
        pen.system(
            "compact_boundary",
            root=True,
            logicalParentUuid=before,
            content="Conversation compacted",
            level="info",
            compactMetadata=meta,
        )
    flags = {"isCompactSummary": True} if version.since("1.0.35") else {}
    if version.since("1.0.117"):
        flags["isVisibleInTranscriptOnly"] = True
    pen.user(
        "This session is being continued from a previous conversation that ran out of context. "
        "The summary below covers the earlier portion.\n\n1. The redirect was mended.\n",
        root=not version.since("1.0.117"),
        **flags,
    )
    pen.context = 9_000
    if version.sidechains == "folder":
        agents.compaction_helper(pen)
    pen.prompt("go on.")
    pen.reply(words.reply(pen.chance))


@scene()
def commands(pen: Pen) -> None:
    """One that the interface handles, one that prompts, and a shell line."""
    pen.prompt()
    pen.reply(words.reply(pen.chance))
    pen.user(
        "Caveat: The messages below were generated by the user while running local commands.",
        isMeta=True,
    )
    pen.user(_command("model", ""))
    pen.user("<local-command-stdout>Set model to opus\x1b[22m</local-command-stdout>")
    pen.user(
        "<command-message>review is running…</command-message>\n<command-name>/review"
        f"</command-name>\n<command-args>{pen.asked('the login')}</command-args>"
    )
    pen.user([{"type": "text", "text": "Review what is named below.\n\n# Login"}], isMeta=True)
    pen.reply(words.reply(pen.chance))
    pen.user(f"<bash-input>git status # {pen.asked('')}</bash-input>")
    pen.user("<bash-stdout>nothing to commit</bash-stdout><bash-stderr></bash-stderr>")


def _command(name: str, args: str) -> str:
    return (
        f"<command-name>/{name}</command-name>\n            <command-message>{name}"
        f"</command-message>\n            <command-args>{args}</command-args>"
    )


@scene("2.1.68")
def renamed(pen: Pen) -> None:
    pen.prompt()
    pen.reply(words.reply(pen.chance))
    title = f"Crate {pen.hexadecimal(4)}"
    pen.system("local_command", content=_command("rename", title), level="info")
    pen.bare(type="custom-title", customTitle=title, sessionId=pen.session_id)
    pen.bare(type="agent-name", agentName=title, sessionId=pen.session_id)
    told = f"<local-command-stdout>Session renamed to: {title}</local-command-stdout>"
    pen.system("local_command", content=told, level="info")


@scene()
def interruptions(pen: Pen) -> None:
    """Stopped in the middle of a reply, and at a question; a call without an answer."""
    pen.prompt()
    pen.reply("I'll begin with")
    pen.user([{"type": "text", "text": "[Request interrupted by user]"}])
    pen.prompt("no: the other file.")
    _use(pen, tools.refused(pen))
    pen.user([{"type": "text", "text": "[Request interrupted by user for tool use]"}])
    pen.prompt("once more.")
    pen.reply(tools.bash(pen).call, stop="tool_use")
    pen.user([{"type": "text", "text": "[Request interrupted by user]"}])


@scene()
def synthetic_replies(pen: Pen) -> None:
    """What the interface says in the model's place."""
    pen.prompt()
    if pen.version.since("2.0.5"):
        error = {"status": 529, "message": "overloaded"}
        pen.system("api_error", level="error", error=error, retryInMs=600.5, retryAttempt=1)
    usage = {"input_tokens": 0, "output_tokens": 0, "service_tier": None}
    message = {
        "id": pen.uuid(),
        "model": "<synthetic>",
        "role": "assistant",
        "stop_reason": "stop_sequence",
        "type": "message",
        "usage": usage,
        "content": [{"type": "text", "text": "API Error: 529 overloaded"}],
    }
    pen.write({"message": message, "type": "assistant"}, isApiErrorMessage=True)
    pen.prompt("again, please.")
    pen.reply(words.reply(pen.chance))


@scene("2.1.100")
def attachments(pen: Pen) -> None:
    pen.prompt("see @requirements.txt")
    path = pen.path("requirements.txt")
    file = {"filePath": path, "content": "click\n", "numLines": 2, "startLine": 1, "totalLines": 2}
    pen.attachment("file", filename=path, content={"type": "text", "file": file})
    pen.attachment("hook_success", hookName="Stop", hookEvent="Stop", stdout="{}", exitCode=0)
    pen.attachment("total_tokens_reminder", text="<total_tokens>180000</total_tokens>")
    pen.attachment("edited_text_file", filename=path, snippet="1→click\n")
    pen.attachment("hook_additional_context", content=["Use tabs."], hookName="SessionStart")
    pen.reply(words.reply(pen.chance))


@scene("2.1.29")
def pull_request(pen: Pen) -> None:
    pen.prompt("open a pull request.")
    _use(pen, tools.bash(pen))
    number = pen.chance.randint(1, 900)
    pen.bare(
        type="pr-link",
        sessionId=pen.session_id,
        prNumber=number,
        prUrl=f"https://github.com/example/orchard/pull/{number}",
        prRepository="example/orchard",
        timestamp=pen.stamp(),
    )
    pen.reply(words.reply(pen.chance))


@scene("2.1.9", "2.1.81")
def ticks(pen: Pen) -> None:
    """Progress of a command, line by line."""
    pen.prompt()
    used = tools.bash(pen)
    pen.reply(used.call, stop="tool_use")
    for seconds in range(3):
        data = {
            "type": "bash_progress",
            "output": "…",
            "fullOutput": "…",
            "elapsedTimeSeconds": seconds,
        }
        pen.write({"type": "progress", "data": data, "parentToolUseID": used.call["id"]})
    pen.result(used.call, used.content, used.twin)
    pen.reply(words.reply(pen.chance))


@scene("1.0.55")
def moved(pen: Pen) -> None:
    """Another folder, another branch, later the same week; stamped out of order."""
    pen.wait(40 * 3600)
    pen.cwd, pen.branch = f"{pen.cwd}/deeper", "release"
    pen.prompt()
    pen.wait(-7)
    pen.reply(words.reply(pen.chance))
    pen.wait(7)
    pen.cwd = pen.cwd.removesuffix("/deeper")
