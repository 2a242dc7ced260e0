"""Functions that are interrupted, or run beside each other, on hosts whose clocks differ."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from botocore.exceptions import ClientError, ReadTimeoutError

from tests.support.web_connector.interruptions import ReadFailed

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from datetime import datetime

    from tests.support.builders import FixedClock
    from tests.support.web_connector.interruptions import Point

T = TypeVar("T")

FAILED_READS = (ReadFailed, ClientError, ReadTimeoutError)


def is_failed_read(error: Exception) -> bool:
    """Return whether an error of the database is one of its side, so that the function fails and may be repeated."""
    return not isinstance(error, ClientError) or error.response["Error"]["Code"] == "InternalServerError"


class Termination(NamedTuple):
    """A function is terminated after `calls` calls of the store, before or after the next one."""

    calls: int
    after: bool


class FailedRead(NamedTuple):
    """The first read of a function after `calls` calls of the store fails."""

    calls: int


class ConcurrentCall(NamedTuple):
    """After `calls` calls of the store, another caller does `what` with connection `number`.

    Then the function continues. The other function may have a `trouble` too, so three or more run concurrently.
    """

    calls: int
    what: str
    number: int
    trouble: Termination | FailedRead | ConcurrentCall | None = None


Trouble: TypeAlias = Termination | FailedRead | ConcurrentCall | None


BESIDE = "/live_sessions"
"""A thread of its own makes this call, so no other function can run between it and the call before."""

POST = "?/post"
"""The call of a receiver of webhooks."""

NOT_READS = ("/commit", POST)


class AtOnce(Executor):
    """Makes calls at once, so that each run is the same. In AWS a thread of their own makes them."""

    def submit(self, call: Callable[..., T], /, *arguments: Any, **keywords: Any) -> Future[T]:
        """Make the call."""
        future: Future[T] = Future()
        try:
            future.set_result(call(*arguments, **keywords))
        except FAILED_READS as error:
            future.set_exception(error)
        return future


@dataclass
class PlannedTrouble:
    """Interrupts a function as planned. `run_other` runs the concurrent call."""

    trouble: Trouble = None
    concurrently: Callable[[], object] | None = None
    current: Point | None = None
    calls: int = 0
    run_other: Callable[[ConcurrentCall], object] = lambda _call: None

    def begin(self, trouble: Trouble) -> None:
        """Start a function."""
        self.trouble, self.calls = trouble, 0

    def passing(self, what: str) -> str | None:
        """Return the interruption that is due."""
        trouble = self.trouble
        if trouble is None or self.calls <= trouble.calls:
            return None
        if what.endswith(BESIDE) or (isinstance(trouble, FailedRead) and what.endswith(NOT_READS)):
            return None
        self.trouble = None
        if isinstance(trouble, Termination):
            return "terminated-after" if trouble.after else "terminated-before"
        if isinstance(trouble, FailedRead):
            return "read-failed"
        self.run_other(trouble)
        return None


SKEWS = (0.0, 0.0, -1.0, -0.25, 0.25, 1.0)
"""By how many seconds the clock of a function may differ. Lambda's hosts are synchronized, within milliseconds."""


@dataclass
class HostClock:
    """The clock of the host on which a function runs. Each call of a function may run on another host."""

    clock: FixedClock
    random: random.Random
    skew: float = 0.0

    def __call__(self) -> datetime:
        """Return the time that the host shows."""
        return self.clock() + timedelta(seconds=self.skew)

    def move(self) -> None:
        """Run the next function on another host."""
        self.skew = self.random.choice(SKEWS)
