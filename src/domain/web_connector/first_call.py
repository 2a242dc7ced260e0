"""The first `sendRequestXML` of a session: what it tells about QuickBooks and the company file that is open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain import qbxml
from domain.changes import ChangeConnection
from domain.queued_request import timestamp

if TYPE_CHECKING:
    from datetime import datetime

    from domain.connection import Connection
    from domain.web_connector.soap import Call


class FirstCall:
    """The call beside the connection that it came for."""

    def __init__(self, call: Call, connection: Connection) -> None:
        self._call = call
        self._connection = connection
        self._facts = qbxml.host_facts(call["strHCPResponse"])

    @property
    def is_other_company_file(self) -> bool:
        """Whether the file is marked as another connection's. One without a mark is taken as ours."""
        seen = self._facts.file_id
        return seen is not None and _guid(seen) != _guid(self._connection.file_id)

    @property
    def is_same_company_file(self) -> bool:
        """Whether the file is marked as this connection's."""
        return self._facts.file_id is not None and not self.is_other_company_file

    @property
    def company_file_mismatch(self) -> str:
        """What the user of the Web Connector reads."""
        return (
            "The company file that is open belongs to another connection: "
            f"{self._call['strCompanyFileName'] or 'its name is unknown'}. Open the right one and update again."
        )

    def learned(self, now: datetime) -> ChangeConnection:
        """Return the connection with what was learned; QuickBooks was reached, so that no error stands."""
        return self._changed(now, last_error=None)

    def mismatch(self, now: datetime) -> ChangeConnection:
        """Return the connection with the error that its owner reads."""
        error = {
            "code": "company_file_mismatch",
            "message": self.company_file_mismatch,
            "file_id": self._facts.file_id,
            "at": timestamp(now),
        }
        return self._changed(now, last_error=error)

    def _changed(self, now: datetime, last_error: dict[str, Any] | None) -> ChangeConnection:
        known = {
            "quickbooks_product_name": self._facts.product_name,
            "country": self._facts.country or self._call["qbXMLCountry"],
            "qbxml_version": self._facts.qbxml_version or self._processor_version(),
            "company_file_seen": self._call["strCompanyFileName"],
            "file_id_seen": self._facts.file_id,
        }
        after = self._connection.changed(
            timestamp(now), last_error=last_error, **{name: value for name, value in known.items() if value}
        )
        return ChangeConnection(self._connection, after)

    def _processor_version(self) -> str:
        major, minor = self._call["qbXMLMajorVers"].strip(), self._call["qbXMLMinorVers"].strip()
        return f"{major}.{minor}" if major.isdigit() and minor.isdigit() else ""


def _guid(text: str) -> str:
    return text.strip("{} ").upper()
