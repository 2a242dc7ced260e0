"""The idempotency keys of calls whose answer was lost. The service forgets a key after a day."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

from qbxml_queue.errors import AnswerLost

if TYPE_CHECKING:
    from collections.abc import Callable

    Moment = tuple[float, float]

REPEATABLE_SECONDS = 23 * 3600
"""How long a call may be repeated with its key: the service knows it for an hour more, in which the call is made."""


class KeyedCall(Protocol):
    """A call with its path and its idempotency key, which is empty for a call without one."""

    @property
    def path(self) -> str:
        """The path."""
        ...

    @property
    def key(self) -> str:
        """The idempotency key."""
        ...


class Unanswered:
    """Since when the service may know the key of each call whose answer was lost.

    A clock can stand still while its machine sleeps, so the time of day is compared too.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._since: dict[tuple[str, str], Moment] = {}

    def now(self) -> Moment:
        """Return the time of both clocks."""
        return self._clock(), time.time()

    def check(self, call: KeyedCall) -> None:
        """Raise AnswerLost for a call that may have been executed so long ago that it would be executed again."""
        since = self._since.get((call.path, call.key))
        if since and max(now - then for now, then in zip(self.now(), since, strict=True)) >= REPEATABLE_SECONDS:
            raise AnswerLost(call.key)

    def add(self, call: KeyedCall, began: Moment) -> None:
        """Keep that the service may know the key of a call since it began."""
        if call.key:
            self._since.setdefault((call.path, call.key), began)

    def remove(self, call: KeyedCall) -> None:
        """Forget a call that was answered."""
        self._since.pop((call.path, call.key), None)
