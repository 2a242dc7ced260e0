"""Where the knowledge about QuickBooks comes from: each rule and each text names its source."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Basis(StrEnum):
    """The kinds of sources."""

    DOCUMENT = "document"
    CAPTURE = "capture"
    IDENTITY = "accounting identity"
    ASSUMED = "assumed"


@dataclass(frozen=True, slots=True)
class Source:
    """A source: a document, a captured response, an identity of accounting, or why something is assumed."""

    basis: Basis
    text: str = ""

    @property
    def is_known(self) -> bool:
        """Return whether it is more than an assumption."""
        return self.basis is not Basis.ASSUMED

    def __str__(self) -> str:
        """Return it as FIDELITY.md shows it."""
        return f"{self.basis}: {self.text}" if self.text else str(self.basis)


SCHEMA = Source(Basis.DOCUMENT, "the schemas of qbXML 13.0 and 14.0, the request types and some responses of 16.0")
REFERENCE = Source(Basis.DOCUMENT, "Intuit, QuickBooks Desktop API Reference")
GUIDE = Source(Basis.DOCUMENT, "Intuit, QuickBooks Desktop Developer's Guide")
RESTATED = Source(Basis.DOCUMENT, "Conductor, QuickBooks Desktop API reference, which restates Intuit's")
INTUIT = Source(Basis.DOCUMENT, 'Intuit, "Status codes in response messages"')
REPORTED = Source(Basis.DOCUMENT, "messages that integrators report")
CAPTURED = Source(Basis.CAPTURE, "captured responses")
DOUBLE_ENTRY = Source(Basis.IDENTITY, "double entry")
NOT_VERIFIED = Source(Basis.ASSUMED, "no document at hand has the text")
