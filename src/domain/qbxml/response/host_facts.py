"""Reads the facts about QuickBooks and the company file from the first call of a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from domain.qbxml.request import limits
from domain.qbxml.response.reader import UnreadableResponse
from domain.qbxml.response.to_json import response_to_json
from domain.qbxml.schema.content_models import version_number

MAX_CHARACTERS = 1024 * 1024
"""A longer text is not read, because its JSON form could take more than 256 MB. The facts about one company take a few
kilobytes, or some more with custom fields."""


@dataclass(frozen=True, slots=True)
class HostFacts:
    """Facts about QuickBooks and the open company file. A fact that is not in the response is None.

    `qbxml_version` is the highest version that QuickBooks supports. `file_mode` is `SingleUser` or `MultiUser`.
    `file_id` is the FileID mark, in upper case and without braces. `is_unmarked` is true if the facts about the
    company were read and contain no FileID mark.
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

    @property
    def version(self) -> str | None:
        """QuickBooks' own number of its version, `34.0`, or None. It is higher than that in the product's name."""
        return ".".join(filter(None, (self.major_version, self.minor_version))) or None


def host_facts(text: str) -> HostFacts:
    """Return the facts from the responses to the host, company and preferences queries. Never raises.

    A text that is unreadable or longer than MAX_CHARACTERS has no facts.
    """
    if len(text) > MAX_CHARACTERS:
        return HostFacts()
    try:
        message_sets = response_to_json(text)
    except UnreadableResponse:
        return HostFacts()
    responses: dict[str, Any] = {}
    for message_set in message_sets:
        responses |= next(iter(message_set.values()))
    host = _object(_object(responses.get("HostQueryRs")).get("HostRet"))
    company = _object(_object(responses.get("CompanyQueryRs")).get("CompanyRet"))
    extensions = company.get("DataExtRet")
    return HostFacts(
        product_name=_text(host.get("ProductName")),
        major_version=_text(host.get("MajorVersion")),
        minor_version=_text(host.get("MinorVersion")),
        country=_text(host.get("Country")),
        qbxml_version=_highest(host.get("SupportedQBXMLVersion")),
        file_mode=_text(host.get("QBFileMode")),
        company_name=_text(company.get("CompanyName")),
        file_id=_file_id(extensions),
        is_unmarked=bool(company) and not _may_contain_file_id(extensions),
    )


def _object(value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        value = value[0]
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _highest(versions: Any) -> str | None:
    """Return the version with the highest number: `10.0` is above `9.0`. It keeps the prefix of an edition."""
    texts = [text for text in versions if isinstance(text, str)] if isinstance(versions, list) else []
    return max(filter(limits.is_version, texts), key=version_number, default=None)


def _file_id(extensions: Any) -> str | None:
    for extension in extensions if isinstance(extensions, list) else []:
        fields = _object(extension)
        if fields.get("DataExtName") == "FileID":
            value = _text(fields.get("DataExtValue"))
            return value.strip("{}").upper() if value else None
    return None


def _may_contain_file_id(extensions: Any) -> bool:
    """Return whether there is a FileID, which may be empty, or an unreadable entry that may be a FileID."""
    entries = [] if extensions is None else extensions if isinstance(extensions, list) else [extensions]
    return any(_text(_object(entry).get("DataExtName")) in {None, "FileID"} for entry in entries)
