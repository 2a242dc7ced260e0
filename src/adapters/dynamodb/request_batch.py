"""Several requests that are read for a list. Only the bodies that the page shows are decompressed."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from adapters.dynamodb import keys
from adapters.dynamodb.bodies import CHUNK_BYTES, unpack_within
from domain.requests.record import ListedRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from adapters.dynamodb.bodies import Bodies
    from adapters.dynamodb.keys import Item
    from domain.requests.record import QueuedRequest


class StoredBatch:
    """Implements `RequestBatch`."""

    def __init__(
        self,
        records: Collection[QueuedRequest],
        bodies: Mapping[str, Bodies],
        read_chunks: Callable[[Sequence[Item]], Sequence[Item]],
    ) -> None:
        """`bodies` are by record id, without chunks. `read_chunks` returns the chunks with these keys."""
        self.records = records
        self._bodies = bodies
        self._read_chunks = read_chunks

    def with_bodies(
        self, records: Sequence[QueuedRequest], *, max_response_bytes: int, max_total_bytes: int
    ) -> Sequence[ListedRequest]:
        """Return records with their bodies, as `RequestBatch` describes. Large requests take one more read."""
        bodies = self._with_request_chunks(records, max_total_bytes)
        requests = (stored.packed_request if stored.has_request else None for stored in bodies)
        responses = (
            stored.packed_response(record) if record.response_size <= max_response_bytes else None
            for record, stored in zip(records, bodies, strict=True)
        )
        texts = list(unpack_within(chain(requests, responses), max_total_bytes))
        return list(map(ListedRequest, records, texts[: len(records)], texts[len(records) :]))

    def _with_request_chunks(self, records: Sequence[QueuedRequest], max_bytes: int) -> list[Bodies]:
        """Return the bodies of the records with the chunks of the first large requests, up to `max_bytes`."""
        bodies = [self._bodies[record.id] for record in records]
        missing = [
            key for record, stored in zip(records, bodies, strict=True) for key in stored.missing_chunks(record.id, 0)
        ]
        if not missing:
            return bodies
        chunks: dict[str, list[Item]] = {}
        for chunk in self._read_chunks(missing[: max_bytes // CHUNK_BYTES + 1]):
            chunks.setdefault(chunk[keys.REQUEST_ID]["S"], []).append(chunk)
        return [stored | chunks.get(record.id, []) for record, stored in zip(records, bodies, strict=True)]
