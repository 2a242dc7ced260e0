"""The wording and the locations of problems with a request."""

from __future__ import annotations

from typing import NoReturn, TypeAlias
from xml.etree.ElementTree import Element

from domain.errors import InvalidRequest, Problem

Location: TypeAlias = tuple[int, int] | str | None
"""The location of an element in the original text: line and column from 1, or a JSON pointer."""

_MAX_QUOTED = 60
"""The maximum characters of an invalid text that a message repeats."""


class Source:
    """The field of the REST API that contained a request, and the locations of its elements."""

    __slots__ = ("field", "locations")

    def __init__(self, field: str) -> None:
        self.field = field
        self.locations: dict[Element, Location] = {}

    def location(self, element: Element, part: str = "") -> Location:
        """Return the location of an element.

        In JSON, it is that of a `part` of the element if one is named: `text`, or an attribute such as `@requestID`.
        """
        location = self.locations.get(element)
        if not part or not isinstance(location, str):
            return location
        is_attribute = part.startswith("@")
        if not location.startswith("/request"):
            # This is the shorter form, in which `@requestID` is a member and a text is not.
            return f"{location}/{part}" if is_attribute else location
        if is_attribute:
            return f"{location}/attributes/{'request_id' if part == '@requestID' else part[1:]}"
        return location if element.text is None else f"{location}/{part}"

    def problem(
        self,
        message: str,
        place: Element | Location,
        path: str | None,
        suggestion: str | None = None,
        *,
        part: str = "",
    ) -> Problem:
        """Return a problem with an element, a `part` of it, or a location in the text.

        In XML, the problem has a line, a column and `path`. In JSON, its path is the JSON pointer.
        """
        location = self.location(place, part) if isinstance(place, Element) else place
        if isinstance(location, str):
            return Problem(self.field, message, path=location, suggestion=suggestion)
        line, column = location or (None, None)
        return Problem(self.field, message, line, column, path, suggestion)

    def refuse(
        self, message: str, place: Element | Location = None, path: str | None = None, suggestion: str | None = None
    ) -> NoReturn:
        """Raise InvalidRequest with one problem."""
        raise InvalidRequest([self.problem(message, place, path, suggestion)])


def quoted(text: str) -> str:
    """Return `text` in quotation marks, shortened if it is long."""
    return repr(text if len(text) <= _MAX_QUOTED else f"{text[:_MAX_QUOTED]}…")
