"""Learns which headings people choose, and writes ``topics.json`` into the package.

    python -m training.topics.train

The same labels give the same bytes; the file says which labels it was made from.
"""

from __future__ import annotations

import msgspec

from minutebook.extract.offline.topic_model import MODEL
from training.topics.labels import LONG, SHORT, digest, labelled
from training.topics.learn import examples, learn


def main() -> None:
    sessions = labelled(*LONG, *SHORT)
    known = examples(sessions)
    made_from = (
        f"{len(known)} ranges of {len(sessions)} sessions of"
        f" {len({session.repository for session in sessions})} repositories;"
        f" labels sha256 {digest(*LONG, *SHORT)}"
    )
    learned = learn(known, made_from)
    MODEL.write_bytes(msgspec.json.format(msgspec.json.encode(learned), indent=1) + b"\n")
    print(f"{MODEL}: {MODEL.stat().st_size:,} bytes, from {made_from}")


if __name__ == "__main__":
    main()
