"""The successor of a request: the one request that is queued in its place, whoever queues it.

Its id follows from that of the request, and no id is stored twice. So whether a request was queued again is not stored:
one read of that id tells it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID, uuid5

from domain.records.batch import batch_id, id_at, new_batch_id, position_of
from domain.records.request import FAILED_OR_DISCARDED

if TYPE_CHECKING:
    from domain.records.request import QueuedRequest

_NAMESPACE = UUID("5c1d6a0e-52c1-4a0c-9c39-1c8f6f3f7a52")
"""Makes the ids of successors differ from all other ids. It must not change, or requests could be queued twice."""


def id_again(request_id: str) -> str:
    """Return the id of the successor of a request.

    The successors of a batch are a batch too, and each has the position of its predecessor.
    """
    family = str(uuid5(_NAMESPACE, id_at(request_id, 0)))
    if batch_id(request_id):
        family = new_batch_id(family)
    return id_at(family, position_of(request_id))


def may_be_queued_again(record: QueuedRequest) -> bool:
    """Whether a record that ended in an error or was discarded can be queued again without harm.

    A later page cannot, because its iterator has ended. A request that was rejected is never copied.
    """
    if record.paging.page > 1 or record.state not in FAILED_OR_DISCARDED or record.lacks_values or record.was_rejected:
        return False
    return record.wrote_nothing
