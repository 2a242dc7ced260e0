"""The arguments of a handler: the request, the books and the session."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from xml.etree.ElementTree import Element as Node

    from simulator.books import Books, Fields
    from simulator.requests.facts import CompanyFacts
    from simulator.schema import Element


@dataclass(slots=True)
class OpenIterator:
    """A query that is fetched page by page: its matches when it started, and the number already returned.

    `row` turns an item into the name and the fields of an element.
    """

    request_name: str
    items: Sequence[Any]
    row: Callable[[Any], tuple[str, Fields]]
    returned: int = 0

    def page(self, size: int) -> Sequence[Any]:
        """Return the next items."""
        items = self.items[self.returned : self.returned + size]
        self.returned += len(items)
        return items

    @property
    def remaining(self) -> int:
        """The number of items on the remaining pages."""
        return len(self.items) - self.returned


@dataclass(slots=True)
class Context:
    """One request in one session.

    `iterators` belong to the session and end with it. `macros` are the ids that the requests before this one defined in
    the same message set, by name.
    """

    node: Node
    model: Element
    books: Books
    facts: CompanyFacts
    new_guid: Callable[[], str]
    iterators: dict[str, OpenIterator] = field(default_factory=dict)
    macros: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The request's element name: `InvoiceAddRq`."""
        return self.node.tag
