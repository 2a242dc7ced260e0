"""What the preferences of a company cover: refused in requests, left out of responses."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from simulator.basics.errors import RequestError
from simulator.basics.statuses import STATUSES
from simulator.requests.coverage import Coverage
from simulator.rules.preferences import PREFERENCES, is_on

if TYPE_CHECKING:
    from collections.abc import Mapping
    from xml.etree.ElementTree import Element as Node

    from simulator.books import Books
    from simulator.schema import Element


def hidden_elements(books: Books) -> Mapping[Element, str]:
    """Return the elements that responses of the company do not have."""
    return _covered(_switched_off(books)).elements


def check_preferences(books: Books, node: Node, model: Element) -> None:
    """Refuse a request that uses what is off. Raises `RequestError` 3162, 3250, 3260, 3262 or 3263."""
    for what, name in _covered(_switched_off(books)).uses(node, model):
        code = PREFERENCES[name].status
        text = STATUSES[code].text.removesuffix(".")
        raise RequestError(code, f"{text}: {what}. Turn on the preference {name}.")


def _switched_off(books: Books) -> frozenset[str]:
    return frozenset(name for name in PREFERENCES if not is_on(books, name))


@cache
def _covered(off: frozenset[str]) -> Coverage:
    covered = Coverage()
    for name in off:
        covered.add(name, PREFERENCES[name].kinds, PREFERENCES[name].covers)
    return covered
