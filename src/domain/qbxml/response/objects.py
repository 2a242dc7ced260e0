"""Reads the objects in a response as elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.qbxml.response.reader import read_with_repair
from domain.qbxml.xml.parser import parse_tree

if TYPE_CHECKING:
    from collections.abc import Sequence
    from xml.etree.ElementTree import Element


def returned_objects(text: str) -> Sequence[Element]:
    """Return the objects in the response to one query, such as each `CustomerRet`. Raises UnreadableResponse."""
    root = read_with_repair(parse_tree, text)
    message_set = root if root.tag.endswith("MsgsRs") else next(iter(root), None)
    return (
        [row for response in message_set if response.tag.endswith("Rs") for row in response]
        if message_set is not None
        else []
    )
