"""All checks before a request is queued: label, schema, iterator, characters, QBXML version and size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.errors import InvalidRequest, Problem, RequestTooLarge, UnsupportedByVersion
from domain.qbxml.request import limits
from domain.qbxml.request.characters import character_problems, transliterate_element
from domain.qbxml.request.document import DEFAULT_VERSION
from domain.qbxml.request.schema_check import (
    iterator_problems,
    macro_problems,
    name_problems,
    schema_problems,
)
from domain.qbxml.schema.content_models import version_number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from domain.qbxml.request.document import Request


_MAX_GROWTH = 14
"""The maximum bytes that one character can become: `&amp;#1114111;`."""

_EXTRA_BYTES = {b"&": 4, b"<": 3, b">": 3, b'"': 1, b"\\": 1, b"\n": 1, b"\t": 1}
"""SOAP escapes markup: `&` becomes `&amp;`. Lambda returns the reply as JSON, which escapes the others."""


def validated(
    request: Request,
    *,
    validate: bool,
    transliterate: bool,
    country: str | None,
    is_valid: bool = False,
    is_ascii: bool = False,
    problems: Iterable[Problem] = (),
) -> Request:
    """Return the request, transliterated if `transliterate` is true. Raise InvalidRequest with every problem.

    `country` is the country of QuickBooks, or None if unknown. Only the label, `MaxReturned`, macros and the characters
    are checked if `validate` is false or the version has a prefix, such as `CA3.0`: those old editions have a different
    schema.
    `is_valid` means that the schema check has already passed. `is_ascii` means that all characters are ASCII.
    `problems` are earlier problems, which are reported first.
    """
    if transliterate and not is_ascii:
        transliterate_element(request.element)
    problems = [*problems, *_label_problems(request)]
    if validate and not limits.version_exists(request.version):
        location = "/version" if isinstance(request.source.location(request.element), str) else None
        suggestion = "Use a version from 1.0 to 17.0."
        problems.append(request.source.problem(f"QBXML {request.version} does not exist.", location, None, suggestion))
    elif validate and not limits.edition_of(request.version):
        if not is_valid:
            problems.extend(schema_problems(request, outside_us=country not in {None, "US"}))
        problems.extend(iterator_problems(request))
        problems.extend(name_problems(request))
    else:
        problems.extend(_max_returned_problems(request))
        problems.extend(macro_problems(request))
    if not is_ascii:
        problems.extend(character_problems(request))
    if problems:
        raise InvalidRequest(problems[: limits.MAX_PROBLEMS])
    return request


def check_version(request: Request, supported: str | None) -> None:
    """Raise UnsupportedByVersion if the request's version is higher than QuickBooks supports.

    `supported` is the highest version that QuickBooks reported, or None before the first session. Versions of different
    editions, such as `CA3.0` and `13.0`, are not compared.
    """
    if supported is None or limits.edition_of(supported) != limits.edition_of(request.version):
        return
    if version_number(request.version) > version_number(supported):
        raise UnsupportedByVersion(
            f"The request uses QBXML {request.version}, but this connection's QuickBooks supports {supported} at most.",
            {"qbxml_version": request.version, "supported": supported},
        )


def default_version(supported: str | None) -> str:
    """Return the version for a request without one: 13.0, or the version that QuickBooks reported if it is lower."""
    if supported is None:
        return DEFAULT_VERSION
    is_old = limits.edition_of(supported) or version_number(supported) < version_number(DEFAULT_VERSION)
    return supported if is_old else DEFAULT_VERSION


def check_wire_size(request_xml: str) -> None:
    """Raise RequestTooLarge if the XML of a request is too large to send to the Web Connector."""
    if len(request_xml) * _MAX_GROWTH <= limits.MAX_WIRE_BYTES:
        return
    data = request_xml.encode("ascii", "xmlcharrefreplace")
    size = len(data) + sum(extra * data.count(character) for character, extra in _EXTRA_BYTES.items())
    if size > limits.MAX_WIRE_BYTES:
        message = (
            f"The request takes {size:,} bytes when it is sent to the Web Connector; at most"
            f" {limits.MAX_WIRE_BYTES:,} are allowed. Split it. Characters such as & and é take up to 14 bytes."
        )
        raise RequestTooLarge(message, {"size_bytes": size, "limit_bytes": limits.MAX_WIRE_BYTES})


def check_batch_size(requests: Iterable[str]) -> None:
    """Raise RequestTooLarge if the XML of several requests is too large to be stored and returned together."""
    size = sum(len(request_xml.encode()) for request_xml in requests)
    if size > limits.MAX_BATCH_BYTES:
        message = (
            f"The requests take {size:,} bytes of QBXML together; at most {limits.MAX_BATCH_BYTES:,} are allowed. "
            "Split the batch."
        )
        raise RequestTooLarge(message, {"size_bytes": size, "limit_bytes": limits.MAX_BATCH_BYTES})


def _label_problems(request: Request) -> Iterable[Problem]:
    if (length := len(request.request_label or "")) > limits.MAX_REQUEST_LABEL_CHARACTERS:
        message = f"requestID has {length} characters; at most {limits.MAX_REQUEST_LABEL_CHARACTERS} are allowed."
        path = f"{request.name}/@requestID"
        yield request.source.problem(message, request.element, path, part="@requestID")


def _max_returned_problems(request: Request) -> Iterable[Problem]:
    """Yield a problem if the service could not read `MaxReturned`, which it changes for smaller pages."""
    limit = request.element.find("MaxReturned")
    if limit is not None and (length := len(limit.text or "")) > limits.MAX_DIGITS:
        message = f"MaxReturned has {length} characters; at most {limits.MAX_DIGITS} are allowed."
        yield request.source.problem(message, limit, f"{request.name}/MaxReturned")
