"""Compares an object that QuickBooks returned with the fields of the request that may have made it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from domain.existing.values import is_same_reference, is_same_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from xml.etree.ElementTree import Element

_AMOUNTS = ("Amount", "Rate", "TotalAmount", "Cost", "PaymentAmount")


def may_be_of(sent: Element, returned: Element) -> bool:
    """Return whether no field of a request differs from the object that QuickBooks returned."""
    return _matches(sent, returned, is_strict=False)


def is_of(sent: Element, returned: Element) -> bool:
    """Return whether QuickBooks returned every field of a request as it was sent, and no other lines.

    A field that QuickBooks does not return, or changes, makes them differ: only what is proved is equal.
    """
    return _matches(sent, returned, is_strict=True)


def states_customer_and_total(sent: Element) -> bool:
    """Return whether a transaction names its customer, vendor or account, and each amount of its total."""
    has_party = any(child.tag.endswith("Ref") and _named(child) for child in sent)
    lines = [child for child in sent if len(child) and _returned_name(child.tag) != child.tag]
    lines += [child for child in sent if child.tag in {"JournalDebitLine", "JournalCreditLine"}]
    amounts = lines or [sent]
    return has_party and all(any(line.findtext(name) for name in _AMOUNTS) for line in amounts)


def _matches(sent: Element, returned: Element, *, is_strict: bool) -> bool:
    wanted, found = _by_returned_name(sent), _by_name(returned)
    if sent.tag.endswith("Ref"):
        return is_same_reference(sent, returned, is_strict=is_strict)
    for name, elements in wanted.items():
        others = found.get(name, [])
        if not others:
            if is_strict and any(len(element) or element.text for element in elements):
                return False
            continue
        if len(elements) != len(others):
            return False
        for element, other in zip(elements, others, strict=True):
            if len(element):
                if not _matches(element, other, is_strict=is_strict):
                    return False
            elif not is_same_value(element.tag, element.text or "", other.text or ""):
                return False
    # Lines that the request does not have change the total.
    return not is_strict or all(name in wanted for name in found if name.endswith("Ret"))


def _named(reference: Element) -> bool:
    return bool(reference.findtext("ListID") or reference.findtext("FullName"))


def _returned_name(tag: str) -> str:
    """Return the name of an element in a response: `InvoiceLineAdd` is returned as `InvoiceLineRet`."""
    return f"{tag.removesuffix('Add')}Ret" if tag.endswith("Add") else tag


def _by_returned_name(element: Element) -> Mapping[str, Sequence[Element]]:
    children = defaultdict(list)
    for child in element:
        children[_returned_name(child.tag)].append(child)
    return children


def _by_name(element: Element) -> Mapping[str, Sequence[Element]]:
    children = defaultdict(list)
    for child in element:
        children[child.tag].append(child)
    return children
