"""Subagents, in each of the places versions have put them."""

from __future__ import annotations

import json

from tests.generated import tools, words
from tests.generated.pen import Pen, Record

_TASK = "Find every use of `Basket` below src and list the files."


def spawn(pen: Pen) -> None:
    call = _call(pen, _TASK + " " + pen.hexadecimal(6))
    pen.reply("I ask an agent.", call, stop="tool_use")
    _work(pen, call)


def spawn_two(pen: Pen) -> None:
    """The answers come in the other order; the second agent never got going."""
    one, other = (_call(pen, f"{_TASK} Part {n}, {pen.hexadecimal(6)}.") for n in (1, 2))
    pen.reply(one, other, stop="tool_use")
    pen.result(other, "Error: no such agent", "Error: no such agent", error=True)
    _work(pen, one)


def compaction_helper(pen: Pen) -> None:
    """The interface's own agent, which no call of the model started."""
    id = f"acompact-{pen.hexadecimal(6)}"
    agent = _own_pen(pen, id)
    agent.user("Summarise the conversation so far.")
    agent.reply("1. The redirect was mended.")
    pen.beside[f"{pen.session_id}/subagents/agent-{id}.jsonl"] = b"".join(agent.lines)


def warm_up(pen: Pen) -> None:
    """2.0.x starts agents before anybody asks for one."""
    id = pen.hexadecimal(7)
    agent = _own_pen(pen, id)
    agent.user("Warmup")
    agent.reply("Ready.")
    pen.beside[f"agent-{id}.jsonl"] = b"".join(agent.lines)


def _call(pen: Pen, task: str) -> Record:
    return pen.call(
        pen.version.spawning_tool,
        {"description": "Find uses", "prompt": task, "subagent_type": "general-purpose"},
    )


def _own_pen(pen: Pen, id: str) -> Pen:
    return Pen(pen.chance, pen.version, pen.cwd, pen.at, session_id=pen.session_id, agent_id=id)


def _work(pen: Pen, call: Record) -> None:
    """The agent does its task, somewhere; then the call is answered."""
    said = words.reply(pen.chance)
    where = pen.version.sidechains
    id = None if where == "inline" else f"a{pen.hexadecimal(6 if where == 'beside' else 16)}"
    if id is None:
        _inline(pen, call, said)
    else:
        _in_a_file(pen, call, id, said)
    parts = [{"type": "text", "text": said}]
    twin: Record = {"content": parts, "totalDurationMs": 4_000, "totalTokens": 9_000}
    twin |= {"totalToolUseCount": 1, "usage": {"input_tokens": 4, "output_tokens": 90}}
    if id is not None:
        twin |= {"status": "completed", "prompt": call["input"]["prompt"], "agentId": id}
    pen.result(call, parts, twin)


def _task(agent: Pen, task: str, said: str) -> None:
    agent.user(task, root=True)
    used = tools.grep(agent)
    agent.reply("I search.", used.call, stop="tool_use")
    agent.result(used.call, used.content, used.twin)
    agent.reply(said)


def _inline(pen: Pen, call: Record, said: str) -> None:
    main, pen.sidechain = pen.parent, True
    _task(pen, call["input"]["prompt"], said)
    pen.parent, pen.sidechain = main, False


def _in_a_file(pen: Pen, call: Record, id: str, said: str) -> None:
    agent = _own_pen(pen, id)
    _task(agent, call["input"]["prompt"], said)
    pen.at = agent.at
    if pen.version.ticks:
        _progress(pen, call, id, agent.lines)
    name = f"agent-{id}"
    folder = f"{pen.session_id}/subagents/" if pen.version.sidechains == "folder" else ""
    pen.beside[f"{folder}{name}.jsonl"] = b"".join(agent.lines)
    if pen.version.since("2.1.90"):
        meta = {"agentType": "general-purpose", "description": "Find uses"}
        if pen.version.since("2.1.140"):
            meta["toolUseId"] = call["id"]
        pen.beside[f"{folder}{name}.meta.json"] = json.dumps(meta).encode()


def _progress(pen: Pen, call: Record, id: str, lines: list[bytes]) -> None:
    """The same messages once more, wrapped, in the main file."""
    for line in lines:
        record = json.loads(line)
        message = {key: record[key] for key in ("type", "message", "uuid", "timestamp")}
        data = {"message": message, "normalizedMessages": [], "type": "agent_progress"}
        data |= {"prompt": call["input"]["prompt"], "agentId": id}
        ids = {"toolUseID": f"agent_{pen.token('msg_01', 8)}", "parentToolUseID": call["id"]}
        pen.write({"type": "progress", "data": data, **ids})
