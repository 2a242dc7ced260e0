"""The company file check: compares the open company file with the connection's, in the first `sendRequestXML`.

A company file is recognised by its FileID mark, which a `.qwc` file left in it, and by its path, because a copy has the
same mark (docs/decisions/0036). A file without a mark is accepted unless it was only a fallback, or the connection's
file is known at another path (docs/decisions/0015).
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import PureWindowsPath
from typing import TYPE_CHECKING

from domain import qbxml
from domain.errors import shortened
from domain.records.connection import COMPANY_FILE_MISMATCH, COMPANY_FILE_MOVED
from domain.records.request import MAX_FACT_CHARACTERS
from domain.storage.changes import Put
from domain.timestamps import timestamp
from domain.web_connector.outcomes.error_reasons import Reason, reason_details

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from domain.records.connection import Connection
    from domain.records.session import OpenCompanyFile, Session
    from domain.storage.changes import Change
    from domain.web_connector.protocol.soap import Call


KEY_DIGITS = 16
"""64 bits of a SHA-256: enough to tell the few company files of a connection apart."""

CURRENT_COMPANY_FILE = ""
"""Asks the Web Connector to use the company file that is open."""

_COMPANY_FILE_PATH = re.compile(r"(?:[A-Za-z]:\\|\\\\).+\.qbw", re.IGNORECASE)


def company_file(connection: Connection) -> str:
    """Return the path to open, or '' for the open file. A name without a folder is not a path, so it also gives ''."""
    path = (connection.company_file or "").strip()
    return path if _COMPANY_FILE_PATH.fullmatch(path) else CURRENT_COMPANY_FILE


class CompanyFileCheck:
    """The first `sendRequestXML` of a session, compared with the connection."""

    def __init__(
        self, call: Call, connection: Connection, *, must_be_marked: bool = False, answered_at: str | None = None
    ) -> None:
        """`answered_at` is the time to record if the facts show that QuickBooks answered, or None to record none."""
        self._call = call
        self._must_be_marked = must_be_marked
        self.connection = connection
        self._facts = qbxml.host_facts(call["strHCPResponse"])
        self._path = shortened(call["strCompanyFileName"].strip(), MAX_FACT_CHARACTERS)
        self._answered_at = answered_at
        self.mark = self._facts.file_id and shortened(self._facts.file_id, MAX_FACT_CHARACTERS)
        """The FileID mark of the open company file."""

    @classmethod
    def of_session(cls, session: Session, call: Call, connection: Connection, now: datetime) -> CompanyFileCheck:
        """Return the check of a session against its copy of the connection, or against the stored one."""
        # An onboarding check waits for the answer to its own question.
        answered_at = None if session.onboarding_check else timestamp(now)
        return cls(call, connection, must_be_marked=session.company_file.is_fallback, answered_at=answered_at)

    @property
    def is_other_company_file(self) -> bool:
        """Whether the queue belongs to a different file."""
        if self.mark is None:
            return self._must_be_marked or self._is_elsewhere
        return self._is_elsewhere or (self.has_other_mark and self.connection.file_pinned)

    @property
    def has_other_mark(self) -> bool:
        """Whether the open company file has a mark that is not the connection's."""
        return self.mark is not None and self.mark != _guid(self.connection.file_id)

    @property
    def key(self) -> str | None:
        """The key that identifies the open company file by its mark and its path, or None if it has no mark."""
        if self.mark is None or not self._path:
            return None
        identity = f"{self.mark} {PureWindowsPath(self._path).as_posix().lower()}"
        return hashlib.sha256(identity.encode()).hexdigest()[:KEY_DIGITS]

    def opened(self, session: Session) -> OpenCompanyFile:
        """Return the open company file as the session stores it."""
        return replace(
            session.company_file,
            key=self.key,
            path=fact(self._path),
            product_name=fact(self._facts.product_name),
            version=fact(self._facts.version),
        )

    @property
    def _is_elsewhere(self) -> bool:
        """Whether the file is open at a path that nobody has accepted. A path that is unknown proves nothing."""
        return self.connection.file_pinned and bool(self._path and self._accepted) and not self._is_accepted

    @property
    def _is_accepted(self) -> bool:
        # Windows paths are equal regardless of case and slashes.
        return PureWindowsPath(self._path) in map(PureWindowsPath, self._accepted)

    @property
    def _accepted(self) -> Sequence[str]:
        """The paths at which the connection's file is accepted."""
        connection = self.connection
        return connection.company_file_paths if connection.file_id_seen == _guid(connection.file_id) else ()

    @property
    def problem(self) -> str:
        """The code of the connection's error if the open company file is not the right one."""
        if self.has_other_mark or self._facts.is_unmarked or (self.mark is None and self._must_be_marked):
            return COMPANY_FILE_MISMATCH
        return COMPANY_FILE_MOVED

    @property
    def mismatch_message(self) -> str:
        """Return the message for the user of the Web Connector."""
        accepted = ", ".join(self._accepted)
        if self.problem == COMPANY_FILE_MOVED:
            return (
                f"The company file of this connection is open at {self._path}, which may be a copy. It was accepted at "
                f"{accepted} only. Open that file, or accept this path, and update again."
            )
        problem = "is not the file of this connection" if self.mark else "has no mark of this connection"
        message = f"The open company file {problem}: {self._path or 'its name is unknown'}."
        if self._must_be_marked and not self.mark:
            message = f"The connection's company_file could not be opened: {self.connection.company_file}. {message}"
        elif accepted and not self._is_accepted:
            message += f" The connection's file was last seen at {accepted}."
        return f"{message} Open the right file and update again."

    def learned(self) -> Connection:
        """Return the connection with what the check found, and no last error, because QuickBooks was reached."""
        after = replace(
            self._with_quickbooks(self.connection),
            last_error=None,
            company_name=fact(self._facts.company_name) or self.connection.company_name,
        )
        if self._answered_at and self._facts.product_name and not after.is_onboarded:
            after = replace(after, quickbooks_answered_at=self._answered_at)
        if self.mark is not None:
            accepted = () if self.has_other_mark else tuple(self._accepted)
            paths = accepted if self._is_accepted or not self._path else (self._path,)
            after = replace(after, file_id_seen=self.mark, company_file_paths=paths)
        if self.mark is not None and not after.file_pinned:
            # Later .qwc files must contain the mark that QuickBooks keeps. Otherwise QBWC1039 is reported.
            after = replace(after, file_id=self.mark, file_pinned=True)
        return after

    def changes(self, session: Session, now: datetime) -> list[Change]:
        """Return the change of the connection. The session's copy has nothing to learn."""
        if self.connection is session.connection or (after := self.learned()) == self.connection:
            return []
        return [Put(self.connection, after.changed(timestamp(now)))]

    def mismatched(self, connection: Connection, now: datetime) -> Connection:
        """Return the connection with the error for its owner and the facts about QuickBooks."""
        error = {
            "code": self.problem,
            "message": self.mismatch_message,
            **reason_details(Reason(self.problem), file_id=self.mark, path=self._path, at=timestamp(now)),
            "company_name": fact(self._facts.company_name),
        }
        return replace(self._with_quickbooks(connection), last_error=error)

    def _with_quickbooks(self, connection: Connection) -> Connection:
        facts = self._facts
        return replace(
            connection,
            quickbooks_product_name=fact(facts.product_name) or connection.quickbooks_product_name,
            quickbooks_version=fact(facts.version) or connection.quickbooks_version,
            country=fact(facts.country or self._call["qbXMLCountry"]) or connection.country,
            qbxml_version=fact(facts.qbxml_version or self._processor_version()) or connection.qbxml_version,
        )

    def _processor_version(self) -> str:
        major, minor = self._call["qbXMLMajorVers"].strip(), self._call["qbXMLMinorVers"].strip()
        return f"{major}.{minor}" if major.isdigit() and minor.isdigit() else ""


def fact(text: str | None) -> str | None:
    """Return a text from QuickBooks as it is stored, or None if there is none."""
    return shortened(text, MAX_FACT_CHARACTERS) if text else None


def _guid(text: str) -> str:
    return text.strip("{} ").upper()
