"""Makes a JSON request fit the schema: children in its order, values in its notation (contract §5).

What cannot be fitted stays as it is; the check says what is wrong with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.qbxml.schema.models import request_model

if TYPE_CHECKING:
    from domain.qbxml.request.document import Element
    from domain.qbxml.schema.models import Item, Model


def fitted(element: Element) -> Element:
    """Return a request element with its children in schema order and its values as QBXML writes them.

    What repeats keeps its order, also where several names alternate (lines and line groups). An
    element that the schema does not know stays behind the one it came after.
    """
    model = request_model(element.name)
    return element if model is None else _aggregate(element, model.content)


def _aggregate(element: Element, model: Model) -> Element:
    items, ranks = model.items(), model.ranks()
    rank = -1
    ranked = []
    for child in element.children:
        rank = ranks.get(child.name, rank)
        ranked.append((rank, _child(child, items.get(child.name))))
    ranked.sort(key=lambda entry: entry[0])
    return element._replace(children=tuple(child for _, child in ranked))


def _child(child: Element, item: Item | None) -> Element:
    if item is None:
        return child
    if item.model is not None:
        return _aggregate(child, item.model)
    kind, text = item.kind, child.text
    if text is None or kind is None or kind.base is None or kind.accepts is None or kind.accepts(text):
        return child
    converted = kind.base.converted(text)
    return child if converted is None else child._replace(text=converted)
