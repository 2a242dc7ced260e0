"""Finds what tables of requests, elements and values cover: in the schema, and in a request."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from simulator.schema import Aggregate, schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from xml.etree.ElementTree import Element as Node

    from simulator.schema import Element

_REMOVALS = ("ListDelRq", "ListMergeRq", "TxnDelRq", "TxnVoidRq")
"""The requests that name the kind of a record by a value."""
_VERBS = ("Add", "Mod", "Query")


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the rows of a table cover: the name of the row by request, by element, and by element and value."""

    requests: dict[str, str] = field(default_factory=dict)
    elements: dict[Element, str] = field(default_factory=dict)
    values: dict[tuple[Element, str], str] = field(default_factory=dict)
    tags: set[str] = field(default_factory=set)
    """The names of the elements in `elements` and `values`."""

    def add(self, name: str, kinds: Iterable[str], covers: Iterable[str]) -> None:
        """Add a row. `kinds` covers every request about these kinds of records.

        An entry of `covers` is

        * a request: `SalesTaxPayableQueryRq`
        * an element of requests and responses: `ClassRef`, or all with an ending: `*InHomeCurrency`
        * an element of the records of one kind: `Customer/SalesTaxCodeRef`
        * a value of an element of requests: `IncludeColumn=Class`
        """
        for kind in kinds:
            requests = (f"{kind}{verb}Rq" for verb in _VERBS)
            self.requests.update((request, name) for request in requests if request in schema().requests)
            for element in _by_value().get(kind, ()):
                self._add(element, name, kind)
        for entry in covers:
            if entry in schema().requests:
                self.requests[entry] = name
            element_name, _, value = entry.partition("=")
            for element in _matching(element_name):
                self._add(element, name, value)

    def _add(self, element: Element, name: str, value: str) -> None:
        self.tags.add(element.name)
        if value:
            self.values[element, value] = name
        else:
            self.elements[element] = name

    def uses(self, node: Node, model: Element) -> Iterator[tuple[str, str]]:
        """Yield what a request uses of it, `ClassRef` or `IncludeColumn Class`, with the name of the row."""
        if node.tag in self.requests:
            yield node.tag, self.requests[node.tag]
        if not self.tags.isdisjoint(child.tag for child in node.iter()):
            yield from self._below(node, model)

    def _below(self, node: Node, model: Element) -> Iterator[tuple[str, str]]:
        if model in self.elements:
            yield node.tag, self.elements[model]
        text = (node.text or "").strip()
        if (model, text) in self.values:
            yield f"{node.tag} {text}", self.values[model, text]
        if isinstance(model.type, Aggregate):
            for child in node:
                yield from self._below(child, model.type[child.tag])


def _matching(entry: str) -> Iterator[Element]:
    """Yield the elements that an entry of `covers` names."""
    kind, _, element_name = entry.rpartition("/")
    for name, places in _by_name().items():
        if name == element_name or (element_name[0] == "*" and name.endswith(element_name[1:])):
            for parent, element in places:
                if not kind or parent in {f"{kind}Add", f"{kind}Mod", f"{kind}Ret"}:
                    yield element


@cache
def _by_name() -> dict[str, list[tuple[str, Element]]]:
    """Return all elements below requests and responses by name, each with the name of its parent."""
    places: defaultdict[str, list[tuple[str, Element]]] = defaultdict(list)
    seen: set[tuple[str, int]] = set()
    pending = [*schema().requests.values(), *schema().responses.values()]
    while pending:
        parent = pending.pop()
        if isinstance(parent.type, Aggregate) and (parent.name, id(parent.type)) not in seen:
            seen.add((parent.name, id(parent.type)))
            for element in parent.type.elements.values():
                places[element.name].append((parent.name, element))
                pending.append(element)
    return places


@cache
def _by_value() -> dict[str, list[Element]]:
    """Return the elements of the requests that remove records, by the kinds that they can name."""
    elements: defaultdict[str, list[Element]] = defaultdict(list)
    for request in _REMOVALS:
        for element in schema().requests[request].content.elements.values():
            for value in element.values:
                elements[value].append(element)
    return elements
