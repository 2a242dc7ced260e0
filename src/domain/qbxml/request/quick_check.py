"""Whether the schema finds nothing wrong with a request, quickly: the answer for almost every request.

False may also mean that only the whole check (`checking`) can tell. The two loops are the same, one
for our elements, one for the nodes of a parser. They run for every element of every request, and a
call for each would cost as much as the rest: one look-up tells whether an element may stand here and
what it is.
"""

# ruff: noqa: C901, PLR0911 - see above: the loops call nothing that they can do themselves

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element as Node

from domain.qbxml.schema.models import ATTRIBUTES_SINCE, END

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.qbxml.request.document import Element
    from domain.qbxml.schema.models import Kind, RequestModel


def element_fits(element: Element, model: RequestModel, version: int) -> bool:
    """Whether a request element fits the model, in a version as a `version_number`."""
    if model.since > version or not _attributes_fit(element.attributes, model.attributes, version):
        return False
    waiting = [(element.children, model.content)]
    try:
        for children, content in waiting:
            followers = content.first or content.start()
            for name, attributes, grandchildren, text, _ in children:
                item = followers[name]
                followers = item.followers
                if attributes:
                    return False
                if item.plain_from > version:
                    if item.model is None or item.since > version or (text and not text.isspace()):
                        return False
                    waiting.append((grandchildren, item.model))
                elif grandchildren:
                    return False
                elif (accepts := item.accepts) is None:
                    if text is not None and len(text) > item.length:
                        return False
                elif not accepts(text or "") or len(text or "") > item.length:
                    return False
            if END not in followers or content.counted:
                return False
    except KeyError:
        return False
    return True


def node_fits(node: Node, model: RequestModel, version: int) -> bool:
    """Whether the node of a request fits the model, in a version as a `version_number`.

    No text follows any of the elements in it.
    """
    if model.since > version or not _attributes_fit(node.attrib, model.attributes, version):
        return False
    _, *inside = node.iter()
    if any(map(Node.keys, inside)) or not is_blank(node.text):
        return False
    seen = 0
    waiting = [(node, model.content)]
    try:
        for parent, content in waiting:
            seen += len(parent)
            followers = content.first or content.start()
            for child in parent:
                item = followers[child.tag]
                followers = item.followers
                text = child.text
                if item.plain_from > version:
                    if item.model is None or item.since > version or (text and not text.isspace()):
                        return False
                    waiting.append((child, item.model))
                elif (accepts := item.accepts) is None:
                    if text is not None and len(text) > item.length:
                        return False
                elif not accepts(text or "") or len(text or "") > item.length:
                    return False
            if END not in followers or content.counted:
                return False
    except KeyError:
        return False
    # A child of what may only hold text was not seen.
    return seen == len(inside)


def is_blank(text: str | None) -> bool:
    """Whether a text between elements says nothing."""
    return not text or text.isspace()


def _attributes_fit(attributes: Mapping[str, str], kinds: Mapping[str, Kind], version: int) -> bool:
    for name, value in attributes.items():
        kind = kinds.get(name)
        if kind is None or (kind.accepts is not None and not kind.accepts(value)):
            return False
        if ATTRIBUTES_SINCE.get(name, 0) > version:
            return False
    return True
