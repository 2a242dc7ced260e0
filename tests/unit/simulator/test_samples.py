"""Responses of deployed QuickBooks installations: the simulator gives the same status and the same fields in order.

The requests are those that would have caused the responses. qbXML 7.0 is the version that most of them were made with.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.simulator.support import a_company, ask

LIST = "ListID TimeCreated TimeModified EditSequence Name"
NAMED = f"{LIST} FullName IsActive"
TXN = "TxnID TimeCreated TimeModified EditSequence TxnNumber"
SALES = "<SalesOrPurchase><Price>5.00</Price><AccountRef><FullName>Sales</FullName></AccountRef></SalesOrPurchase>"


def line(kind: str) -> str:
    return f"<{kind}LineAdd><ItemRef><FullName>Consulting</FullName></ItemRef><Quantity>2</Quantity></{kind}LineAdd>"


def added(kind: str, content: str) -> str:
    return f"<{kind}AddRq><{kind}Add>{content}</{kind}Add></{kind}AddRq>"


CUSTOMER = "<CustomerRef><FullName>Buyer</FullName></CustomerRef>"
VENDOR = "<VendorRef><FullName>Maker</FullName></VendorRef>"
EXPENSE = "<AccountRef><FullName>Office Supplies</FullName></AccountRef><Amount>5.00</Amount>"

SAMPLES = {
    "an account": (
        added(
            "Account",
            "<Name>Travel</Name><AccountType>Expense</AccountType><AccountNumber>61</AccountNumber><Desc>Trips</Desc>"
            "<TaxLineID>8</TaxLineID>",
        ),
        f"{NAMED} Sublevel AccountType AccountNumber Desc Balance TotalBalance TaxLineInfoRet CashFlowClassification",
    ),
    "a special account": (
        (
            "<SpecialAccountAddRq><SpecialAccountAdd><SpecialAccountType>RetainedEarnings</SpecialAccountType>"
            "</SpecialAccountAdd></SpecialAccountAddRq>"
        ),
        f"{NAMED} Sublevel AccountType SpecialAccountType Balance TotalBalance CashFlowClassification",
    ),
    "a customer with a name alone": (
        added("Customer", "<Name>New</Name>"),
        f"{NAMED} Sublevel Balance TotalBalance JobStatus",
    ),
    "a job": (
        added("Customer", "<Name>Job</Name><ParentRef><FullName>Buyer</FullName></ParentRef>"),
        f"{NAMED} ParentRef Sublevel Balance TotalBalance JobStatus",
    ),
    "a customer with a number": (
        added("Customer", "<Name>New</Name><Email>a@example.com</Email><AccountNumber>7</AccountNumber>"),
        f"{NAMED} Sublevel Email Balance TotalBalance AccountNumber JobStatus",
    ),
    "a customer with an address": (
        added(
            "Customer",
            "<Name>New</Name><CompanyName>Co</CompanyName><Salutation>Ms</Salutation><FirstName>A</FirstName>"
            "<LastName>B</LastName><BillAddress><Addr1>1 Street</Addr1></BillAddress><Email>a@example.com</Email>"
            "<AccountNumber>7</AccountNumber><CreditLimit>5.00</CreditLimit>",
        ),
        (
            f"{NAMED} Sublevel CompanyName Salutation FirstName LastName BillAddress Email Balance TotalBalance"
            " AccountNumber CreditLimit JobStatus"
        ),
    ),
    "an inactive vendor": (
        added(
            "Vendor",
            "<Name>New</Name><IsActive>false</IsActive><CompanyName>Co</CompanyName><Salutation>Mr</Salutation>"
            "<Email>a@example.com</Email>",
        ),
        f"{LIST} IsActive CompanyName Salutation Email IsVendorEligibleFor1099 Balance",
    ),
    "a service": (added("ItemService", f"<Name>New</Name>{SALES}"), f"{NAMED} Sublevel SalesOrPurchase"),
    "an item that is not in stock": (
        added("ItemNonInventory", f"<Name>New</Name>{SALES}"),
        f"{NAMED} Sublevel SalesOrPurchase",
    ),
    "another charge": (added("ItemOtherCharge", f"<Name>New</Name>{SALES}"), f"{NAMED} Sublevel SalesOrPurchase"),
    "a discount": (
        added(
            "ItemDiscount",
            "<Name>New</Name><DiscountRate>5.00</DiscountRate><AccountRef><FullName>Sales</FullName></AccountRef>",
        ),
        f"{NAMED} Sublevel DiscountRate AccountRef",
    ),
    "a group": (
        added("ItemGroup", "<Name>New</Name><ItemDesc>Some</ItemDesc>"),
        f"{LIST} IsActive ItemDesc IsPrintItemsInGroup",
    ),
    "a payment item": (
        added(
            "ItemPayment", "<Name>New</Name><DepositToAccountRef><FullName>Checking</FullName></DepositToAccountRef>"
        ),
        f"{LIST} IsActive DepositToAccountRef",
    ),
    "a subtotal": (
        added("ItemSubtotal", "<Name>New</Name><ItemDesc>Sum</ItemDesc>"),
        f"{LIST} IsActive ItemDesc",
    ),
    "an invoice": (
        added("Invoice", f"{CUSTOMER}<BillAddress><Addr1>1 Street</Addr1></BillAddress>{line('Invoice')}"),
        (
            f"{TXN} CustomerRef ARAccountRef TemplateRef TxnDate RefNumber BillAddress BillAddressBlock IsPending"
            " IsFinanceCharge DueDate ShipDate Subtotal SalesTaxPercentage SalesTaxTotal AppliedAmount BalanceRemaining"
            " IsPaid IsToBePrinted IsToBeEmailed InvoiceLineRet"
        ),
    ),
    "a bill": (
        added("Bill", f"{VENDOR}<ExpenseLineAdd>{EXPENSE}</ExpenseLineAdd>"),
        f"{TXN} VendorRef APAccountRef TxnDate DueDate AmountDue IsPaid ExpenseLineRet OpenAmount",
    ),
}
"""By the object that is added: the request, and the fields of the response."""


@pytest.mark.parametrize("name", SAMPLES)
def test_an_added_object_has_the_fields_of_the_sample_in_their_order(name: str) -> None:
    request, fields = SAMPLES[name]
    company = a_company()
    ask(company, added("Customer", "<Name>Buyer</Name>") + added("Vendor", "<Name>Maker</Name>"))

    answer = ask(company, request, version="7.0")[0]

    assert answer.get("statusMessage") == "Status OK"
    assert [child.tag for child in answer[0]] == fields.split()


@pytest.mark.parametrize(
    ("request_text", "status"),
    [
        (
            added("Account", "<Name>A</Name><AccountType>Bank</AccountType><AccountNumber>a5ad6d73</AccountNumber>"),
            ("3070", "Error", 'The string "a5ad6d73" in the field "AccountNumber" is too long.'),
        ),
        (
            "<CustomerQueryRq><FullName>bleech</FullName></CustomerQueryRq>",
            (
                "500",
                "Warn",
                (
                    "The query request has not been fully completed. There was a required element "
                    '("bleech") that could not be found in QuickBooks.'
                ),
            ),
        ),
        (
            (
                "<CustomerModRq><CustomerMod><ListID>8000001B-1405768916</ListID><EditSequence>1</EditSequence>"
                "</CustomerMod></CustomerModRq>"
            ),
            (
                "3120",
                "Error",
                (
                    'Object "8000001B-1405768916" specified in the request cannot be found.  QuickBooks error message: '
                    "Invalid argument.  The specified record does not exist in the list."
                ),
            ),
        ),
        (
            (
                '<PurchaseOrderQueryRq requestID="1"><RefNumberFilter><MatchCriterion>Contains</MatchCriterion>'
                "<RefNumber>none</RefNumber></RefNumberFilter></PurchaseOrderQueryRq>"
            ),
            ("1", "Info", "A query request did not find a matching object in QuickBooks"),
        ),
    ],
)
def test_a_refusal_has_the_status_and_the_words_of_the_sample(request_text: str, status: tuple[str, str, str]) -> None:
    answer: Any = ask(a_company(), request_text)[0]

    assert (answer.get("statusCode"), answer.get("statusSeverity"), answer.get("statusMessage")) == status
    assert len(answer) == 0


def test_a_payment_above_the_open_amount_has_the_words_of_the_sample() -> None:
    company = a_company()
    ask(company, added("Customer", "<Name>Buyer</Name>"))
    invoice = ask(company, added("Invoice", f"{CUSTOMER}{line('Invoice')}"))[0]
    applied = (
        f"<AppliedToTxnAdd><TxnID>{invoice.findtext('InvoiceRet/TxnID')}</TxnID>"
        "<PaymentAmount>500.00</PaymentAmount></AppliedToTxnAdd>"
    )

    answer = ask(company, added("ReceivePayment", f"{CUSTOMER}<TotalAmount>500.00</TotalAmount>{applied}"))[0]

    assert answer.get("statusCode") == "3210"
    assert answer.get("statusMessage").endswith("QuickBooks error message: You cannot pay more than the amount due.")
