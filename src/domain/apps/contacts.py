"""The contact of an app, which the onboarding page shows to customers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from domain.errors import InvalidRequest, Problem
from domain.records.connection import QWC_NAME
from domain.records.person import EMAIL
from domain.webhooks.addresses import parse_url

if TYPE_CHECKING:
    from domain.records.app import Contact

MAX_NAME_CHARACTERS = 80
MAX_PHONE_CHARACTERS = 40
MAX_EMAIL_CHARACTERS = 315
"""The lengths that the patterns allow."""

_PHONE = re.compile(r"[0-9+(][0-9+() ./x-]{3,38}[0-9]")

_Check: TypeAlias = Callable[[str], None]


def qwc_name(contact: Contact) -> str:
    """Return the name that the Web Connector and QuickBooks show for a new connection of an app with this contact.

    QuickBooks compares the name, and knows the characters of Windows-1252 only.
    """
    try:
        (contact.name or "").encode("cp1252")
    except UnicodeEncodeError:
        return QWC_NAME
    return contact.name or QWC_NAME


def changed_contact(contact: Contact, texts: Mapping[str, str]) -> Contact:
    """Return the contact with some fields changed. An empty text removes a field.

    Raises InvalidRequest with the problem of each wrong field.
    """
    problems: list[Problem] = []
    for field, text in texts.items():
        try:
            if text:
                _CHECKS[field](text)
        except InvalidRequest as error:
            problems += error.problems
    if problems:
        raise InvalidRequest(problems)
    return replace(contact, **{field: text or None for field, text in texts.items()})


def _check_name(text: str) -> None:
    if len(text) > MAX_NAME_CHARACTERS or not text.isprintable() or not text.strip():
        raise InvalidRequest.of("name", f"must be at most {MAX_NAME_CHARACTERS} printable characters")


def _check_logo_url(text: str) -> None:
    try:
        scheme = parse_url(text).scheme
    except InvalidRequest as error:
        raise InvalidRequest(replace(problem, field="logo_url") for problem in error.problems) from None
    if scheme != "https":
        raise InvalidRequest.of("logo_url", f"must begin with https://, not {scheme}://")


def _check_phone(text: str) -> None:
    if not _PHONE.fullmatch(text):
        raise InvalidRequest.of(
            "phone", "must be a telephone number such as +1 555 010 0199, with at most 40 characters"
        )


def _check_email(text: str) -> None:
    if not EMAIL.fullmatch(text) or not text.isprintable():
        raise InvalidRequest.of("email", "must be one e-mail address such as help@example.com")


_CHECKS: Mapping[str, _Check] = {
    "name": _check_name,
    "logo_url": _check_logo_url,
    "phone": _check_phone,
    "email": _check_email,
}
