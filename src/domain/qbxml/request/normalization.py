"""Rewrites a JSON request in QBXML's form: children in schema order, values in the notation of their type.

A value or child that cannot be rewritten stays unchanged, and the schema check explains the problem.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.qbxml.schema.content_models import request_model

if TYPE_CHECKING:
    from domain.qbxml.request.document import Element
    from domain.qbxml.schema.content_models import ContentModel, ElementRule


def normalized(element: Element) -> Element:
    """Return a request element in QBXML's form.

    Repeated elements keep their order. Elements with different names that may alternate, such as lines and line
    groups, also keep their order. An element that is not in the schema stays after the element that it follows.
    """
    model = request_model(element.name)
    return element if model is None else _with_content(element, model.content)


def _with_content(element: Element, content: ContentModel) -> Element:
    rules, ranks = content.rules(), content.ranks()
    rank = -1
    order: list[int] = []
    children: list[Element] = []
    for child in element.children:
        rank = ranks.get(child.name, rank)
        order.append(rank)
        children.append(_child(child, rules.get(child.name)))
    if order != sorted(order):
        children = [children[index] for index in sorted(range(len(order)), key=order.__getitem__)]
    return element._replace(children=tuple(children))


def _child(child: Element, rule: ElementRule | None) -> Element:
    if rule is None:
        return child
    if rule.content is not None:
        return _with_content(child, rule.content)
    value_type, text = rule.value_type, child.text
    if text is None or value_type is None or value_type.base is None:
        return child
    if value_type.accepts is None or value_type.accepts(text):
        return child
    converted = value_type.base.converted(text)
    return child if converted is None else child._replace(text=converted)
