"""``--project``: the project of that name, where there is one, in every verb (SRCH-03)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from minutebook import said
from minutebook.archive import Archive
from minutebook.archive.projects import meant
from minutebook.extract.offline import OfflineExtractor
from minutebook.mcp.tools import Tools
from minutebook.verbs.ingest import ingest
from tests.archive.test_usage import at, reply, write
from tests.cli.conftest import Run
from tests.conftest import tool_result, tool_use, user

WORDS = ("", "larch", "walnut", "cherry", "hazel", "rowan")
FOLDERS = ("/w/spotter", "/w/spotter-web", "/home/spotter/site", "/w/demo", "/w/Demo")


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session in each folder: the first costs one reply, the next two, and so on."""
    root = tmp_path_factory.mktemp("projects")
    for number, folder in enumerate(FOLDERS, 1):
        call = tool_use(f"c{number}", "Read", file_path=f"{folder}/kite.py")
        write(
            root,
            f"s{number}",
            user(
                f"Mend kite {WORDS[number]}, please: the tail is torn",
                timestamp=at(0),
                uuid=f"p{number}",
                cwd=folder,
            ),
            reply(f"m{number}-0", at(1), f"The {WORDS[number]} is mended. " * 400, call),
            tool_result(f"c{number}", "done", timestamp=at(2), uuid=f"r{number}"),
            user(
                f"Now test {WORDS[number]} in the wind",
                timestamp=at(3),
                uuid=f"q{number}",
                cwd=folder,
            ),
            *(reply(f"m{number}-{n}", at(3 + n)) for n in range(1, number)),
        )
    place = root / "archive"
    ingest(Archive(place, (root,)), OfflineExtractor(), ended=True)
    return place


def test_a_name_is_meant_before_a_part_of_names() -> None:
    """SRCH-03: as it is written, else in any case, else there is none of that name."""
    names = ["demo", "Demo", "Spotter", "spotter-web"]
    assert meant("Demo", names) == frozenset({"Demo"}) and meant("=demo", names) == frozenset(
        {"demo"}
    )
    assert meant("DEMO", names) == frozenset({"demo", "Demo"})
    assert meant("spotter", names) == frozenset({"Spotter"})
    assert meant("spot", names) is None and meant("=", names) is None


@pytest.mark.parametrize(
    ("project", "replies"),
    [("spotter", 1), ("SPOTTER", 1), ("spotter-", 2), ("spott", 6), ("demo", 4), ("Demo", 5)],
)
def test_every_verb_means_the_same_project(
    run: Run, archive: Path, project: str, replies: int
) -> None:
    """SRCH-03: a part of several paths is the project that has exactly that name."""
    places = ("--project", project, "--archive", archive, "--root", archive)
    used = json.loads(run("usage", *places, "--json").out)["usage"]
    assert used["total"]["replies"] == replies
    wanted = {n for n in range(1, 6) if replies == n or (replies == 6 and n <= 3)}
    assert len(used["projects"]) == len(wanted)
    ids = {f"s{n}" for n in wanted}
    for verb in (("search", "kite"), ("search",), ("search", "--file", "kite.py")):
        hits = json.loads(run(*verb, *places, "--json").out)["hits"]
        assert {hit["session_id"] for hit in hits} == ids, verb
    listed = json.loads(run("sessions", *places, "--json").out)["sessions"]
    assert {session["id"] for session in listed} == ids
    counted = json.loads(run("stats", *places, "--json").out)["stats"]
    assert counted["sessions"] == len(ids)
    report = json.loads(run("report", "--since", "2026-01-01", *places, "--json").out)["report"]
    assert report["sessions"] == len(ids) and report["project"] == project
    with Archive(archive, (archive,)) as book:
        told = Tools(book).engagements(project=project)
        assert told.startswith(f"{len(ids)} of {len(ids)} engagements")


@pytest.mark.parametrize("hides", [False, True])
@pytest.mark.parametrize("project", ["orchard", "spotter", "spott", "=demo", "w"])
def test_a_corrected_project_is_the_sessions(
    run: Run, archive: Path, project: str, hides: bool
) -> None:
    """ING-12: `sessions` lists those that `stats` counts, not those that began in its folder."""
    with Archive(archive, (archive,)) as book:
        book.say("s1", said.Set("1", values={"project": "/w/orchard"}))
        if hides:
            book.say("s2", said.Set("1", values={"project": "/w/orchard"}))
            book.say("s2", said.Hide("1"))
    try:
        for flags in ((), ("--hidden",)):
            places = (*flags, "--project", project, "--archive", archive, "--root", archive)
            listed = json.loads(run("sessions", *places, "--json").out)["sessions"]
            counted = json.loads(run("stats", *places, "--json").out)["stats"]
            # A session of which every engagement is hidden is one without engagements.
            own = {session["id"] for session in listed} - ({"s2"} if hides and not flags else set())
            assert len(own) == counted["sessions"]
            assert ("s1" in own) == (project in ("orchard", "w"))
    finally:
        with Archive(archive, (archive,)) as book:
            for _ in range(3 if hides else 1):
                book.say("", said.Undo())


def test_several_projects_are_named(run: Run, archive: Path) -> None:
    """SRCH-03, USE-06: what a part of names added up is said, in text and JSON."""
    places = ("--archive", archive, "--root", archive)
    told = " ".join(run("usage", "--project", "spott", *places).err.split())
    assert "'spott' is part of the path of 3 projects: site, spotter, spotter-web." in told
    assert "projects" not in run("usage", "--project", "spotter", *places).err


def test_nothing_is_said_in_json_too(run: Run, archive: Path) -> None:
    """USE-06: figures of nothing say so, and which project was asked for is known."""
    places = ("--project", "nowhere", "--archive", archive, "--root", archive)
    used = json.loads(run("usage", *places, "--json").out)["usage"]
    assert used["remarks"] == ["Nothing matches these filters."] and used["projects"] == []
    assert run("usage", *places).err.strip() == "Nothing matches these filters."
