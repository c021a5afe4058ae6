"""Ids as other agents take them."""

from __future__ import annotations

import uuid

_NAMESPACE = uuid.UUID("6d696e75-7465-626f-6f6b-2d636f646578")


def as_uuid(id: str) -> str:
    """The id where it is a UUID; one that is not always becomes the same UUID."""
    try:
        return str(uuid.UUID(id))
    except ValueError:
        return str(uuid.uuid5(_NAMESPACE, id))
