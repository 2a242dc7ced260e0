"""A web shop that keeps QuickBooks up to date overnight, written as a user of the API would write it.

It queues requests, learns the ids of QuickBooks from webhooks, and keeps sums of its own. It never reads the database
of the service, and looks at the books only through the simulator's inspection API.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import urllib3

if TYPE_CHECKING:
    import queue
    from collections.abc import Iterator

    from local.first_steps import Api
    from local.receiver import Webhook

WEBHOOK_SECONDS = 120
"""How long the shop waits for one webhook. A fault can cost a session and a recovery."""

MAX_QUERY_ATTEMPTS = 5
STALE_EDIT_SEQUENCE = 3200
MISTAKE = "INV-MISTAKE"


def element(name: str, *children: Any, text: str | None = None) -> dict[str, Any]:
    """Return an element of a JSON request."""
    return {"name": name, "children": list(children)} if text is None else {"name": name, "text": text}


def text(name: str, value: object) -> dict[str, Any]:
    return element(name, text=str(value))


def reference(name: str, **by: str) -> dict[str, Any]:
    """Return a reference by `ListID` or `FullName`."""
    return element(name, *(text(key, value) for key, value in by.items()))


class RequestFailed(Exception):
    """QuickBooks refused a request."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__(body["error"])
        self.status = body["error"].get("details", {}).get("status_code")


@dataclass
class Order:
    """An order of the shop, with the facts of its invoice and the amount that was paid."""

    number: str
    customer: str
    lines: list[tuple[int, Decimal]]
    paid: Decimal = Decimal()
    txn_id: str = ""

    @property
    def total(self) -> Decimal:
        return sum((quantity * rate for quantity, rate in self.lines), Decimal())

    @property
    def open(self) -> Decimal:
        return self.total - self.paid


@dataclass
class Shop:
    """The program under test. `webhooks` are those that its receiver received."""

    api: Api
    connection_id: str
    webhook_url: str
    webhooks: queue.Queue[Webhook]
    list_ids: dict[str, str] = field(default_factory=dict)
    edit_sequences: dict[str, str] = field(default_factory=dict)
    orders: list[Order] = field(default_factory=list)
    payments: int = 0
    _results: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def at(self) -> str:
        return f"/api/v1/connections/{self.connection_id}"

    def send(self, *requests: tuple[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
        """Queue requests and return their results in order. Raises `RequestFailed` for the first that failed."""
        ids = []
        for name, children in requests:
            body = {"webhook_url": self.webhook_url, "request_json": {"request": element(name, *children)}}
            ids.append(self.api.call("POST", f"{self.at}/queued_requests", body)["data"]["id"])
        return [self.result(request_id, name) for request_id, (name, _) in zip(ids, requests, strict=True)]

    def result(self, request_id: str, name: str) -> dict[str, Any]:
        """Wait for the webhook of a request and return its response element."""
        while request_id not in self._results:
            self._receive()
        body = self._results[request_id]
        if body["type"] != "queued_request.completed":
            raise RequestFailed(body)
        response: dict[str, Any] = body["response_json"][0]["QBXMLMsgsRs"][name.replace("Rq", "Rs")]
        return response

    def _receive(self) -> None:
        """Wait for a webhook. It can arrive twice; its id says for which request."""
        webhook = self.webhooks.get(timeout=WEBHOOK_SECONDS)
        assert webhook.verified
        self._results[webhook.body["page_request_id"]] = webhook.body

    def ask(self, name: str, *children: dict[str, Any]) -> dict[str, Any]:
        """Send a query. A query changes nothing, so the shop repeats it when it fails."""
        for attempt in range(MAX_QUERY_ATTEMPTS):
            try:
                return self.send((name, list(children)))[0]
            except RequestFailed:
                if attempt == MAX_QUERY_ATTEMPTS - 1:
                    raise
        raise AssertionError

    # The night

    def add_customers(self, customers: int) -> None:
        """Add customers, one in six of them as a job of the customer before it; learn their ListIDs."""
        requests, names, parent = [], [], ""
        for number in range(1, customers + 1):
            name, fields = f"Nightly {number:04d}", []
            if number % 6 == 0:
                fields.append(reference("ParentRef", FullName=parent))
            else:
                parent = name
            names.append(f"{parent}:{name}" if number % 6 == 0 else name)
            requests.append(("CustomerAddRq", [element("CustomerAdd", text("Name", name), *fields)]))
        for name, response in zip(names, self.send(*requests), strict=True):
            self._learn(response["CustomerRet"])
            assert response["CustomerRet"]["FullName"] == name

    def _learn(self, customer: dict[str, Any]) -> None:
        self.list_ids[customer["FullName"]] = customer["ListID"]
        self.edit_sequences[customer["FullName"]] = str(customer["EditSequence"])

    def add_invoices(self, invoices: int) -> None:
        """Invoice the orders of the day, each to its customer by ListID."""
        names = list(self.list_ids)
        for number in range(1, invoices + 1):
            lines = [(1 + (number + row) % 5, Decimal(number * 7 + row) / 4) for row in range(1 + number % 3)]
            self.orders.append(Order(f"INV-{number:04d}", names[number * 7 % len(names)], lines))
        mistake = Order(MISTAKE, names[0], [(1, Decimal("99.00"))])
        for order, response in zip(
            [*self.orders, mistake], self.send(*map(self._invoice, [*self.orders, mistake])), strict=True
        ):
            order.txn_id = response["InvoiceRet"]["TxnID"]
        self._delete(mistake)

    def _invoice(self, order: Order) -> tuple[str, list[dict[str, Any]]]:
        lines = [
            element(
                "InvoiceLineAdd",
                reference("ItemRef", FullName="Consulting"),
                text("Quantity", quantity),
                text("Rate", rate),
                text("Amount", f"{quantity * rate:.2f}"),
                reference("SalesTaxCodeRef", FullName="Non"),
            )
            for quantity, rate in order.lines
        ]
        customer = reference("CustomerRef", ListID=self.list_ids[order.customer])
        return "InvoiceAddRq", [element("InvoiceAdd", customer, text("RefNumber", order.number), *lines)]

    def _delete(self, order: Order) -> None:
        """Delete the invoice that was written by mistake."""
        self.send(("TxnDelRq", [text("TxnDelType", "Invoice"), text("TxnID", order.txn_id)]))

    def add_payments(self) -> None:
        """Receive payments: most orders are paid in full, some in part, some not at all."""
        requests = []
        for number, order in enumerate(self.orders):
            share = (Decimal(1), Decimal(1), Decimal("0.5"), Decimal(0))[number % 4]
            amount = (order.total * share).quantize(Decimal("0.01"))
            if amount:
                order.paid += amount
                application = element(
                    "AppliedToTxnAdd", text("TxnID", order.txn_id), text("PaymentAmount", f"{amount:.2f}")
                )
                payment = element(
                    "ReceivePaymentAdd",
                    reference("CustomerRef", ListID=self.list_ids[order.customer]),
                    text("RefNumber", f"PAY-{number:04d}"),
                    text("TotalAmount", f"{amount:.2f}"),
                    application,
                )
                requests.append(("ReceivePaymentAddRq", [payment]))
        self.payments = len(self.send(*requests))

    def change_customer(self, name: str, phone: str) -> int:
        """Change a telephone number. On 3200 query the customer again and retry; return the number of attempts."""
        for attempt in (1, 2):
            fields = [
                text("ListID", self.list_ids[name]),
                text("EditSequence", self.edit_sequences[name]),
                text("Phone", phone),
            ]
            try:
                self.send(("CustomerModRq", [element("CustomerMod", *fields)]))
            except RequestFailed as error:
                if error.status != STALE_EDIT_SEQUENCE:
                    raise
                current = self.ask("CustomerQueryRq", text("ListID", self.list_ids[name]))["CustomerRet"]
                self._learn(current[0] if isinstance(current, list) else current)
            else:
                return attempt
        raise AssertionError(f"{name} changes all the time")

    def all_customers(self) -> list[str]:
        """Return the full name of every customer. After a failed page the shop asks for all pages again."""
        path = f"{self.at}/customers?iterate=true&max_returned=100&active=All&include[]=ListID&include[]=FullName"
        for _ in range(MAX_QUERY_ATTEMPTS):
            first = self.api.call("GET", f"{path}&webhook_url={self.webhook_url}")["data"]
            try:
                return list(self._pages(first["id"]))
            except RequestFailed:
                continue
        raise AssertionError("no attempt returned all pages")

    def _pages(self, query_id: str) -> Iterator[str]:
        """Yield the names on all pages of a query. Each page has its own webhook; they can arrive in any order."""
        pages: dict[int, dict[str, Any]] = {}
        while not any(page["last_page"] and len(pages) == page["page"] for page in pages.values()):
            self._receive()
            pages = {result["page"]: result for result in self._results.values() if result["query_id"] == query_id}
            failure = next((page for page in pages.values() if page["type"] != "queued_request.completed"), None)
            if failure is not None:
                raise RequestFailed(failure)
        for number in sorted(pages):
            response = pages[number]["response_json"][0]["QBXMLMsgsRs"]["CustomerQueryRs"]
            yield from (customer["FullName"] for customer in as_list(response.get("CustomerRet", [])))

    def aging(self) -> dict[str, Decimal]:
        """Return what each customer owes according to the A/R ageing report, by its row title."""
        report = self.ask(
            "AgingReportQueryRq",
            text("AgingReportType", "ARAgingSummary"),
        )["ReportRet"]
        rows: dict[str, Decimal] = {}
        for row in as_list(report["ReportData"].get("DataRow", [])):
            title = row["RowData"]["@value"]
            rows[title] = Decimal(as_list(row["ColData"])[-1]["@value"])
        return rows

    def balances(self) -> dict[str, Decimal]:
        """Return what each customer owes by the shop's own sums."""
        sums: dict[str, Decimal] = {}
        for order in self.orders:
            if order.open:
                sums[order.customer] = sums.get(order.customer, Decimal()) + order.open
        return sums


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


@dataclass(frozen=True)
class Books:
    """The books of the simulated QuickBooks, read through the inspection API at `url`."""

    url: str

    def get(self, path: str) -> Any:
        parts = urlsplit(self.url)
        response = urllib3.request("GET", f"http://{parts.netloc}/{path}")
        assert response.status == 200, response.data
        return response.json()

    def all(self, path: str) -> list[dict[str, Any]]:
        """Return all rows of a list of the API."""
        rows: list[dict[str, Any]] = []
        while True:
            page = self.get(f"{path}{'&' if '?' in path else '?'}limit=500&offset={len(rows)}")
            rows += page["data"]
            if len(rows) >= page["total"]:
                return rows
