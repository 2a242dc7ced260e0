"""Reads the XML of a request with the location of every element."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element
from xml.parsers.expat import ExpatError

from defusedxml.common import DefusedXmlException

from domain.qbxml.request import limits
from domain.qbxml.request.envelope import ENVELOPE_DEPTH
from domain.qbxml.request.malformed import explained
from domain.qbxml.request.problems import quoted
from domain.qbxml.xml.parser import declares_namespace, defused_parser, normalize_prologue

if TYPE_CHECKING:
    from domain.qbxml.request.problems import Source

_version_attribute = re.compile(r"""version\s*=\s*(?:"([^"]*)"|'([^']*)')\s*\Z""").match


def read_xml(text: str, source: Source) -> tuple[Element, str | None]:
    """Return the root element, and the version of `<?qbxml version?>` if present. Add all locations to `source`.

    Raises InvalidRequest for the first error in the XML.
    """
    return _Reader(source).read(text)


def version_in_instruction(instruction: str) -> str | None:
    """Return the version in the text of a `<?qbxml?>` instruction, or None if there is none."""
    match = _version_attribute(instruction)
    version = (match[1] or match[2]) if match else None
    return version if version and limits.is_version(version) else None


class _Reader:
    """Builds the tree from the events of expat."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._version: str | None = None
        self._parser: Any = defused_parser()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.ProcessingInstructionHandler = self._instruction
        self._roots: list[Element] = []
        self._open: list[Element] = []
        self._text: list[str] = []

    def read(self, text: str) -> tuple[Element, str | None]:
        try:
            self._parser.Parse(normalize_prologue(text), True)
        except UnicodeEncodeError as error:
            line = text.count("\n", 0, error.start) + 1
            column = error.start - text.rfind("\n", 0, error.start)
            self._source.refuse("Remove the unpaired surrogate: it is not a character.", (line, column))
        except ExpatError as error:
            opened = [element.tag for element in self._open]
            has_ended = bool(self._roots) and not opened
            wrong, suggestion = explained(error, normalize_prologue(text), opened, has_ended=has_ended)
            place = (error.lineno, error.offset + 1)
            self._source.refuse(f"The XML is malformed: {wrong}.", place, self._path() or None, suggestion)
        except DefusedXmlException:
            suggestion = "Remove the DOCTYPE. Write special characters as &amp;, &lt; or numeric references."
            self._source.refuse(
                "DOCTYPE declarations and entities are not allowed.", self._location(), suggestion=suggestion
            )
        return self._roots[0], self._version

    def _location(self) -> tuple[int, int]:
        return self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1

    def _path(self, *names: str) -> str:
        return "/".join([*(element.tag for element in self._open), *names])

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        location = self._location()
        self._take_text_between_elements(location)
        self._check_name(name, location)
        for attribute, value in attributes.items():
            self._check_name(attribute, location)
            if (message := limits.bad_character_message(value)) is not None:
                self._source.refuse(message, location, self._path(name, f"@{attribute}"))
        if len(self._open) >= limits.MAX_DEPTH + ENVELOPE_DEPTH:
            message = f"Elements are nested too deeply; at most {limits.MAX_DEPTH} levels are allowed."
            self._source.refuse(message, location, self._path(name))
        element = Element(name, attributes)
        self._source.locations[element] = location
        (self._open[-1] if self._open else self._roots).append(element)
        self._open.append(element)

    def _end(self, _name: str) -> None:
        element = self._open[-1]
        if len(element):
            self._take_text_between_elements(self._location())
        elif self._text:
            element.text = "".join(self._text)
            self._text.clear()
            if (message := limits.bad_character_message(element.text)) is not None:
                self._source.refuse(message, element, self._path())
        self._open.pop()

    def _characters(self, data: str) -> None:
        self._text.append(data)

    def _take_text_between_elements(self, location: tuple[int, int]) -> None:
        text = "".join(self._text).strip()
        self._text.clear()
        if text:
            message = f"{self._open[-1].tag} contains both elements and text: {quoted(text)}."
            self._source.refuse(message, location, self._path())

    def _instruction(self, target: str, data: str) -> None:
        if target != "qbxml":
            self._source.refuse(f"The processing instruction {quoted(target)} is not allowed.", self._location())
        if self._version is not None or self._roots:
            self._source.refuse("<?qbxml version?> may occur only once, before <QBXML>.", self._location())
        self._version = version_in_instruction(data)
        if self._version is None:
            suggestion = 'Write <?qbxml version="13.0"?>.'
            self._source.refuse("The QBXML version is not valid.", self._location(), suggestion=suggestion)

    def _check_name(self, name: str, location: tuple[int, int]) -> None:
        if limits.is_name(name):
            return
        if ":" in name or declares_namespace(name):
            message = "QBXML does not use XML namespaces."
            self._source.refuse(message, location, self._path(), "Remove xmlns and the prefix.")
        self._source.refuse(f"{quoted(name)} is not a name in QBXML.", location, self._path())
