"""A difference from what was expected. Its text names elements, statuses and forms, and never a value of the books."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference. `source` is `contract`, `simulator` or `schema`. The service handles it unless it `is_wrong`."""

    source: str
    text: str
    is_wrong: bool

    @classmethod
    def handled(cls, source: str, text: str) -> Finding:
        """Return a difference that the service, and programs that follow its documentation, handle."""
        return cls(source, text, is_wrong=False)

    @classmethod
    def wrong(cls, source: str, text: str) -> Finding:
        """Return a difference that breaks a promise."""
        return cls(source, text, is_wrong=True)
