"""Turns a query into an iterated one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from domain.qbxml.request.document import Element
from domain.qbxml.request.fast_schema_check import element_is_valid
from domain.qbxml.request.normalization import normalized
from domain.qbxml.schema.content_models import request_model, version_number

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
    element, model = request.element, request_model(request.name)
    if model is None or request.iterator is not None or element.child("MaxReturned") is not None:
        return None
    children = (Element("MaxReturned", text=str(page_size)), *element.children)
    paged = normalized(element._replace(attributes={**element.attributes, "iterator": "Start"}, children=children))
    return replace(request, element=paged) if element_is_valid(paged, model, version_number(request.version)) else None
