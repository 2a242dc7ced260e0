"""Pauses between the tries of a call that DynamoDB did not execute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.errors import TooManyRequests

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Policy:
    """How often to try again and how long to wait: a random time below a bound that doubles with each try."""

    retries: int
    first_seconds: float
    max_seconds: float
    message: str
    """The error message for the caller if all retries fail."""


class Backoff:
    """Waits after each try without progress. Gives up after the number of tries that the policy allows."""

    def __init__(self, policy: Policy, sleep: Callable[[float], None], random: Callable[[], float]) -> None:
        """`random` returns numbers from 0 up to 1."""
        self._policy = policy
        self._sleep = sleep
        self._random = random
        self.failures = 0

    def wait(self) -> None:
        """Count a failure and sleep. Raises TooManyRequests if no retry is left."""
        self.failures += 1
        if self.failures > self._policy.retries:
            raise TooManyRequests(self._policy.message)
        bound = min(self._policy.max_seconds, self._policy.first_seconds * 2.0**self.failures)
        self._sleep(bound * self._random())

    def reset(self) -> None:
        """Start again with a short pause. Call this after progress."""
        self.failures = 0
