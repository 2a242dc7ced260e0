"""What the preferences of a company cover in the schema: refused in requests, left out of responses."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from simulator.basics.errors import RequestError
from simulator.basics.statuses import STATUSES
from simulator.rules.preferences import PREFERENCES, is_on
from simulator.schema import Aggregate, schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from xml.etree.ElementTree import Element as Node

    from simulator.books import Books
    from simulator.schema import Element

_REMOVALS = ("ListDelRq", "ListMergeRq", "TxnDelRq", "TxnVoidRq")
"""The requests that name the kind of a record by a value."""


@dataclass(frozen=True, slots=True)
class _Covered:
    """What some preferences cover: the preference by request, by element of the schema, and by element and value."""

    requests: dict[str, str] = field(default_factory=dict)
    elements: dict[Element, str] = field(default_factory=dict)
    values: dict[tuple[Element, str], str] = field(default_factory=dict)
    tags: set[str] = field(default_factory=set)
    """The names of the elements in `elements` and `values`."""

    def add(self, element: Element, name: str, value: str = "") -> None:
        self.tags.add(element.name)
        if value:
            self.values[element, value] = name
        else:
            self.elements[element] = name


def hidden_elements(books: Books) -> Mapping[Element, str]:
    """Return the elements that responses of the company do not have."""
    return _covered(_switched_off(books)).elements


def check_preferences(books: Books, node: Node, model: Element) -> None:
    """Refuse a request that uses what is off. Raises `RequestError` 3162, 3250, 3260, 3262 or 3263."""
    covered = _covered(_switched_off(books))
    if node.tag in covered.requests:
        raise _refusal(node.tag, covered.requests[node.tag])
    if not covered.tags.isdisjoint(child.tag for child in node.iter()):
        _check(node, model, covered)


def _check(node: Node, model: Element, covered: _Covered) -> None:
    name = covered.elements.get(model) or covered.values.get((model, (node.text or "").strip()))
    if name:
        raise _refusal(node.tag if model in covered.elements else f"{node.tag} {node.text}", name)
    if isinstance(model.type, Aggregate):
        for child in node:
            _check(child, model.type[child.tag], covered)


def _refusal(what: str, name: str) -> RequestError:
    code = PREFERENCES[name].status
    text = STATUSES[code].text.removesuffix(".")
    return RequestError(code, f"{text}: {what}. Turn on the preference {name}.")


def _switched_off(books: Books) -> frozenset[str]:
    return frozenset(name for name in PREFERENCES if not is_on(books, name))


@cache
def _covered(off: frozenset[str]) -> _Covered:
    covered = _Covered()
    for name in off:
        preference = PREFERENCES[name]
        for kind in preference.kinds:
            requests = (f"{kind}{verb}Rq" for verb in ("Add", "Mod", "Query"))
            covered.requests.update((request, name) for request in requests if request in schema().requests)
            for element in _by_value().get(kind, ()):
                covered.add(element, name, kind)
        for entry in preference.covers:
            element_name, _, value = entry.partition("=")
            if entry in schema().requests:
                covered.requests[entry] = name
            for element in _matching(element_name):
                covered.add(element, name, value)
    return covered


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
