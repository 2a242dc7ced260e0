"""From the XML of a request to its tree. Nothing is repaired: what is wrong is a problem with its place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NoReturn

from domain.qbxml import rules
from domain.qbxml.acceptance import accepted
from domain.qbxml.document import DEFAULT_ON_ERROR, DEFAULT_VERSION, ENVELOPE, MESSAGE_SET, Element
from domain.qbxml.envelope import ENVELOPE_DEPTH, problem, refuse, request_of
from domain.qbxml.reading import DefusedXmlException, ExpatError, armed_parser, explain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from domain.errors import Problem
    from domain.qbxml.document import Place, Request

FIELD = "request_xml"

_version_of = re.compile(r"""version\s*=\s*(?:"([^"]*)"|'([^']*)')\s*\Z""").match


def parse_request_xml(
    text: str,
    default_version: str = DEFAULT_VERSION,
    *,
    validate: bool = True,
    transliterate: bool = False,
    country: str | None = None,
) -> Request:
    """Return the request that `text` holds; `default_version` is for a text without `<?qbxml version?>`.

    Comments and the white space between elements are dropped; text is kept exactly. Without
    `validate` the schema is not asked; with `transliterate` characters that QuickBooks cannot keep
    are replaced; `country` is that of the connection's QuickBooks. Raises InvalidRequest with line,
    column and path of all that is wrong.
    """
    root, version = _read(text)
    request = request_of(root, version or default_version, FIELD)
    found = _missing_rule(root) if validate else ()
    return accepted(request, FIELD, validate=validate, transliterate=transliterate, country=country, found=found)


def stored_request(text: str, version: str) -> Request:
    """Return a request that was accepted before from its `to_xml`: nothing is checked again."""
    root, _ = _read(text)
    return request_of(root, version, FIELD)


def _read(text: str) -> tuple[Element, str | None]:
    reader = _Reader()
    return reader.read(text), reader.version


def _missing_rule(root: Element) -> Iterable[Problem]:
    """Yield the problem of a message set that QuickBooks would refuse: its `onError` is required."""
    message_set = root.children[0]
    if "onError" not in message_set.attributes:
        suggestion = f'Write <{MESSAGE_SET} onError="{DEFAULT_ON_ERROR}">.'
        yield problem(FIELD, "onError is missing.", message_set.place, f"{ENVELOPE}/{MESSAGE_SET}", suggestion)


def _refuse(message: str, place: Place = None, path: str | None = None, suggestion: str | None = None) -> NoReturn:
    refuse(FIELD, message, place, path, suggestion)


class _Reader:
    """Builds the tree while expat reads."""

    def __init__(self) -> None:
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
            self._parser.Parse(text.removeprefix("\N{BOM}"), True)
        except UnicodeEncodeError as error:
            line = text.count("\n", 0, error.start) + 1
            column = error.start - text.rfind("\n", 0, error.start)
            _refuse("Half of a surrogate pair is no character; remove it.", (line, column))
        except ExpatError as error:
            _refuse(f"The XML is malformed: {explain(error)}.", (error.lineno, error.offset + 1), self._path() or None)
        except DefusedXmlException:
            _refuse(
                "DOCTYPE declarations and entities are not allowed.",
                self._place(),
                suggestion="Remove the DOCTYPE; write special characters as &amp;, &lt; or numeric references.",
            )
        return self._children[0]

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
        if not rules.is_name(name):
            self._bad_name(name, place)
        if attributes:
            self._check_attributes(name, attributes, place)
        if len(self._open) >= rules.MAX_DEPTH + ENVELOPE_DEPTH:
            _refuse(f"Elements may nest {rules.MAX_DEPTH} deep at most.", place, self._path(name))
        self._open.append((name, attributes, place, self._children))
        self._children = []

    def _end(self, _name: str) -> None:
        text = self._text
        if text:
            if self._children:
                if not text.isspace():
                    self._mixed(self._place())
                text = ""
            elif (message := rules.bad_character(text)) is not None:
                _refuse(message, self._open[-1][2], self._path())
            self._text = ""
        name, attributes, place, siblings = self._open.pop()
        siblings.append(Element(name, attributes, tuple(self._children), text or None, place))
        self._children = siblings

    def _characters(self, data: str) -> None:
        self._text += data

    def _instruction(self, target: str, data: str) -> None:
        if target != "qbxml":
            _refuse(f"The processing instruction <?{target}?> is not allowed.", self._place())
        if self.version is not None or self._open or self._children:
            _refuse("<?qbxml version?> stands once, before <QBXML>.", self._place())
        found = _version_of(data)
        version = (found[1] or found[2]) if found else None
        if version is None or not rules.is_version(version):
            _refuse("The QBXML version is not readable.", self._place(), suggestion='Write <?qbxml version="13.0"?>.')
        self.version = version

    def _check_attributes(self, name: str, attributes: dict[str, str], place: tuple[int, int]) -> None:
        for attribute, value in attributes.items():
            if not rules.is_name(attribute):
                self._bad_name(attribute, place)
            if (message := rules.bad_character(value)) is not None:
                _refuse(message, place, self._path(name, f"@{attribute}"))

    def _bad_name(self, name: str, place: tuple[int, int]) -> NoReturn:
        if "}" in name:
            _refuse("QBXML has no XML namespaces.", place, self._path(), "Remove xmlns and the prefix.")
        _refuse(f"{name} is no QBXML name.", place, self._path())

    def _mixed(self, place: tuple[int, int]) -> NoReturn:
        _refuse(
            f"{self._open[-1][0]} has both text and child elements: {self._text.strip()[:40]!r}.", place, self._path()
        )
