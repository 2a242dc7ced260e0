"""Reads of several items while a transaction or a removal changes them.

DynamoDB reads each item of a batch at its own moment, also if each read is consistent. A batch can therefore return a
body as it was before a transaction and the record as it is after it. The record tells which parts and which values of
references must exist, so such a read is recognised, and repeated. A transaction changes its items within milliseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from adapters.dynamodb.client import Policy
from domain.errors import TooManyRequests, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapters.dynamodb.client import Tries

T = TypeVar("T")

TORN_READ = Policy(
    retries=4,
    first_seconds=0.02,
    max_seconds=0.5,
    message="The request is being changed. Try again in a moment.",
)


class PartMissing(Exception):
    """A part of a request was not there when it was read, because it is being stored or removed."""


def consistently(read: Callable[[], T], backoff: Tries, is_torn: Callable[[T], bool] = lambda _: False) -> T:
    """Return the result of `read`. Repeats it while the result is torn, and at last returns it as it is.

    Also repeats it while it raises PartMissing. Raises Unavailable if it still does so at last.
    """
    while True:
        try:
            result = read()
            if not is_torn(result):
                return result
            problem = None
        except PartMissing as missing:
            problem = missing
        try:
            backoff.wait()
        except TooManyRequests as error:
            if problem is None:
                return result
            raise Unavailable(error.message) from problem
