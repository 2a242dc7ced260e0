"""Joins what the XSD files say with what the annotated document of a later version adds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tools.qbxml_schema.xsd import Aggregate, ElementParticle, Facts, Group, Simple, elements, simplified

if TYPE_CHECKING:
    from tools.qbxml_schema import sample_document

ADDED_IN = "14.0"
"""The version of the annotated document: what it has beyond the XSD files of 13.0 began there."""


def merged(element: ElementParticle, found: list[sample_document.Facts]) -> ElementParticle:
    """Return the element with its facts and with the children that only the document has.

    `found` are the document's entries for this path; more than one when a name stands in several
    branches of a choice.
    """
    holds = element.holds
    if isinstance(holds, Simple):
        lengths = [each.max_length for each in found if each.max_length is not None]
        length = max(lengths, default=None)
        if holds.max_length is None and not holds.enumeration:
            holds = replace(holds, max_length=length)
        holds = _with_added_values(holds, found)
        return replace(element, holds=holds, facts=Facts(_since(found), length, _absent(found)))
    content = _with_additions(simplified(holds.content), found)
    return replace(
        element, holds=Aggregate(_merged_group(content, found)), facts=Facts(_since(found), absent=_absent(found))
    )


def _merged_group(group: Group, found: list[sample_document.Facts]) -> Group:
    particles = tuple(
        _merged_group(particle, found)
        if isinstance(particle, Group)
        else merged(particle, [entry for each in found for entry in each.named(particle.name)])
        for particle in group.particles
    )
    return replace(group, particles=particles)


def _with_additions(group: Group, found: list[sample_document.Facts]) -> Group:
    known = {particle.name for particle in elements(group)}
    particles = list(group.particles)
    for each in found:
        before = None
        for entry in each.children:
            if entry.name not in known:
                if group.is_choice or entry.holds is None:
                    raise ValueError(f"cannot place {entry.name}")
                names = [particle.name if isinstance(particle, ElementParticle) else None for particle in particles]
                place = names.index(before) + 1 if before else 0
                most = None if entry.repeats else 1
                kind = Simple(entry.holds, entry.enumeration)
                particles.insert(place, ElementParticle(entry.name, 0, most, kind))
                entry.since = ADDED_IN
                known.add(entry.name)
            before = entry.name
    return replace(group, particles=tuple(particles))


def _since(found: list[sample_document.Facts]) -> str:
    """Return the first of the versions, as numbers and not as texts: 10.0 is after 2.0."""
    return min((each.since for each in found), key=lambda version: tuple(map(int, version.split("."))), default="1.0")


def _absent(found: list[sample_document.Facts]) -> frozenset[str]:
    """Return the editions that have the element in none of its places."""
    return frozenset.intersection(*(each.absent for each in found)) if found else frozenset()


def _with_added_values(holds: Simple, found: list[sample_document.Facts]) -> Simple:
    values = [value for each in found for value in each.enumeration]
    added = tuple(dict.fromkeys(value for value in values if value not in holds.enumeration))
    return replace(holds, added=added) if holds.enumeration else holds
