"""A QuickBooks company file, and the request processor that answers QBXML for it.

`Company.generated(seed=…)` makes one in memory. `Company.load(path)` and `company.save(path)` keep it in a JSON file.
`begin_session` opens it for an application, as the Web Connector does. `process_request` answers QBXML in QuickBooks'
form or raises `HresultError`. `open_error` makes opening fail. `executed` lists the executed requests in order.
"""

from __future__ import annotations

import json
import re
import time
import uuid
from collections import Counter
from contextlib import contextmanager, nullcontext
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulator.basics import garbage_collection
from simulator.basics.clock import MachineClock, zone_named
from simulator.basics.errors import OTHER_FILE_OPEN, UNSUPPORTED_VERSION, HresultError
from simulator.basics.statuses import NOT_RETURNED, NOTES_LOST, severity_of
from simulator.basics.xml_trees import XML_ERRORS, read_tree, without
from simulator.books import behaviours
from simulator.books.behaviours import BEHAVIOURS
from simulator.company.dispatch import respond
from simulator.company.lock import CompanyLock
from simulator.company.message_sets import KEPT_WELL, Keeping, MessageSets, fingerprint
from simulator.company_files import storage
from simulator.company_files.generator import LARGE_CUSTOMERS, LARGE_SALES_ORDERS, empty, generate
from simulator.fidelity.strict import Watch
from simulator.requests.context import Context, OpenIterator
from simulator.requests.events import RequestEvent, event_of
from simulator.requests.facts import Product
from simulator.requests.responses import Renderer, Response, opening_tag, representable, response_lines
from simulator.rules import preferences
from simulator.schema import schema
from simulator.schema.checking import check_message_set, parse_error
from simulator.schema.model import version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from xml.etree.ElementTree import Element

    from simulator.basics.errors import RequestError
    from simulator.books import Books, Fields
    from simulator.company.message_sets import Answer
    from simulator.schema.model import Element as SchemaElement
    from simulator.schema.model import Version

US_PRODUCT = Product()
DEFAULT_PATH = "C:\\Company Files\\Simulated Company.QBW"
GENERATED = ("wholesale", "empty", "large")
"""The companies that are made in memory, by the word for each."""
FILE_FORMAT = 4

_PROLOGUE = re.compile(r"<\?xml [^>]*\?>\s*<\?qbxml version=[\"']([^\"']*)[\"']\s*\?>\s*<QBXML>")


@dataclass(frozen=True, slots=True)
class Execution:
    """One request that QuickBooks executed: neither skipped nor answered from a stored message set.

    `fingerprint` is equal for writes with the same content and requestID. It is '' for queries.
    """

    application: str
    name: str
    request_id: str | None
    message_set_id: str | None
    status_code: int
    fingerprint: str = ""

    @property
    def succeeded(self) -> bool:
        """Return whether the request succeeded. If its status has the severity Error, nothing changed."""
        return severity_of(self.status_code) != "Error"

    @property
    def is_write(self) -> bool:
        """Return whether the request could have changed the company."""
        return not self.name.endswith("QueryRq")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A copy of a company's contents in memory, for `Company.restore`.

    Private fields are left out, because they identify the company file to applications.
    """

    books: Books
    details: Fields
    message_sets: dict[str, Any]
    executed: tuple[Execution, ...]


@dataclass(slots=True)
class Company:
    """A company file. `open_error` is None, or the HRESULT ("0x80040414") with which opening it fails.

    `private_fields` maps an OwnerID to the fields that its application stored in the company: FileID and AppLock.
    `details` are fields of CompanyRet and sections of PreferencesRet that differ from the defaults. The value ""
    omits one. With `strict`, `simplifications` counts the requests that depend on each assumption, and on each fact
    that no rule of `FIDELITY.md` covers. `on_request` is called after each request that is executed, while the company
    is locked. One lock makes the company safe to use from several sessions in several threads. Others can read while a
    query is answered.
    """

    books: Books
    clock: MachineClock
    name: str = "Simulated Company"
    path: str = DEFAULT_PATH
    time_zone: str = "-05:00"
    product: Product = US_PRODUCT
    first_fiscal_month: int = 1
    open_error: str | None = None
    private_fields: dict[str, dict[str, str]] = field(default_factory=dict)
    details: Fields = field(default_factory=dict)
    message_sets: MessageSets = field(default_factory=MessageSets)
    executed: list[Execution] = field(default_factory=list)
    new_guid: Callable[[], str] = lambda: f"{{{uuid.uuid4()}}}"
    on_request: Callable[[RequestEvent], None] | None = None
    strict: bool = False
    simplifications: Counter[str] = field(default_factory=Counter)
    lock: CompanyLock = field(init=False, repr=False)
    _direct: CompanySession | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Make the lock, which leaves the costs of stock computed for those who read."""
        self.lock = CompanyLock(self._bring_up_to_date)
        self._bring_up_to_date()

    def _bring_up_to_date(self) -> None:
        self.books.bring_up_to_date()

    @classmethod
    def generated(
        cls,
        *,
        seed: int = 1,
        customers: int = 300,
        sales_orders: int | None = None,
        now: Callable[[], float] = time.time,
        time_zone: str = "-05:00",
        standard_offset_in_summer: bool = False,
        product: Product = US_PRODUCT,
        **fields: Any,
    ) -> Company:
        """Make a small wholesale company from a seed, with its transactions of 2025.

        `customers` counts jobs too. There are as many sales orders as customers unless `sales_orders` says otherwise,
        and all other transactions are in proportion. `now` gives Unix seconds. `time_zone` is an offset ("-05:00") or
        an IANA name. With `standard_offset_in_summer`, times are written as in older products (see `MachineClock`).
        """
        clock = MachineClock(now, zone_named(time_zone), standard_offset_in_summer)
        orders = customers if sales_orders is None else sales_orders
        books = generate(seed, customers, orders, clock, product.country)
        return cls(books, clock, time_zone=time_zone, product=product, **fields)

    @classmethod
    def empty(
        cls,
        *,
        now: Callable[[], float] = time.time,
        time_zone: str = "-05:00",
        standard_offset_in_summer: bool = False,
        product: Product = US_PRODUCT,
        **fields: Any,
    ) -> Company:
        """Make a new company: accounts, terms, taxes and payment methods, but no customers, items or transactions."""
        clock = MachineClock(now, zone_named(time_zone), standard_offset_in_summer)
        return cls(empty(clock, product.country), clock, time_zone=time_zone, product=product, **fields)

    @classmethod
    def large(cls, *, seed: int = 1, **fields: Any) -> Company:
        """Make a wholesale company with 50,000 transactions. It takes about five seconds."""
        return cls.generated(seed=seed, customers=LARGE_CUSTOMERS, sales_orders=LARGE_SALES_ORDERS, **fields)

    @classmethod
    def opened(
        cls,
        source: str,
        *,
        seed: int = 1,
        customers: int = 300,
        product: Product = US_PRODUCT,
        time_zone: str = "-05:00",
    ) -> Company:
        """Open a company: `wholesale`, `empty`, `large`, or a JSON file. A file that does not exist is a new company.

        `seed`, `customers`, `product` and `time_zone` are those of a new company. Raises `ValueError` for a file that
        is not a company, and for one whose country or qbXML version is not that of `product`.
        """
        if source not in GENERATED and Path(source).exists():
            company = cls.load(source)
            if product not in (US_PRODUCT, company.product):
                raise ValueError(
                    f"{source} is a company of the country {company.product.country} for qbXML"
                    f" {company.product.highest_version}. Leave out the options for another one, or name another file."
                )
            return company
        if source == "empty":
            return cls.empty(product=product, time_zone=time_zone)
        if source == "large":
            return cls.large(seed=seed, product=product, time_zone=time_zone)
        return cls.generated(seed=seed, customers=customers, product=product, time_zone=time_zone)

    @classmethod
    def load(cls, path: str | Path, *, now: Callable[[], float] = time.time) -> Company:
        """Read a company from the JSON file that `save` wrote. Raises `ValueError` for any other file."""
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8"))
        except ValueError:
            document = None
        if not isinstance(document, dict) or "format" not in document:
            raise ValueError(f"{path} is not a company file of the simulator. Choose another file, or delete this one.")
        return cls.of_document(document, str(path), now=now)

    @classmethod
    def of_document(cls, document: Any, name: str, *, now: Callable[[], float] = time.time) -> Company:
        """Return the company of a `document()`. `name` is its name in errors. Raises `ValueError`."""
        if document["format"] != FILE_FORMAT:
            raise ValueError(
                f"{name} has the format {document['format']}, and this version of the simulator reads the format"
                f" {FILE_FORMAT}. Rename or delete the file to begin with a new company."
            )
        try:
            clock = MachineClock(now, zone_named(document["time_zone"]), document["standard_offset_in_summer"])
            return cls(
                storage.read_books(document["books"], clock),
                clock,
                name=document["name"],
                path=document["path"],
                time_zone=document["time_zone"],
                product=Product(**document["product"]),
                first_fiscal_month=document["first_fiscal_month"],
                private_fields=document["private_fields"],
                details=document.get("details", {}),
                message_sets=MessageSets.from_json(document["message_sets"]),
            )
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise ValueError(
                f"{name} is damaged ({type(error).__name__}: {error})."
                " Rename or delete the file to begin with a new company."
            ) from error

    def save(self, path: str | Path) -> None:
        """Write the company to a JSON file, stored message sets included: recovery survives a restart."""
        # The new file replaces the old one in one step, so Ctrl-C never leaves half a company.
        target = Path(path)
        partial = target.with_name(f"{target.name}.partial")
        partial.write_text(json.dumps(self.document(), ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
        partial.replace(target)

    def document(self) -> dict[str, Any]:
        """Return the company in the form of JSON, stored message sets included."""
        product = self.product
        with self.lock:
            return {
                "format": FILE_FORMAT,
                "name": self.name,
                "path": self.path,
                "time_zone": self.time_zone,
                "standard_offset_in_summer": self.clock.standard_offset_in_summer,
                "product": {
                    "name": product.name,
                    "major_version": product.major_version,
                    "country": product.country,
                    "highest_version": product.highest_version,
                },
                "first_fiscal_month": self.first_fiscal_month,
                "private_fields": self.private_fields,
                "details": self.details,
                "message_sets": self.message_sets.to_json(),
                "books": storage.write_books(self.books),
            }

    @property
    def preferences(self) -> dict[str, str]:
        """The preferences by name: `on`, `off`, or the closing date."""
        return preferences.values(self.books)

    def set_preference(self, name: str, value: str) -> None:
        """Set a preference as an administrator does in QuickBooks. Raises `ValueError` for a wrong name or value."""
        with self.lock:
            preferences.change(self.books, name, value, self.product.country)

    @property
    def behaviours(self) -> dict[str, str]:
        """What QuickBooks does where no document tells: `on` or `off` by the name of the behaviour."""
        is_summer_wrong = self.clock.standard_offset_in_summer
        positions = {name: self.books.behaviours.get(name, one.default) for name, one in BEHAVIOURS.items()}
        return positions | {behaviours.SUMMER: behaviours.ON if is_summer_wrong else behaviours.OFF}

    def set_behaviour(self, name: str, value: str) -> None:
        """Set what QuickBooks does where no document tells. Raises `ValueError` for a wrong name or value."""
        behaviours.check(name, value)
        with self.lock:
            if name == behaviours.SUMMER:
                self._write_summer_times(standard=value == behaviours.ON)
            else:
                self.books.behaviours[name] = value

    def _write_summer_times(self, *, standard: bool) -> None:
        self.clock = self.books.clock = replace(self.clock, standard_offset_in_summer=standard)

    def snapshot(self) -> Snapshot:
        """Return a copy of the books, stored message sets and executed requests."""
        with self.lock, garbage_collection.paused():
            return Snapshot(
                self.books.copy(),
                deepcopy(self.details),
                deepcopy(self.message_sets.to_json()),
                tuple(self.executed),
            )

    def restore(self, snapshot: Snapshot) -> None:
        """Restore everything but the private fields from a snapshot.

        Sessions continue, but their open iterators end.
        """
        with self.lock, garbage_collection.paused():
            self._replace_contents(snapshot)
            self._write_summer_times(standard=snapshot.books.clock.standard_offset_in_summer)
            self.executed[:] = snapshot.executed
            self.simplifications.clear()

    def restore_backup(self, snapshot: Snapshot) -> None:
        """Restore the company file from a backup, as a user does. CompanyActivityQuery tells when.

        QuickBooks behaves as before, and `executed` keeps what it executed since. Open iterators end.
        """
        with self.lock, garbage_collection.paused():
            positions = self.books.behaviours
            self._replace_contents(snapshot)
            self.books.behaviours, self.books.last_restore = positions, self.clock.seconds()

    def _replace_contents(self, snapshot: Snapshot) -> None:
        self.books = replace(snapshot.books.copy(), clock=self.clock)
        self.details = deepcopy(snapshot.details)
        self.message_sets.stored = MessageSets.from_json(deepcopy(snapshot.message_sets)).stored

    def edit(self, record_id: str) -> None:
        """Save a record as a user does in QuickBooks: it gets a new EditSequence. Raises `LookupError` without one."""
        with self.lock:
            record = self.books.lists.get(record_id) or self.books.transaction(record_id)
            if record is None:
                raise LookupError(f"There is no record {record_id}.")
            self.books.touch(record)

    def begin_session(self, application: str, path: str = "") -> CompanySession:
        """Open the company for an application. '' means the file that is open in QuickBooks.

        Raises `HresultError` with `open_error`, or 0x8004040A when the path is not that of this company.
        """
        if self.open_error is not None:
            raise HresultError(self.open_error)
        if path and path.lower() != self.path.lower():
            raise HresultError(OTHER_FILE_OPEN, detail=f"the request names {path}, but {self.path} is open")
        return CompanySession(self, application)

    def process_request(self, text: str) -> str:
        """Answer QBXML in one lasting session of an application named "Simulator": for tests and experiments."""
        if self._direct is None:
            self._direct = self.begin_session("Simulator")
        return self._direct.process_request(text)

    @contextmanager
    def unobserved(self) -> Iterator[None]:
        """Answer requests as the work of a person: they are not in `executed`, and nobody is told of them.

        No session executes anything while the block runs.
        """
        with self.lock:
            number, strict, on_request = len(self.executed), self.strict, self.on_request
            self.strict, self.on_request = False, None
            try:
                yield
            finally:
                self.strict, self.on_request = strict, on_request
                del self.executed[number:]

    @property
    def writes(self) -> list[Execution]:
        """The executed requests that could have changed the company, in order."""
        return [execution for execution in self.executed if execution.is_write]


class CompanySession:
    """An application's session with the company, from BeginSession to EndSession. Its iterators end with it."""

    def __init__(self, company: Company, application: str) -> None:
        self._company = company
        self._application = application
        self._iterators: dict[str, OpenIterator] = {}
        self._books = company.books
        self._ended = False

    def end(self) -> None:
        """End the session. It cannot be used again."""
        self._ended = True
        self._iterators.clear()

    def forget_iterators(self) -> None:
        """Let the open iterators expire."""
        self._iterators.clear()

    def process_request(
        self,
        text: str,
        *,
        refusal: RequestError | None = None,
        keeping: Keeping = KEPT_WELL,
        executes: int | None = None,
    ) -> str:
        """Answer a QBXML document at once. Takes the parameters of `begin_request` and raises the same errors.

        No other session executes anything in between, so a message set that several sessions send is executed once.
        """
        message_set, requested = self._parse(text)
        with self._company.lock:
            answer = self._company.message_sets.begin(self._application, message_set)
            if answer is None:
                answer = self._execute(message_set, requested, refusal, keeping, executes)
        return self._document(message_set, answer)

    def begin_request(
        self,
        text: str,
        *,
        refusal: RequestError | None = None,
        keeping: Keeping = KEPT_WELL,
        executes: int | None = None,
    ) -> Callable[[], str]:
        """Begin to execute a QBXML document, and return the function that ends the execution with the response.

        The books change and the response is stored at the end. Until then, QuickBooks does not know the message set.
        Faults use the other parameters: with `refusal`, every request gets this status. It is executed if the status is
        a warning. `keeping` says how the response to the message set is stored. Only the first `executes` requests of
        the message set are executed and answered, if it is not None.
        Raises `HresultError`: 0x80040400 for text that cannot be parsed, 0x80040423 for a qbXML version that this
        QuickBooks does not support, 0x8004040D after the end of the session.
        """
        message_set, requested = self._parse(text)
        with self._company.lock:
            answer = self._company.message_sets.begin(self._application, message_set)

        def end() -> str:
            if answer is not None:
                return self._document(message_set, answer)
            with self._company.lock:
                stored = self._execute(message_set, requested, refusal, keeping, executes)
            return self._document(message_set, stored)

        return end

    @staticmethod
    def _document(message_set: Element, answer: Answer) -> str:
        message_set_id, status, lines = answer
        recovery = message_set.get("newMessageSetID") is not None or message_set.get("oldMessageSetID") is not None
        attributes = {"newMessageSetID": message_set_id or "", "messageSetStatusCode": str(status)} if recovery else {}
        return "\n".join([
            '<?xml version="1.0" ?>',
            "<QBXML>",
            f"{opening_tag('QBXMLMsgsRs', attributes)}>",
            *(lines or [""]),
            "</QBXMLMsgsRs>",
            "</QBXML>",
            "",
        ])  # fmt: skip

    def _parse(self, text: str) -> tuple[Element, Version]:
        if self._ended:
            raise HresultError("0x8004040D")
        if not text.isascii():
            raise parse_error("the text is not ASCII: write other characters as &#233;")
        prologue = _PROLOGUE.match(text)
        if prologue is None:
            raise parse_error('the text must begin <?xml …?><?qbxml version="…"?><QBXML>')
        product = self._company.product
        number = product.version_number(prologue[1])
        if number is None:
            raise HresultError(
                UNSUPPORTED_VERSION,
                detail=f"the request has {prologue[1]}, the highest version is {product.versions[-1]}",
            )
        try:
            root = read_tree(text)
        except XML_ERRORS as error:
            raise parse_error(str(error)) from error
        requested = version(number)
        return check_message_set(root, requested), requested

    def _execute(
        self,
        message_set: Element,
        requested: Version,
        refusal: RequestError | None,
        keeping: Keeping,
        executes: int | None,
    ) -> Answer:
        """Execute a message set and store its response. The caller holds the lock."""
        lines = self._responses(message_set, list(message_set)[:executes], requested, refusal)
        return self._company.message_sets.end(self._application, message_set, lines, keeping)

    def _responses(
        self, message_set: Element, requests: Sequence[Element], requested: Version, refusal: RequestError | None
    ) -> list[str]:
        lines: list[str] = []
        stopped = False
        macros: dict[str, str] = {}
        renderer = Renderer(self._company.books, requested, self._company.product.edition)
        for request in requests:
            if stopped:
                response = Response(3231, "Error", "The request has not been processed.")
                lines += _lines(message_set, request, response, renderer)
                continue
            watch = self._watch(request)
            started = time.perf_counter()
            self._company.books.assumptions.clear()
            with self._company.lock.shared() if request.tag.endswith("QueryRq") else nullcontext():
                response = self._respond(request, macros, refusal)
                response = representable(response, _response_model(request), requested)
                lines += _lines(message_set, request, response, renderer)
            simplified = () if watch is None else watch.warnings(response)
            self._company.simplifications.update(simplified)
            if self._company.on_request is not None:
                self._company.on_request(event_of(request, response, time.perf_counter() - started, simplified))
            self._company.executed.append(
                Execution(
                    self._application,
                    request.tag,
                    request.get("requestID"),
                    message_set.get("newMessageSetID") or None,
                    response.code,
                    "" if request.tag.endswith("QueryRq") else fingerprint(request),
                )
            )
            stopped = response.severity == "Error" and message_set.get("onError") != "continueOnError"
        return lines

    def _watch(self, request: Element) -> Watch | None:
        """Return what notes whether a request depends on more than is known about QuickBooks, if somebody asked."""
        if not self._company.strict:
            return None
        company = self._company
        return Watch(request, schema().requests[request.tag], company.books, company.product.edition)

    def _respond(self, request: Element, macros: dict[str, str], refusal: RequestError | None) -> Response:
        if refusal is not None and severity_of(refusal.code) == "Error":
            return Response.error(refusal.code, refusal.message)
        if refusal is not None and refusal.code == NOTES_LOST:
            request = without(request, "Notes")
        response = self._executed(request, macros)
        if refusal is None or response.severity == "Error":
            return response
        rows = [] if refusal.code == NOT_RETURNED else response.rows
        severity = severity_of(refusal.code)
        return replace(response, code=refusal.code, severity=severity, message=refusal.message, rows=rows)

    def _executed(self, request: Element, macros: dict[str, str]) -> Response:
        company = self._company
        if self._books is not company.books:  # the company was restored from a snapshot
            self._books = company.books
            self._iterators.clear()
        model = schema().requests[request.tag]
        return respond(Context(request, model, company.books, company, company.new_guid, self._iterators, macros))


def _response_model(request: Element) -> SchemaElement:
    return schema().responses[f"{request.tag.removesuffix('Rq')}Rs"]


def _lines(message_set: Element, request: Element, response: Response, renderer: Renderer) -> list[str]:
    """Return the response to one request as lines of XML, without its records if the message set says so."""
    if message_set.get("responseData") == "includeNone":
        response = replace(response, rows=[])
    return response_lines(_response_model(request), request.get("requestID"), response, renderer)
