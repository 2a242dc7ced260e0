"""The ids of a batch: requests that one call has queued.

They differ only in the last five bits of their first byte, which are the position of the request in the batch. So a
record finds the others of its batch by their positions, and message set IDs, which are the first digits of an id,
differ. Their version, in the sense of RFC 9562, is 8: so an id tells whether its request is part of a batch.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_REQUESTS = 25
"""Maximum number of requests in a batch. Its transaction has three operations for each of them, and DynamoDB allows
100."""

MAX_DEPENDANTS = 20
"""Maximum number of requests that can depend on one directly. Their changes are part of the commit that ends it."""

_SHIFT = 120
_MASK = 0x1F
"""A position takes five bits of the first of the 16 bytes."""

_VERSION = 0xF << 76
_OF_BATCHES = 8 << 76
"""The version is the first digit of the third group: 8 is for ids that an application makes by rules of its own."""


_id = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z").match


def is_id(text: str) -> bool:
    """Return whether a text has the form of an id."""
    return _id(text) is not None


def new_batch_id(random_id: str) -> str:
    """Return the id of a new batch, which is that of its first request, from a random id."""
    return id_at(str(UUID(int=UUID(random_id).int & ~_VERSION | _OF_BATCHES)), 0)


def batch_id(member_id: str) -> str | None:
    """Return the id of the batch of a request, or None for a request that was queued alone."""
    return id_at(member_id, 0) if UUID(member_id).int & _VERSION == _OF_BATCHES else None


def ids_of_batch(first_id: str, number: int) -> Sequence[str]:
    """Return the ids of a batch of `number` requests, derived from its id."""
    return [id_at(first_id, position) for position in range(number)]


def id_at(member_id: str, position: int) -> str:
    """Return the id of the request at a position, counted from 0, in the batch of `member_id`."""
    return str(UUID(int=UUID(member_id).int & ~(_MASK << _SHIFT) | position << _SHIFT))


def position_of(member_id: str) -> int:
    """Return the position of a request in its batch, counted from 0."""
    return UUID(member_id).int >> _SHIFT & _MASK
