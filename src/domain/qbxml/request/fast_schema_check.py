"""The fast schema check. It reports only whether a request is certainly valid, and nearly every request is.

If it returns False, `schema_check` runs the complete check and explains the problems. The loop runs for every element
of every request. One lookup returns the rule of an element if the element may occur here.
"""

# ruff: noqa: C901, PLR0911 - a function call for each element would double the time

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from domain.qbxml.schema.content_models import ATTRIBUTES_SINCE, END, request_model, version_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.qbxml.schema.value_types import ValueType


def is_valid(request: Element, qbxml_version: str) -> bool:
    """Return whether a request is certainly valid. The caller ensures that no text follows an element."""
    model, version = request_model(request.tag), version_number(qbxml_version)
    if model is None or model.since > version or not _attributes_are_valid(request.attrib, model.attributes, version):
        return False
    _, *descendants = request.iter()
    if any(map(Element.keys, descendants)) or not is_blank(request.text):
        return False
    checked = 0
    pending = [(request, model.content)]
    try:
        for parent, content in pending:
            checked += len(parent)
            followers = content.first
            for child in parent:
                rule = followers[child.tag]
                followers = rule.followers
                text = child.text
                if rule.simple_since > version:
                    if rule.content is None or rule.since > version or (text and not text.isspace()):
                        return False
                    pending.append((child, rule.content))
                elif (accepts := rule.accepts) is None:
                    if text is not None and len(text) > rule.max_length:
                        return False
                elif not accepts(text or "") or len(text or "") > rule.max_length:
                    return False
            if END not in followers or content.bounded:
                return False
    except KeyError:
        return False
    # The loop does not check the children of an element that must contain text.
    return checked == len(descendants)


def is_blank(text: str | None) -> bool:
    """Return whether the text between elements is missing or only white space."""
    return not text or text.isspace()


def _attributes_are_valid(attributes: Mapping[str, str], types: Mapping[str, ValueType], version: int) -> bool:
    for name, value in attributes.items():
        value_type = types.get(name)
        if value_type is None or (value_type.accepts is not None and not value_type.accepts(value)):
            return False
        if ATTRIBUTES_SINCE.get(name, 0) > version:
            return False
    return True
