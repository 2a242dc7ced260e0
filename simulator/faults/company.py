"""A company in QuickBooks that fails according to a plan of faults.

A Web Connector uses a `FaultyCompany` like a `Company`. Faults happen to the service's requests only, not to the three
queries that the Web Connector makes by itself when a session begins (host, company, preferences).
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from simulator.basics.errors import PARSE_ERROR, ConnectorClosed, HresultError, RequestError
from simulator.basics.statuses import example_of
from simulator.company import Company, CompanySession
from simulator.company.message_sets import Keeping
from simulator.faults.forms import Event

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.basics.clock import MachineClock
    from simulator.company.lock import CompanyLock
    from simulator.faults.forms import Fault
    from simulator.faults.plan import FaultPlan
    from simulator.requests.facts import Product
    from simulator.web_connector.machines import Machine

NO_ANSWER = "QuickBooks does not answer"
OTHER_FILE_ID = "{0FF1CE00-0000-4000-8000-0000000000FF}"
OTHER_PATH = "C:\\Company Files\\Another Company.QBW"

_OWN_QUESTION = '<HostQueryRq requestID="0" />\n<CompanyQueryRq requestID="1">'
_REQUESTS = re.compile(r"<([A-Za-z0-9]+Rq)[\s/>]")
_SET_IDS = re.compile(r'\b(new|old)MessageSetID\s*=\s*["\']([^"\']*)["\']')
_LEAF = re.compile(r"(<(\w+)>)([^<]+</\2>)")
_CHANGED = re.compile(r"<\w+Mod>\s*<(?:ListID|TxnID)>([^<]+)<")
_VERBS = re.compile(r"(Add|Mod|Query|Del|Void|Merge)?Rq$")
_FORBIDDEN = "&#x1F;"
_MEGABYTE = 1_000_000


def kinds_of(text: str) -> set[str]:
    """Return the kinds of a QBXML document that the key `request` of a fault can name.

    The kinds are the names of its requests, `reads` if it has a query, `pages` if it has the next page of an iterator,
    `writes` if it has any other request, and `mods` if it changes a record. Without a request it is `checks` (asks for
    a stored response) or `clears` (deletes a stored response).
    """
    names = set(_REQUESTS.findall(text)) - {"QBXMLMsgsRq"}
    ids = dict(_SET_IDS.findall(text))
    kinds = set(names)
    if not names:
        kinds.add("checks" if ids.get("new") else "clears")
    if any(name.endswith("QueryRq") for name in names):
        kinds.add("reads")
        if re.search(r'iterator\s*=\s*["\']Continue', text):
            kinds.add("pages")
    if any(not name.endswith("QueryRq") for name in names):
        kinds.add("writes")
    if any(name.endswith("ModRq") for name in names):
        kinds.add("mods")
    return kinds


def kind_of_request(name: str) -> str:
    """Return the kind of record that a request is about, `Invoice` for InvoiceAddRq."""
    return _VERBS.sub("", name)


def _with_forbidden_character(response: str) -> str:
    """Put a reference to a character that XML forbids into the first value of a response, or into its message."""
    if _LEAF.search(response):
        return _LEAF.sub(rf"\1{_FORBIDDEN}\3", response, count=1)
    return response.replace('statusMessage="', f'statusMessage="{_FORBIDDEN}', 1)


class FaultyCompany:
    """A company whose QuickBooks fails. `elsewhere` is the other company that the fault wrong-file opens."""

    def __init__(self, company: Company, plan: FaultPlan, machine: Machine) -> None:
        self.elsewhere: Company | None = None
        self._company = company
        self._open = company
        self._plan = plan
        self._machine = machine

    @property
    def lock(self) -> CompanyLock:
        """The one lock of the company."""
        return self._company.lock

    @property
    def private_fields(self) -> dict[str, dict[str, str]]:
        """The private fields of applications, by OwnerID."""
        return self._company.private_fields

    @property
    def clock(self) -> MachineClock:
        """The machine's clock."""
        return self._company.clock

    @property
    def product(self) -> Product:
        """The QuickBooks."""
        return self._company.product

    @property
    def path(self) -> str:
        """The path of the company file that is open."""
        return self._open.path

    def begin_session(self, application: str, path: str = "") -> FaultySession:
        """Open the company, or the one that a fault puts in its place. Raises `HresultError`."""
        fault = self._plan.due("session", machine=self._machine.number)
        try:
            self._open = self._company
            if fault is not None:
                self._plan.came_true(fault)
                if fault.action == "open-error":
                    raise HresultError(fault.hresult, fault.message)
                if fault.action == "forget":
                    with self.lock:
                        self._company.message_sets.forget(application)
                if fault.action == "copied-file":
                    self._open = self._copy(fault.path)
                if fault.action == "wrong-file":
                    self._open = self._another_company(fault.file_id)
            session = FaultySession(
                self._open, self._open.begin_session(application, path), application, self._plan, self._machine
            )
            session.has_odd_facts = fault is not None and fault.action == "forbidden-characters"
            return session
        finally:
            self._plan.passed("session", machine=self._machine.number)

    def _copy(self, path: str) -> Company:
        """Return a copy of the company file, with the same FileID. It was made before any message set was stored."""
        if self.elsewhere is None:
            company = self._company
            self.elsewhere = Company.empty(name=company.name, now=company.clock.now, product=company.product)
            self.elsewhere.restore(replace(company.snapshot(), message_sets={}, executed=()))
        self.elsewhere.path = path
        self.elsewhere.private_fields = self._company.private_fields
        return self.elsewhere

    def _another_company(self, file_id: str | None) -> Company:
        """Return the other company that is open, with the FileID of another connection or without one."""
        if self.elsewhere is None:
            self.elsewhere = Company.empty(name="Another Company", path=OTHER_PATH, now=self._company.clock.now)
        mark = OTHER_FILE_ID if file_id is None else file_id
        self.elsewhere.private_fields = (
            {owner: {"FileID": mark} for owner in self._company.private_fields} if mark else {}
        )
        return self.elsewhere


class FaultySession:
    """A session in which faults happen to requests. `has_odd_facts` spoils the Web Connector's own queries."""

    def __init__(
        self, company: Company, session: CompanySession, application: str, plan: FaultPlan, machine: Machine
    ) -> None:
        self._company = company
        self._session = session
        self._application = application
        self._plan = plan
        self._machine = machine
        self.has_odd_facts = False

    def end(self) -> None:
        """End the session."""
        self._session.end()

    def process_request(self, text: str) -> str:
        """Answer a QBXML document, or fail as the plan says.

        Raises `HresultError`, and `ConnectorClosed` when QuickBooks does not answer.
        """
        if not self._plan.faults or _OWN_QUESTION in text:
            response = self._session.process_request(text)
            return _with_forbidden_character(response) if self.has_odd_facts else response
        kinds = kinds_of(text)
        fault = self._plan.due("process", machine=self._machine.number, kinds=kinds)
        try:
            if fault is None:
                return self._session.process_request(text)
            self._plan.came_true(fault)
            return self._ANSWERS[fault.action](self, fault, text)
        finally:
            self._plan.passed("process", machine=self._machine.number, kinds=kinds)

    def _fail(self, fault: Fault, text: str) -> str:
        if fault.after_execution and fault.hresult.lower() != PARSE_ERROR:
            self._session.process_request(text)
        raise HresultError(fault.hresult, fault.message, detail="injected")

    def _refuse(self, fault: Fault, text: str) -> str:
        names = [name for name in _REQUESTS.findall(text) if name != "QBXMLMsgsRq"]
        message = fault.message or example_of(fault.code, kind_of_request(names[0]) if names else "record")
        return self._session.process_request(text, refusal=RequestError(fault.code, message))

    def _answer_for_the_set(self, fault: Fault, text: str) -> str:
        if fault.after_execution:
            self._session.process_request(text)
        set_id = dict(_SET_IDS.findall(text)).get("new", "")
        return (
            '<?xml version="1.0" ?>\n<QBXML>\n'
            f'<QBXMLMsgsRs newMessageSetID="{set_id}" messageSetStatusCode="{fault.code}">\n\n</QBXMLMsgsRs>\n'
            "</QBXML>\n"
        )

    def _slow(self, fault: Fault, text: str) -> str:
        end = self._session.begin_request(text)
        self._wait(fault)
        return end()

    def _run_on(self, fault: Fault, text: str) -> str:
        self._plan.later(fault, Event("session"), self._session.begin_request(text))
        self._plan.sleep(fault.seconds)
        raise ConnectorClosed(NO_ANSWER)

    def _wait(self, fault: Fault) -> None:
        """Let the other machines make calls until the end of a request."""
        if fault.until:
            self._machine.nap(lambda: self._plan.is_over(fault))
        self._plan.sleep(fault.seconds)

    def _hang(self, fault: Fault, text: str) -> str:
        if fault.after_execution:
            self._session.process_request(text)
        self._plan.sleep(fault.seconds)
        raise ConnectorClosed(NO_ANSWER)

    def _execute_late(self, fault: Fault, text: str) -> str:
        company, application = self._company, self._application
        self._plan.later(
            fault, Event("session"), lambda: CompanySession(company, application).process_request(text)
        )  # fmt: skip
        self._plan.sleep(fault.seconds)
        raise ConnectorClosed(NO_ANSWER)

    def _oversized(self, fault: Fault, text: str) -> str:
        response = self._session.process_request(text)
        padding = "x" * max(int(fault.megabytes * _MEGABYTE) - len(response), 0)
        return response.replace("</QBXMLMsgsRs>", f"<!-- {padding} -->\n</QBXMLMsgsRs>")

    def _unreadable(self, _fault: Fault, text: str) -> str:
        response = self._session.process_request(text)
        return response[: len(response) // 2]

    def _forbidden_characters(self, _fault: Fault, text: str) -> str:
        return _with_forbidden_character(self._session.process_request(text))

    def _expire_iterator(self, _fault: Fault, text: str) -> str:
        self._session.forget_iterators()
        return self._session.process_request(text)

    def _user_edits(self, _fault: Fault, text: str) -> str:
        for record_id in _CHANGED.findall(text):
            with suppress(LookupError):
                self._company.edit(record_id)
        return self._session.process_request(text)

    def _forget(self, _fault: Fault, text: str) -> str:
        with self._company.lock:
            self._company.message_sets.forget(self._application)
        return self._session.process_request(text)

    def _store_badly(self, _fault: Fault, text: str) -> str:
        return self._session.process_request(text, keeping=Keeping(readable=False))

    def _cannot_store(self, _fault: Fault, text: str) -> str:
        return self._session.process_request(text, keeping=Keeping(possible=False))

    def _die_within(self, fault: Fault, text: str) -> str:
        requests = [name for name in _REQUESTS.findall(text) if name != "QBXMLMsgsRq"]
        executes = max(min(fault.executed, len(requests) - 1), 0)
        keeping = Keeping(possible=fault.stored and executes > 0)
        self._session.process_request(text, keeping=keeping, executes=executes)
        raise HresultError(fault.hresult, fault.message, detail="injected")

    _ANSWERS: ClassVar[dict[str, Callable[[FaultySession, Fault, str], str]]] = {
        "fail": _fail,
        "status": _refuse,
        "message-set-status": _answer_for_the_set,
        "slow": _slow,
        "hang": _hang,
        "run-on": _run_on,
        "execute-late": _execute_late,
        "oversized": _oversized,
        "unreadable": _unreadable,
        "forbidden-characters": _forbidden_characters,
        "expire-iterator": _expire_iterator,
        "user-edits": _user_edits,
        "forget": _forget,
        "store-badly": _store_badly,
        "cannot-store": _cannot_store,
        "die-within": _die_within,
    }
