"""The subject line of a request: it names what people know, and it always fits."""

from __future__ import annotations

import random
import unicodedata
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, SubElement

from hypothesis import given, settings
from hypothesis import strategies as st

from domain.qbxml import Request, parse_request_json, subject
from domain.qbxml.request.placeholders import Placeholder
from domain.qbxml.schema.facts import particles_of, request_facts, request_names
from domain.qbxml.subject import BETWEEN_PARTS
from tests.support.cases import for_each

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NAMES = sorted(request_names())

HOSTILE = (
    "",
    " \t\r\n ",
    "a\nb\r\nc",
    "\u202egnp.exe",
    "\u2066x\u2069 \u200f\u061c",
    "\x85\x9f\ufeff\u2028\u2029",
    "e" + "\u0301" * 300,
    "👩‍👩‍👧‍👦" * 60,
    "長い名前" * 100,
    "x" * 100_000,
    "&<>\"'</InvoiceAddRq>",
    "1e999999999",
    "-" * 90,
    "NaN",
    "Infinity",
    "9" * 400,
    "·…·…·…",
    "$0",
)
texts = st.sampled_from(HOSTILE) | st.text(max_size=120) | st.decimals(allow_nan=True).map(str)


def elements_in(group: dict[str, Any]) -> Iterator[list[Any]]:
    """Yield the elements of a group and of the groups in it."""
    for particle in particles_of(group):
        if isinstance(particle, dict):
            yield from elements_in(particle)
        else:
            yield particle


def a_request(name: str, text: Callable[[str], str | None], chance: random.Random | None = None) -> Request:
    """Return a request with every element of its type once, or with a selection of them up to three times.

    `text` returns the text of an element at a path, or None to leave the element out.
    """
    facts = request_facts(name)
    assert facts

    def fill(parent: Element, group: dict[str, Any], path: str, depth: int) -> None:
        for tag, _, kind, *_ in elements_in(group):
            inner = facts["types"][kind] if isinstance(kind, int) else None
            for _ in range(chance.choice([0, 1, 1, 3]) if chance else 1):
                if isinstance(inner, dict):
                    child = SubElement(parent, tag)
                    if depth < 4:
                        fill(child, inner, f"{path}/{tag}", depth + 1)
                    if not len(child):
                        parent.remove(child)
                elif (value := text(f"{path}/{tag}")) is not None:
                    SubElement(parent, tag).text = value

    root = Element(name)
    fill(root, facts["content"], name, 0)
    return Request("16.0", "stopOnError", root)


@settings(max_examples=400, deadline=None)
@given(name=st.sampled_from(NAMES), seed=st.integers(0, 2**32), some=st.lists(texts, min_size=1, max_size=4))
def test_a_subject_is_one_short_line_whatever_the_request_contains(name: str, seed: int, some: list[str]) -> None:
    chance = random.Random(seed)

    line = subject(a_request(name, lambda _: chance.choice(some), chance))

    assert line is None or 0 < len(line.encode()) <= 80
    assert line is None or line == " ".join(line.split())
    categories = {unicodedata.category(character) for character in (line or "") if character not in "\u200c\u200d"}
    assert not categories & {"Cc", "Cf", "Cs", "Zl", "Zp"}


NAMELESS = {
    "AccountTaxLineInfoQueryRq",
    "CompanyActivityQueryRq",
    "CompanyQueryRq",
    "DataEventRecoveryInfoQueryRq",
    "HostQueryRq",
    "PayrollLastPeriodQueryRq",
    "PreferencesQueryRq",
    "ReceivePaymentToDepositQueryRq",
    "SalesTaxReturnQueryRq",
    "TemplateQueryRq",
}
"""Requests without an element that names or limits anything that people know."""


@for_each("name", NAMES)
def test_every_request_that_can_name_something_has_a_subject(name: str) -> None:
    assert (subject(a_request(name, lambda path: path.rpartition("/")[2])) is None) == (name in NAMELESS)


@for_each("name", [name for name in NAMES if name.endswith(("AddRq", "ModRq"))])
def test_the_customer_the_vendor_and_the_document_number_of_a_write_are_in_its_subject(name: str) -> None:
    body = f"{name}/{name.removesuffix('Rq')}"
    known = {f"{body}/CustomerRef/FullName": "Ann", f"{body}/VendorRef/FullName": "Bob", f"{body}/RefNumber": "1042"}
    known |= {f"{body}/PayeeEntityRef/FullName": "Cy", f"{body}/Name": "Dee"}

    request = a_request(name, known.get)
    line = subject(request) or ""

    present = [known[path] for element, path in request.elements() if path in known and element.text]
    parties = [text for text in present if text != "1042"]
    assert not parties or any(text in line for text in parties)
    assert ("1042" in line) == ("1042" in present)


@settings(deadline=None)
@given(
    customer=st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=30, max_size=300),
    number=st.from_regex(r"[A-Z0-9-]{1,11}", fullmatch=True),
    amount=st.decimals(0, 10**9, places=2),
)
def test_a_long_name_is_cut_and_the_number_and_the_amount_stay(customer: str, number: str, amount: object) -> None:
    body = "InvoiceAddRq/InvoiceAdd"
    values = {f"{body}/CustomerRef/FullName": customer, f"{body}/RefNumber": number}
    values[f"{body}/InvoiceLineAdd/Amount"] = str(amount)

    line = subject(a_request("InvoiceAddRq", values.get)) or ""

    name, *rest = line.split(BETWEEN_PARTS, 1) if BETWEEN_PARTS not in customer else (customer, line.split(" · ", 1)[1])
    assert rest[0].endswith(f"{number} · {amount:.2f}")
    assert customer.startswith(name.removesuffix("…")) or BETWEEN_PARTS in customer


CASES: dict[str, tuple[dict[str, Any], str | None]] = {
    "an invoice": (
        {"InvoiceAddRq": {"InvoiceAdd": {"CustomerRef": {"FullName": "Kristy Abercrombie"}, "RefNumber": "1042",
         "InvoiceLineAdd": [{"Amount": "100.00"}, {"Amount": "148.50"}]}}},
        "Kristy Abercrombie · 1042 · 248.50",
    ),
    "a line without an amount": (
        {"InvoiceAddRq": {"InvoiceAdd": {"CustomerRef": {"ListID": "8-1"}, "InvoiceLineAdd": [
            {"Amount": "100.00"}, {"Desc": "Thank you"}]}}},
        "8-1",
    ),
    "a payment": (
        {"ReceivePaymentAddRq": {"ReceivePaymentAdd": {"CustomerRef": {"FullName": "Ann"}, "TotalAmount": "5.00",
         "IsAutoApply": "true"}}},
        "Ann · 5.00",
    ),
    "payments of bills": (
        {"BillPaymentCheckAddRq": {"BillPaymentCheckAdd": {"PayeeEntityRef": {"FullName": "Bob"},
         "BankAccountRef": {"FullName": "Bank"}, "IsToBePrinted": "true", "AppliedToTxnAdd": [
             {"TxnID": "1-1", "PaymentAmount": "10.10"}, {"TxnID": "1-2", "PaymentAmount": "0.05"}]}}},
        "Bob · 10.15",
    ),
    "a job": (
        {"CustomerAddRq": {"CustomerAdd": {"Name": "Kitchen", "ParentRef": {"FullName": "Ann"}}}},
        "Ann:Kitchen",
    ),
    "a change by id": ({"CustomerModRq": {"CustomerMod": {"ListID": "8-1", "EditSequence": "1"}}}, "8-1"),
    "a deletion": ({"TxnDelRq": {"TxnDelType": "Invoice", "TxnID": "1A-2"}}, "Invoice · 1A-2"),
    "a void": ({"TxnVoidRq": {"TxnVoidType": "Check", "TxnID": "1A-2"}}, "Check · 1A-2"),
    "a merge": (
        {"ListMergeRq": {"ListMergeType": "Customer", "MergeFrom": {"ListID": "8-1", "EditSequence": "1"},
         "MergeTo": {"ListID": "8-2", "EditSequence": "1"}}},
        "Customer · 8-1 → 8-2",
    ),
    "a query by names": ({"CustomerQueryRq": {"FullName": ["Ann", "Bob", "Cy"]}}, "Ann and 2 more"),
    "a query by number": ({"InvoiceQueryRq": {"RefNumber": "1042"}}, "1042"),
    "a query by a part of a name": (
        {"CustomerQueryRq": {"NameFilter": {"MatchCriterion": "Contains", "Name": "Ab"}}},
        "name containing Ab",
    ),
    "a query of changes": (
        {"InvoiceQueryRq": {"ModifiedDateRangeFilter": {"FromModifiedDate": "2026-03-14T10:00:00+01:00"},
         "EntityFilter": {"FullName": "Ann"}}},
        "Ann · changed from 2026-03-14",
    ),
    "a report": (
        {"GeneralSummaryReportQueryRq": {"GeneralSummaryReportType": "ProfitAndLossStandard",
         "ReportPeriod": {"FromReportDate": "2026-01-01", "ToReportDate": "2026-01-31"}}},
        "ProfitAndLossStandard · 2026-01-01 to 2026-01-31",
    ),
    "everything": ({"CustomerQueryRq": {"MaxReturned": "5"}}, None),
}  # fmt: skip


@for_each("case", CASES)
def test_a_subject_says_what_a_bookkeeper_would_call_the_request(case: str) -> None:
    body, expected = CASES[case]

    assert subject(parse_request_json(body)) == expected


def test_a_value_that_another_request_will_supply_is_not_in_the_subject() -> None:
    root = Element("InvoiceAddRq")
    invoice = SubElement(root, "InvoiceAdd")
    SubElement(SubElement(invoice, "CustomerRef"), "ListID").text = Placeholder("$0")
    SubElement(invoice, "RefNumber").text = "1042"

    assert subject(Request("16.0", "stopOnError", root)) == "1042"
