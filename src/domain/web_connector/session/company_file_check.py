"""The company file check: compares the open company file with the connection's, in the first `sendRequestXML`.

A company file is recognised by its FileID mark, which a `.qwc` file left in it. A file without a mark is accepted
unless it was only a fallback, or the connection's mark was last seen in a file elsewhere (docs/decisions/0015).
"""

from __future__ import annotations

from pathlib import PureWindowsPath
from typing import TYPE_CHECKING, Any

from domain import qbxml
from domain.errors import shortened
from domain.records.connection import COMPANY_FILE_MISMATCH
from domain.records.request import MAX_FACT_CHARACTERS
from domain.timestamps import timestamp
from domain.web_connector.outcomes.error_reasons import Reason, because

if TYPE_CHECKING:
    from datetime import datetime

    from domain.records.connection import Connection
    from domain.web_connector.protocol.soap import Call


class CompanyFileCheck:
    """The first `sendRequestXML` of a session, compared with the connection."""

    def __init__(self, call: Call, connection: Connection, *, must_be_marked: bool = False) -> None:
        self._call = call
        self._must_be_marked = must_be_marked
        self.connection = connection
        self._facts = qbxml.host_facts(call["strHCPResponse"])
        self._path = shortened(call["strCompanyFileName"].strip(), MAX_FACT_CHARACTERS)
        self.mark = self._facts.file_id and shortened(self._facts.file_id, MAX_FACT_CHARACTERS)
        """The FileID mark of the open company file."""

    @property
    def is_other_company_file(self) -> bool:
        """Whether the queue belongs to a different file."""
        if self.mark is None:
            return self._must_be_marked or self._is_unmarked_elsewhere
        return self.has_other_mark and self.connection.file_pinned

    @property
    def has_other_mark(self) -> bool:
        """Whether the open company file has a mark that is not the connection's."""
        return self.mark is not None and self.mark != _guid(self.connection.file_id)

    @property
    def _is_unmarked_elsewhere(self) -> bool:
        """Whether the file certainly has no mark, and the connection's mark was last seen in another file.

        Facts that cannot be read prove nothing. A file must not be refused because its mark is written late.
        """
        return self._facts.is_unmarked and self.connection.file_pinned and self._marked_path is not None

    @property
    def _marked_path(self) -> str | None:
        """The path of the file that last had our mark, or None if it is unknown or the path of the open file."""
        connection = self.connection
        if connection.file_id_seen != _guid(connection.file_id) or not connection.company_file_seen or not self._path:
            return None
        # Windows paths are equal regardless of case and slashes.
        same = PureWindowsPath(self._path) == PureWindowsPath(connection.company_file_seen)
        return None if same else connection.company_file_seen

    @property
    def mismatch_message(self) -> str:
        """Return the message for the user of the Web Connector."""
        problem = "is not the file of this connection" if self.mark else "has no mark of this connection"
        message = f"The open company file {problem}: {self._path or 'its name is unknown'}."
        if self._must_be_marked and not self.mark:
            message = f"The connection's company_file could not be opened: {self.connection.company_file}. {message}"
        elif self._marked_path:
            message += f" The connection's file was last seen at {self._marked_path}."
        return f"{message} Open the right file and update again."

    def learned(self) -> dict[str, Any]:
        """Return the fields of the connection that change. Clears its last error, because QuickBooks was reached."""
        fields = self._quickbooks() | {"last_error": None}
        if self.mark is not None:
            fields |= {"file_id_seen": self.mark, "company_file_seen": self._path or None}
        if self.mark is not None and not self.connection.file_pinned:
            # Later .qwc files must contain the mark that QuickBooks keeps. Otherwise QBWC1039 is reported.
            fields |= {"file_id": self.mark, "file_pinned": True}
        return {name: value for name, value in fields.items() if getattr(self.connection, name) != value}

    def mismatch(self, now: datetime) -> dict[str, Any]:
        """Return the connection's changed fields: the error for its owner, and the facts about QuickBooks."""
        error = {
            "code": COMPANY_FILE_MISMATCH,
            "message": self.mismatch_message,
            **because(Reason.COMPANY_FILE_MISMATCH, file_id=self.mark, at=timestamp(now)),
        }
        return self._quickbooks() | {"last_error": error}

    def _quickbooks(self) -> dict[str, Any]:
        fields = {
            "quickbooks_product_name": self._facts.product_name,
            "country": self._facts.country or self._call["qbXMLCountry"],
            "qbxml_version": self._facts.qbxml_version or self._processor_version(),
        }
        return {name: shortened(value, MAX_FACT_CHARACTERS) for name, value in fields.items() if value}

    def _processor_version(self) -> str:
        major, minor = self._call["qbXMLMajorVers"].strip(), self._call["qbXMLMinorVers"].strip()
        return f"{major}.{minor}" if major.isdigit() and minor.isdigit() else ""


def _guid(text: str) -> str:
    return text.strip("{} ").upper()
