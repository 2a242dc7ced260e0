"""What a handler works with: the request, the books and the session it belongs to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from xml.etree.ElementTree import Element as Node

    from simulator.books import Books, Record
    from simulator.company_files.facts import CompanyFacts
    from simulator.schema import Element


@dataclass(slots=True)
class OpenIterator:
    """The rest of a query: the records that matched when it started, and how many were returned already."""

    request_name: str
    records: list[Record]
    returned: int = 0

    def page(self, size: int) -> list[Record]:
        """Take the next records."""
        records = self.records[self.returned : self.returned + size]
        self.returned += len(records)
        return records

    @property
    def remaining(self) -> int:
        """How many records are still to come."""
        return len(self.records) - self.returned


@dataclass(slots=True)
class Context:
    """One request in one session. `iterators` belong to the session and end with it."""

    node: Node
    model: Element
    books: Books
    facts: CompanyFacts
    new_guid: Callable[[], str]
    iterators: dict[str, OpenIterator] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The request's element name: `InvoiceAddRq`."""
        return self.node.tag
