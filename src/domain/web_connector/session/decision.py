"""Decisions: what a call of the Web Connector changes, and its reply.

The modules `sending`, `receiving`, `login` and `end` decide in functions without side effects. A decision that depends
on the next request in the queue is `Claiming`, and `claims` commits it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from domain.records.session import InFlight
    from domain.storage.changes import Change, ChangeRequest
    from domain.web_connector.protocol.methods import Reply


@dataclass(frozen=True, slots=True)
class Decision:
    """The reply of a call, and the changes to commit before it."""

    reply: Reply
    changes: Sequence[Change] = ()


Continuation: TypeAlias = "Callable[[InFlight | None, int], Decision]"
"""Returns the decision for the next request. The parameters are the claimed request, or None if nothing is claimed, and
the number of waiting requests, including that one."""


@dataclass(frozen=True, slots=True)
class Claiming:
    """A decision that depends on the next request, which the session claims in the same commit.

    `release` is the change of the record that a session releases. It is part of the commit.
    """

    decide: Continuation
    release: ChangeRequest | None = None
