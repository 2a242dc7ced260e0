"""Generates valid requests from the XSD files, and mutates them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from tools.qbxml_schema.xsd import Aggregate, ElementParticle, Group, Particle, Simple, elements

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

_MANY = 3
"""The largest number of extra repetitions of an element that may occur any number of times."""

_VALUES: dict[str, Sequence[str]] = {
    "AMTTYPE": ("0", "12", "-3.50", "+9999999999999.99", "0.00", ""),
    "PRICETYPE": ("0", "1.5", "-1234567890.12345", ""),
    "QUANTYPE": ("1", "2.25", "-7", ""),
    "PERCENTTYPE": ("8.25", "-1", "100.00000", ""),
    "FLOATTYPE": ("1", "0.123456789", "-.5", "7.", ""),
    "INTTYPE": ("1", "7", " 12 ", "+3"),
    "BOOLTYPE": ("true", "false", "1", "0", "", " true\n"),
    "DATETYPE": ("2026-01-31", "2024-02-29", "", "2026-01-31Z"),
    "DATETIMETYPE": ("2026-01-31", "2026-1-3T7", "2026-01-31T13:30", "2026-01-31T13:30:00-08:00", ""),
    "TIMEINTERVALTYPE": ("PT8H30M", "PT0S", "-PT5M", ""),
    "GUIDTYPE": ("0", "{01234567-89ab-CDEF-0123-456789abcdef}"),
    "IDTYPE": ("80000001-1324068882", "4C-1415942229", "x" * 36, ""),
    "STRTYPE": ("Ann & Bob <x>", "é", "", " two  words ", "7"),
    "MACROTYPE": ("TxnID:1", ""),
}

_WRONG = (
    "97.5",
    "1.234",
    "1e3",
    "yes",
    "TRUE",
    "2026-02-30",
    "2026-01-31T13:30:00Z",
    "2026-01-31T13:30:00.5",
    "31.01.2026",
    "{1234}",
    "-1",
    "0",
    "13",
    "",
    " ",
    "x" * 37,
    "x" * 5000,
    "All",
    "activeonly",
    "Start",
    "PT",
    "P1D",
    "12345678901234",
    "PLAIN",
)


@dataclass(eq=False)
class Node:
    """An element that can be changed."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Node] = field(default_factory=list)
    text: str = ""

    def write(self) -> str:
        """Return its XML, with white space between elements."""
        attributes = "".join(f" {name}={quoteattr(value)}" for name, value in self.attributes.items())
        content = (
            "\n".join(["", *(child.write() for child in self.children), ""]) if self.children else escape(self.text)
        )
        return f"<{self.name}{attributes}>{content}</{self.name}>"

    def walk(self) -> Iterator[Node]:
        """Yield this element and its descendants."""
        yield self
        for child in self.children:
            yield from child.walk()


def valid(particle: ElementParticle, random: Random) -> Node:
    """Return an element that the XSD accepts."""
    node = Node(particle.name)
    for name, simple in particle.attributes.items():
        if random.random() < 0.4:  # noqa: PLR2004 - in some requests
            node.attributes[name] = _text(simple, random)
    if isinstance(particle.holds, Aggregate):
        node.children.extend(_group(particle.holds.content, random))
    else:
        node.text = _text(particle.holds, random)
    return node


def mutate(node: Node, particle: ElementParticle, random: Random) -> str:
    """Change a request in one or two ways, and return the names of the changes."""
    names = [element.name for element in _all(particle)]
    changes = []
    for _ in range(random.choice((1, 1, 1, 2))):
        change = random.choice((_swap, _drop, _duplicate, _rename, _spoil, _move, _insert, _attribute, _hollow))
        if change(node, names, random):
            changes.append(change.__name__.removeprefix("_"))
    return "+".join(changes)


def _swap(node: Node, _names: Sequence[str], random: Random) -> bool:
    parents = [parent for parent in node.walk() if len(parent.children) > 1]
    if not parents:
        return False
    children = random.choice(parents).children
    one, other = random.sample(range(len(children)), 2)
    children[one], children[other] = children[other], children[one]
    return True


def _drop(node: Node, _names: Sequence[str], random: Random) -> bool:
    parents = [parent for parent in node.walk() if parent.children]
    if not parents:
        return False
    children = random.choice(parents).children
    del children[random.randrange(len(children))]
    return True


def _duplicate(node: Node, _names: Sequence[str], random: Random) -> bool:
    parents = [parent for parent in node.walk() if parent.children]
    if not parents:
        return False
    children = random.choice(parents).children
    place = random.randrange(len(children))
    children[place:place] = [children[place]] * random.choice((1, 1, 1, 8, 51))
    return True


def _rename(node: Node, names: Sequence[str], random: Random) -> bool:
    element = random.choice(list(node.walk()))
    if element is node:
        return False
    element.name = random.choice((f"{element.name}s", element.name.lower(), random.choice(names)))
    return True


def _spoil(node: Node, _names: Sequence[str], random: Random) -> bool:
    leaves = [leaf for leaf in node.walk() if not leaf.children and leaf is not node]
    if not leaves:
        return False
    random.choice(leaves).text = random.choice(_WRONG)
    return True


def _move(node: Node, _names: Sequence[str], random: Random) -> bool:
    parents = [parent for parent in node.walk() if parent.children]
    if not parents:
        return False
    children = random.choice(parents).children
    moved = children.pop(random.randrange(len(children)))
    inside = list(moved.walk())
    homes = [home for home in node.walk() if (home.children or home is node) and home not in inside]
    home = random.choice(homes).children
    home.insert(random.randint(0, len(home)), moved)
    return True


def _insert(node: Node, names: Sequence[str], random: Random) -> bool:
    homes = [home for home in node.walk() if home.children or home is node]
    home = random.choice(homes).children
    home.insert(random.randint(0, len(home)), Node(random.choice(names), text=random.choice(("", "7", "true"))))
    return True


def _attribute(node: Node, _names: Sequence[str], random: Random) -> bool:
    element = random.choice((node, random.choice(list(node.walk()))))
    name = random.choice(("requestID", "metaData", "iterator", "iteratorID", "defMacro", "useMacro", "colour"))
    element.attributes[name] = random.choice(("1", "Start", "start", "NoMetaData", ""))
    return True


def _hollow(node: Node, _names: Sequence[str], random: Random) -> bool:
    """Remove the children of an element, or add one to an element with text."""
    element = random.choice(list(node.walk()))
    if element is node:
        return False
    if element.children:
        element.children = []
        element.text = random.choice(("", "\n", "text"))
    else:
        element.children = [Node("ListID", text="1")]
        element.text = ""
    return True


def _all(particle: ElementParticle) -> Iterator[ElementParticle]:
    yield particle
    if isinstance(particle.holds, Aggregate):
        for child in elements(particle.holds.content):
            yield from _all(child)


def _group(group: Group, random: Random) -> Iterator[Node]:
    for _ in range(_times(group, random)):
        if group.is_choice:
            if group.particles:
                yield from _particle(random.choice(group.particles), random)
        else:
            for particle in group.particles:
                yield from _particle(particle, random)


def _particle(particle: Particle, random: Random) -> Iterator[Node]:
    if isinstance(particle, Group):
        yield from _group(particle, random)
    else:
        for _ in range(_times(particle, random)):
            yield valid(particle, random)


def _times(particle: Particle, random: Random) -> int:
    if particle.least == 0 and random.random() < 0.6:  # noqa: PLR2004 - keeps requests small
        return 0
    most = particle.least + _MANY if particle.most is None else particle.most
    return random.randint(min(max(particle.least, 1), most), most)


def _text(simple: Simple, random: Random) -> str:
    if simple.enumeration:
        return random.choice(simple.enumeration)
    if simple.least is not None or simple.most is not None:
        return str(random.randint(simple.least or 0, simple.most or 1000))
    values = [value for value in _VALUES[simple.base] if simple.max_length is None or len(value) <= simple.max_length]
    if simple.max_length is not None:
        values.append("x" * simple.max_length)
    return random.choice(values)
