"""Random valid requests of every type, made from the simulator's own schema."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

import defusedxml.ElementTree

from simulator.schema import Aggregate, Element, Group, Simple
from simulator.tests.plausible import make_plausible

if TYPE_CHECKING:
    from random import Random

    from simulator.books import Books

_WORDS = ("Alpha", "Bravo & Co", "Café", "Delta <x>", "")
_TEXTS = {
    "BOOLTYPE": ("true", "false", "1", "0"),
    "AMTTYPE": ("12.50", "0", "-3.00"),
    "PRICETYPE": ("7.125", "10"),
    "PERCENTTYPE": ("5", "7.5"),
    "QUANTYPE": ("1", "2.5"),
    "FLOATTYPE": ("1.25",),
    "DATETYPE": ("2025-03-04",),
    "DATETIMETYPE": ("2025-03-04", "2025-03-04T05:06:07", "2025-03-04T05:06:07-05:00"),
    "TIMEINTERVALTYPE": ("PT1H30M0S", "PT8H"),
    "GUIDTYPE": ("0", "{01234567-89AB-CDEF-0123-456789ABCDEF}"),
    "IDTYPE": ("80000001-1", "FF-1"),
}


def random_request(model: Element, books: Books, random: Random) -> str:
    """Return the text of a request of this type. Most of its references exist in the books."""
    node = defusedxml.ElementTree.fromstring(_element(model, random))
    make_plausible(node, books, random)
    return str(defusedxml.ElementTree.tostring(node, encoding="us-ascii").decode())


def _element(model: Element, random: Random) -> str:
    attributes = "".join(
        f" {name}={quoteattr(_text(kind, random))}"
        for name, kind in model.attributes.items()
        if name != "iteratorID" and random.random() < 0.3
    )
    content = (
        _group(model.type.group, random) if isinstance(model.type, Aggregate) else escape(_text(model.type, random))
    )
    return f"<{model.name}{attributes}>{content}</{model.name}>"


def _group(group: Group, random: Random) -> str:
    particles = [random.choice(group.particles)] if group.is_choice and group.particles else group.particles
    return "".join(_particle(particle, random) for _ in range(_times(group, random)) for particle in particles)


def _particle(particle: Element | Group, random: Random) -> str:
    if isinstance(particle, Group):
        return _group(particle, random)
    return "".join(_element(particle, random) for _ in range(_times(particle, random)))


def _times(particle: Element | Group, random: Random) -> int:
    most = particle.least + 2 if particle.most is None else particle.most
    return random.randint(particle.least, min(most, particle.least + 2)) if random.random() < 0.5 else particle.least


def _text(kind: Simple, random: Random) -> str:
    if kind.values:
        return random.choice(list(kind.values))
    if kind.base == "INTTYPE":
        return str(max(kind.least or 1, 1))
    text = random.choice(_TEXTS.get(kind.base, _WORDS))
    return text[: kind.length] if kind.length else text
