"""The only retry loop: read, change, commit, and start again after a conflict."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from domain.errors import Conflict, TooManyRequests

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

MAX_ATTEMPTS = 5
"""A conflict means that another caller committed first. Five in a row mean that the entity is contended."""


def commit_with_retry(attempt: Callable[[Conflict | None], T], contended: str) -> T:
    """Call `attempt` until it commits without a conflict, and return its result.

    `attempt` reads, changes and commits. It receives the conflict of the previous call, or None in the first call.
    After MAX_ATTEMPTS calls, raises TooManyRequests with the message `contended`.
    """
    conflict: Conflict | None = None
    for _ in range(MAX_ATTEMPTS):
        try:
            return attempt(conflict)
        except Conflict as error:
            conflict = error
    raise TooManyRequests(contended)
