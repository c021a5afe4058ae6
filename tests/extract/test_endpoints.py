"""Endpoints in trouble: keys in their addresses, sessions they refuse, limits they cannot keep."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from minutebook.cli.remedies import worded
from minutebook.errors import BadArgument
from minutebook.extract.anthropic import AnthropicExtractor
from minutebook.extract.choose import choose_extractor
from minutebook.extract.extractor import Failed, Refused, Unavailable
from minutebook.extract.openai import OpenAIExtractor
from minutebook.extract.secret import Secret
from minutebook.record.layout import Layout
from minutebook.verbs.ingest import ingest
from tests.extract.conftest import WriteSession, archive_at, material
from tests.extract.stub import Stub, good_reply, serve
from tests.extract.test_ingest import cli

USER, PASSWORD, TOKEN = "mara", "hunter2Secret99", "sk-proj-" + 2 * "orchardA1b2C3d4E5f6G7h8"


# -- addresses with keys in them


def keyed(url: str) -> str:
    """The address with a user, a password and a key."""
    return url.replace("//", f"//{USER}:{PASSWORD}@") + f"/v1?api_key={TOKEN}"


def test_a_key_in_an_address_is_not_shown_or_kept(
    config: Path, layout: Layout, write_session: WriteSession
) -> None:
    """ING-29: neither the note before sending nor a failure, in the terminal or in the archive,
    has the password or the key of an address."""
    write_session("orchard", 3)
    with serve(lambda *_: 400) as stub:
        done = cli(
            *("ingest", "--root", config, "--archive", layout.root, "--yes"),
            *("--extractor", "openai", "--model", "m", "--base-url", keyed(stub.url)),
            env={},
        )
    assert f"to {stub.url}/v1 (m)" in done.stderr and "stub 400" in done.stderr
    kept = b"".join(path.read_bytes() for path in layout.root.rglob("*") if path.is_file())
    for secret in (PASSWORD, TOKEN):
        assert secret not in done.stdout + done.stderr and secret.encode() not in kept


def test_the_key_in_an_address_is_sent(write_session: WriteSession, stub: Stub) -> None:
    """ING-29: the endpoint gets the query of its address, behind the path of the request."""
    with closing(OpenAIExtractor(keyed(stub.url), "m")) as extractor:
        extractor.extract(material(write_session("orchard", 3)))
    assert stub.paths == [f"/v1/chat/completions?api_key={TOKEN}"]


def test_anthropic_shows_no_key_of_an_address_either() -> None:
    """ING-29: only scheme, host and path of another address are named."""
    extractor = AnthropicExtractor(Secret("k"), base_url=keyed("https://gate.orchard.example:8443"))
    assert extractor.destination == "https://gate.orchard.example:8443/v1"


def test_a_key_that_a_service_repeats_is_masked(write_session: WriteSession) -> None:
    """ING-29: what a service says of a failure is written down without secrets."""
    answer = {"error": {"message": f"no such deployment: {TOKEN}"}}
    with serve(lambda *_: 400) as stub, closing(OpenAIExtractor(stub.url, "m")) as extractor:
        stub.failure = answer
        with pytest.raises(Failed, match="no such deployment") as error:
            extractor.extract(material(write_session("orchard", 3)))
    assert TOKEN not in str(error.value)


@pytest.mark.parametrize(
    "address", ["localhost:11434/v1", f"{USER}:{PASSWORD}@host/v1", "ftp://host/v1", "http://", "x"]
)
def test_what_is_not_an_address_is_refused(address: str) -> None:
    """ING-29: it is said before anything is read, and not repeated: it may hold a key."""
    with pytest.raises(BadArgument, match=r"not a web address, such as http://") as refused:
        choose_extractor("openai", model="m", base_url=address)
    assert address not in worded(refused.value).split()


def test_a_key_that_no_header_takes(write_session: WriteSession, stub: Stub) -> None:
    """ING-29: a letter that is not ASCII is named as the reason, for every session."""
    extractor = OpenAIExtractor(stub.url, "m", Secret("schlüssel"))
    with closing(extractor), pytest.raises(Refused, match="is not ASCII") as error:
        extractor.extract(material(write_session("orchard", 3)))
    assert stub.requests == [] and "schlüssel" not in str(error.value)


# -- sessions an endpoint cannot take


@pytest.mark.usefixtures("three_too_long")
def test_sessions_too_long_for_an_endpoint_block_no_other(config: Path, layout: Layout) -> None:
    """ING-19: a refused request is one session's failure, however many there are in a row."""

    def answer(body: dict[str, Any], _number: int) -> Any:
        return 400 if "HUGE" in json.dumps(body) else good_reply((1, 3))

    with serve(answer) as stub:
        extractor = OpenAIExtractor(stub.url, "m")
        report = ingest(archive_at(layout, config), extractor, concurrency=1)
    assert (report.ingested, len(report.failures), report.stopped) == (1, 3, None)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, Failed), (413, Failed), (422, Failed), (429, Unavailable), (500, Unavailable)],
)
def test_the_status_of_an_endpoint_tells_whose_trouble_it_is(
    write_session: WriteSession, status: int, kind: type[Failed]
) -> None:
    """ING-19: a rate limit or a broken service is not the session's trouble."""
    with serve(lambda *_: status) as stub:
        extractor = OpenAIExtractor(stub.url, "m", retries=0)
        with closing(extractor), pytest.raises(Failed, match=str(status)) as error:
            extractor.extract(material(write_session("orchard", 3)))
    assert type(error.value) is kind


@pytest.mark.parametrize("status", [307, 402])
def test_what_no_session_can_change_ends_the_run(write_session: WriteSession, status: int) -> None:
    """ING-19: an address that has moved and an empty account are the same for every session."""
    with serve(lambda *_: status) as stub:
        extractor = OpenAIExtractor(stub.url, "m", retries=0)
        with closing(extractor), pytest.raises(Refused, match=str(status)):
            extractor.extract(material(write_session("orchard", 3)))


# -- what cannot be chosen


def test_a_limit_needs_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    """ING-30: from Python, too, a limit that cannot be kept is refused."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(BadArgument, match="prices") as refused:
        choose_extractor("openai", model="m", max_cost=1.0)
    assert "--max-cost" in worded(refused.value)


def test_an_extractor_that_is_none() -> None:
    """ING-09: a name that is not one is answered with those there are."""
    with pytest.raises(BadArgument, match="'foo' is not an extractor; choose one of auto, anth"):
        choose_extractor("foo")
