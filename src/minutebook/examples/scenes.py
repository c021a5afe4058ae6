"""The example sessions. Invented people, invented projects, real shapes."""

from __future__ import annotations

from minutebook.examples.script import Script, picture, text, thinking

_PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def passkeys() -> Script:
    """Building a feature: edits, a failing test, a pull request."""
    s = Script("passkeys", cwd="/home/mara/orchard", start="2026-03-02T09:12:00", branch="passkeys")
    s.user("Add passkey login to the orchard web app. Keep the password form for now.")
    s.reply(
        thinking("The login lives in auth/views.py. WebAuthn needs a challenge per session."),
        "I'll look at the current login first.",
        s_call := s.call("Read", {"file_path": "/home/mara/orchard/auth/views.py"}),
        stop="tool_use",
    )
    s.answer(s_call["id"], "1\tdef login(request):\n2\t    form = LoginForm(request.POST)\n")
    s.tool(
        "Edit",
        {
            "file_path": "/home/mara/orchard/auth/views.py",
            "old_string": "def login(request):\n",
            "new_string": "def begin_passkey(request):\n    ...\n\n\ndef login(request):\n",
        },
        "The file /home/mara/orchard/auth/views.py has been updated.",
        say="The view is small, so the passkey endpoints can stand beside it.",
    )
    s.reply("Passkey endpoints are in: one begins the ceremony, one finishes it.")
    s.turn_end()
    s.user("Write tests for both, with a fake authenticator.")
    s.tool(
        "Write",
        {
            "file_path": "/home/mara/orchard/tests/test_passkeys.py",
            "content": "def test_begin(): ...",
        },
        "File created successfully at: /home/mara/orchard/tests/test_passkeys.py",
    )
    s.tool(
        "Bash",
        {"command": "pytest -q tests/test_passkeys.py", "description": "Run the new tests"},
        "Exit code 1\nFAILED tests/test_passkeys.py::test_finish - KeyError: 'challenge'",
        error=True,
    )
    s.reply(
        "`finish` reads the challenge after it was cleared. That is a real bug, so I fix the view."
    )
    s.turn_end()
    s.user("Good catch. Does it also work when two tabs are open?")
    s.reply(
        "Not yet: the second tab overwrites the challenge. Decision: store challenges under "
        "their own id, and let them expire after five minutes."
    )
    s.turn_end()
    s.user("Do that, then open a pull request.", after=180)
    s.tool(
        "Bash",
        {"command": "pytest -q && git push -u origin passkeys", "description": "Test and push"},
        "14 passed in 2.31s",
    )
    s.reply("All 14 tests pass; the pull request is open as #41.")
    s.bare(
        "pr-link",
        prNumber=41,
        prUrl="https://git.example/orchard/pull/41",
        prRepository="orchard/orchard",
        timestamp=s.now(),
    )
    s.turn_end()
    s.title("Add passkey login to orchard")
    return s


def passkeys_fork() -> Script:
    """The same session taken up elsewhere: history copied, message ids and all."""
    s = passkeys().fork("passkeys-fork", after_days=1)
    s.user("Next: hide the password form behind a feature flag, on by default.")
    s.reply("The form is behind `ORCHARD_PASSWORD_LOGIN`, on by default until the next release.")
    s.user("And the docs?")
    s.reply("Updated: the login page of the handbook describes both ways.")
    s.title("Hide the password form behind a flag")
    return s


def search_drift() -> Script:
    """Debugging with a subagent, in a session that was renamed."""
    s = Script("search-drift", cwd="/home/mara/orchard", start="2026-03-04T14:02:00")
    s.user("Search misses notes that were edited. Find out why.")
    agent = s.subagent(
        "Explore",
        "Find index writers",
        "List every place that writes to notes or notes_fts, with file and line.",
        "Two writers: notes/store.py:88 (upsert) and notes/importer.py:41 (INSERT OR REPLACE).",
    )
    agent.tool(
        "Grep",
        {"pattern": "notes_fts", "path": "/home/mara/orchard"},
        "notes/store.py:88\nnotes/importer.py:41",
    )
    agent.reply(
        "Two writers: notes/store.py:88 (upsert) and notes/importer.py:41 (INSERT OR REPLACE)."
    )
    s.reply(
        "The importer uses INSERT OR REPLACE, which changes rowids behind the full-text index. "
        "Decision: use UPSERT everywhere and let triggers keep the index in step."
    )
    s.turn_end()
    s.rename("Reed")
    s.user("Fix it, and add an integrity check to the test suite.")
    s.tool(
        "MultiEdit",
        {
            "file_path": "/home/mara/orchard/notes/importer.py",
            "edits": [{"old_string": "INSERT OR REPLACE", "new_string": "INSERT"}],
        },
        "Applied 1 edit",
    )
    s.reply("Fixed. The suite now runs the index's own integrity check after every import.")
    s.turn_end()
    s.user("Thanks. What would have caught this earlier?")
    s.reply("A property test: after any sequence of writes, search equals a scan. I added one.")
    s.turn_end()
    return s


def ontology() -> Script:
    """A design discussion by an agent that signs what it posts."""
    s = Script(
        "ontology", cwd="/home/mara/atlas", start="2026-03-09T10:30:00", model="claude-opus-4-6"
    )
    s.user("Let's settle the ontology: are places and regions one type or two?")
    s.reply(
        thinking("They share geometry. Regions contain places. Two types with one supertype?"),
        "One supertype `Extent` with two kinds. A place can become a region when it grows, and "
        "an identity must survive that.",
    )
    s.user("What about events?")
    s.reply("Events are not extents: they have a time first and a place second.")
    s.user("Agreed. Post the decision to the board.", after=240)
    s.tool(
        "Write",
        {
            "file_path": "/home/mara/atlas/board/2026-03-09-ontology.md",
            "content": "Places and regions share `Extent`; events stand apart.\n\n"
            "[claude:opus::Wren]\n",
        },
        "File created successfully at: /home/mara/atlas/board/2026-03-09-ontology.md",
    )
    s.reply("Posted.\n\n[claude:opus::Wren]")
    s.title("Settle the ontology of places, regions and events")
    return s


def migration() -> Script:
    """A long piece of work that ran out of context once."""
    s = Script("migration", cwd="/home/mara/atlas", start="2026-03-11T08:00:00", branch="migrate")
    s.user("Migrate the atlas store from files to SQLite, table by table.")
    for table in ("extents", "events", "links"):
        s.tool(
            "Bash",
            {"command": f"python migrate.py {table}", "description": f"Migrate {table}"},
            f"{table}: ok",
        )
    s.reply("Three of five tables are moved and verified.")
    s.turn_end()
    s.user("Go on with sources and notes.")
    s.compaction("Tables extents, events and links are migrated; sources and notes remain.")
    s.tool("Bash", {"command": "python migrate.py sources"}, "sources: ok")
    s.tool("Bash", {"command": "python migrate.py notes"}, "notes: 2 rows rejected", error=True)
    s.reply("Sources are done. Two notes have no author, which the schema forbids.")
    s.turn_end()
    s.user("Give them the author 'unknown' and finish.")
    s.reply("Done: all five tables are in SQLite, and the file store is read-only.")
    s.turn_end()
    s.user("<bash-input>du -sh store.db</bash-input>")
    s.user("<bash-stdout>41M\tstore.db</bash-stdout><bash-stderr></bash-stderr>", after=1)
    s.title("Migrate atlas to SQLite")
    return s


def outage() -> Script:
    """Triage under pressure: parallel calls, an interruption, prompts typed while it worked."""
    s = Script(
        "outage", cwd="/home/mara/ledger", start="2026-03-13T22:41:00", model="claude-opus-4-6"
    )
    s.user(
        [picture(_PIXEL), text("The dashboard looks like this since 22:30. What is wrong?")],
    )
    first = s.call("Bash", {"command": "kubectl get pods -n ledger"})
    second = s.call("Bash", {"command": "kubectl logs deploy/ledger --tail 50"})
    s.reply("Checking the pods and the log at once.", first, second, stop="tool_use")
    s.answer(second["id"], "OOMKilled\nrestarting\n\x1b[31mERROR\x1b[0m heap exhausted")
    s.queue("enqueue", "ignore the staging cluster, only production matters")
    s.answer(first["id"], "ledger-7c9 0/1 CrashLoopBackOff")
    s.queue("remove")
    s.reply("Production only, understood. The pods are killed for memory since the 22:28 rollout.")
    s.user("[Request interrupted by user]", after=5)
    s.user("Roll back first, explain later.")
    s.tool("Bash", {"command": "kubectl rollout undo deploy/ledger"}, "deployment rolled back")
    s.reply("Rolled back; error rate is at zero again. The new release cached whole statements.")
    s.turn_end()
    s.title("Ledger outage after the 22:28 rollout")
    return s


def blog() -> Script:
    """Not everybody writes English."""
    s = Script("blog", cwd="/home/mara/日記", start="2026-03-16T07:20:00")
    s.user("ブログの下書きを書いてください。テーマは朝の散歩です。")
    s.reply("朝の散歩について、三つの短い段落で下書きを作りました。")
    s.user("もう少し静かな調子にしてください。🌸")
    s.reply("文を短くし、形容詞を減らしました。")
    s.user("Und jetzt bitte eine deutsche Fassung, in der »du«-Form.")
    s.reply("Hier ist die deutsche Fassung. Die Überschrift heißt jetzt »Früh am Fluss«.")
    s.title("朝の散歩のブログ")
    return s


def review() -> Script:
    """A review started by a slash command, in the style of an older version."""
    s = Script("review", cwd="/home/mara/ledger", start="2026-02-20T16:00:00", version="2.1.40")
    command = (
        "<command-message>review is running…</command-message>\n"
        "<command-name>/review</command-name>\n<command-args>the rounding branch</command-args>"
    )
    s.user(command)
    s.meta("Review the branch named in the arguments. Report findings by severity.")
    s.tool("Bash", {"command": "git diff main...rounding"}, "+    return round(amount, 2)")
    s.reply("One finding: `round` rounds half to even, statements round half up.")
    s.user("Which tests would show it?")
    s.reply("A statement of 2.5 cents: today it gives 2, the bank gives 3.")
    s.user("Write that test, mark it as expected to fail, and hand over to Jonas.")
    s.tool(
        "Write",
        {
            "file_path": "tests/test_rounding.py",
            "content": "@pytest.mark.xfail\ndef test_half(): ...",
        },
        "File created successfully at: tests/test_rounding.py",
    )
    s.reply("Done. Jonas has the failing test and the two lines it points to.")
    return s


def ghost() -> Script:
    """Opened by accident, closed at once."""
    s = Script("ghost", cwd="/home/mara/orchard", start="2026-03-05T18:00:00")
    s.user("hi")
    s.reply("Hello! What shall we work on?")
    return s


SCENES = (
    passkeys,
    passkeys_fork,
    search_drift,
    ontology,
    migration,
    outage,
    blog,
    review,
    ghost,
)
