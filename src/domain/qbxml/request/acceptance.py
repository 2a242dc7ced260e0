"""From a request as it was written to one that may be queued: its label, its characters, the schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.errors import InvalidRequest, Problem, UnsupportedByVersion
from domain.qbxml.request import limits
from domain.qbxml.request.characters import character_problems, transliterated
from domain.qbxml.request.checking import iterator_problems, schema_problems
from domain.qbxml.request.envelope import problem
from domain.qbxml.schema.models import version_number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from domain.qbxml.request.document import Request

HOME = "US"
"""The edition whose lengths the schema has; in others some names may be longer."""


def accepted(
    request: Request,
    field: str,
    *,
    validate: bool,
    transliterate: bool,
    country: str | None,
    fits: bool = False,
    found: Iterable[Problem] = (),
    is_ascii: bool = False,
) -> Request:
    """Return the request, transliterated if that is asked for.

    `country` is that of QuickBooks, None when it is not known. Without `validate` the schema is not
    asked; with `fits` it was asked before and finds nothing. The limits of the label and of
    characters hold all the same. Raises InvalidRequest with every problem, those already `found`
    first; with `is_ascii` no character needs a look.
    """
    if transliterate and not is_ascii:
        request = transliterated(request)
    problems = [*found, *_label_problems(request, field)]
    if validate:
        if not fits:
            problems.extend(schema_problems(request, field, abroad=country not in {None, HOME}))
        problems.extend(iterator_problems(request, field))
    if not is_ascii:
        problems.extend(character_problems(request, field))
    if problems:
        raise InvalidRequest(problems[: limits.MAX_PROBLEMS])
    return request


def check_version(request: Request, supported: str | None) -> None:
    """Raise UnsupportedByVersion when QuickBooks is known to serve lower versions only than the request's.

    `supported` is the highest version that it reported; None, before the first session, forbids
    nothing. Versions of different editions (`CA3.0`, `13.0`) are not compared.
    """
    if supported is None or _edition(supported) != _edition(request.version):
        return
    if version_number(request.version) > version_number(supported):
        raise UnsupportedByVersion(
            f"The request is written in QBXML {request.version}; this connection's QuickBooks supports {supported}.",
            {"qbxml_version": request.version, "supported": supported},
        )


def _edition(version: str) -> str:
    return version.rstrip("0123456789.")


def _label_problems(request: Request, field: str) -> Iterable[Problem]:
    if len(request.request_id or "") > limits.MAX_REQUEST_ID:
        message = f"requestID has at most {limits.MAX_REQUEST_ID} characters."
        place = request.element.place
        if isinstance(place, str):
            place = f"{place}/attributes/request_id"
        yield problem(field, message, place, f"{request.name}/@requestID")
