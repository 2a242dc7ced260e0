"""The fast schema check. It reports only whether a request is certainly valid, and nearly every request is.

If it returns False, `schema_check` runs the complete check and explains the problems. The same loop exists twice, for
our elements and for the nodes of the XML parser. It runs for every element of every request, and a function call for
each element would double its time. One lookup returns the rule of an element if the element may occur here.
"""

# ruff: noqa: C901, PLR0911 - the loops avoid function calls, as explained above

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element as Node

from domain.qbxml.schema.content_models import ATTRIBUTES_SINCE, END

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.qbxml.request.document import Element
    from domain.qbxml.schema.content_models import RequestModel, ValueType


def element_is_valid(element: Element, model: RequestModel, version: int) -> bool:
    """Return whether a request element is certainly valid. `version` is a `version_number`."""
    if model.since > version or not _attributes_are_valid(element.attributes, model.attributes, version):
        return False
    pending = [(element.children, model.content)]
    try:
        for children, content in pending:
            followers = content.first or content.start()
            for name, attributes, grandchildren, text, _ in children:
                rule = followers[name]
                followers = rule.followers
                if attributes:
                    return False
                if rule.simple_since > version:
                    if rule.content is None or rule.since > version or (text and not text.isspace()):
                        return False
                    pending.append((grandchildren, rule.content))
                elif grandchildren:
                    return False
                elif (accepts := rule.accepts) is None:
                    if text is not None and len(text) > rule.max_length:
                        return False
                elif not accepts(text or "") or len(text or "") > rule.max_length:
                    return False
            if END not in followers or content.bounded:
                return False
    except KeyError:
        return False
    return True


def node_is_valid(node: Node, model: RequestModel, version: int) -> bool:
    """Return whether the parser's node of a request is certainly valid.

    The caller must have checked that no text follows an element. `version` is a `version_number`.
    """
    if model.since > version or not _attributes_are_valid(node.attrib, model.attributes, version):
        return False
    _, *descendants = node.iter()
    if any(map(Node.keys, descendants)) or not is_blank(node.text):
        return False
    checked = 0
    pending = [(node, model.content)]
    try:
        for parent, content in pending:
            checked += len(parent)
            followers = content.first or content.start()
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
