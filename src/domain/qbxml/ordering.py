"""Puts the children of a JSON request into the order that QBXML prescribes (contract §5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain.qbxml.facts import particles_of, request_facts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from domain.qbxml.document import Element


def in_schema_order(element: Element) -> Element:
    """Return a request element with its children in schema order, all the way down.

    What repeats keeps its order, also where several names alternate (lines and line groups). An
    element that the schema does not know stays behind the one it came after.
    """
    facts = request_facts(element.name)
    return element if facts is None else _ordered(element, facts["content"], facts["types"])


def _ordered(element: Element, group: Mapping[str, Any], types: Sequence[Any]) -> Element:
    places: dict[str, tuple[int, Any]] = {}
    _place(group, places)
    rank = -1
    ranked = []
    for child in element.children:
        rank, kind = places.get(child.name, (rank, None))
        content = types[kind] if isinstance(kind, int) else None
        ranked.append((rank, _ordered(child, content, types) if isinstance(content, dict) else child))
    ranked.sort(key=_rank)
    return element._replace(children=tuple(child for _, child in ranked))


def _rank(ranked: tuple[int, Element]) -> int:
    return ranked[0]


def _place(group: Mapping[str, Any], places: dict[str, tuple[int, Any]]) -> None:
    """Give every name its rank and kind; names in a group that repeats share one rank."""
    repeats = group.get("times", "1") not in {"1", "?"}
    first = len(places)
    for particle in particles_of(group):
        if isinstance(particle, dict):
            _place(particle, places)
        else:
            places[particle[0]] = (len(places), particle[2])
    if repeats:
        places.update({name: (first, kind) for name, (rank, kind) in places.items() if rank >= first})
