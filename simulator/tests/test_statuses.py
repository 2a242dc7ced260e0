"""Every status code: a request that gets it, or the fault that answers it, with QuickBooks' text."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import defusedxml.ElementTree
import pytest

import simulator
from simulator.basics.sources import NOT_VERIFIED
from simulator.basics.statuses import LINK_CLOSED, NOT_RETURNED, NOTES_LOST, STATUSES, example_of, severity_of
from simulator.company.message_sets import DIFFERENT_CONTENT, NOT_FOUND, NOT_STORED, NOTHING_STORED, TOO_LONG
from simulator.faults import Fault, FaultPlan
from simulator.faults.company import FaultyCompany
from simulator.tests.bookkeeping import Bookkeeper, xml
from simulator.tests.support import document
from simulator.web_connector.machines import Machine

if TYPE_CHECKING:
    from collections.abc import Callable
    from xml.etree.ElementTree import Element

OF_MESSAGE_SETS = {NOTHING_STORED, DIFFERENT_CONTENT, NOT_FOUND, TOO_LONG, NOT_STORED}
ADD = "<CustomerAddRq><CustomerAdd><Name>{}</Name>{}</CustomerAdd></CustomerAddRq>"


def customer(content: str, name: str = "Zoe") -> str:
    return ADD.format(name, content)


def customers(content: str, attributes: str = "") -> str:
    return f"<CustomerQueryRq{attributes}>{content}</CustomerQueryRq>"


def txn(keeper: Bookkeeper, request: str, verb: str) -> str:
    """Return a request about a receipt in a deposit, or about an invoice of a closed period, as `request` says."""
    kind, record = prepared(keeper, request)
    return f"<Txn{verb}Rq><Txn{verb}Type>{kind}</Txn{verb}Type><TxnID>{record}</TxnID></Txn{verb}Rq>"


def prepared(keeper: Bookkeeper, what: str) -> tuple[str, str]:
    if what == "deposited receipt":
        receipt = keeper.add("SalesReceipt", CustomerRef="Ada", SalesReceiptLineAdd=[{"ItemRef": "Work"}])
        line = {"PaymentTxnID": receipt.findtext("TxnID")}
        keeper.add("Deposit", DepositToAccountRef="Checking", DepositLineAdd=[line])
        return "SalesReceipt", receipt.findtext("TxnID", "")
    invoice = keeper.invoice(TxnDate="2025-06-01")
    keeper.company.set_preference("closing_date", "2025-12-31")
    return "Invoice", invoice.findtext("TxnID", "")


def off(name: str, request: str) -> Callable[[Bookkeeper], str]:
    def switched(keeper: Bookkeeper) -> str:
        keeper.company.set_preference(name, "off")
        return request

    return switched


def closed_order(keeper: Bookkeeper) -> str:
    order = keeper.add("SalesOrder", CustomerRef="Ada", SalesOrderLineAdd=[{"ItemRef": "Work", "Quantity": 1}])
    txn_id = order.findtext("TxnID", "")
    keeper.add("Invoice", CustomerRef="Ada", LinkToTxnID=txn_id)
    return xml({"InvoiceAddRq": {"InvoiceAdd": {"CustomerRef": "Ada", "LinkToTxnID": txn_id}}})


def edited_invoice(lines: str, sequence: str = "") -> Callable[[Bookkeeper], str]:
    def change(keeper: Bookkeeper) -> str:
        invoice = keeper.invoice()
        identity = {"TxnID": invoice.findtext("TxnID"), "EditSequence": sequence or invoice.findtext("EditSequence")}
        return f"<InvoiceModRq><InvoiceMod>{xml(identity)}{lines}</InvoiceMod></InvoiceModRq>"

    return change


def merged(keeper: Bookkeeper) -> str:
    keeper.company.set_preference("single_user_mode", "off")
    ids = [
        {"ListID": keeper.get(name, "Customer").findtext("ListID"), "EditSequence": "1"} for name in ("Ada", "Bruno")
    ]
    return xml({"ListMergeRq": {"ListMergeType": "Customer", "MergeFrom": ids[0], "MergeTo": ids[1]}})


def other_creation_time(keeper: Bookkeeper) -> str:
    number = keeper.get("Ada", "Customer").findtext("ListID", "").partition("-")[0]
    return xml({"InvoiceAddRq": {"InvoiceAdd": {"CustomerRef": {"ListID": f"{number}-1"}}}})


def wrong_rate(keeper: Bookkeeper) -> str:
    keeper.company.set_preference("multi_currency", "on")
    return xml({"InvoiceAddRq": {"InvoiceAdd": {"CustomerRef": "Ada", "ExchangeRate": "1,5"}}})


def fixed_asset(keeper: Bookkeeper) -> str:
    keeper.add(
        "ItemFixedAsset",
        Name="Forklift",
        AcquiredAs="New",
        PurchaseDesc="Fork",
        PurchaseDate="2025-01-01",
        AssetAccountRef="Inventory Asset",
    )
    return "<ItemQueryRq/>"


INVOICE_LINE = (
    "<InvoiceLineMod><TxnLineID>-1</TxnLineID><ItemRef><FullName>Work</FullName></ItemRef>{}</InvoiceLineMod>"
)
INVOICE = "<InvoiceAddRq><InvoiceAdd><CustomerRef><FullName>Ada</FullName></CustomerRef>{}</InvoiceAdd></InvoiceAddRq>"
REPORT = (
    "<GeneralSummaryReportQueryRq><GeneralSummaryReportType>TrialBalance</GeneralSummaryReportType>"
    "</GeneralSummaryReportQueryRq>"
)
UNBALANCED = (
    "<JournalEntryAddRq><JournalEntryAdd><JournalDebitLine><AccountRef><FullName>Rent</FullName></AccountRef>"
    "<Amount>5.00</Amount></JournalDebitLine></JournalEntryAdd></JournalEntryAddRq>"
)
EXPENSE = (
    "<BillAddRq><BillAdd><VendorRef><FullName>Supplier</FullName></VendorRef><ExpenseLineAdd><Amount>5.00</Amount>"
    "</ExpenseLineAdd></BillAdd></BillAddRq>"
)
PRICE = (
    "<ItemServiceAddRq><ItemServiceAdd><Name>N</Name><SalesOrPurchase>{}</SalesOrPurchase></ItemServiceAdd>"
    "</ItemServiceAddRq>"
)

CAUSES: dict[int, str | Callable[[Bookkeeper], str]] = {
    0: customer(""),
    1: customers("<NameFilter><MatchCriterion>Contains</MatchCriterion><Name>nobody</Name></NameFilter>"),
    500: customers("<FullName>nobody</FullName>"),
    501: fixed_asset,
    530: customer("<SalesTaxCountry>Canada</SalesTaxCountry>"),
    570: closed_order,
    1060: customers("", f' requestID="{"x" * 51}"'),
    3000: customers(f"<ListID>{'8' * 37}</ListID>"),
    3010: customer("<IsActive>yes</IsActive>"),
    3020: customers("<FromModifiedDate>2025-02-30</FromModifiedDate>"),
    3030: customers("<FromModifiedDate>2025-02-02</FromModifiedDate><ToModifiedDate>2025-01-01</ToModifiedDate>"),
    3031: customers("<NameRangeFilter><FromName>M</FromName><ToName>A</ToName></NameRangeFilter>"),
    3035: "<TimeTrackingAddRq><TimeTrackingAdd><EntityRef><FullName>Ada</FullName></EntityRef><Duration>8 h</Duration>"
    "</TimeTrackingAdd></TimeTrackingAddRq>",
    3040: customer("<OpenBalance>1.5</OpenBalance>"),
    3045: PRICE.format("<Price>1.123456</Price>"),
    3050: PRICE.format("<PricePercent>1.123456</PricePercent>"),
    3060: "<EstimateAddRq><EstimateAdd><CustomerRef><FullName>Ada</FullName></CustomerRef><EstimateLineAdd>"
    "<Quantity>1.123456</Quantity></EstimateLineAdd></EstimateAdd></EstimateAddRq>",
    3070: customer(f"<CompanyName>{'x' * 42}</CompanyName>"),
    3085: wrong_rate,
    3100: customer("", "Ada"),
    3120: customer("<TermsRef><ListID>8000FFFF-1</ListID></TermsRef>"),
    3130: customer("<ParentRef><FullName>nobody</FullName></ParentRef>"),
    3140: customer("<TermsRef><FullName>Net 1000</FullName></TermsRef>"),
    3150: customers("", ' iterator="Start"'),
    3160: lambda keeper: txn(keeper, "deposited receipt", "Del"),
    3161: lambda keeper: txn(keeper, "closed invoice", "Del"),
    3162: merged,
    3170: edited_invoice(INVOICE_LINE.format("<Amount>-500.00</Amount>")),
    3171: lambda keeper: txn(keeper, "closed invoice", "Void"),
    3180: UNBALANCED,
    3185: lambda keeper: txn(keeper, "deposited receipt", "Void"),
    3190: edited_invoice("<CustomerRef />"),
    3200: edited_invoice("<Memo>x</Memo>", sequence="1"),
    3210: customer("", "A:B"),
    3231: UNBALANCED + customer(""),
    3240: other_creation_time,
    3250: off("classes", customer("<ClassRef><FullName>A</FullName></ClassRef>")),
    3260: off("reports_permitted", REPORT),
    3262: off(
        "personal_data_permitted",
        "<EmployeeAddRq><EmployeeAdd><FirstName>Eve</FirstName><SSN>123456789</SSN></EmployeeAdd></EmployeeAddRq>",
    ),
    3263: off("writes_permitted", customer("")),
    3270: EXPENSE,
    9100: "<ReceivePaymentAddRq><ReceivePaymentAdd><CustomerRef><FullName>Ada</FullName></CustomerRef><AppliedToTxnAdd>"
    '<TxnID useMacro="TxnID:a">1-1</TxnID></AppliedToTxnAdd></ReceivePaymentAdd></ReceivePaymentAddRq>',
    9101: 2 * INVOICE.format("").replace("<InvoiceAdd>", '<InvoiceAdd defMacro="TxnID:a">'),
}
"""A request that gets each status that has a cause."""


def send(keeper: Bookkeeper, code: int) -> Element:
    cause = CAUSES[code]
    text = cause if isinstance(cause, str) else cause(keeper)
    version = "2.0" if code == 501 else "13.0"
    response = keeper.company.process_request(document(text, version=version, on_error="stopOnError"))
    rs: Element = defusedxml.ElementTree.fromstring(response.encode())[0][-1]
    return rs


def pattern_of(code: int) -> re.Pattern[str]:
    """Return a pattern of the text of a status, with anything in place of the values."""
    parts = re.split(r"\{\w+\}", STATUSES[code].text)
    return re.compile(".*".join(re.escape(part.removesuffix(".")) for part in parts))


def test_every_status_has_a_cause_or_a_reason_why_nothing_but_the_fault_answers_it() -> None:
    assert set(CAUSES) == {code for code, status in STATUSES.items() if status.cause}
    assert all(bool(status.cause) != bool(status.why_not) for status in STATUSES.values())


@pytest.mark.parametrize("code", CAUSES)
def test_a_request_gets_the_status_with_its_severity_and_text(code: int) -> None:
    keeper = Bookkeeper()

    response = send(keeper, code)

    assert (response.get("statusCode"), response.get("statusSeverity")) == (str(code), severity_of(code))
    assert pattern_of(code).match(response.get("statusMessage", "")), response.get("statusMessage")


@pytest.mark.parametrize("code", CAUSES)
def test_an_error_changes_nothing_and_a_warning_does_not_keep_a_request_from_being_executed(code: int) -> None:
    keeper = Bookkeeper()

    response = send(keeper, code)

    execution = keeper.company.executed[-1]
    if code != 3231:
        assert execution.status_code == code
        assert execution.succeeded == (severity_of(code) != "Error")
    if severity_of(code) == "Error":
        assert [record.tag for record in response] == (["InvoiceRet"] if code == 3200 else [])


def faulty(keeper: Bookkeeper, fault: str) -> FaultyCompany:
    plan = FaultPlan([Fault.parse(fault)])
    return FaultyCompany(keeper.company, plan, Machine(1))


@pytest.mark.parametrize("code", [code for code in STATUSES if code not in {0, 1}])
def test_the_fault_answers_every_status_with_its_severity_and_text(code: int) -> None:
    keeper = Bookkeeper()
    session = faulty(keeper, f"process/CustomerAddRq:1:status:{code}").begin_session("Test")

    text = session.process_request(document(customer("<Notes>Call first</Notes>")))
    response = defusedxml.ElementTree.fromstring(text)[0][0]

    record = keeper.books.named("Zoe", ("Customer",))
    assert (response.get("statusCode"), response.get("statusSeverity")) == (str(code), severity_of(code))
    assert response.get("statusMessage") == example_of(code, "Customer")
    assert (record is not None) == (severity_of(code) == "Warn")
    assert len(response) == (record is not None and code != NOT_RETURNED)
    if record is not None:
        assert ("Notes" in record.fields) == (code != NOTES_LOST)


def test_the_fault_does_not_turn_a_refusal_into_a_warning() -> None:
    keeper = Bookkeeper()
    session = faulty(keeper, f"process:1:status:{NOTES_LOST}").begin_session("Test")

    assert 'statusCode="3100"' in session.process_request(document(customer("", "Ada")))


def test_the_link_to_a_closed_order_is_the_only_error_among_the_numbers_of_warnings() -> None:
    assert [code for code in range(500, 1000) if severity_of(code) == "Error"] == [LINK_CLOSED]


def codes_in(path: Path) -> set[object]:
    """Return the status codes that a module raises or returns as literals."""
    codes: set[object] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"RequestError", "Response"}:
            codes |= {argument.value for argument in node.args[:1] if isinstance(argument, ast.Constant)}
        if isinstance(node, ast.keyword) and node.arg in {"code", "status"} and isinstance(node.value, ast.Constant):
            codes.add(node.value.value)
    return codes


def test_every_code_in_the_source_is_in_the_table() -> None:
    root = Path(simulator.__file__ or "").parent
    folders = ("rules", "requests", "reports", "books", "company", "schema")
    codes = {code for folder in folders for path in (root / folder).glob("*.py") for code in codes_in(path)}

    assert len(codes) > 15
    assert codes <= STATUSES.keys() | OF_MESSAGE_SETS


def test_a_text_of_quickbooks_has_a_source() -> None:
    for status in STATUSES.values():
        assert status.source.text
        assert status.source.is_known or status.source == NOT_VERIFIED


def change(keeper: Bookkeeper, sequence: str) -> str:
    identity = {"ListID": keeper.get("Ada", "Customer").findtext("ListID"), "EditSequence": sequence}
    return document(xml({"CustomerModRq": {"CustomerMod": {**identity, "Notes": "n"}}}))


def test_a_user_edits_the_record_between_the_query_and_the_change() -> None:
    keeper = Bookkeeper()
    session = faulty(keeper, "process:2:user-edits").begin_session("Test")
    first = keeper.get("Ada", "Customer").findtext("EditSequence", "")

    changed = session.process_request(change(keeper, first))
    session.process_request(document("<CustomerQueryRq/>"))
    queried = keeper.get("Ada", "Customer").findtext("EditSequence", "")
    refused = session.process_request(change(keeper, queried))
    current = keeper.get("Ada", "Customer").findtext("EditSequence", "")
    repeated = session.process_request(change(keeper, current))

    assert ['statusCode="0"' in text for text in (changed, refused, repeated)] == [True, False, True]
    assert (
        f'statusCode="3200" statusSeverity="Error" statusMessage="The provided edit sequence &quot;{queried}' in refused
    )
    assert len({first, queried, current}) == 3


def test_an_edit_of_a_record_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(LookupError, match="There is no record 80000000-1"):
        Bookkeeper().company.edit("80000000-1")
