"""Compile QBXML's XSD files and the annotated sample document into the simulator's own facts.

    python -m tools.qbxml_schema.simulator --xsd FOLDER --annotations FILE [--notes FILE] \
        --output simulator/schema/qbxml.json

Intuit publishes the first two inputs with its SDK. The notes describe the queries of qbXML 16.0. The output contains
the content models of all requests and responses with one table of types. `simulator.schema` reads it.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.qbxml_schema import sample_document
from tools.qbxml_schema.compiler import Compiler
from tools.qbxml_schema.merge import merged
from tools.qbxml_schema.notes import add_notes
from tools.qbxml_schema.xsd import Schema

if TYPE_CHECKING:
    from collections.abc import Sequence


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
    compiler = Compiler(editions=True)
    elements = {
        part: [compiler.element(merged(member, [facts[member.name]])) for member in schema.members(message_set)]
        for part, message_set in (("requests", "QBXMLMsgsRq"), ("responses", "QBXMLMsgsRs"))
    }
    parts = [*((part, entries) for part, entries in elements.items()), ("types", compiler.types)]
    # One entry per line makes changes to the schema readable in a diff.
    text = ",\n".join(f'"{part}":[\n{_lines(entries)}\n]' for part, entries in parts)
    arguments.output.write_text(f"{{\n{text}\n}}\n", encoding="ascii")


def _lines(entries: list[Any]) -> str:
    return ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries)


if __name__ == "__main__":
    main()
