"""Lines with an item, in a short form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack, cast

from qbxml_queue.custom_fields import data_extensions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qbxml_queue.schema.requests import Line
    from qbxml_queue.values import Object


def line(item: Object | None = None, *, custom_fields: Mapping[str, str] | None = None, **fields: Unpack[Line]) -> Line:
    """Return a line of an addition: an invoice, a bill, a purchase order and so on.

    `item` is the full name of the item, its record, or a step of a batch, as `ItemRef` is. The custom fields are those
    of the item. The service refuses a field that the lines of the object do not have.
    """
    written: dict[str, Any] = {"ItemRef": item} if item is not None else {}
    if custom_fields:
        written["DataExt"] = data_extensions(custom_fields)
    return cast("Line", {**written, **fields})
