"""Reads a request's XML with the place of every element, and says exactly what is wrong with it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NoReturn

from domain.qbxml.request import limits
from domain.qbxml.request.document import Element
from domain.qbxml.request.envelope import ENVELOPE_DEPTH, refuse
from domain.qbxml.xml_parser import DefusedXmlException, ExpatError, armed_parser, explain, is_tag_mismatch, readable

if TYPE_CHECKING:
    from domain.qbxml.request.document import Place

_version_of = re.compile(r"""version\s*=\s*(?:"([^"]*)"|'([^']*)')\s*\Z""").match


_named_reference = re.compile(r"&[A-Za-z][A-Za-z0-9]*;").match
_line_end = re.compile(r"\r\n|\r|\n")
_bare_ampersand = re.compile(r"&(?!#)").match
_open_reference = re.compile(r"&(?!#)[^;<>&]*\Z").search


def read_with_places(text: str, field: str) -> tuple[Element, str | None]:
    """Return the root element, placed throughout, and the version of `<?qbxml version?>` if it is there.

    Raises InvalidRequest for the first thing that is wrong with the XML.
    """
    reader = _Reader(field)
    return reader.read(text), reader.version


def version_in(instruction: str) -> str | None:
    """Return the version in the text of a `<?qbxml?>` instruction; None when it is none."""
    found = _version_of(instruction)
    version = (found[1] or found[2]) if found else None
    return version if version and limits.is_version(version) else None


class _Reader:
    """Builds the tree while expat reads."""

    def __init__(self, field: str) -> None:
        self._field = field
        self.version: str | None = None
        self._parser: Any = armed_parser()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.ProcessingInstructionHandler = self._instruction
        self._open: list[tuple[str, dict[str, str], tuple[int, int], list[Element]]] = []
        self._children: list[Element] = []
        self._text = ""

    def read(self, text: str) -> Element:
        try:
            self._parser.Parse(readable(text), True)
        except UnicodeEncodeError as error:
            line = text.count("\n", 0, error.start) + 1
            column = error.start - text.rfind("\n", 0, error.start)
            self._refuse("Half of a surrogate pair is no character; remove it.", (line, column))
        except ExpatError as error:
            place = error.lineno, error.offset + 1
            mend = self._mend(error, text)
            self._refuse(f"The XML is malformed: {explain(error)}.", place, self._path() or None, mend)
        except DefusedXmlException:
            self._refuse(
                "DOCTYPE declarations and entities are not allowed.",
                self._place(),
                suggestion="Remove the DOCTYPE; write special characters as &amp;, &lt; or numeric references.",
            )
        return self._children[0]

    def _mend(self, error: ExpatError, text: str) -> str | None:
        """Return how to mend what is malformed, for what people get wrong most."""
        if is_tag_mismatch(error) and self._open:
            return f"Close {self._open[-1][0]} with </{self._open[-1][0]}>."
        line = _line_end.split(readable(text), error.lineno)[error.lineno - 1]
        before, after = line[: error.offset], line[error.offset :]
        if entity := _named_reference(after):
            return f"XML does not know {entity[0]}. Write the character itself."
        if before.endswith("<"):
            return "Write < as &lt;."
        return "Write & as &amp;." if _bare_ampersand(after) or _open_reference(before) else None

    def _refuse(
        self, message: str, place: Place = None, path: str | None = None, suggestion: str | None = None
    ) -> NoReturn:
        refuse(self._field, message, place, path, suggestion)

    def _place(self) -> tuple[int, int]:
        return self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1

    def _path(self, *names: str) -> str:
        return "/".join([*(frame[0] for frame in self._open), *names])

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        place = self._place()
        if self._text:
            if not self._text.isspace():
                self._mixed(place)
            self._text = ""
        if not limits.is_name(name):
            self._bad_name(name, place)
        if attributes:
            self._check_attributes(name, attributes, place)
        if len(self._open) >= limits.MAX_DEPTH + ENVELOPE_DEPTH:
            self._refuse(f"Elements may nest {limits.MAX_DEPTH} deep at most.", place, self._path(name))
        self._open.append((name, attributes, place, self._children))
        self._children = []

    def _end(self, _name: str) -> None:
        text = self._text
        if text:
            if self._children:
                if not text.isspace():
                    self._mixed(self._place())
                text = ""
            elif (message := limits.bad_character(text)) is not None:
                self._refuse(message, self._open[-1][2], self._path())
            self._text = ""
        name, attributes, place, siblings = self._open.pop()
        siblings.append(Element(name, attributes, tuple(self._children), text or None, place))
        self._children = siblings

    def _characters(self, data: str) -> None:
        self._text += data

    def _instruction(self, target: str, data: str) -> None:
        if target != "qbxml":
            self._refuse(f"The processing instruction {limits.shown(target)} is not allowed.", self._place())
        if self.version is not None or self._open or self._children:
            self._refuse("<?qbxml version?> stands once, before <QBXML>.", self._place())
        version = version_in(data)
        if version is None:
            self._refuse(
                "The QBXML version is not readable.", self._place(), suggestion='Write <?qbxml version="13.0"?>.'
            )
        self.version = version

    def _check_attributes(self, name: str, attributes: dict[str, str], place: tuple[int, int]) -> None:
        for attribute, value in attributes.items():
            if not limits.is_name(attribute):
                self._bad_name(attribute, place)
            if (message := limits.bad_character(value)) is not None:
                self._refuse(message, place, self._path(name, f"@{attribute}"))

    def _bad_name(self, name: str, place: tuple[int, int]) -> NoReturn:
        if "}" in name:
            self._refuse("QBXML has no XML namespaces.", place, self._path(), "Remove xmlns and the prefix.")
        self._refuse(f"{limits.shown(name)} is no QBXML name.", place, self._path())

    def _mixed(self, place: tuple[int, int]) -> NoReturn:
        self._refuse(
            f"{self._open[-1][0]} has both text and child elements: {limits.shown(self._text.strip())}.",
            place,
            self._path(),
        )
