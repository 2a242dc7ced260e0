"""Elements that an edition of QuickBooks does not have: it leaves them out of requests and answers with a warning."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element as Node

from simulator.schema.model import Aggregate

if TYPE_CHECKING:
    from simulator.schema import Element


def supported(node: Node, model: Element, edition: str) -> tuple[Node, list[str]]:
    """Return an element without the children that the edition does not have, and the names of those children.

    The element itself is returned if the edition has all of them.
    """
    if not isinstance(model.type, Aggregate):
        return node, []
    children: list[Node] = []
    missing: list[str] = []
    for child in node:
        child_model = model.type.elements[child.tag]
        if edition in child_model.absent:
            missing.append(child.tag)
            continue
        part, below = supported(child, child_model, edition)
        children.append(part)
        missing += below
    if not missing:
        return node, []
    copy = Node(node.tag, node.attrib)
    copy.text, copy.tail = node.text, node.tail
    copy.extend(children)
    return copy, missing
