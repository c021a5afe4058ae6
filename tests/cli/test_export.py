"""``minutebook export``: one file to send, masked, and never into a source (SHARE-01, SHARE-03)."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest

import minutebook
from minutebook.model.said import Hide, Note
from minutebook.verbs.correct import set_fields
from tests.cli.conftest import Run
from tests.conftest import as_line, assistant, tool_result, tool_use, user

KEY = "ghp_" + "Zk3qW8xT2mLr9VbN5cYp" + "7HdJ4sGf6AeU1oQi"
ID = "11111111-2222-4333-8444-555555555555"
PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5E"
    "rkJggg=="
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A session of three rounds: a key, a command, an edit, a picture, thoughts."""
    image = {"type": "base64", "media_type": "image/png", "data": PICTURE}
    thought = {"type": "thinking", "thinking": "Pears need a wall.", "signature": "c2ln"}
    records = [
        user(f"Plant the pears, the key is {KEY}", timestamp="2026-03-01T10:00:00.000Z"),
        assistant(thought, "They are **planted**.", tool_use("c1", command=f"echo {KEY}"), id="m1"),
        tool_result("c1", f"said {KEY}\n<b>bold</b>"),
        user([{"type": "image", "source": image}, {"type": "text", "text": "Look at it"}]),
        assistant(tool_use("c2", "Edit", file_path="/x/t.md", old_string="elm", new_string="oak")),
        tool_result("c2", "changed the tree"),
        user("Thanks, that is all."),
        assistant("Good.", id="m3"),
    ]
    folder = tmp_path / "claude" / "projects" / "-home-dev-orchard"
    folder.mkdir(parents=True)
    whole = [{"sessionId": ID, "uuid": f"u{at}", **r} for at, r in enumerate(records)]
    (folder / f"{ID}.jsonl").write_bytes(b"".join(as_line(record) + b"\n" for record in whole))
    return tmp_path / "claude"


@pytest.fixture
def places(tmp_path: Path, root: Path) -> list[str]:
    minutebook.ingest(root, archive=tmp_path / "archive", extractor="offline")
    return ["--root", str(root), "--archive", str(tmp_path / "archive")]


def test_an_html_file_stands_alone(run: Run, places: list[str], tmp_path: Path) -> None:
    """SHARE-01: no script, no address of elsewhere, a policy of its own, contents, folded calls,
    the picture inside."""
    ran = run("export", "1111", "--out", tmp_path / "a.html", *places)
    assert (ran.status, ran.out) == (0, "")
    page = (tmp_path / "a.html").read_text()
    assert "<script" not in page and KEY not in page
    assert "default-src 'none'; img-src data:; style-src 'sha256-" in unescape(page)
    assert not re.findall(r'(?:src|href)="(?!#|data:image/png;base64,)', page)
    assert PICTURE in page and "<strong>planted</strong>" in page and "&lt;b&gt;bold" in page
    assert re.search(r'<details class="block call"><summary><b>Bash</b>', page)
    for number in (1, 2, 3):
        assert f'href="#round-{number}"' in page and f'id="round-{number}"' in page
    assert "prefers-color-scheme: dark" in page


def test_what_was_masked_is_said_first(run: Run, places: list[str], tmp_path: Path) -> None:
    """SHARE-03: by kind, before anything is written, also where nothing can be; and only of what
    is in the file."""
    out = tmp_path / "a.md"
    ran = run("export", "1111", "--out", out, *places)
    masked, written = ran.err.splitlines()
    assert masked == "Masked: 3 × GitHub token." and written.startswith("3 rounds written to")
    assert KEY not in out.read_text() and "ghp_…•••• (GitHub token)" in out.read_text()
    again = run("export", "1111", "--out", out, *places)
    assert (again.status, again.err.splitlines()[0]) == (2, masked) and "--force" in again.err
    assert "Masked: 1 × GitHub" in run("export", "1111", "--only", "user", *places).err
    assert "Nothing that looks like a secret was found." in run("export", "1111#3", *places).err


def test_it_tells_programs_what_it_wrote(run: Run, places: list[str], tmp_path: Path) -> None:
    """SHARE-03: ``--json`` has the counts; pictures are named as what nobody looked into."""
    ran = run("export", "1111", "--out", tmp_path / "a.html", "--json", *places)
    told = json.loads(ran.out)["exported"]
    assert (told["masked"], told["rounds"], told["pictures"]) == ({"GitHub token": 3}, 3, 1)
    assert told["bytes"] == (tmp_path / "a.html").stat().st_size
    assert "1 picture included" in ran.err


def test_json_has_the_rounds(run: Run, places: list[str]) -> None:
    """SHARE-01: as docs/json.md has it, pictures inside, nothing unmasked."""
    ran = run("export", "1111", "--format", "json", *places)
    told = json.loads(ran.out)
    (session,) = told["sessions"]
    assert (told["version"], session["count"], session["whole"]) == (1, 3, True)
    assert [round["number"] for round in session["rounds"]] == [1, 2, 3]
    assert KEY not in ran.out
    assert PICTURE in ran.out
    assert "signature" not in ran.out


def test_rounds_and_engagements_can_be_chosen(run: Run, places: list[str]) -> None:
    """SHARE-01: a range, an engagement of a session by a round in it, an engagement by its id."""

    def numbers(*asked: str) -> list[int]:
        told = json.loads(run("export", *asked, "--format", "json", *places).out)
        return [round["number"] for round in told["sessions"][0]["rounds"]]

    assert numbers("1111#2-3") == numbers("1111", "--rounds", "2,3") == [2, 3]
    archive = minutebook.open_archive(places[3])
    engagement = archive.record(ID).engagements[0]
    first, last = engagement.turn_range
    wanted = list(range(first, last + 1))
    assert numbers("1111", str(first)) == numbers(engagement.id) == wanted
    page = run("export", engagement.id, *places).out
    assert f"<title>{engagement.topic}" in page


FORMATS = ("html", "md", "json")


def test_hidden_engagements_and_notes_stay_here(run: Run, places: list[str]) -> None:
    """SHARE-01: what a person hid or noted for themselves is in no file, whatever its format; a
    secret in it is not counted."""
    archive = minutebook.open_archive(places[3])
    id = archive.record(ID).engagements[0].id
    set_fields(archive, ID, [id, "topic=Quince matters", "outcome=Quince done"])
    set_fields(archive, ID, ["summary=All about the quince"])
    archive.say(ID, Note(id, text=f"Medlar {KEY}"))
    archive.say(ID, Note(text="Medlar too"))
    archive.say(ID, Hide(id))
    masked = run("export", ID, "--only", "thinking", *places).err
    assert "Nothing that looks like a secret was found" in masked
    for name in FORMATS:
        text = run("export", ID, "--format", name, *places).out
        assert "planted" in text
        assert "Quince" not in text and "Medlar" not in text and "quince" not in text


def test_engagements_of_other_rounds_stay_here(run: Run, places: list[str]) -> None:
    """SHARE-01: a file of some rounds has only the engagements of those, and no summary of all."""
    archive = minutebook.open_archive(places[3])
    id = archive.record(ID).engagements[0].id
    set_fields(archive, ID, [id, "turn_range=1-2"])
    set_fields(archive, ID, ["2", "topic=Quince matters", "key_decisions=Quince first"])
    set_fields(archive, ID, ["summary=All about the quince"])
    for name in FORMATS:
        part = run("export", f"{ID}#3", "--format", name, *places).out
        whole = run("export", ID, "--format", name, *places).out
        assert "Quince" not in part and "about the quince" not in part
        assert "Quince first" in whole and "about the quince" in whole


@pytest.mark.parametrize(
    ("only", "there", "gone"),
    [
        ("user", ["Look at it"], ["planted", "Pears", "echo", "said", "changed"]),
        ("assistant", ["planted"], ["Look at it", "Pears", "echo", "said", "changed"]),
        ("thinking", ["Pears need"], ["planted", "Look at it", "echo", "said"]),
        ("calls", ["echo", "oak"], ["said", "changed the tree", "Pears", "Look at it"]),
        ("results", ["said", "changed the tree"], ["echo", "oak", "Pears", "Look at it"]),
    ],
)
@pytest.mark.parametrize("format", ["html", "md", "json"])
def test_blocks_can_be_chosen(
    run: Run, places: list[str], only: str, there: list[str], gone: list[str], format: str
) -> None:
    """SHARE-01: exactly the kinds that were asked for, in every format."""
    ran = run("export", "1111#1-2", "--only", only, "--format", format, *places)
    body = ran.out.partition('<section class="round"')[2] if format == "html" else ran.out
    body = json.dumps(json.loads(ran.out)["sessions"][0]["rounds"]) if format == "json" else body
    body = body.partition("## Round 1")[2] if format == "md" else body
    assert [word for word in there if word not in body] == []
    assert [word for word in gone if word in body] == []


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("nobody",), "No session is called 'nobody'"),
        (("1111#9",), "9"),
        (("1111", "nothing"), "no engagement 'nothing'"),
        (("1111#1", "1"), "one of them"),
        (("1111", "--only", "colours"), "not colours"),
        (("1111", "--only", ","), "at least one"),
        (("1111", "--force"), "--out"),
        (("1111", "--json"), "--out"),
    ],
)
def test_what_makes_no_sense_is_said(
    run: Run, places: list[str], args: tuple[str, ...], words: str
) -> None:
    """SHARE-01: one sentence, exit status 2."""
    ran = run("export", *args, *places)
    assert (ran.status, ran.out) == (2, "") and words in ran.err


def test_it_never_writes_into_a_source(run: Run, places: list[str], root: Path) -> None:
    """SHARE-03: not into the transcripts, not into the archive, not over a folder."""
    before = sorted(root.rglob("*"))
    for place in (root / "projects" / "a.html", Path(places[3]) / "a.html", root.parent):
        ran = run("export", "1111", "--out", place, "--force", *places)
        assert ran.status == 2
    link = root.parent / "link"
    link.symlink_to(root / "projects")
    assert run("export", "1111", "--out", link / "a.html", *places).status == 2
    assert sorted(root.rglob("*")) == before


def test_python_gives_the_same_bytes(run: Run, places: list[str], tmp_path: Path) -> None:
    """SHARE-01: `minutebook.export`, even of an archive that was opened with its secrets."""
    run("export", "1111", "--out", tmp_path / "a.html", *places)
    for secrets in (False, True):
        with minutebook.open_archive(places[3], [places[1]], secrets=secrets) as archive:
            made = minutebook.export(archive, "1111")
            assert isinstance(made, minutebook.SharedFile) and made.name.endswith(".html")
            assert made.content == (tmp_path / "a.html").read_bytes()


def test_a_report_as_html(run: Run, examples: Path, tmp_path: Path) -> None:
    """SHARE-02: one file as well; the ending of the period is in its title."""
    minutebook.ingest(examples, archive=tmp_path / "archive", extractor="offline")
    places = ("--root", examples, "--archive", tmp_path / "archive")
    ran = run("report", "--since", "2026-03-01", "--format", "html", *places)
    assert ran.status == 0 and "<h1><bdi>Minutes since 2026-03-01</bdi></h1>" in ran.out
    assert "<script" not in ran.out and "default-src 'none'" in unescape(ran.out)
    text = run("report", "--since", "2026-03-01", *places).out
    for head in ("Done", "Decided", "Shipped"):
        assert ran.out.count(f"<h3>{head}</h3>") == text.count(f"### {head}") > 0
    odd = run("report", "--json", "--format", "html", *places)
    assert (odd.status, "contradict" in odd.err) == (2, True)


@pytest.mark.slow
def test_a_large_session_stays_sendable(run: Run, tmp_path: Path) -> None:
    """SHARE-01: of 20 MB of transcript no more than 25 MB of HTML."""
    line = 'def grow(tree, wall=None):  # <b>&amp;</b> a "pear" stands here\n'
    folder = tmp_path / "claude" / "projects" / "-home-dev-orchard"
    folder.mkdir(parents=True)
    with (folder / f"{ID}.jsonl").open("wb") as file:
        for at in range(400):
            for record in (
                user(f"Round {at}", uuid=f"u{at}"),
                assistant(tool_use(f"c{at}", command="cat trees.py"), id=f"m{at}", uuid=f"a{at}"),
                tool_result(f"c{at}", line * 720, uuid=f"r{at}"),
            ):
                file.write(as_line({"sessionId": ID, **record}) + b"\n")
        size = file.tell()
    assert 19_000_000 < size < 22_000_000
    (tmp_path / "archive").mkdir()
    out = tmp_path / "a.html"
    places = ("--root", tmp_path / "claude", "--archive", tmp_path / "archive")
    assert run("export", "1111", "--out", out, *places).status == 0
    assert out.stat().st_size < 25_000_000
