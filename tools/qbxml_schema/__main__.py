"""Compile QBXML's XSD files and the annotated sample document into this project's own facts.

    python -m tools.qbxml_schema --xsd FOLDER --annotations FILE --output src/domain/qbxml/schema/data

Neither input belongs to this project: Intuit publishes both with its SDK. The output holds one
file per request and per response, so that reading one request needs no other; its form is
described in `domain.qbxml.schema`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.qbxml_schema import sample_document
from tools.qbxml_schema.merge import ADDED_IN, merged
from tools.qbxml_schema.xsd import Aggregate, ElementParticle, Group, Particle, Schema, Simple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tools.qbxml_schema.xsd import Facts


def main(command_line: Sequence[str] | None = None) -> None:
    """Write the facts of every request and response of the message set `QBXMLMsgsRq`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--xsd", type=Path, required=True, help="folder with the .xsd files")
    parser.add_argument("--annotations", type=Path, required=True, help="annotated sample document (qbxmlops….xml)")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args(command_line)

    schema = Schema(sorted(arguments.xsd.glob("*.xsd")))
    facts = sample_document.read(arguments.annotations)
    names: list[str] = []
    for request in schema.members("QBXMLMsgsRq"):
        names.append(request.name)
        _store(arguments.output / "requests" / f"{request.name}.json", _Request().compiled(request, facts))
    for response in schema.members("QBXMLMsgsRs"):
        element = merged(response, [facts[response.name]])
        _store(arguments.output / "responses" / f"{response.name}.json", _returned(element))
    _store(arguments.output / "index.json", sorted(names))


def _store(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, separators=(",", ":")) + "\n", encoding="ascii")


class _Request:
    """One request's file: types that several elements share stand once, in a table."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._types: list[Any] = []

    def compiled(self, request: ElementParticle, facts: dict[str, sample_document.Facts]) -> dict[str, Any]:
        element = merged(request, [facts[request.name]])
        return {
            "since": element.facts.since,
            "attributes": self._attributes(element.attributes),
            "content": self._content(element.holds),
            "types": self._types,
        }

    def _content(self, holds: Simple | Aggregate) -> Any:
        if not isinstance(holds, Aggregate):
            raise TypeError("a request holds elements")
        return self._group(holds.content)

    def _group(self, group: Group) -> dict[str, Any]:
        compiled: dict[str, Any] = {
            "choice" if group.is_choice else "sequence": [self._particle(each) for each in group.particles]
        }
        times = _times(group.least, group.most)
        if times != "1":
            compiled["times"] = times
        return compiled

    def _particle(self, particle: Particle) -> Any:
        if isinstance(particle, Group):
            return self._group(particle)
        facts = self._facts(particle)
        holds = particle.holds
        kind = self._aggregate(holds) if isinstance(holds, Aggregate) else self._simple(holds)
        compiled = [particle.name, _times(particle.least, particle.most), kind]
        return [*compiled, facts] if facts else compiled

    def _facts(self, particle: ElementParticle) -> dict[str, Any]:
        facts: dict[str, Any] = {}
        if particle.facts.since != "1.0":
            facts["since"] = particle.facts.since
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
                    ("added", dict.fromkeys(simple.added, ADDED_IN) or None),
                )
                if value is not None
            }
        if particle.attributes:
            facts["attributes"] = self._attributes(particle.attributes)
        return facts

    def _attributes(self, attributes: dict[str, Simple]) -> dict[str, Any]:
        return {name: self._simple(simple) for name, simple in attributes.items()}

    def _simple(self, simple: Simple) -> Any:
        return self._numbered([*simple.enumeration, *simple.added]) if simple.enumeration else simple.base

    def _aggregate(self, aggregate: Aggregate) -> int:
        return self._numbered(self._group(aggregate.content))

    def _numbered(self, kind: Any) -> int:
        key = json.dumps(kind)
        if key not in self._numbers:
            self._numbers[key] = len(self._types)
            self._types.append(kind)
        return self._numbers[key]


def _longer(facts: Facts, length: int | None) -> int | None:
    """Return the length that some edition outside the US allows beyond the XSD's."""
    return facts.length if length is not None and facts.length is not None and facts.length > length else None


def _times(least: int, most: int | None) -> str:
    short = {(1, 1): "1", (0, 1): "?", (0, None): "*", (1, None): "+"}
    return short.get((least, most), f"{least}..{most}")


def _returned(element: ElementParticle) -> Any:
    """Return what an element of a response holds: 0 text, 1 a boolean, an object children; in a list if it repeats."""
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
        # A name that stands in two places of one content model can come twice.
        twice = particle.name in into and not group.is_choice
        value = _returned(particle)
        into[particle.name] = [value] if repeats or twice or particle.most != 1 else value


if __name__ == "__main__":
    main()
