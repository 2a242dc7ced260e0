"""The lock of a company: one session changes the books at a time, and reads go on beside a session that only reads.

A general ledger of 50,000 transactions takes seconds, and a person who looks at the books must not wait for it. A copy
of the books would take seconds itself, and with a lock for each table a report would see half of a change.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def _nothing() -> None:
    """Prepare nothing."""


class CompanyLock:
    """A lock for `with`, which the same thread can take again.

    The holder can change the books. Within `shared` it only reads, and `reading` of other threads succeeds. `prepare`
    is called before others may read: it computes what is left to compute, so that a read changes nothing. A thread
    that reads must not take the lock.
    """

    def __init__(self, prepare: Callable[[], object] = _nothing) -> None:
        self._prepare = prepare
        self._holder = threading.RLock()
        self._depth = 0
        self._state = threading.Condition()
        self._is_exclusive = False
        self._readers = 0

    def __enter__(self) -> None:
        self._holder.acquire()
        self._depth += 1
        if self._depth == 1:
            self._exclude_readers()

    def __exit__(self, *_: object) -> None:
        try:
            if self._depth == 1:
                self._admit_readers()
        finally:
            self._depth -= 1
            self._holder.release()

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Let other threads read while the block runs. The holder of the lock calls this, and changes nothing in it.

        A holder that took the lock more than once may be in the middle of a change, so this admits nobody.
        """
        if self._depth > 1:
            yield
            return
        self._admit_readers()
        try:
            yield
        finally:
            self._exclude_readers()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Wait until nobody changes the books. Nobody does so while the block runs."""
        with self._state:
            self._state.wait_for(lambda: not self._is_exclusive)
            self._readers += 1
        try:
            yield
        finally:
            with self._state:
                self._readers -= 1
                self._state.notify_all()

    def _admit_readers(self) -> None:
        try:
            self._prepare()
        finally:
            with self._state:
                self._is_exclusive = False
                self._state.notify_all()

    def _exclude_readers(self) -> None:
        with self._state:
            self._is_exclusive = True
            self._state.wait_for(lambda: not self._readers)
