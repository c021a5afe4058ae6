"""How well searches find what people look for: per mode, per kind of query.

    PYTHONPATH=. python benchmarks/retrieval.py [--onnx FOLDER] [--queries FILE ...]

Every query of ``labels/queries.jsonl`` and ``training/queries.jsonl`` is asked of all shared
Claude sessions together, ingested offline; a hit is the right session among the first k.
``--onnx`` names a folder with a sentence transformer (model.onnx, tokenizer.json) to measure
beside the embedder in the box. The queries kept back (``labels/more-queries.jsonl``,
``training/short-queries.jsonl``) are for the end: name them with ``--queries``. After the queries
come lines that tools printed and files that were edited, made from the transcripts themselves.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import minutebook
from benchmarks.made_queries import edited, lines
from minutebook.archive import Archive
from minutebook.archive.files import find_file
from minutebook.archive.finding import search
from minutebook.index.embedders import Embedder, OnnxEmbedder, Paired
from minutebook.index.engine import Engine, Mode
from minutebook.index.query import Filters, parse_query
from minutebook.index.static import StaticEmbedder

SHARED = Path(__file__).resolve().parents[2] / "shared"


def rank(archive: Archive, question: dict[str, Any], mode: Mode, embedder: Embedder) -> int:
    answer = search(
        archive,
        parse_query(question["q"]),
        mode=mode,
        limit=50,
        fresh=False,
        embedder=lambda: embedder,
    )
    # Copies of a conversation are one hit, which names them all.
    found = [{hit.session_id, *hit.copies} for hit in answer.hits]
    wanted = question["session_id"]
    return next((at for at, ids in enumerate(found, 1) if wanted in ids), 10_000)


def asked_of(before: list[str], place: list[str], words: str, mode: Mode, limit: int) -> list[str]:
    """The sessions another version finds, by its command line, which has not changed."""
    command = [*before, "search", "--mode", mode, "--limit", str(limit), "--no-refresh", "--json"]
    done = subprocess.run(
        [*command, *place, "--", words], capture_output=True, text=True, check=False
    )
    hits = json.loads(done.stdout)["hits"] if done.returncode == 0 else []
    return list(dict.fromkeys(hit["session_id"] for hit in hits))


def print_before(
    before: list[str], places: list[Path], questions: list[dict[str, Any]], count: int
) -> None:
    """The same questions, asked of another version."""
    scratch = Path(tempfile.mkdtemp(prefix="minutebook-bench-"))
    roots = [word for place in places for word in ("--root", str(place))]
    place = [*roots, "--archive", str(scratch)]
    kinds = sorted({question["kind"] for question in questions})
    try:
        quiet: dict[str, Any] = {"check": True, "capture_output": True}
        subprocess.run([*before, "ingest", "--extractor", "offline", *place], **quiet)
        subprocess.run([*before, "search", "anything", *place], **quiet)
        subprocess.run([*before, "semantic", "embed", "--archive", str(scratch)], **quiet)
        with ThreadPoolExecutor(2) as pool:
            modes: tuple[Mode, ...] = ("lexical", "hybrid")
            for mode in modes:
                line = f"{'before, ' + mode:18}"
                for kind in kinds:
                    asked = [q for q in questions if q["kind"] == kind]
                    found = pool.map(lambda q: asked_of(before, place, q["q"], mode, 10), asked)  # noqa: B023
                    line += _hits(
                        [_place(ids, q["session_id"]) for q, ids in zip(asked, found, strict=True)]
                    )
                print(line)
            known = lines(places, count)
            found = pool.map(lambda item: asked_of(before, place, item.text, "hybrid", 5), known)
            right = sum(line.session_id in ids for line, ids in zip(known, found, strict=True))
            print(f"before: {len(known)} lines of tool output: hit@5 {right / len(known):.3f}")
            files = edited(places, count)
            found = pool.map(lambda f: asked_of(before, place, f[0], "hybrid", 5), files)
            right = sum(f[1] in ids for f, ids in zip(files, found, strict=True))
            print(f"before: {len(files)} files as words: hit@5 {right / len(files):.3f}")
    finally:
        shutil.rmtree(scratch)


def _place(found: list[str], wanted: str) -> int:
    return found.index(wanted) + 1 if wanted in found else 10_000


def _hits(ranks: list[int]) -> str:
    shares = [sum(rank <= k for rank in ranks) / len(ranks) for k in (1, 5, 10)]
    return f"{shares[0]:14.2f}{shares[1]:7.2f}{shares[2]:7.2f}"


def made(archive: Archive, places: list[Path], embedder: Embedder, count: int) -> None:
    """Lines that tools printed, and files that were edited, in one session only."""
    known = lines(places, count)
    right = {}
    for line in known:
        answer = search(
            archive,
            parse_query(line.text),
            limit=5,
            fresh=False,
            embedder=lambda: embedder,
        )
        right[line] = any(line.session_id in (hit.session_id, *hit.copies) for hit in answer.hits)
    within = [line for line in known if line.within]
    print(
        f"{len(known)} lines of tool output: hit@5 {sum(right.values()) / len(known):.3f}, "
        f"within the bound {sum(right[line] for line in within) / len(within):.3f} "
        f"({1 - len(within) / len(known):.1%} are beyond it)"
    )
    files = edited(places, count)
    found = 0
    for path, session_id in files:
        hits = find_file(archive, path, Filters(), limit=5).hits
        found += any(hit.session_id == session_id for hit in hits)
    print(f"{len(files)} files edited in one session: hit@5 {found / len(files):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    corpus = Path(os.environ.get("MINUTEBOOK_CORPUS") or SHARED / "corpus")
    parser.add_argument("--root", type=Path, action="append")
    parser.add_argument("--queries", type=Path, action="append")
    parser.add_argument("--onnx", type=Path)
    parser.add_argument("--before", help="how another version is run: 'python -m minutebook'")
    parser.add_argument("--made", type=int, default=300, help="lines and files to look for")
    options = parser.parse_args()
    files = options.queries or [
        SHARED / "labels" / "queries.jsonl",
        SHARED / "training" / "queries.jsonl",
    ]
    lines = [line for file in files for line in file.read_text().splitlines()]
    questions = [json.loads(line) for line in lines]
    scratch = Path(tempfile.mkdtemp(prefix="minutebook-bench-"))
    try:
        places = options.root or [corpus / "claude", SHARED / "training" / "claude"]
        minutebook.ingest(*places, archive=scratch, extractor="offline")
        archive = Archive(scratch, tuple(places))
        search(archive, parse_query("anything"), mode="lexical")
        engine = Engine(archive.layout.search_database, archive.layout.search)
        embedders: dict[str, Embedder] = {"static": StaticEmbedder()}
        if options.onnx:
            embedders["onnx"] = Paired(OnnxEmbedder(options.onnx), StaticEmbedder())
        for embedder in embedders.values():
            engine.embed_missing(embedder)
        kinds = sorted({question["kind"] for question in questions})
        print(f"{engine.count()} entries, {len(questions)} queries")
        print(f"{'':18}" + "".join(f"{kind:>28}" for kind in kinds))
        print(f"{'hit@':18}" + "".join(f"{'1':>14}{'5':>7}{'10':>7}" for _ in kinds))
        ways: list[tuple[str, Mode, Embedder]] = [("lexical", "lexical", embedders["static"])]
        for name, embedder in embedders.items():
            ways += [(f"semantic {name}", "semantic", embedder)]
            ways += [(f"hybrid {name}", "hybrid", embedder)]
        for name, mode, embedder in ways:
            line = f"{name:18}"
            for kind in kinds:
                ranks = [
                    rank(archive, question, mode, embedder)
                    for question in questions
                    if question["kind"] == kind
                ]
                line += _hits(ranks)
            print(line)
        if options.before:
            print_before(shlex.split(options.before), places, questions, options.made)
        if not options.queries:
            made(archive, places, embedders["static"], options.made)
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
