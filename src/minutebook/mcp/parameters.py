"""What tools take, each with the sentence an agent reads about it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from minutebook.archive.finding import Sort as _Sort
from minutebook.derive.usage.tally import Dimension
from minutebook.index.engine import Mode as _Mode

Query = Annotated[
    str,
    Field(
        description='Words, or a question; "a phrase", -without, begin*. Empty lists what passes.'
    ),
]
Where = Annotated[
    str,
    Field(
        description="Where to look, with commas: all (what people said, then what tools did), "
        "turns, engagements, tools (commands and their output), files, thinking, subagents."
    ),
]
Project = Annotated[str | None, Field(description="Part of the project's path.")]
Agent = Annotated[
    str | None,
    Field(
        description="A coding agent, by exactly the program= of an answer; else part of a "
        "persona's name, role or slug."
    ),
]
Method = Annotated[str | None, Field(description="Exactly one of the eleven methods.")]
Phase = Annotated[str | None, Field(description="Exactly this phase, like completed.")]
Since = Annotated[
    str | None, Field(description="From then on: 2026-03-01, yesterday, last week, March, 7d.")
]
Until = Annotated[str | None, Field(description="Up to and with that day, week or month.")]
Branch = Annotated[str | None, Field(description="Part of the git branch.")]
Model = Annotated[str | None, Field(description="Part of the model's name.")]
HasTools = Annotated[
    bool | None, Field(description="Only rounds with (true) or without (false) tool calls.")
]
Command = Annotated[
    str | None, Field(description="Only rounds in which tools ran this, word by word: git push.")
]
Error = Annotated[
    str | None, Field(description="Only rounds in which a call failed with this text in it.")
]
Budget = Annotated[
    str | None,
    Field(description="Only rounds in which the model's window was so full, in percent: >80, <50."),
]
Instructions = Annotated[
    str | None,
    Field(description="Only sessions that had this version of the instructions, by its hash."),
]
Thread = Annotated[
    str | None,
    Field(description="Only one piece of work over several sessions: the thread= of an answer."),
]
Side = Annotated[
    Literal["asked", "answered", "both"],
    Field(description="Only what the person asked, only what was answered, or both."),
]
Sort = Annotated[_Sort, Field(description="relevance: the best first; date: the newest first.")]
Mode = Annotated[
    _Mode, Field(description="lexical: by words; semantic: by meaning; hybrid: by both.")
]
File = Annotated[
    str | None,
    Field(
        description="Instead of a query: who read or changed a file, newest first. The end of its "
        "path, or a glob."
    ),
]
Starred = Annotated[bool, Field(description="Only what the person marked with a star.")]
Hidden = Annotated[bool, Field(description="Also what the person hid.")]
Session = Annotated[
    str | None, Field(description="The start of a session's id, its title or its name.")
]
Recorded = Annotated[
    bool, Field(description="Only what transcripts record, nothing that was inferred.")
]
Limit = Annotated[int, Field(description="How many to answer with at most.")]
Cursor = Annotated[str | None, Field(description="The cursor of the last answer, to go on.")]
Words = Annotated[
    str,
    Field(
        description="What the decision is about: those with all the words come first, then those "
        "that mean something like it. Empty for all."
    ),
]
By = Annotated[Dimension, Field(description="What to sum up by.")]
OneSession = Annotated[
    str | None, Field(description="Only this session: the start of its id, its title or its name.")
]
