"""Time, identifiers and randomness, which callers pass in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime


class Clock(Protocol):
    """The time: aware, UTC."""

    def __call__(self) -> datetime:
        """Return the present moment."""


class IdSource(Protocol):
    """A source of new identifiers: lower-case UUID strings."""

    def __call__(self) -> str:
        """Return an identifier never returned before."""


class SecretSource(Protocol):
    """A source of random bytes fit for secrets."""

    def __call__(self, size: int, /) -> bytes:
        """Return `size` random bytes."""
