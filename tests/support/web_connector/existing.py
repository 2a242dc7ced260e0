"""A world in which requests with `if_exists` meet lost messages, and a person who works in the same company file."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from domain.records.lookup import IfExists, ObjectLookup
from domain.records.request import ENDED, State, WhetherExecuted
from domain.records.session import MAX_EXECUTION_SECONDS
from simulator import Company
from tests.support.web_connector.connector import Connector
from tests.support.web_connector.interruptions import RandomIds
from tests.support.web_connector.quickbooks import hcp, nothing_stored

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simulator.company.company import CompanySession

NAME = "Ada"
NUMBER = "INV-1"
OWNER = "Customer of all invoices"
CUSTOMER = f"<CustomerAdd><Name>{NAME}</Name></CustomerAdd>"
INVOICE = (
    f"<InvoiceAdd><CustomerRef><FullName>{OWNER}</FullName></CustomerRef><RefNumber>{{}}</RefNumber>"
    "<InvoiceLineAdd><Desc>Work</Desc></InvoiceLineAdd></InvoiceAdd>"
)
SYNC = (
    f"<CustomerAdd><Name>{NAME}</Name><BillAddress><City>Bonn</City></BillAddress><Phone>1</Phone>"
    "<CreditLimit>10</CreditLimit></CustomerAdd>"
)
BY_HAND = (
    f"<CustomerAdd><Name>{NAME}</Name><BillAddress><Addr1>Street</Addr1><City>Ulm</City></BillAddress><Phone>{{}}</Phone>"
    "<Notes>By hand</Notes></CustomerAdd>"
)


@dataclass(frozen=True)
class Kind:
    """Additions with one identity, and the one that a person makes. Those that update find the object of a person."""

    subject: str
    contents: Sequence[str]
    by_hand: str
    if_exists: IfExists = IfExists.RETURN


KINDS: Mapping[str, Kind] = {
    "Customer": Kind("Customer", [CUSTOMER, CUSTOMER.replace(NAME, NAME.upper())], CUSTOMER),
    # Numbers are compared without case.
    "Invoice": Kind("Invoice", [INVOICE.format(NUMBER), INVOICE.format(NUMBER.lower())], INVOICE.format(NUMBER)),
    "update": Kind("Customer", [SYNC, SYNC.replace(">10<", ">10.00<")], BY_HAND.format(0), IfExists.UPDATE),
}

CUTS = (
    "never executed",
    "response lost",
    "taken over",
    "response twice",
    "exception before",
    "exception after",
    "slow",
    "sent twice",
    "cannot tell",
)
"""What happens to a message instead of an exchange without trouble. QuickBooks cannot tell in a status check only."""

ACTS = ("add", "rename", "edit", "delete", "take the name")
"""What a person does before a message is executed."""

MAX_SESSIONS = 30
MESSAGE = (
    '<?xml version="1.0"?><?qbxml version="16.0"?><QBXML><QBXMLMsgsRq onError="stopOnError">{}</QBXMLMsgsRq></QBXML>'
)


@dataclass
class World:
    """A company, a person and a connection with its Web Connector.

    `cuts` and `acts` are by the number of the message, counted from 0. `created` are the objects that our messages
    added. `added_blindly` are the additions that QuickBooks executed although the message before them did not ask it in
    the same session, or although it had an object of the identity when it was asked. `written` are the requests whose
    messages QuickBooks executed. `texts` are the texts of our writes by the ID of their message set, and `lost` the
    texts after which a field had changed that they do not name.
    """

    name: str
    cuts: Mapping[int, str] = field(default_factory=dict)
    acts: Mapping[int, str] = field(default_factory=dict)
    qbwc: Connector = field(default_factory=lambda: Connector(new_id=RandomIds()))
    company: Company = field(default_factory=Company.empty)
    messages: int = 0
    created: set[str] = field(default_factory=set)
    added_blindly: list[str] = field(default_factory=list)
    written: set[str] = field(default_factory=set)
    texts: dict[str, str] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    _there_when_asked: set[str] | None = None

    def __post_init__(self) -> None:
        """Connect, and add the customer of the invoices."""
        self.qbwc.connect(name="Acme")
        self.person: CompanySession = self.company.begin_session("A person")
        self.ours: CompanySession = self.company.begin_session("qbxml-queue")
        self._by_hand(f"<CustomerAddRq><CustomerAdd><Name>{OWNER}</Name></CustomerAdd></CustomerAddRq>")
        if self.updates:
            self.act("add")

    @property
    def kind(self) -> str:
        """The type of the objects."""
        return KINDS[self.name].subject

    @property
    def updates(self) -> bool:
        """Whether the requests update what they find."""
        return KINDS[self.name].if_exists is IfExists.UPDATE

    # --- Our side

    def queue(self) -> list[str]:
        """Queue each addition of the kind twice, and return their ids."""
        kind = KINDS[self.name]
        lookup = ObjectLookup(kind.if_exists)
        return [self.qbwc.queue(f"{self.kind}AddRq", text, lookup=lookup) for text in kind.contents for _ in "12"]

    def run(self) -> None:
        """Run sessions until nothing is left in the queue."""
        for _ in range(MAX_SESSIONS):
            if all(record.state in ENDED for record in self.qbwc.records):
                return
            self._session()
            self.qbwc.clock.advance(seconds=2 * MAX_EXECUTION_SECONDS)
        raise AssertionError(f"the queue does not end: {self.qbwc.states()}")

    def _session(self) -> None:
        """Run a session, until it ends or one of its messages is cut."""
        self._there_when_asked = None
        if self.qbwc.authenticate():
            return
        facts = hcp()
        while "<QBXML" in (text := self.qbwc.send(facts)):
            facts = ""
            cut = self.cuts.get(self.messages)
            if act := self.acts.get(self.messages):
                self.act(act)
            self.messages += 1
            if self._exchange(text, cut):
                return
        self.qbwc.close()

    def _exchange(self, text: str, cut: str | None) -> bool:
        """Execute a message and deliver its response, or what the cut leaves of it. Return whether the session ends."""
        qbwc = self.qbwc
        if cut == "sent twice":
            assert qbwc.send() in {text, ""}
        response = "" if cut in {"never executed", "exception before"} else self._execute(text)
        if cut == "cannot tell" and "requestID=" not in text:
            response = nothing_stored(text, 9004)
        match cut:
            case "never executed" | "response lost":
                qbwc.close()
            case "taken over":
                qbwc.clock.advance(seconds=MAX_EXECUTION_SECONDS)
                former = qbwc.ticket
                qbwc.authenticate()
                ticket, qbwc.ticket = qbwc.ticket, former
                assert qbwc.receive(response) == -1
                qbwc.ticket = ticket
                qbwc.close()
            case "exception before":
                qbwc.receive(hresult="0x8004041B")
                return False
            case "exception after":
                qbwc.receive(hresult="0x800706BE")
                return False
            case _:
                if cut == "slow":
                    qbwc.clock.advance(seconds=MAX_EXECUTION_SECONDS - 60)
                progress = qbwc.receive(response)
                if cut == "response twice":
                    assert qbwc.receive(response) == progress
                return False
        return True

    def _execute(self, text: str) -> str:
        rows = self.objects()
        before = [_id_of(row) for row in rows]
        set_id = re.search(r'newMessageSetID="(\w+)"', text)
        if set_id and "requestID=" in text:
            assert self.texts.setdefault(set_id[1], _content(text)) == _content(text), "two texts under one ID"
        response = self.ours.process_request(text)
        after = self.objects()
        new = {_id_of(row) for row in after} - set(before)
        self.created |= new
        if [ET.tostring(row) for row in rows] != [ET.tostring(row) for row in after]:
            self.written |= {record.id for record in self.qbwc.records if record.state is State.SENT}
            if not new and [_unnamed(row) for row in rows] != [_unnamed(row) for row in after]:
                self.lost.append(text)
        if new and (self._there_when_asked is None or self._there_when_asked & set(before)):
            self.added_blindly.append(text)
        self._there_when_asked = set(before) if "QueryRq" in text else None
        return response

    # --- The books and the person

    def objects(self) -> list[ET.Element]:
        """Return the objects with the identity, also inactive ones."""
        name = "FullName" if self.kind == "Customer" else "RefNumber"
        wanted = NAME if self.kind == "Customer" else NUMBER
        answer = self._by_hand(f"<{self.kind}QueryRq><{name}>{wanted}</{name}></{self.kind}QueryRq>")
        return ET.fromstring(answer).findall(f".//{self.kind}Ret")  # noqa: S314 - the simulator's own text

    def ids(self) -> list[str]:
        """Return the ids of the objects with the identity."""
        return [_id_of(row) for row in self.objects()]

    def act(self, act: str) -> None:
        """Let the person do something with the first object of the identity, or without one."""
        objects = self.objects()
        id_name = "ListID" if self.kind == "Customer" else "TxnID"
        if act == "add":
            self._by_hand(f"<{self.kind}AddRq>{KINDS[self.name].by_hand}</{self.kind}AddRq>")
        elif act == "take the name" and self.kind == "Customer":
            self._by_hand(f"<VendorAddRq><VendorAdd><Name>{NAME}</Name></VendorAdd></VendorAddRq>")
        elif objects and act in {"rename", "edit"}:
            row = objects[0]
            new = f"{self.messages} other" if act == "rename" else (NAME if self.kind == "Customer" else NUMBER)
            field_name = "Name" if self.kind == "Customer" else "RefNumber"
            object_id, sequence = row.findtext(id_name), row.findtext("EditSequence")
            self._by_hand(
                f"<{self.kind}ModRq><{self.kind}Mod><{id_name}>{object_id}</{id_name}><EditSequence>{sequence}"
                f"</EditSequence><{field_name}>{new}</{field_name}>{self._edited()}</{self.kind}Mod></{self.kind}ModRq>"
            )
        elif objects and act == "delete":
            family = "List" if self.kind == "Customer" else "Txn"
            self._by_hand(
                f"<{family}DelRq><{family}DelType>{self.kind}</{family}DelType>"
                f"<{id_name}>{objects[0].findtext(id_name)}</{id_name}></{family}DelRq>"
            )

    def _edited(self) -> str:
        """Return the fields that the person edits."""
        return f"<Phone>{self.messages}</Phone><Notes>Edited {self.messages}</Notes>" if self.updates else ""

    def _by_hand(self, request: str) -> str:
        return self.person.process_request(MESSAGE.format(request))

    # --- What must hold

    def check(self) -> None:
        """Check the rules after a run. Raises AssertionError."""
        assert not self.added_blindly, self.added_blindly[0]
        assert not self.lost, self.lost[0]
        ours = [object_id for object_id in self.ids() if object_id in self.created]
        assert len(ours) <= 1, f"{len(ours)} objects by our doing"
        assert self.qbwc.store.counts == self.qbwc.store.recount()
        for record in self.qbwc.records:
            if record.executed in {WhetherExecuted.YES, WhetherExecuted.NO}:
                assert (record.id in self.written) == (record.executed is WhetherExecuted.YES), record
            if record.outcome:
                response = self.qbwc.response(record.id) or ""
                assert re.search(rf'<{self.kind}AddRs requestID="{record.request_label}"', response), response

    def check_second_run(self) -> None:
        """Queue everything again, without trouble. Nothing changes if there is one object of the identity."""
        self.cuts, self.acts = {}, {}
        objects = [ET.tostring(row) for row in self.objects()]
        if len(objects) != 1:
            return
        again = self.queue()
        self.run()
        outcomes = {self.qbwc.record(request_id).outcome for request_id in again}
        assert outcomes == {"unchanged" if self.updates else "found"}, outcomes
        assert [ET.tostring(row) for row in self.objects()] == objects


def _id_of(row: ET.Element) -> str:
    return row.findtext("ListID", "") or row.findtext("TxnID", "")


def _unnamed(row: ET.Element) -> tuple[str | None, ...]:
    """Return the fields of an object that our requests do not name."""
    return row.findtext("BillAddress/Addr1"), row.findtext("Notes"), row.findtext("Name")


def _content(text: str) -> str:
    """Return the content of a message, without what differs between two sendings of it."""
    return re.sub(r' (old|new)MessageSetID="\w+"', "", text)


def played(kind: str, cuts: Mapping[int, str], acts: Mapping[int, str]) -> World:
    """Return a world after both runs. Raises AssertionError if a rule does not hold."""
    world = World(kind, cuts, acts)
    world.queue()
    world.run()
    world.check()
    world.check_second_run()
    return world
