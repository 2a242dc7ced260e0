"""Compile QBXML's XSD files and the annotated sample document into the service's schema facts.

    python -m tools.qbxml_schema --xsd FOLDER --annotations FILE [--notes FILE] --output src/domain/qbxml/schema/data

Intuit publishes the first two inputs with its SDK. The notes describe the queries of a later version. The output has
one file for each request and response, so the check of one request reads one file. `domain.qbxml.schema.facts`
describes its form.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.qbxml_schema import sample_document
from tools.qbxml_schema.compiler import Compiler
from tools.qbxml_schema.editions import missing_in_editions
from tools.qbxml_schema.merge import FIRST_VERSION, merged
from tools.qbxml_schema.notes import add_notes
from tools.qbxml_schema.xsd import Aggregate, ElementParticle, Group, Schema, Simple, elements

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def main(command_line: Sequence[str] | None = None) -> None:
    """Write the facts of every request and response of the message set `QBXMLMsgsRq`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--xsd", type=Path, required=True, help="folder with the .xsd files")
    parser.add_argument("--annotations", type=Path, required=True, help="annotated sample document (qbxmlops….xml)")
    parser.add_argument("--notes", type=Path, help="queries of a later version, in the form of the sample document")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args(command_line)

    schema = Schema(sorted(arguments.xsd.glob("*.xsd")))
    facts = sample_document.read(arguments.annotations)
    if arguments.notes:
        add_notes(facts, arguments.notes)
    names: list[str] = []
    for request in schema.members("QBXMLMsgsRq"):
        names.append(request.name)
        _store(arguments.output / "requests" / f"{request.name}.json", compiled_request(request, facts))
    returned_since: dict[str, dict[str, str]] = {}
    returned_types: dict[str, dict[str, Any]] = {"values": {}, "attributes": {}}
    for response in schema.members("QBXMLMsgsRs"):
        element = merged(response, [facts[response.name]])
        for child in _children(element):
            _add_types(child, returned_types)
        _store(arguments.output / "responses" / f"{response.name}.json", _returned(element))
        if response.name.endswith("QueryRs"):
            returned_since |= {child.name: _since_of_children(child) for child in _children(element)}
    _store(arguments.output / "returned_since.json", {name: since for name, since in returned_since.items() if since})
    _store(arguments.output / "returned_types.json", returned_types)
    _store(arguments.output / "missing_in_editions.json", missing_in_editions(facts, sorted(names)))
    _store(arguments.output / "index.json", sorted(names))


def _store(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, separators=(",", ":")) + "\n", encoding="ascii")


def compiled_request(request: ElementParticle, facts: dict[str, sample_document.Facts]) -> dict[str, Any]:
    """Return the facts of one request: its first version, attributes, content and the types of its elements."""
    compiler = Compiler()
    element = merged(request, [facts[request.name]])
    return {
        "since": element.facts.since,
        "attributes": compiler.attributes(element.attributes),
        "content": compiler.content(element.holds),
        "types": compiler.types,
    }


def _children(element: ElementParticle) -> Iterator[ElementParticle]:
    return elements(element.holds.content) if isinstance(element.holds, Aggregate) else iter(())


def _since_of_children(element: ElementParticle) -> dict[str, str]:
    """Return the version of each child that was added after the first version."""
    return {child.name: child.facts.since for child in _children(element) if child.facts.since != FIRST_VERSION}


def _add_types(element: ElementParticle, types: dict[str, dict[str, Any]]) -> None:
    """Add the type of each text in an element of a response, and its attributes. Equal names have equal base types."""
    if element.attributes:
        attributes = types["attributes"].setdefault(element.name, {})
        attributes |= {name: simple.base for name, simple in element.attributes.items()}
    if isinstance(element.holds, Simple):
        kind = element.holds.base
        if types["values"].setdefault(element.name, kind) != kind:
            raise ValueError(f"{element.name} has two types in responses")
    for child in _children(element):
        _add_types(child, types)


def _returned(element: ElementParticle) -> Any:
    """Return the content of a response element: 0 for text, 1 for a boolean or an object for children."""
    value: Any
    if isinstance(element.holds, Aggregate):
        value = {}
        _returned_in(element.holds.content, value, repeats=False)
    else:
        value = int(element.holds.base == "BOOLTYPE")
    return value


def _returned_in(group: Group, into: dict[str, Any], *, repeats: bool) -> None:
    repeats = repeats or group.most != 1
    for particle in group.particles:
        if isinstance(particle, Group):
            _returned_in(particle, into, repeats=repeats)
            continue
        # A name at two positions of a content model can occur twice.
        twice = particle.name in into and not group.is_choice
        value = _returned(particle)
        into[particle.name] = [value] if repeats or twice or particle.most != 1 else value


if __name__ == "__main__":
    main()
