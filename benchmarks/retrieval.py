"""How well searches find what people look for: per mode, per kind of query.

    python benchmarks/retrieval.py [--onnx FOLDER] [--corpus DIR] [--queries FILE]

Every query of ``labels/queries.jsonl`` is asked of the whole corpus, ingested offline; a hit is
the right session among the first k sessions. ``--onnx`` names a folder with a sentence
transformer (model.onnx, tokenizer.json) to measure beside the embedder in the box.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import minutebook
from minutebook.archive import Archive
from minutebook.archive.finding import search
from minutebook.index.embedders import Embedder, OnnxEmbedder, StaticEmbedder
from minutebook.index.engine import Engine, Mode
from minutebook.index.query import parse_query

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
    found = list(dict.fromkeys(hit.session_id for hit in answer.hits))
    wanted = question["session_id"]
    return found.index(wanted) + 1 if wanted in found else 10_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    corpus = os.environ.get("MINUTEBOOK_CORPUS") or SHARED / "corpus"
    parser.add_argument("--corpus", type=Path, default=Path(corpus))
    parser.add_argument("--queries", type=Path, default=SHARED / "labels" / "queries.jsonl")
    parser.add_argument("--onnx", type=Path)
    options = parser.parse_args()
    questions = [json.loads(line) for line in options.queries.read_text().splitlines()]
    scratch = Path(tempfile.mkdtemp(prefix="minutebook-bench-"))
    try:
        place = options.corpus / "claude"
        minutebook.ingest(place, archive=scratch, extractor="offline")
        archive = Archive(scratch, (place,))
        search(archive, parse_query("anything"), mode="lexical")
        engine = Engine(archive.layout.search_database, archive.layout.search)
        embedders: dict[str, Embedder] = {"static": StaticEmbedder()}
        if options.onnx:
            embedders["onnx"] = OnnxEmbedder(options.onnx)
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
                hits = [sum(r <= k for r in ranks) / len(ranks) for k in (1, 5, 10)]
                line += f"{hits[0]:14.2f}{hits[1]:7.2f}{hits[2]:7.2f}"
            print(line)
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
