"""More example sessions, for the weeks around the first nine: what a demonstration adds.

Mara's three projects, and Jonas, who shares the ledger with her and takes up what she hands over.
"""

from __future__ import annotations

from minutebook.examples.script import Script, thinking

ORCHARD, ATLAS, LEDGER = "/home/mara/orchard", "/home/mara/atlas", "/home/mara/ledger"
JONAS = "/home/jonas/ledger"


def tiles() -> Script:
    """A plan, before anything is built."""
    s = Script("tiles", cwd=ATLAS, start="2026-02-05T09:05:00", model="claude-opus-4-6", load=6)
    s.user("Plan how the map loads tiles: it fetches all of them again whenever you pan.")
    s.tool(
        "Grep", {"pattern": "fetch_tile", "path": f"{ATLAS}/map"}, "map/view.py:61\nmap/view.py:90"
    )
    s.reply(
        thinking("Options: HTTP cache, an in-memory LRU, or a store on disk."),
        "Three ways: rely on HTTP caching, keep an LRU in memory, or a store on disk. "
        "Decision: an LRU of 512 tiles in memory instead of a store on disk, because a session "
        "rarely sees more than 300.",
    )
    s.turn_end()
    s.user("Write the plan to docs/tiles.md, with what we measure before and after.")
    s.tool(
        "Write",
        {"file_path": f"{ATLAS}/docs/tiles.md", "content": "# Tile cache\n\nMeasure: tiles/pan.\n"},
        f"File created successfully at: {ATLAS}/docs/tiles.md",
    )
    s.reply("The plan is in docs/tiles.md: three steps, with tiles per pan as the measure.")
    s.turn_end()
    s.user("Good. We start next week.")
    s.reply("Noted in the plan: the start is the week of February 9.")
    s.title("Plan a tile cache for the map")
    return s


def tile_cache() -> Script:
    """What was planned, built over a long morning with a failing test and a commit."""
    s = Script("tile-cache", cwd=ATLAS, start="2026-02-10T08:40:00", branch="tile-cache", load=9)
    s.user("Build the tile cache as docs/tiles.md says.")
    s.tool(
        "Read",
        {"file_path": f"{ATLAS}/docs/tiles.md"},
        "1\t# Tile cache\n2\t\n3\tMeasure: tiles/pan.",
    )
    s.tool(
        "Write",
        {
            "file_path": f"{ATLAS}/map/tile_cache.py",
            "content": "@lru_cache(512)\ndef tile(z, x, y): ...\n",
        },
        f"File created successfully at: {ATLAS}/map/tile_cache.py",
    )
    for run, error in (("1 failed, 31 passed in 4.02s", True), ("32 passed in 3.87s", False)):
        s.tool(
            "Bash",
            {"command": "pytest -q tests/map", "description": "Test the map"},
            run,
            error=error,
        )
        s.reply("The key lacked the layer; two layers shared a tile." if error else "All green.")
    s.turn_end()
    s.user("Measure it: tiles per pan before and after.")
    s.tool(
        "Bash",
        {"command": "python bench/pan.py --before main", "description": "Measure"},
        "before 48.2 tiles/pan\nafter   6.1 tiles/pan",
    )
    s.reply("Panning fetches 6 tiles instead of 48.")
    s.turn_end()
    s.user("Commit and open a pull request.", after=240)
    s.tool(
        "Bash",
        {"command": "git commit -qam 'Cache tiles in memory' && git push -u origin tile-cache"},
        "[tile-cache 4be1f07] Cache tiles in memory\n 3 files changed, 74 insertions(+)",
    )
    s.reply("Opened as #17, with the measurement in its description.")
    s.bare(
        "pr-link",
        prNumber=17,
        prUrl="https://git.example/atlas/pull/17",
        prRepository="atlas/atlas",
        timestamp=s.now(),
    )
    s.turn_end()
    s.title("Build the tile cache")
    return s


def rounding() -> Script:
    """Jonas takes up what the review handed over."""
    s = Script("rounding", cwd=JONAS, start="2026-02-23T08:30:00", branch="rounding", load=5)
    s.user("Mara handed me tests/test_rounding.py. Make the expected failure pass.")
    s.tool(
        "Read",
        {"file_path": f"{JONAS}/tests/test_rounding.py"},
        "1\t@pytest.mark.xfail\n2\tdef test_half(): ...",
    )
    s.tool(
        "Edit",
        {
            "file_path": f"{JONAS}/statements/amounts.py",
            "old_string": "    return round(amount, 2)\n",
            "new_string": "    return amount.quantize(CENT, rounding=ROUND_HALF_UP)\n",
        },
        f"The file {JONAS}/statements/amounts.py has been updated.",
    )
    s.tool("Bash", {"command": "pytest -q tests/test_rounding.py"}, "7 passed in 0.61s")
    s.reply("Amounts are Decimals rounded half up now, as the bank does; the mark is gone.")
    s.turn_end()
    s.user("Floats or Decimals in the database as well?")
    s.reply(
        "Decision: store whole cents as integers rather than floats or decimals; every database "
        "sums those exactly."
    )
    s.turn_end()
    s.user("Commit that and push.")
    s.tool(
        "Bash",
        {"command": "git commit -qam 'Round half up' && git push"},
        "[rounding 91c0d2a] Round half up",
    )
    s.reply("Pushed to the rounding branch.")
    s.title("Round statements half up")
    return s


def handbook() -> Script:
    """Documentation, in an afternoon."""
    s = Script("handbook", cwd=ORCHARD, start="2026-02-26T13:20:00", branch="docs", load=4)
    s.user("Rewrite the handbook's chapter on backups; new volunteers get lost in it.")
    s.tool("Read", {"file_path": f"{ORCHARD}/docs/backups.md"}, "1\t# Backups\n2\tSee the script.")
    s.tool(
        "Write",
        {"file_path": f"{ORCHARD}/docs/backups.md", "content": "# Backups\n\n1. Every night …\n"},
        f"The file {ORCHARD}/docs/backups.md has been updated.",
    )
    s.reply("The chapter begins with what to do when something is lost; the schedule follows.")
    s.turn_end()
    s.user("Add how to restore a single note.")
    s.tool(
        "Edit",
        {
            "file_path": f"{ORCHARD}/docs/backups.md",
            "old_string": "1. Every night …\n",
            "new_string": "1. Every night …\n\n## One note\n\n`orchard restore NOTE`\n",
        },
        f"The file {ORCHARD}/docs/backups.md has been updated.",
    )
    s.reply("There is a section of four lines on restoring one note.")
    s.turn_end()
    s.user("Thank you, publish it.")
    s.tool(
        "Bash",
        {"command": "git commit -qam 'Rewrite the chapter on backups' && git push"},
        "[docs 5d21e8b] Rewrite the chapter on backups",
    )
    s.reply("Published with the rest of the handbook.")
    s.title("Rewrite the handbook's chapter on backups")
    return s


def statement_cache() -> Script:
    """What the outage asked for: a fix, by issue number, with a subagent."""
    s = Script(
        "statement-cache", cwd=LEDGER, start="2026-03-16T09:10:00", branch="issue-212", load=8
    )
    s.user("Fix issue #212: the ledger keeps whole statements in memory until it is killed.")
    agent = s.subagent(
        "Explore",
        "Find the callers of the statement cache",
        "Find every caller of statements.cache.load and what it does with the result.",
        "Three callers: api/export.py:33, api/pdf.py:18 and jobs/monthly.py:77; all iterate once.",
    )
    agent.tool(
        "Grep",
        {"pattern": "cache.load", "path": LEDGER},
        "api/export.py:33\napi/pdf.py:18\njobs/monthly.py:77",
    )
    agent.reply(
        "Three callers: api/export.py:33, api/pdf.py:18 and jobs/monthly.py:77; all iterate once."
    )
    s.reply(
        "All three callers iterate once. Decision: stream statements line by line instead of "
        "caching whole ones; nobody reads one twice."
    )
    s.turn_end()
    s.user("Do it, and keep the interface.")
    for name in ("cache", "reader"):
        s.tool(
            "Edit",
            {
                "file_path": f"{LEDGER}/statements/{name}.py",
                "old_string": "    return list(rows)\n",
                "new_string": "    yield from rows\n",
            },
            f"The file {LEDGER}/statements/{name}.py has been updated.",
        )
    s.tool("Bash", {"command": "pytest -q"}, "118 passed in 9.40s")
    s.tool("Bash", {"command": "python bench/memory.py"}, "peak 61 MB (was 1,904 MB)")
    s.reply("Statements are streamed; the peak is 61 MB instead of 1.9 GB, and 118 tests pass.")
    s.turn_end()
    s.user("Open a pull request that closes #212.", after=150)
    s.tool("Bash", {"command": "git push -u origin issue-212"}, "To git.example:ledger/ledger.git")
    s.reply("Opened as #214; it closes #212.")
    s.bare(
        "pr-link",
        prNumber=214,
        prUrl="https://git.example/ledger/pull/214",
        prRepository="ledger/ledger",
        timestamp=s.now(),
    )
    s.turn_end()
    s.title("Stream statements instead of caching them (#212)")
    return s


def passkeys_deploy() -> Script:
    """The end of a thread: what was built two weeks ago goes to production."""
    s = Script(
        "passkeys-deploy", cwd=ORCHARD, start="2026-03-17T15:45:00", branch="passkeys", load=5
    )
    s.user("Deploy passkey login (#41) to production, behind the flag.")
    s.tool("Bash", {"command": "make deploy ENV=staging"}, "staging: healthy after 41s")
    s.tool(
        "Bash",
        {"command": "make deploy ENV=production FLAG=passkeys:10%"},
        "production: healthy after 52s",
    )
    s.reply("It is live for a tenth of the accounts; staging has it in full.")
    s.turn_end()
    s.user("Any errors in the first hour?", after=3700)
    s.tool(
        "Bash",
        {"command": "logs --since 1h --grep passkey"},
        "3 × NotAllowedError (person cancelled)",
    )
    s.reply("Three people cancelled the dialog; no failures on our side.")
    s.turn_end()
    s.user("Raise it to all accounts.")
    s.tool("Bash", {"command": "make flag passkeys=100%"}, "passkeys: 100%")
    s.reply("Passkey login is on for everybody; the password form stays until the next release.")
    s.turn_end()
    s.title("Deploy passkey login")
    return s


def places_api() -> Script:
    """Something that is not finished: blocked by another team."""
    s = Script("places-api", cwd=ATLAS, start="2026-03-19T10:00:00", branch="api", load=7)
    s.user("Build the public API for places: list, one, nearby.")
    s.tool(
        "Write",
        {"file_path": f"{ATLAS}/api/places.py", "content": "def nearby(point, radius): ...\n"},
        f"File created successfully at: {ATLAS}/api/places.py",
    )
    s.tool("Bash", {"command": "pytest -q tests/api"}, "11 passed in 1.20s")
    s.reply("`list` and `one` work. `nearby` needs a spatial index, which the hosted SQLite lacks.")
    s.turn_end()
    s.user("Can we have the extension enabled?")
    s.reply("Only the hosting team can enable it. We are blocked until they answer ticket OPS-88.")
    s.turn_end()
    s.user("Then leave it there, and note what is missing.")
    s.tool(
        "Edit",
        {
            "file_path": f"{ATLAS}/api/places.py",
            "old_string": "def nearby(point, radius): ...\n",
            "new_string": "def nearby(point, radius):\n    raise NotImplementedError('OPS-88')\n",
        },
        f"The file {ATLAS}/api/places.py has been updated.",
    )
    s.reply("`nearby` raises NotImplementedError: it is blocked until OPS-88 is answered.")
    s.title("Build the public API for places")
    return s


WEEKS = (tiles, tile_cache, rounding, handbook, statement_cache, passkeys_deploy, places_api)
