"""Rewrites a JSON request in QBXML's form: children in schema order, values in the notation of their type.

A value or child that cannot be rewritten stays unchanged, and the schema check explains the problem.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.qbxml.schema.content_models import request_model

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from domain.qbxml.schema.content_models import ContentModel, ElementRule


def normalize(request: Element) -> None:
    """Rewrite a request element in QBXML's form.

    Repeated elements keep their order. Elements with different names that may alternate, such as lines and line
    groups, also keep their order. An element that is not in the schema stays after the element that it follows.
    """
    model = request_model(request.tag)
    if model is not None:
        _normalize_children(request, model.content)


def _normalize_children(parent: Element, content: ContentModel) -> None:
    rules, ranks = content.rules, content.ranks
    rank = -1
    order: list[int] = []
    for child in parent:
        rank = ranks.get(child.tag, rank)
        order.append(rank)
        rule = rules.get(child.tag)
        if rule is not None and rule.content is not None:
            _normalize_children(child, rule.content)
        elif rule is not None:
            _convert_text(child, rule)
    if order != sorted(order):
        parent[:] = [parent[index] for index in sorted(range(len(order)), key=order.__getitem__)]


def _convert_text(element: Element, rule: ElementRule) -> None:
    value_type, text = rule.value_type, element.text
    if text is None or value_type is None or value_type.accepts is None:
        return
    if not value_type.accepts(text):
        element.text = value_type.converted(text) or text
