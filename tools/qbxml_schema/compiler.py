"""Writes content models in this project's own form. Types that several elements share are stored once, in a table.

An element is `[name, times, type, facts]`. `times` is `1`, `?`, `*`, `+` or `least..most`. The type is the name of a
base type, or the number of an enumeration or a group in the table. A group is `{"sequence": [...]}` or
`{"choice": [...]}`, with `times` unless it occurs exactly once.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tools.qbxml_schema.xsd import Aggregate, ElementParticle, Group, Particle, Simple

if TYPE_CHECKING:
    from tools.qbxml_schema.xsd import Facts


class Compiler:
    """Compiles content models into the table `types`. With `editions`, facts name the editions without an element."""

    def __init__(self, *, editions: bool = False) -> None:
        self.types: list[Any] = []
        self._numbers: dict[str, int] = {}
        self._editions = editions

    def content(self, holds: Simple | Aggregate) -> dict[str, Any]:
        """Return the content model of an element with children."""
        if not isinstance(holds, Aggregate):
            raise TypeError("a request holds elements")
        return self._group(holds.content)

    def element(self, particle: ElementParticle) -> list[Any]:
        """Return an element with its type and facts."""
        facts = self._facts(particle)
        holds = particle.holds
        kind = self._aggregate(holds) if isinstance(holds, Aggregate) else self._simple(holds)
        description = [particle.name, _times(particle.least, particle.most), kind]
        return [*description, facts] if facts else description

    def attributes(self, attributes: dict[str, Simple]) -> dict[str, Any]:
        """Return the types of attributes by name."""
        return {name: self._simple(simple) for name, simple in attributes.items()}

    def _group(self, group: Group) -> dict[str, Any]:
        description: dict[str, Any] = {
            "choice" if group.is_choice else "sequence": [self._particle(particle) for particle in group.particles]
        }
        times = _times(group.least, group.most)
        if times != "1":
            description["times"] = times
        return description

    def _particle(self, particle: Particle) -> Any:
        return self._group(particle) if isinstance(particle, Group) else self.element(particle)

    def _facts(self, particle: ElementParticle) -> dict[str, Any]:
        facts: dict[str, Any] = {}
        if particle.facts.since != "1.0":
            facts["since"] = particle.facts.since
        if self._editions and particle.facts.absent:
            facts["absent"] = sorted(particle.facts.absent)
        if isinstance(particle.holds, Simple):
            simple = particle.holds
            facts |= {
                name: value
                for name, value in (
                    ("length", simple.max_length),
                    ("length_abroad", _longer(particle.facts, simple.max_length)),
                    ("least", simple.least),
                    ("most", simple.most),
                    ("default", particle.default),
                    ("added", simple.added or None),
                )
                if value is not None
            }
        if particle.attributes:
            facts["attributes"] = self.attributes(particle.attributes)
        return facts

    def _simple(self, simple: Simple) -> Any:
        return self._numbered([*simple.enumeration, *simple.added]) if simple.enumeration else simple.base

    def _aggregate(self, aggregate: Aggregate) -> int:
        return self._numbered(self._group(aggregate.content))

    def _numbered(self, kind: Any) -> int:
        key = json.dumps(kind)
        if key not in self._numbers:
            self._numbers[key] = len(self.types)
            self.types.append(kind)
        return self._numbers[key]


def _longer(facts: Facts, length: int | None) -> int | None:
    """Return the length that an edition outside the US allows if it is greater than the XSD's, or None."""
    return facts.length if length is not None and facts.length is not None and facts.length > length else None


def _times(least: int, most: int | None) -> str:
    short = {(1, 1): "1", (0, 1): "?", (0, None): "*", (1, None): "+"}
    return short.get((least, most), f"{least}..{most}")
