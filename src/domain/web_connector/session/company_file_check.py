"""The first `sendRequestXML` of a session: what it tells about QuickBooks and the company file that is open."""

from __future__ import annotations

from pathlib import PureWindowsPath
from typing import TYPE_CHECKING, Any

from domain import qbxml
from domain.connections.record import COMPANY_FILE_MISMATCH
from domain.requests.record import timestamp
from domain.storage.changes import ChangeConnection
from domain.web_connector.error_reasons import Reason, hint

if TYPE_CHECKING:
    from datetime import datetime

    from domain.connections.record import Connection
    from domain.web_connector.protocol.soap import Call


class CompanyFileCheck:
    """The call beside the connection that it came for.

    A company file is known by its mark: the FileID that a `.qwc` file left in it. One without a mark is taken as ours
    with two exceptions (decision 0015): it only happened to be open, or our mark was seen before in a file elsewhere.
    """

    def __init__(self, call: Call, connection: Connection, *, must_be_marked: bool = False) -> None:
        self._call = call
        self._must_be_marked = must_be_marked
        self.connection = connection
        self._facts = qbxml.host_facts(call["strHCPResponse"])

    @property
    def file_mark(self) -> str | None:
        """The mark of the company file that is open."""
        return self._facts.file_id

    @property
    def is_other_company_file(self) -> bool:
        """Whether what is queued is not meant for this file."""
        if self.file_mark is None:
            return self._must_be_marked or self._is_unmarked_elsewhere
        return self._bears_another_mark and self.connection.file_pinned

    @property
    def is_new_company_file(self) -> bool:
        """Whether the connection takes this file in place of the one that it had."""
        return self._bears_another_mark and not self.connection.file_pinned

    @property
    def _bears_another_mark(self) -> bool:
        return self.file_mark is not None and self.file_mark != _guid(self.connection.file_id)

    @property
    def _is_unmarked_elsewhere(self) -> bool:
        """Whether the file bears no mark for certain, and the one that bore ours is another.

        Facts that cannot be read do not tell, and a mark that is late must not lock its own file out.
        """
        return self._facts.is_unmarked and self.connection.file_pinned and self._marked_elsewhere is not None

    @property
    def _marked_elsewhere(self) -> str | None:
        """The path of the file that bore our mark last; None when that is not known, or is this one."""
        known = self.connection
        if known.file_id_seen != _guid(known.file_id) or not known.company_file_seen or not self._file_name:
            return None
        # As Windows compares: whatever the case and the slashes.
        same = PureWindowsPath(self._file_name) == PureWindowsPath(known.company_file_seen)
        return None if same else known.company_file_seen

    @property
    def company_file_mismatch(self) -> str:
        """What the user of the Web Connector reads."""
        wrong = "is not the one of this connection" if self.file_mark else "bears no mark of this connection"
        words = f"The company file that is open {wrong}: {self._file_name or 'its name is unknown'}."
        if self._must_be_marked and not self.file_mark:
            words = f"The connection's company_file could not be opened: {self.connection.company_file}. {words}"
        elif self._marked_elsewhere:
            words += f" Its own was last {self._marked_elsewhere}."
        return f"{words} Open the right one and update again."

    @property
    def _file_name(self) -> str:
        """The path of the file that is open; '' when it is not told."""
        return self._call["strCompanyFileName"].strip()

    def learned(self, now: datetime) -> ChangeConnection:
        """Return the connection with what was learned; QuickBooks was reached, so that no error stands."""
        facts = self._known() | {"last_error": None}
        if self.file_mark is not None:
            facts |= {"file_id_seen": self.file_mark, "company_file_seen": self._file_name or None}
        if self.file_mark is not None and not self.connection.file_pinned:
            # The .qwc file that is fetched from now on carries the mark that QuickBooks keeps (QBWC1039 otherwise).
            facts |= {"file_id": self.file_mark, "file_pinned": True}
        return ChangeConnection(self.connection, self.connection.changed(timestamp(now), **facts))

    def mismatch(self, now: datetime) -> dict[str, Any]:
        """Return what changes of the connection: the error that its owner reads, and which QuickBooks it was."""
        error = {
            "code": COMPANY_FILE_MISMATCH,
            "message": self.company_file_mismatch,
            "reason": Reason.COMPANY_FILE_MISMATCH.value,
            "hint": hint(Reason.COMPANY_FILE_MISMATCH),
            "file_id": self.file_mark,
            "at": timestamp(now),
        }
        return self._known() | {"last_error": error}

    def _known(self) -> dict[str, Any]:
        known = {
            "quickbooks_product_name": self._facts.product_name,
            "country": self._facts.country or self._call["qbXMLCountry"],
            "qbxml_version": self._facts.qbxml_version or self._processor_version(),
        }
        return {name: value for name, value in known.items() if value}

    def _processor_version(self) -> str:
        major, minor = self._call["qbXMLMajorVers"].strip(), self._call["qbXMLMinorVers"].strip()
        return f"{major}.{minor}" if major.isdigit() and minor.isdigit() else ""


def _guid(text: str) -> str:
    return text.strip("{} ").upper()
