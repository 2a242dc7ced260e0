"""Company files for `existing`: where each is, what our messages did in it, and the person who works there."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from simulator import Company

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.company.company import CompanySession

OURS = "qbxml-queue"
PATH = "C:\\Books\\acme.qbw"
OTHER_PATH = "D:\\Books\\acme.qbw"
MARK = "{90A44FB5-33D9-4815-AC85-BC87A7E7D1EB}"
OTHER_MARK = "{11111111-33D9-4815-AC85-BC87A7E7D1EB}"
MESSAGE = (
    '<?xml version="1.0"?><?qbxml version="16.0"?><QBXML><QBXMLMsgsRq onError="stopOnError">{}</QBXMLMsgsRq></QBXML>'
)


@dataclass
class CompanyFile:
    """A company file at a path with a mark. `created` are the ids of the objects that requests with `if_exists` added.

    A file that was moved has the company of the former one.
    """

    company: Company = field(default_factory=Company.empty)
    path: str = PATH
    mark: str = MARK
    created: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Open the file for the person and for us."""
        self._person: CompanySession = self.company.begin_session("A person")
        self._ours: CompanySession = self.company.begin_session(OURS)

    def moved(self) -> CompanyFile:
        """Return the file at another path."""
        return replace(self, path=OTHER_PATH)

    def copied(self, mark: str = MARK) -> CompanyFile:
        """Return a copy at another path, which knows no message set."""
        copy = Company.empty()
        copy.restore(replace(self.company.snapshot(), message_sets={}, executed=()))
        return CompanyFile(copy, OTHER_PATH, mark)

    def begin(self, text: str) -> Callable[[], str]:
        """Begin to execute one of our messages, and return the function that ends the execution with the response."""
        return self._ours.begin_request(text)

    def by_hand(self, request: str) -> str:
        """Let the person do something."""
        return self._person.process_request(MESSAGE.format(request))

    def objects(self, subject: str, identity: str) -> list[ET.Element]:
        """Return the objects of a type with a name or number, also inactive ones."""
        name = "FullName" if subject == "Customer" else "RefNumber"
        answer = self.by_hand(f"<{subject}QueryRq><{name}>{identity}</{name}></{subject}QueryRq>")
        return ET.fromstring(answer).findall(f".//{subject}Ret")  # noqa: S314 - the simulator's own text


def id_of(row: ET.Element) -> str:
    """Return the id of an object."""
    return row.findtext("ListID", "") or row.findtext("TxnID", "")


def message_set_in(text: str) -> str | None:
    """Return the ID of the message set of a write or of a status check."""
    found = re.search(r'newMessageSetID="(\w+)"', text)
    return found[1] if found else None
