"""The editions of QuickBooks Desktop that lack a request or an element, for the reference in the console."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tools.qbxml_schema.sample_document import Facts

_CODES = {"QBD": "US", "QBCA": "CA", "QBUK": "UK", "QBAU": "AU"}


def missing_in_editions(facts: Mapping[str, Facts], requests: Iterable[str]) -> dict[str, Any]:
    """Return `{"messages": {request: editions}, "elements": {editions: [place, …]}}`.

    Editions are codes such as `CA UK`. A place is the name of an element after that of its parent:
    `InvoiceLineAdd/TaxAmount`. An edition has a place if it has it anywhere.
    """
    places: dict[str, list[frozenset[str]]] = defaultdict(list)
    messages = {}
    for name in requests:
        if facts[name].absent:
            messages[name] = _codes(facts[name].absent)
        for side in (name, f"{name.removesuffix('Rq')}Rs"):
            _collect(facts[side], places)
    elements: dict[str, list[str]] = defaultdict(list)
    for place, absent in sorted(places.items()):
        if everywhere := frozenset.intersection(*absent):
            elements[_codes(everywhere)].append(place)
    return {"messages": messages, "elements": dict(sorted(elements.items()))}


def _codes(editions: frozenset[str]) -> str:
    return " ".join(code for edition, code in _CODES.items() if edition in editions)


def _collect(element: Facts, places: dict[str, list[frozenset[str]]]) -> None:
    for child in element.children:
        places[f"{element.name}/{child.name}"].append(child.absent)
        _collect(child, places)
