"""Reads XML into trees without DTDs and without processing namespaces.

expat writes the URI of a namespace again for every prefixed name, so a document of 300 KB can take gigabytes. Here a
prefix is a part of the name, and `xmlns` is an attribute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers.expat import ExpatError
from xml.sax.handler import feature_string_interning

from defusedxml.common import DefusedXmlException
from defusedxml.expatreader import DefusedExpatParser

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

XML_ERRORS = (ExpatError, DefusedXmlException, ValueError, LookupError)
"""The errors for malformed XML, a DTD, and an encoding that cannot be read."""


def read_tree(data: str | bytes) -> Element:
    """Return the root element, without comments and processing instructions. Raises XML_ERRORS."""
    reader = DefusedExpatParser(forbid_dtd=True)
    reader.setFeature(feature_string_interning, True)
    reader.reset()
    parser: Any = reader._parser  # type: ignore[attr-defined]  # noqa: SLF001 - its own handlers are slow
    builder = TreeBuilder()
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.ProcessingInstructionHandler = None
    parser.SkippedEntityHandler = None
    parser.buffer_text = True
    parser.Parse(data, True)
    return builder.close()


class Scope:
    """An element with the namespaces that are declared for it, by prefix; the default namespace has the prefix ''."""

    def __init__(self, element: Element, outer: Mapping[str, str] | None = None) -> None:
        """Add the declarations of the element to those of the elements around it."""
        self.element = element
        declared = {name: value for name, value in element.items() if name == "xmlns" or name.startswith("xmlns:")}
        self._namespaces = {**(outer or {}), **{name[len("xmlns:") :]: value for name, value in declared.items()}}

    def __iter__(self) -> Iterator[Scope]:
        """Yield the children."""
        return (Scope(child, self._namespaces) for child in self.element)

    def is_named(self, namespace: str, name: str) -> bool:
        """Return whether the element has this namespace and local name."""
        return self._resolved(self.element.tag) == (namespace, name)

    def child(self, namespace: str, name: str) -> Scope | None:
        """Return the first child with this namespace and local name."""
        return next((child for child in self if child.is_named(namespace, name)), None)

    def attribute(self, namespace: str, name: str) -> str | None:
        """Return the value of an attribute with a prefix."""
        attributes = self.element.items()
        return next(
            (value for key, value in attributes if ":" in key and self._resolved(key) == (namespace, name)), None
        )

    @property
    def local_name(self) -> str:
        """The name without its prefix."""
        return self.element.tag.rpartition(":")[2]

    def _resolved(self, name: str) -> tuple[str | None, str]:
        prefix, _, local_name = name.rpartition(":")
        return self._namespaces.get(prefix), local_name


def without(element: Element, name: str) -> Element:
    """Return a copy of an element without the children of a name, at any depth."""
    copy = Element(element.tag, element.attrib)
    copy.text, copy.tail = element.text, element.tail
    copy.extend(without(child, name) for child in element if child.tag != name)
    return copy
