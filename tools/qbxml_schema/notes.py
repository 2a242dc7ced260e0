"""Adds the notes on a later version, which cover queries only, to the facts of the annotated sample document.

The notes have the form of the sample document, one document for each query. All additions get their version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.qbxml_schema import sample_document

if TYPE_CHECKING:
    from pathlib import Path

    from tools.qbxml_schema.sample_document import Facts

VERSION = "16.0"


def add_notes(facts: dict[str, Facts], path: Path) -> None:
    """Add the elements and values that only the notes have, each at its position.

    An object that a query returns is the same in every response, so additions to it apply to all of them.
    """
    notes = sample_document.read(path)
    returned = {child.name: child for name, note in notes.items() if name.endswith("Rs") for child in note.children}
    for name, entry in facts.items():
        if name in notes:
            _add(entry, notes[name])
        for child in entry.children:
            if child.name in returned and name not in notes:
                _add(child, returned[child.name])


def _add(entry: Facts, note: Facts) -> None:
    entry.newer_values = tuple(value for value in note.enumeration if value not in entry.enumeration)
    position = 0
    for child in note.children:
        same = entry.named(child.name)
        if same:
            position = entry.children.index(same[0]) + 1
        else:
            _mark(child)
            entry.children.insert(position, child)
            position += 1
        for known in same:
            _add(known, child)


def _mark(note: Facts) -> None:
    note.since = VERSION
    # Lines can always repeat, although the notes do not always say so.
    note.repeats = note.repeats or note.name.endswith("LineRet")
    for child in note.children:
        _mark(child)
