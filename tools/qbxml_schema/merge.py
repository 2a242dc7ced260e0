"""Merges the XSD files with the additions of the annotated document, which is of a later version."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tools.qbxml_schema.notes import VERSION as NOTES_VERSION
from tools.qbxml_schema.xsd import Aggregate, ElementParticle, Facts, Group, Particle, Simple, elements, simplified

if TYPE_CHECKING:
    from tools.qbxml_schema import sample_document

ADDED_IN = "14.0"
"""The version of the annotated document. Everything that the XSD files of 13.0 do not have was added in it."""

FIRST_VERSION = "1.0"


def merged(element: ElementParticle, entries: list[sample_document.Facts]) -> ElementParticle:
    """Return the element with its facts and with the children that only the document has.

    `entries` are the document's entries for this path. There are several if several branches of a choice have the name.
    """
    holds = element.holds
    if isinstance(holds, Simple):
        lengths = [entry.max_length for entry in entries if entry.max_length is not None]
        length = max(lengths, default=None)
        if holds.max_length is None and not holds.enumeration:
            holds = replace(holds, max_length=length)
        holds = _with_added_values(holds, entries)
        return replace(element, holds=holds, facts=Facts(_since(entries), length, _absent(entries)))
    content = _with_additions(simplified(holds.content), entries)
    return replace(
        element, holds=Aggregate(_merged_group(content, entries)), facts=Facts(_since(entries), absent=_absent(entries))
    )


def _merged_group(group: Group, entries: list[sample_document.Facts]) -> Group:
    particles = tuple(
        _merged_group(particle, entries)
        if isinstance(particle, Group)
        else merged(particle, [child for entry in entries for child in entry.named(particle.name)])
        for particle in group.particles
    )
    return replace(group, particles=particles)


def _with_additions(group: Group, entries: list[sample_document.Facts]) -> Group:
    names = {particle.name for particle in elements(group)}
    particles = list(group.particles)
    for parent_entry in entries:
        before = None
        for entry in parent_entry.children:
            if entry.name not in names:
                if group.is_choice:
                    raise ValueError(f"cannot place {entry.name}")
                places = [index for index, particle in enumerate(particles) if before in _names(particle)]
                particles.insert(places[0] + 1 if places else 0, _addition(entry))
                entry.since = ADDED_IN if entry.since == FIRST_VERSION else entry.since
                names.add(entry.name)
            before = entry.name
    return replace(group, particles=tuple(particles))


def _names(particle: Particle) -> set[str]:
    return (
        {particle.name} if isinstance(particle, ElementParticle) else {element.name for element in elements(particle)}
    )


def _addition(entry: sample_document.Facts) -> ElementParticle:
    if entry.holds is None:
        holds: Simple | Aggregate = Aggregate(Group(is_choice=False, particles=tuple(map(_addition, entry.children))))
    else:
        holds = Simple(entry.holds, entry.enumeration)
    return ElementParticle(entry.name, 0, None if entry.repeats else 1, holds)


def _since(entries: list[sample_document.Facts]) -> str:
    """Return the lowest version. Versions are compared as numbers, so 10.0 is after 2.0."""
    return min(
        (entry.since for entry in entries),
        key=lambda version: tuple(map(int, version.split("."))),
        default=FIRST_VERSION,
    )


def _absent(entries: list[sample_document.Facts]) -> frozenset[str]:
    """Return the editions that do not have the element in any of its places."""
    return frozenset.intersection(*(entry.absent for entry in entries)) if entries else frozenset()


def _with_added_values(holds: Simple, entries: list[sample_document.Facts]) -> Simple:
    newer = {value: NOTES_VERSION for entry in entries for value in entry.newer_values}
    additions = {**newer, **{value: ADDED_IN for entry in entries for value in entry.enumeration}}
    additions = {value: version for value, version in additions.items() if value not in holds.enumeration}
    return replace(holds, added=additions) if holds.enumeration else holds
