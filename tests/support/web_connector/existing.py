"""A world in which requests with `if_exists` meet lost messages, other company files, a restore, and other writers.

The others are a person who works in the same company file, and plain writes of the same app.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree as ET

from domain.connections.service import ConnectionService
from domain.qbxml.request.from_xml import parse_request_xml
from domain.queueing.new_request import NewRequest
from domain.records.connection import COMPANY_FILE_MISMATCH, COMPANY_FILE_MOVED
from domain.records.lookup import IfExists
from domain.records.request import ENDED, QueuedRequest, WhetherExecuted
from domain.records.session import MAX_EXECUTION_SECONDS
from domain.web_connector.session.login import BUSY_SECONDS_OF_A_WRITE
from local.rebuild import continued
from tests.support.builders import AN_ACTOR, APP_ID, CONNECTION_ID, counting_bytes
from tests.support.queueing import new_request
from tests.support.web_connector.company_files import OTHER_MARK, OURS, CompanyFile, id_of, message_set_in
from tests.support.web_connector.connector import Connector
from tests.support.web_connector.deciders import AUTHOR, DECISIONS, EXPIRY, Deciders
from tests.support.web_connector.interruptions import RandomIds
from tests.support.web_connector.quickbooks import hcp, labels_in, nothing_stored

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

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
    """Additions with one identity, and the one that a person makes. Those that update find the object of a person.

    `beside` are additions with other identities in front of each, whose queries are in one message set with its own.
    `plain` are additions without `if_exists` in front of them, which are sent in sets. If they are `in_batch`, each is
    in a batch: an invoice with the addition of its customer, and a customer with an invoice. With `needs_approval`,
    people decide about all of them.
    """

    subject: str
    contents: Sequence[str]
    by_hand: str
    if_exists: IfExists = IfExists.RETURN
    plain: Sequence[str] = ()
    beside: Sequence[str] = ()
    in_batch: bool = False
    needs_approval: bool = False

    @property
    def acts(self) -> Sequence[str]:
        """What others can do."""
        return (*ACTS, *DECISIONS) if self.needs_approval else ACTS

    @property
    def messages(self) -> range:
        """The messages that can be cut. A run without trouble has at most so many."""
        return range(14 if self.needs_approval else 10)


UPDATES = [SYNC, SYNC.replace(">10<", ">10.00<")]

# Numbers are compared without case.
NUMBERS = [INVOICE.format(NUMBER), INVOICE.format(NUMBER.lower())]

KINDS: Mapping[str, Kind] = {
    "Customer": Kind("Customer", [CUSTOMER, CUSTOMER.replace(NAME, NAME.upper())], CUSTOMER),
    "Invoice": Kind("Invoice", NUMBERS, NUMBERS[0]),
    "update": Kind("Customer", UPDATES, BY_HAND.format(0), IfExists.UPDATE),
    "behind plain writes": Kind(
        "Invoice", NUMBERS, NUMBERS[0], plain=[*map(INVOICE.format, ("1", "2", NUMBER, "3", "4"))]
    ),
    "set": Kind("Invoice", NUMBERS, NUMBERS[0], beside=[*map(INVOICE.format, ("1", "2"))]),
    "set of updates": Kind(
        "Customer",
        [SYNC, SYNC.replace(">10<", ">10.00<")],
        BY_HAND.format(0),
        IfExists.UPDATE,
        beside=[SYNC.replace(NAME, "Bo"), SYNC.replace(NAME, "Cy")],
    ),
    "batch": Kind("Invoice", NUMBERS, NUMBERS[0].replace(OWNER, NAME), in_batch=True),
    "approved": Kind("Customer", UPDATES, BY_HAND.format(0), IfExists.UPDATE, needs_approval=True),
    "approved batch": Kind("Customer", UPDATES, BY_HAND.format(0), IfExists.UPDATE, in_batch=True, needs_approval=True),
    "approved behind plain writes": Kind(
        "Invoice", NUMBERS, NUMBERS[0], plain=[*map(INVOICE.format, "12")], needs_approval=True
    ),
}

CUTS = (
    "never executed",
    "response lost",
    "closed",
    "taken over",
    "runs on",
    "response twice",
    "exception before",
    "exception after",
    "slow",
    "sent twice",
    "cannot tell",
    "not stored",
    "not executed or stored",
    "cut off",
    "not parsed",
)
"""What happens to a message instead of an exchange without trouble. QuickBooks cannot tell in a status check only, and
cannot store the response to a write only, whether or not it has executed it. A message that runs on is executed while
another Web Connector has taken over, and its response is lost. The session can be closed after the response."""

EXCEPTIONS_BEFORE = {"exception before": "0x8004041B", "not parsed": "0x80040400"}
"""The exceptions that show that QuickBooks has not executed the message."""

PERSON = ("add", "rename", "edit", "delete", "take the name")
FILES = ("use a copy", "move to a copy", "use another mark", "move the file")
RESTORES = ("restore a little", "restore all")
ACTS = (*PERSON, "write plainly", *FILES, *RESTORES)
"""What others do before a message is executed: a person, an app without `if_exists`, whoever opens another company file
for two sessions or for good, and an operator who restores the tables to the former message or to the beginning."""

MAX_SESSIONS = 30
SESSIONS_IN_A_COPY = 2


class Backup(NamedTuple):
    """The tables of the service at a moment."""

    records: Mapping[str, Any]
    bodies: Mapping[str, Any]
    connections: Mapping[str, Any]


class Running(NamedTuple):
    """An execution that goes on after its session. `end` ends it."""

    until: datetime
    end: Callable[[], str]


class Asked(NamedTuple):
    """An answer to the query of a request: the requests of its message set, and the ids of the objects that it has."""

    together: Sequence[str]
    there: set[str]


@dataclass
class World:
    """Company files, a person and a connection with its Web Connector.

    `cuts` and `acts` are by the number of the message, counted from 0. `file` is open, and `coming` are the files that
    are open in the next sessions. `owners` are the ids of the writes by message set and label, and `looking` those with
    `if_exists`. `texts` are the texts of our writes by the ID of their message set. `faults` are the rules that did not
    hold while a message was executed. `restored` are the writes that had not ended in a backup that was restored.
    """

    name: str
    cuts: Mapping[int, str] = field(default_factory=dict)
    acts: Mapping[int, str] = field(default_factory=dict)
    qbwc: Connector = field(default_factory=lambda: Connector(new_id=RandomIds()))
    file: CompanyFile = field(default_factory=CompanyFile)
    coming: list[CompanyFile] = field(default_factory=list)
    messages: int = 0
    owners: dict[tuple[str, str], str] = field(default_factory=dict)
    looking: set[str] = field(default_factory=set)
    texts: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    restored: set[str] = field(default_factory=set)
    _backups: list[Backup] = field(default_factory=list)
    _running: list[Running] = field(default_factory=list)
    _sent: Sequence[str] = ()
    _identities: dict[str, str] = field(default_factory=dict)
    _asked: dict[str, Asked] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Connect, and add the customer of the invoices."""
        self.qbwc.connect(name="Acme", batch_size=5 if self.kind.plain else 1, read_set_size=5)
        self.file.by_hand(f"<CustomerAddRq><CustomerAdd><Name>{OWNER}</Name></CustomerAdd></CustomerAddRq>")
        if self.updates:
            self.act("add")
        # Copies are made before our first message, so they do not show what it did.
        needed = set(self.acts.values())
        self._copy = self.file.copied() if needed & {"use a copy", "move to a copy"} else self.file
        self._other = self.file.copied(OTHER_MARK) if "use another mark" in needed else self.file
        self._files = [self.file, self._copy, self._other]
        self.deciders = Deciders(self.qbwc)

    @property
    def kind(self) -> Kind:
        """The additions."""
        return KINDS[self.name]

    @property
    def updates(self) -> bool:
        """Whether the requests update what they find."""
        return self.kind.if_exists is IfExists.UPDATE

    # --- Our side

    def queue(self) -> list[str]:
        """Queue each addition of the kind twice, behind the plain ones, and return the ids of those that look."""
        for plain in self.kind.plain:
            self.write_plainly(plain)
        return [request_id for text in self.kind.contents for _ in "12" for request_id in self._queue_in_set(text)]

    def _queue_in_set(self, text: str) -> list[str]:
        return [request_id for content in (*self.kind.beside, text) for request_id in self._queue(content)]

    def _queue(self, text: str) -> list[str]:
        kind, added = self.kind, ET.fromstring(text)  # noqa: S314 - our own text
        if not kind.in_batch:
            request_ids = self._batch(_addition(text, if_exists=kind.if_exists))
            self._identities |= dict.fromkeys(request_ids, _identity_in(text))
            return request_ids
        customer = text if kind.subject == "Customer" else CUSTOMER
        invoice = {
            "CustomerRef": {"ListID": {"$from": "c", "path": "CustomerRet/ListID"}},
            "RefNumber": added.findtext("RefNumber") or NUMBER,
            "InvoiceLineAdd": [{"Desc": "Work"}],
        }
        return self._batch(
            _addition(customer, ref="c", if_exists=kind.if_exists),
            new_request({"InvoiceAddRq": {"InvoiceAdd": invoice}}, None, "c", if_exists=IfExists.RETURN),
        )

    def _batch(self, *requests: NewRequest) -> list[str]:
        needed = [replace(new, needs_approval=self.kind.needs_approval) for new in requests]
        return self.qbwc.batch(*needed, author=AUTHOR)

    def write_plainly(self, text: str) -> None:
        """Queue an addition that does not look."""
        self._batch(_addition(text))

    def run(self) -> None:
        """Run sessions until nothing is left in the queue, and let QuickBooks end what it executes."""
        self._backups = [self._backup()]
        for _ in range(MAX_SESSIONS):
            if all(record.state in ENDED for record in self.qbwc.records):
                self._end_executions(all_of_them=True)
                return
            self._session()
            self.qbwc.clock.advance(seconds=BUSY_SECONDS_OF_A_WRITE if self._running else 2 * MAX_EXECUTION_SECONDS)
        raise AssertionError(f"the queue does not end: {self.qbwc.states()}")

    def _session(self) -> None:
        """Run a session, until it ends or one of its messages is cut."""
        if not self._owner_settles_the_file() and self.coming:
            self.file = self.coming.pop(0)
        self._asked = {}
        self.deciders.approve_all()
        if self.qbwc.authenticate():
            return
        facts = hcp(self.file.mark)
        while "<QBXML" in (text := self.qbwc.send(facts, self.file.path)):
            facts = ""
            cut, act = self.cuts.get(self.messages), self.acts.get(self.messages, "")
            self._backups.append(self._backup())
            self._note_owners(text)
            self.act(act)
            self.messages += 1
            if self._exchange(text, cut) or act in {*RESTORES, EXPIRY}:
                return
            self.deciders.look()
        self.qbwc.close()

    def _owner_settles_the_file(self) -> bool:
        """Accept the path at which the last session found the file, or its mark. Return whether that was needed."""
        use = ConnectionService(self.qbwc.store, clock=self.qbwc.clock, new_id=self.qbwc.new_id, secrets=counting_bytes)
        code = (self.qbwc.connection.last_error or {}).get("code")
        if code == COMPANY_FILE_MOVED:
            use.accept_company_file(APP_ID, CONNECTION_ID, actor=AN_ACTOR)
        if code == COMPANY_FILE_MISMATCH:
            use.reset_company_file(APP_ID, CONNECTION_ID, actor=AN_ACTOR)
        return code in {COMPANY_FILE_MOVED, COMPANY_FILE_MISMATCH}

    def _exchange(self, text: str, cut: str | None) -> bool:
        """Execute a message and deliver its response, or what the cut leaves of it. Return whether the session ends."""
        qbwc = self.qbwc
        if cut == "sent twice":
            assert qbwc.send() in {text, ""}
        if cut == "runs on":
            end = self._begin(text)
            self._running.append(Running(qbwc.clock.now + timedelta(seconds=MAX_EXECUTION_SECONDS - 30), end))
            qbwc.clock.advance(seconds=BUSY_SECONDS_OF_A_WRITE)
            return True
        is_write = message_set_in(text) is not None and "requestID=" in text
        is_not_executed = cut == "not executed or stored" and is_write
        nothing_happens = cut in {"never executed", *EXCEPTIONS_BEFORE} or is_not_executed
        response = "" if nothing_happens else self._begin(text)()
        if cut == "cannot tell" and "requestID=" not in text:
            response = nothing_stored(text, 9004)
        if cut in {"not stored", "not executed or stored"} and is_write:
            response = nothing_stored(text, 9005)
        match cut:
            case "never executed" | "response lost" | "closed" | "taken over":
                self._end_session(cut, response)
                return True
            case "exception before" | "not parsed" | "exception after":
                qbwc.receive(hresult=EXCEPTIONS_BEFORE.get(cut, "0x800706BE"))
            case "cut off":
                qbwc.receive(response[:-30])
            case _:
                if cut == "slow":
                    qbwc.clock.advance(seconds=MAX_EXECUTION_SECONDS - 60)
                progress = qbwc.receive(response)
                if cut == "response twice":
                    assert qbwc.receive(response) == progress
        return False

    def _end_session(self, cut: str, response: str) -> None:
        """Close the session, or let another Web Connector take it over and close its own."""
        qbwc, former = self.qbwc, self.qbwc.ticket
        if cut == "closed":
            qbwc.receive(response)
        if cut == "taken over":
            qbwc.clock.advance(seconds=MAX_EXECUTION_SECONDS)
            qbwc.authenticate()
            ticket, qbwc.ticket = qbwc.ticket, former
            assert qbwc.receive(response) == -1
            qbwc.ticket = ticket
        qbwc.close()

    def _note_owners(self, text: str) -> None:
        set_id = message_set_in(text)
        labels = labels_in(text)
        # Others that the session has claimed wait behind them.
        self._sent = ids = self.qbwc.session.ids_in_flight[: len(labels) or 1]
        if set_id is None or not labels:
            return
        assert self.texts.setdefault(set_id, _content(text)) == _content(text), "two texts under one ID"
        self.owners |= {(set_id, label): owner for label, owner in zip(labels, ids, strict=True)}
        looking = {owner for owner in ids if self.qbwc.record(owner).lookup}
        self.looking |= looking
        assert not looking or len(labels) == 1, "a request that looks was sent in a set"
        self._note(not self.restored & set(ids), f"sent after a restore: {text}")
        writes = ET.fromstring(text).iterfind("QBXMLMsgsRq/*")  # noqa: S314 - our own text
        for owner, write in zip(ids, writes, strict=True):
            is_approved = self.deciders.has_approved(self.qbwc.record(owner), write)
            self._note(is_approved, f"nobody has approved {text}")

    def _note(self, holds: bool, fault: str) -> None:
        if not holds:
            self.faults.append(fault)

    def _begin(self, text: str) -> Callable[[], str]:
        """Begin to execute a message, and return the function that ends the execution."""
        self._end_executions()
        file, begun, sent = self.file, self.file.begin(text), self._sent
        set_id = message_set_in(text)
        owners = [self.owners[set_id, label] for label in labels_in(text)] if set_id else []
        looks = not self.looking.isdisjoint(owners)
        identity, asked = self._identities.get(sent[0]), self._asked.get(sent[0])

        def end() -> str:
            rows = self.objects(file, identity)
            before = {id_of(row) for row in rows}
            response = begun()
            after = self.objects(file, identity)
            new = {id_of(row) for row in after} - before if looks else set()
            file.created |= new
            # In the last query for it, in the same session, QuickBooks had no object that is still there.
            self._note(not new or (asked is not None and not asked.there & before), f"added blindly: {text}")
            same_fields = [_unnamed(row) for row in rows] == [_unnamed(row) for row in after]
            self._note(bool(new) or not looks or same_fields, f"changed a field that it does not name: {text}")
            return response

        self._note_asked(text, sent)
        return end

    def _note_asked(self, text: str, sent: Sequence[str]) -> None:
        """Note what a query shows, and forget what earlier ones have shown before another write was sent."""
        if "QueryRq" in text:
            there = {each: {id_of(row) for row in self.objects(None, self._identities.get(each))} for each in sent}
            self._asked |= {each: Asked(sent, there[each]) for each in sent}
            identities = [self._identities.get(each, "").casefold() for each in sent]
            self._note(len(set(identities)) == len(sent), f"asked twice in one message: {text}")
            return
        kept = {each: asked for each, asked in self._asked.items() if set(sent) <= set(asked.together)}
        self._asked = {each: asked for each, asked in kept.items() if each not in sent}

    def _end_executions(self, *, all_of_them: bool = False) -> None:
        """End the executions whose time is over."""
        due = [running for running in self._running if all_of_them or running.until <= self.qbwc.clock.now]
        self._running = [running for running in self._running if running not in due]
        for running in due:
            running.end()

    # --- The books and the others

    def objects(self, file: CompanyFile | None = None, identity: str | None = None) -> list[ET.Element]:
        """Return the objects with an identity, or with that of the kind, also inactive ones."""
        is_customer = self.kind.subject == "Customer"
        return (file or self.file).objects(self.kind.subject, identity or (NAME if is_customer else NUMBER))

    def act(self, act: str) -> None:
        """Let others do something: with the first object of the identity, without one, with the file or the tables."""
        if act in FILES:
            self.coming = self._files_after(act)
        elif act == "write plainly":
            self.write_plainly(self.kind.by_hand)
        elif act in DECISIONS:
            self.deciders.decide(act)
        elif act in RESTORES:
            self._restore(self._backups[-2 if act == "restore a little" else 0])
        elif act:
            self._by_hand(act)

    def _files_after(self, act: str) -> list[CompanyFile]:
        return {
            "use a copy": [self._copy] * SESSIONS_IN_A_COPY + [self.file],
            "move to a copy": [self._copy],
            "use another mark": [self._other] * SESSIONS_IN_A_COPY + [self.file],
            "move the file": [self.file.moved()],
        }[act]

    def _by_hand(self, act: str) -> None:
        """Let the person do something."""
        subject, objects, by_hand = self.kind.subject, self.objects(), self.file.by_hand
        is_customer = subject == "Customer"
        id_name = "ListID" if is_customer else "TxnID"
        if act == "add":
            by_hand(f"<{subject}AddRq>{self.kind.by_hand}</{subject}AddRq>")
        elif act == "take the name" and is_customer:
            by_hand(f"<VendorAddRq><VendorAdd><Name>{NAME}</Name></VendorAdd></VendorAddRq>")
        elif objects and act in {"rename", "edit"}:
            row = objects[0]
            new = f"{self.messages} other" if act == "rename" else (NAME if is_customer else NUMBER)
            field_name = "Name" if is_customer else "RefNumber"
            object_id, sequence = row.findtext(id_name), row.findtext("EditSequence")
            by_hand(
                f"<{subject}ModRq><{subject}Mod><{id_name}>{object_id}</{id_name}><EditSequence>{sequence}"
                f"</EditSequence><{field_name}>{new}</{field_name}>{self._edited()}</{subject}Mod></{subject}ModRq>"
            )
        elif objects and act == "delete":
            family = "List" if is_customer else "Txn"
            by_hand(
                f"<{family}DelRq><{family}DelType>{subject}</{family}DelType>"
                f"<{id_name}>{objects[0].findtext(id_name)}</{id_name}></{family}DelRq>"
            )

    def _edited(self) -> str:
        """Return the fields that the person edits."""
        return f"<Phone>{self.messages}</Phone><Notes>Edited {self.messages}</Notes>" if self.updates else ""

    def _backup(self) -> Backup:
        store = self.qbwc.store
        return Backup(dict(store.records), dict(store.bodies), dict(store.connections))

    def _restore(self, backup: Backup) -> None:
        """Restore the tables to the moment of a backup, as `local/restore.py` does, and let the session disappear."""
        store, now = self.qbwc.store, self.qbwc.clock.now
        store.bodies, store.sessions = dict(backup.bodies), {}
        store.connections = {
            key: replace(connection, session_id=None) for key, connection in backup.connections.items()
        }
        store.records = {}
        for key, record in backup.records.items():
            assert isinstance(record, QueuedRequest)
            has_response = bool(store.bodies[key].response_xml)
            store.records[key] = continued(record, now, has_request=True, has_response=has_response)
            self.restored |= set() if record.state in ENDED else {key}
        store.counts = Counter(store.recount())

    # --- What must hold

    def executions(self) -> Counter[str]:
        """Return how often each of our writes has changed something in any company file, by its id."""
        done = [execution for file in self._files for execution in file.company.executed]
        distinct = {id(execution): execution for execution in done}.values()
        return Counter(
            self.owners[execution.message_set_id or "", execution.request_id or ""]
            for execution in distinct
            if execution.application == OURS and execution.is_write and execution.succeeded
        )

    def check(self) -> None:
        """Check the rules after a run. Raises AssertionError."""
        assert not self.faults, self.faults[0]
        for file, identity in product(self._files, [None, *map(_identity_in, self.kind.beside)]):
            ours = [row for row in self.objects(file, identity) if id_of(row) in file.created]
            assert len(ours) <= 1, f"{len(ours)} objects by our doing"
        assert self.qbwc.store.counts == self.qbwc.store.recount()
        executions = self.executions()
        assert not executions or max(executions.values()) == 1, executions
        for record in self.qbwc.records:
            if record.executed in {WhetherExecuted.YES, WhetherExecuted.NO}:
                assert executions[record.id] == (record.executed is WhetherExecuted.YES), record
            if record.outcome:
                response = self.qbwc.response(record.id) or ""
                name = record.request_name.removesuffix("Rq")
                assert re.search(rf'<{name}Rs requestID="{record.request_label}"', response), response

    def check_second_run(self, last: str) -> None:
        """Queue everything again, without trouble. Nothing changes if there is one object of the identity.

        If the `last` request of the first run has not updated the object, because it was restored, or not in this file,
        another run does. Requests are sent in the order of their approvals, so another run does then too.
        """
        has_other_files = not set(FILES).isdisjoint(self.acts.values())
        self.cuts, self.acts, self.coming = {}, {}, []
        needs_another = has_other_files or self.kind.needs_approval
        if self.updates and (needs_another or not self.qbwc.record(last).outcome):
            self.queue()
            self.run()
        objects = [ET.tostring(row) for row in self.objects()]
        if len(objects) != 1:
            return
        again = [request_id for text in self.kind.contents for request_id in self._queue(text)]
        self.run()
        self.check()
        for record in map(self.qbwc.record, again):
            assert record.outcome == ("unchanged" if record.updates else "found"), record
        assert [ET.tostring(row) for row in self.objects()] == objects


def _identity_in(text: str) -> str:
    """Return the number or the name in an addition."""
    content = ET.fromstring(text)  # noqa: S314 - our own text
    return content.findtext("RefNumber", "") or content.findtext("Name", "")


def _addition(text: str, ref: str | None = None, if_exists: IfExists = IfExists.FAIL) -> NewRequest:
    """Return an addition to queue."""
    name = f"{ET.fromstring(text).tag}Rq"  # noqa: S314 - our own text
    document = f'<QBXML><QBXMLMsgsRq onError="stopOnError"><{name}>{text}</{name}></QBXMLMsgsRq></QBXML>'
    return NewRequest(parse_request_xml(document), ref=ref, if_exists=if_exists)


def _unnamed(row: ET.Element) -> tuple[str | None, ...]:
    """Return the fields of an object that our requests do not name."""
    return row.findtext("BillAddress/Addr1"), row.findtext("Notes"), row.findtext("Name")


def _content(text: str) -> str:
    """Return the content of a message, without what differs between two sendings of it."""
    return re.sub(r' (old|new)MessageSetID="\w+"', "", text)


def played(kind: str, cuts: Mapping[int, str], acts: Mapping[int, str]) -> World:
    """Return a world after both runs. Raises AssertionError if a rule does not hold."""
    world = World(kind, cuts, acts)
    ids = world.queue()
    world.run()
    world.check()
    world.check_second_run(ids[-1])
    return world
