"""Compares values of requests with those that QuickBooks returned."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from domain.qbxml.schema.facts import returned_type

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_NUMBERS = frozenset({"AMTTYPE", "PRICETYPE", "QUANTYPE", "PERCENTTYPE", "FLOATTYPE", "INTTYPE"})
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def is_same_value(name: str, sent: str, returned: str) -> bool:
    """Return whether two texts of the element `name` mean the same, by its type in responses: `10` and `10.00` do."""
    kind = returned_type(name)
    if kind in _NUMBERS:
        try:
            return Decimal(sent) == Decimal(returned)
        except InvalidOperation:
            return sent == returned
    if kind == "BOOLTYPE":
        return _BOOLEANS.get(sent.strip(), sent) == _BOOLEANS.get(returned.strip(), returned)
    return sent.strip() == returned.strip()


def is_same_reference(sent: Element, returned: Element, *, is_strict: bool) -> bool:
    """Return whether two references mean the same object. A list ignores case in names.

    Without `is_strict`, a reference means the same if nothing shows that it does not.
    """
    for name in ("ListID", "FullName"):
        if text := sent.findtext(name):
            other = returned.findtext(name)
            return text.casefold() == other.casefold() if other else not is_strict
    return not is_strict
