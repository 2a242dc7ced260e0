"""Time, identifiers and randomness, which callers pass in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime


class Clock(Protocol):
    """A source of the time, as an aware datetime in UTC."""

    def __call__(self) -> datetime:
        """Return the current time."""


class IdSource(Protocol):
    """A source of new identifiers: lower-case UUID strings."""

    def __call__(self) -> str:
        """Return an identifier that was never returned before."""


class SecretSource(Protocol):
    """A source of random bytes that are suitable for secrets."""

    def __call__(self, size: int, /) -> bytes:
        """Return `size` random bytes."""
