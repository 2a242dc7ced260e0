"""Turns a query into an iterated one."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree.ElementTree import SubElement

from domain.qbxml.request.fast_schema_check import is_valid
from domain.qbxml.request.normalization import normalize

if TYPE_CHECKING:
    from domain.qbxml.request.document import Request

PAGE_SIZE = 100
"""Objects in a page, unless the request says otherwise. A customer has up to 2.5 KB and a sales order up to 10 KB, so a
page has up to 1 MB. A call carries about 4.3 MB. Smaller pages would mean more records and webhooks."""


def iterated(request: Request, page_size: int = PAGE_SIZE) -> Request | None:
    """Return the query with an iterator and pages of `page_size` objects, or None if that is not possible.

    Only some query types have iterators. A query for listed objects (ListID, TxnID, FullName, RefNumber) cannot use
    one. A query that already has a MaxReturned would return more objects than it requests.
    """
    if request.iterator is not None or request.element.find("MaxReturned") is not None:
        return None
    paged = deepcopy(request.element)
    paged.set("iterator", "Start")
    SubElement(paged, "MaxReturned").text = str(page_size)
    normalize(paged)
    return replace(request, element=paged) if is_valid(paged, request.version) else None
