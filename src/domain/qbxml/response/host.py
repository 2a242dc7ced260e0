"""What the first call of a session tells about QuickBooks and the company file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from domain.qbxml.request import limits
from domain.qbxml.response.reader import UnreadableResponse
from domain.qbxml.response.to_json import response_to_json
from domain.qbxml.schema.models import version_number


@dataclass(frozen=True, slots=True)
class HostFacts:
    """QuickBooks and the open company file; what the document does not tell is None.

    `qbxml_version` is the highest that QuickBooks supports. `file_id` is the one that a `.qwc` file
    left in the company file, without braces and in upper case. `file_mode` is `SingleUser` or `MultiUser`.
    `is_unmarked` tells that the company's facts were read and hold no FileID at all: not that it could not be read.
    """

    product_name: str | None = None
    major_version: str | None = None
    minor_version: str | None = None
    country: str | None = None
    qbxml_version: str | None = None
    file_mode: str | None = None
    company_name: str | None = None
    file_id: str | None = None
    is_unmarked: bool = False


def host_facts(text: str) -> HostFacts:
    """Return the facts in the answers to host, company and preferences queries. Never raises."""
    try:
        message_sets = response_to_json(text)
    except UnreadableResponse:
        return HostFacts()
    answers: dict[str, Any] = {}
    for message_set in message_sets:
        answers |= next(iter(message_set.values()))
    host = _object(_object(answers.get("HostQueryRs")).get("HostRet"))
    company = _object(_object(answers.get("CompanyQueryRs")).get("CompanyRet"))
    return HostFacts(
        product_name=_text(host.get("ProductName")),
        major_version=_text(host.get("MajorVersion")),
        minor_version=_text(host.get("MinorVersion")),
        country=_text(host.get("Country")),
        qbxml_version=_highest(host.get("SupportedQBXMLVersion")),
        file_mode=_text(host.get("QBFileMode")),
        company_name=_text(company.get("CompanyName")),
        file_id=_file_id(company.get("DataExtRet")),
        is_unmarked=bool(company) and not _may_hold_file_id(company.get("DataExtRet")),
    )


def _object(value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        value = value[0]
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _highest(versions: Any) -> str | None:
    """Return the highest version as a number: `10.0` is above `9.0`. An edition's prefix is kept."""
    known = [version for version in versions if _is_version(version)] if isinstance(versions, list) else []
    return max(known, key=version_number, default=None)


def _is_version(version: Any) -> bool:
    return isinstance(version, str) and limits.is_version(version) is not None


def _file_id(extensions: Any) -> str | None:
    for extension in extensions if isinstance(extensions, list) else []:
        fields = _object(extension)
        if fields.get("DataExtName") == "FileID":
            value = _text(fields.get("DataExtValue"))
            return value.strip("{}").upper() if value else None
    return None


def _may_hold_file_id(extensions: Any) -> bool:
    """Whether there is a FileID, be it without a value, or something that cannot be read and may be one."""
    rows = [] if extensions is None else extensions if isinstance(extensions, list) else [extensions]
    return any(_text(_object(row).get("DataExtName")) in {None, "FileID"} for row in rows)
