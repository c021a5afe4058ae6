"""What tools take, each with the sentence an agent reads about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from minutebook.archive.finding import Sort as _Sort
from minutebook.derive.usage.tally import Dimension
from minutebook.index.engine import Mode as _Mode
from minutebook.model.engagement import Method as _Method
from minutebook.verbs.round_text import Level

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
Project = Annotated[
    str | None,
    Field(description="Only the project of that name, else those whose path contains it."),
]
Agent = Annotated[
    str | None,
    Field(
        description="A coding agent, by exactly the program= of an answer or its name; else part "
        "of a persona's name, role or slug."
    ),
]
Method = Annotated[_Method | None, Field(description="Only this method.")]
Phase = Annotated[str | None, Field(description="Only this phase, such as completed.")]
Since = Annotated[
    str | None, Field(description="From this date on: 2026-03-01, yesterday, last week, March, 7d.")
]
Until = Annotated[str | None, Field(description="Up to the end of that day, week or month.")]
Date = Annotated[
    str | None,
    Field(description="Only that day or period: yesterday, last week, March, 2026-03-15."),
]
Branch = Annotated[str | None, Field(description="Only git branches that contain this.")]
Model = Annotated[str | None, Field(description="Only models whose name contains this.")]
HasTools = Annotated[
    bool | None, Field(description="Only rounds with (true) or without (false) tool calls.")
]
Command = Annotated[
    str | None, Field(description="Only rounds in which tools ran this, word by word: git push.")
]
Error = Annotated[
    str | None, Field(description="Only rounds in which a call failed with this text.")
]
Budget = Annotated[
    str | None,
    Field(description="Only rounds in which the model's window was so full, in percent: >80, <50."),
]
Instructions = Annotated[
    str | None,
    Field(description="Only sessions with this version of the instructions (its hash)."),
]
Thread = Annotated[
    str | None,
    Field(description="Only one thread (work that spans sessions): the thread= of an answer."),
]
Side = Annotated[
    Literal["asked", "answered", "both"],
    Field(description="Only what the person asked, only what was answered, or both."),
]
Sort = Annotated[_Sort, Field(description="relevance: best first; date: newest first.")]
Mode = Annotated[
    _Mode, Field(description="lexical: by words; semantic: by meaning; hybrid: by both.")
]
File = Annotated[
    str | None,
    Field(
        description="Instead of a query: rounds that read or changed a file. The end of its "
        "path, or a glob."
    ),
]
Starred = Annotated[bool, Field(description="Only what the person starred.")]
Hidden = Annotated[bool, Field(description="Include what the person hid.")]
Session = Annotated[
    str | None, Field(description="The start of a session's id, its title or its name.")
]
Recorded = Annotated[
    bool, Field(description="Only links that transcripts record, nothing inferred.")
]
Limit = Annotated[int, Field(ge=1, description="At most this many results.")]
Cursor = Annotated[
    str | None, Field(description="The cursor of the last answer, for the next page.")
]
Subject = Annotated[
    str,
    Field(
        description="What the decision is about: those with all the words come first, then those "
        "with most of them, then those that mean something like it. Empty for all."
    ),
]
By = Annotated[Dimension, Field(description="What to sum up by.")]
OneSession = Annotated[
    str | None, Field(description="Only this session: the start of its id, its title or its name.")
]
NamedSession = Annotated[
    str, Field(description="The start of a session's id, its title or its name.")
]
OtherSession = Annotated[
    str | None, Field(description="A second session to compare with, named the same way.")
]
Address = Annotated[
    str,
    Field(
        description="Rounds of a session, or one block of a round, as other answers name them: "
        "3a4d64e0#12, 3a4d64e0#12-14, 3a4d64e0#12.7. A name or title may stand before the #."
    ),
]
Thinking = Annotated[Level, Field(description="How much of the model's thinking.")]
ToolInput = Annotated[Level, Field(description="How much of what tools were called with.")]
ToolOutput = Annotated[Level, Field(description="How much of what tools answered.")]
About = Annotated[
    str | None,
    Field(description="What it should be about: words or a question, as `search` takes them."),
]
Sessions = Annotated[
    Sequence[str],
    BeforeValidator(lambda given: [given] if isinstance(given, str) else given),
    Field(
        description="Sessions by the start of their id, title or name, also with rounds: "
        "3a4d64e0#3-7. Empty: wherever the query finds something."
    ),
]
Engagement = Annotated[
    str | None,
    Field(
        description="Instead of a query: the engagement= of an answer. Its rounds, in full. Where "
        "several sessions have that id, give the session of the answer in sessions, too."
    ),
]
Compressed = Annotated[bool, Field(description="One line per round, none in full.")]
Tokens = Annotated[int, Field(description="At most this many tokens, 25,000 at the most.")]
