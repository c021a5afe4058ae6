"""The glossary, for people: ``minutebook help WORD`` and docs/glossary.md are made from it."""

from __future__ import annotations

WORDS = {
    "address": "What names a round: a session, # and a number. `3a4d#12` is round 12 of the "
    "session whose id begins with 3a4d, `3a4d#12-14` three rounds, `3a4d#12.7` one block.",
    "agent": "The persona of a session: its name and its role. `--agent codex` means the program "
    "if the value is exactly the name of one. What a session starts is a subagent.",
    "archive": "The folder where everything is kept: readable documents, one file per round, "
    "engagements, databases. `minutebook status` shows where it is.",
    "block": "One piece of a message: text, thinking, a tool call with its result, a picture.",
    "context": "Text for an agent, built from the rounds it needs, within a number of tokens: "
    "`minutebook context`.",
    "context budget": "How full the model's context window was, round by round: `minutebook "
    "budget`.",
    "copy": "A fork or a resumed session that repeats another one. Copies are labelled, paid for "
    "and counted once; `--copies` lists them.",
    "corpus": "An index of turn pairs for programs, apart from the search index: `minutebook "
    "corpus`.",
    "correction": "What you say about a session or an engagement. It wins over every extraction, "
    "survives re-ingestion, and can be undone: `minutebook correct undo`.",
    "decision": "A choice made in an engagement, in one sentence, with the alternatives if they "
    "were named.",
    "embedder": "What turns texts into vectors, so that a search can compare meanings. One is "
    "built in; `minutebook semantic use` chooses another.",
    "engagement": "A stretch of rounds of one session with one purpose: topic, project, method, "
    "phase, decisions, outcome. `minutebook ingest` finds engagements.",
    "entry": "One line of the ledger: what is archived of one session, and from which source.",
    "extractor": "What cuts sessions into engagements and labels them: offline (rules and small "
    "models on this machine) or a language model. `minutebook ingest --help` lists them.",
    "ghost": "A session without substantive work: few prompts, few tool calls and few words in "
    "the answers. Lists leave ghosts out unless you add `--ghosts`.",
    "hidden": "Left out of lists and statistics by your word (`correct hide`), not deleted. "
    "`--hidden` lists it.",
    "hit": "One result of a search: a round or an engagement, with the command that opens it.",
    "index": "What searches use: words and vectors. Disposable; it is rebuilt if it is missing.",
    "inscription": "The record of a session as a Markdown document. `minutebook inscribe` and "
    "`ingest` write it.",
    "ledger": "The list of what is archived and from which source, so that unchanged sessions "
    "are not read again. Disposable.",
    "lineage": "Which session resumes, forks, copies, continues or started which: `minutebook "
    "lineage`.",
    "message": "What one side contributes to a round: you, the agent, or a tool.",
    "method": "How the work was done: review, write, design, build, reorg, triage, discuss, "
    "debug, deploy, research or plan.",
    "note": "A remark of yours on a session or an engagement: `minutebook correct note`.",
    "obligation": "Something still owed in a prospective engagement, often with a due date.",
    "outcome": "What came of an engagement, in one sentence.",
    "phase": "Where an engagement stands at its end: started, in-progress, blocked, completed, "
    "abandoned or handed-off.",
    "place": "A folder in which transcripts of a coding agent are found. `minutebook agents` "
    "lists them; `--root` names others.",
    "program": "The coding agent that held the conversation. `minutebook agents` lists them.",
    "project": "The folder a session worked in. `--project` matches any part of its path.",
    "prospective": "A prospective engagement is one that you keep while you work, in "
    "engagement.md of the project: `minutebook engagement`.",
    "record": "What the archive knows of one session: who, where, when, and its engagements. "
    "Also the durable files that hold it.",
    "roster": "`agent-roster.jsonl` in the archive: names and roles of sessions.",
    "round": "One message of yours and everything up to the next, numbered from 1. `3a4d#12` is "
    "round 12 of the session whose id begins with 3a4d.",
    "session": "One conversation with a coding agent. Name it by the start of its id, its title, "
    "its agent's name, its slug or its file.",
    "side": "Which half of a round a search looks at: asked (by you) or answered. `search "
    "--side` chooses one.",
    "skeleton": "What an extractor reads of a session: what you and the agent said, round by "
    "round.",
    "source": "The part of minutebook that reads the files of one coding agent. It never writes "
    "to them.",
    "star": "Your mark on a session or an engagement: `minutebook correct star`. `--starred` lists "
    "what has one.",
    "surface": "One searchable text of a turn pair: the prompt, the end of the answer, the whole "
    "answer, or the session's title.",
    "tag": "Your word on which engagement some rounds belong to: `minutebook tag`. `correct` "
    "changes what an engagement says, `tag` what it covers.",
    "thread": "Engagements of several sessions that are one piece of work: `minutebook search "
    "--threads`.",
    "transcript": "The file in which a coding agent keeps a session.",
    "turn pair": "A round as a search sees it: what was asked and what was answered.",
}
"""Each word, and what it means in one or two sentences."""

OVERLAPS = {
    "ingest": "`inscribe` archives sessions, `append` adds new rounds to archived ones, `ingest` "
    "does both and finds engagements, `watch` keeps doing it.",
    "status": "`status` is about the archive (what is kept, what has grown), `doctor` about the "
    "transcripts (what cannot be read), `check` compares the two.",
    "correct": "`correct` changes what a session or engagement says, `tag` which rounds an "
    "engagement covers, `thread` which engagements belong together.",
    "export": "`export` writes a file for people to read, `export-claude` and `export-codex` a "
    "transcript to resume, `context` a text for an agent.",
    "search": "`search` finds what you did, `similar` starts from a round instead of words, "
    "`corpus` is an index for programs.",
}
"""Verbs that look alike, told apart in one line; shown for each verb that the line names."""
