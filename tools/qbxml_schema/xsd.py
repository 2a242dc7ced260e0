"""Reads QBXML's XSD files into particles. A particle says where and how often an element may occur, with which type.

It supports the part of XML Schema that these files use, and fails on anything else.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from defusedxml import ElementTree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path
    from xml.etree.ElementTree import Element as Node

_XSD = "{http://www.w3.org/2001/XMLSchema}"

UNBOUNDED = None


@dataclass(frozen=True)
class Simple:
    """The type of a text: a base type of QBXML (`AMTTYPE`) with its restrictions.

    `added` are the values of an enumeration that only later documents have, with their version.
    """

    base: str
    enumeration: tuple[str, ...] = ()
    max_length: int | None = None
    least: int | None = None
    most: int | None = None
    added: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Aggregate:
    """The type of an element with children."""

    content: Group


@dataclass(frozen=True)
class Facts:
    """Facts from the later document: the first version, the greatest length and the editions without the element."""

    since: str = "1.0"
    length: int | None = None
    absent: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ElementParticle:
    """An element, its content and how often it may occur. If `most` is None, it may occur any number of times.

    `default` is the meaning of an empty text.
    """

    name: str
    least: int
    most: int | None
    holds: Simple | Aggregate
    attributes: dict[str, Simple] = field(default_factory=dict)
    facts: Facts = Facts()
    default: str | None = None


@dataclass(frozen=True)
class Group:
    """A sequence or a choice of particles."""

    is_choice: bool
    particles: tuple[Particle, ...]
    least: int = 1
    most: int | None = 1


Particle: TypeAlias = ElementParticle | Group


class Schema:
    """The declarations of several XSD files."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._globals: dict[tuple[str, str], Node] = {}
        for path in paths:
            for node in ElementTree.fromstring(path.read_bytes()):
                if "name" in node.attrib:
                    self._globals[_kind(node), node.attrib["name"]] = node

    def element(self, name: str) -> ElementParticle:
        """Return a global element."""
        return self._element(self._globals["element", name])

    def members(self, name: str) -> Iterator[ElementParticle]:
        """Yield the elements that a global element may contain."""
        holds = self.element(name).holds
        if not isinstance(holds, Aggregate):
            raise TypeError(f"{name} has no children")
        yield from elements(holds.content)

    def _element(self, node: Node) -> ElementParticle:
        least, most = _occurs(node)
        if "ref" in node.attrib:
            return replace(self._element(self._globals["element", node.attrib["ref"]]), least=least, most=most)
        holds, attributes = self._type(node)
        return ElementParticle(node.attrib["name"], least, most, holds, attributes, default=node.get("default"))

    def _type(self, node: Node) -> tuple[Simple | Aggregate, dict[str, Simple]]:
        name = node.get("type")
        if name is not None:
            if ("complexType", name) in self._globals:
                return self._complex(self._globals["complexType", name])
            return Simple(name), {}
        for child in node:
            if _kind(child) == "simpleType":
                return _simple(child), {}
            if _kind(child) == "complexType":
                return self._complex(child)
        raise ValueError(f"no type: {node.attrib}")

    def _complex(self, node: Node) -> tuple[Simple | Aggregate, dict[str, Simple]]:
        holds: Simple | Aggregate = Aggregate(Group(is_choice=False, particles=()))
        attributes: dict[str, Simple] = {}
        for child in node:
            kind = _kind(child)
            if kind in ("sequence", "choice"):
                holds = Aggregate(self._group(child))
            elif kind == "attribute":
                attributes[child.attrib["name"]] = self._attribute(child)
            elif kind == "simpleContent":
                (extension,) = child
                holds = Simple(extension.attrib["base"])
                attributes |= {attribute.attrib["name"]: self._attribute(attribute) for attribute in extension}
            else:
                raise ValueError(f"not understood in a complexType: {kind}")
        return holds, attributes

    def _attribute(self, node: Node) -> Simple:
        holds, _ = self._type(node)
        if not isinstance(holds, Simple):
            raise TypeError(node.attrib["name"])
        return holds

    def _group(self, node: Node) -> Group:
        least, most = _occurs(node)
        return Group(_kind(node) == "choice", tuple(self._particles(node)), least, most)

    def _particles(self, node: Node) -> Iterator[Particle]:
        for child in node:
            kind = _kind(child)
            if kind == "element":
                yield self._element(child)
            elif kind == "group":
                (definition,) = self._globals["group", child.attrib["ref"]]
                least, most = _occurs(child)
                yield replace(self._group(definition), least=least, most=most)
            elif kind in ("sequence", "choice"):
                yield self._group(child)
            else:
                raise ValueError(f"not understood in a content model: {kind}")


def simplified(group: Group) -> Group:
    """Return an equivalent group without redundant groups.

    One group in the files of 13.0 may occur 0 times: the value of a `ValueAdjustment`. QuickBooks' documentation calls
    it optional, so it may occur once here.
    """
    particles: list[Particle] = []
    for particle in group.particles:
        if isinstance(particle, ElementParticle):
            particles.append(particle)
            continue
        inner = simplified(particle)
        if inner.most == 0:
            inner = replace(inner, most=1)
        if not inner.particles:
            continue
        once = (inner.least, inner.most) == (1, 1)
        if once and (inner.is_choice == group.is_choice or len(inner.particles) == 1):
            particles.extend(inner.particles)
        else:
            particles.append(inner)
    return replace(group, particles=tuple(particles))


def elements(group: Group) -> Iterator[ElementParticle]:
    """Yield every element of a group and of the groups in it."""
    for particle in group.particles:
        if isinstance(particle, Group):
            yield from elements(particle)
        else:
            yield particle


def _simple(node: Node) -> Simple:
    (restriction,) = node
    facets = [(_kind(facet), facet.attrib["value"]) for facet in restriction]
    numbers = {kind: int(value) for kind, value in facets if kind != "enumeration"}
    return Simple(
        restriction.attrib["base"],
        tuple(value for kind, value in facets if kind == "enumeration"),
        numbers.get("maxLength"),
        numbers.get("minInclusive"),
        numbers.get("maxInclusive"),
    )


def _occurs(node: Node) -> tuple[int, int | None]:
    most = node.get("maxOccurs", "1")
    return int(node.get("minOccurs", "1")), UNBOUNDED if most == "unbounded" else int(most)


def _kind(node: Node) -> str:
    return str(node.tag).removeprefix(_XSD)
