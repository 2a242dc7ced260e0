"""Decisions: what a call of the Web Connector changes, and its reply.

The modules `sending`, `receiving`, `login` and `end` decide in functions without side effects. A decision that depends
on the next request in the queue is `Claiming`, and `claims` commits it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from domain.records.connection import Connection
    from domain.records.request import QueuedRequest
    from domain.storage.changes import Change, ChangeRequest
    from domain.web_connector.protocol.methods import Reply


@dataclass(frozen=True, slots=True)
class Decision:
    """The reply of a call, and the changes to commit before it."""

    reply: Reply
    changes: Sequence[Change] = ()


@dataclass(frozen=True, slots=True)
class Finishing:
    """A decision that ends the session and frees its connection, which `decide` gets. None means that it is missing."""

    decide: Callable[[Connection | None], Decision]


@dataclass(frozen=True, slots=True)
class GivingBack:
    """A decision that gives requests back which the session has claimed behind those in flight. `decide` gets them."""

    request_ids: Sequence[str]
    decide: Callable[[Sequence[QueuedRequest]], Decision | Claiming | Finishing | GivingBack]


Continuation: TypeAlias = "Callable[[QueuedRequest | None, Sequence[QueuedRequest]], Decision | Finishing]"
"""Returns the decision for the next request. The parameters are the claimed request, or None if nothing is claimed, and
the requests behind it, as far as they were read."""


@dataclass(frozen=True, slots=True)
class Claiming:
    """A decision that depends on the next request, which the session claims in the same commit.

    `releases` are the changes of the records that a session releases. They are part of the commit. With `repeatable`,
    nothing is claimed if the next request is a write to execute. With `low_first`, a request of the low lane is
    claimed, if one can be, unless a write is recovered. With `normal_only`, no request of the low lane is claimed,
    because a run of subscriptions comes before it.
    """

    decide: Continuation
    releases: Sequence[ChangeRequest] = ()
    repeatable: bool = False
    low_first: bool = False
    normal_only: bool = False
