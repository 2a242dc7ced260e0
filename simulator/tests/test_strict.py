"""Strict mode is an allow-list: what rests on no rule warns, and so does a rule that is missing."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import defusedxml.ElementTree
import pytest

from simulator.basics.statuses import severity_of
from simulator.fidelity import strict
from simulator.fidelity.facts import NUMBERS, VALUES, facts_of, stem
from simulator.fidelity.rules import RULES
from simulator.fidelity.strict import MISSING, about, basis, pattern_of, warning_of
from simulator.schema import Aggregate, schema
from simulator.tests.bookkeeping import Bookkeeper
from simulator.tests.random_requests import random_request
from simulator.tests.support import a_company

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from simulator.schema import Element as Model


def warnings(keeper: Bookkeeper, request: str, content: dict[str, Any] | str = "", **attributes: str) -> set[str]:
    """Send a request in strict mode and return its warnings. A refusal counts as one."""
    company = keeper.company
    company.strict = True
    company.simplifications.clear()
    response = keeper.ask(request, content, **attributes)
    company.strict = False
    if severity_of(int(response.get("statusCode", ""))) == "Error":
        return {"refused"}
    return set(company.simplifications)


def added(keeper: Bookkeeper, kind: str, **fields: Any) -> set[str]:
    """Add a record in strict mode, with the elements in the order of the schema, and return the warnings."""
    order = list(schema().requests[f"{kind}AddRq"].content[f"{kind}Add"].content.elements)
    return warnings(
        keeper, f"{kind}AddRq", {f"{kind}Add": {name: fields[name] for name in sorted(fields, key=order.index)}}
    )


def changed(keeper: Bookkeeper, record: Element, **fields: Any) -> set[str]:
    """Change a record in strict mode and return the warnings."""
    kind = record.tag.removesuffix("Ret")
    key = "TxnID" if record.find("TxnID") is not None else "ListID"
    identity = {name: record.findtext(name) for name in (key, "EditSequence")}
    return warnings(keeper, f"{kind}ModRq", {f"{kind}Mod": {**identity, **fields}})


@pytest.mark.parametrize(
    ("request_name", "content"),
    [
        ("CustomerQueryRq", "<MaxReturned>5</MaxReturned>"),
        ("InvoiceQueryRq", "<TxnDateRangeFilter><DateMacro>ThisMonth</DateMacro></TxnDateRangeFilter>"),
        ("HostQueryRq", ""),
        ("CustomerAddRq", "<CustomerAdd><Name>Eve</Name><CompanyName>E</CompanyName></CustomerAdd>"),
    ],
)
def test_an_ordinary_request_does_not_warn(request_name: str, content: str) -> None:
    assert warnings(Bookkeeper(), request_name, content) == set()


def test_an_ordinary_sale_its_payment_and_its_deposit_do_not_warn() -> None:
    keeper = Bookkeeper()
    lines = [{"ItemRef": "Work", "Quantity": "2"}, {"ItemRef": "Paint", "Rate": "12.00"}]

    assert added(keeper, "Invoice", CustomerRef="Ada", RefNumber="1", InvoiceLineAdd=lines) == set()
    invoice = keeper.ask("InvoiceQueryRq")[0]
    applied = {"TxnID": invoice.findtext("TxnID"), "PaymentAmount": "172.00"}
    assert (
        added(
            keeper, "ReceivePayment", CustomerRef="Ada", RefNumber="1", TotalAmount="172.00", AppliedToTxnAdd=[applied]
        )
        == set()
    )
    payment = keeper.ask("ReceivePaymentQueryRq")[0].findtext("TxnID")
    assert added(keeper, "Deposit", DepositToAccountRef="Checking", DepositLineAdd=[{"PaymentTxnID": payment}]) == set()


def test_a_rule_that_is_missing_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    table = strict._patterns()  # noqa: SLF001
    by_fact: dict[str, list[str]] = {}
    for fact in dict.fromkeys(_random_facts()):
        by_fact[fact] = [name for name, patterns in table if any(pattern.fullmatch(fact) for pattern in patterns)]
    removed = set()
    for fact, names in by_fact.items():
        warning_of.cache_clear()
        monkeypatch.setattr(strict, "_patterns", lambda: tuple(row for row in table if row[0] not in names))  # noqa: B023
        assert warning_of(fact) == fact
        removed |= set(names)
    warning_of.cache_clear()

    assert len(removed) > 15


def _random_facts() -> Iterator[str]:
    """Yield the facts of a random request of each type."""
    company = a_company(customers=10)
    chance = random.Random(5)
    for model in schema().requests.values():
        request = defusedxml.ElementTree.fromstring(random_request(model, company.books, chance))
        yield from facts_of(request, model, company.books)


def test_every_value_number_and_reference_of_a_write_is_a_fact() -> None:
    company = a_company(customers=10)
    chance = random.Random(4)
    for model in schema().requests.values():
        if not model.name.endswith(("AddRq", "ModRq")):
            continue
        request = defusedxml.ElementTree.fromstring(random_request(model, company.books, chance))
        facts = " ".join(facts_of(request, model, company.books))
        for parent, child in _decisive(request, model):
            assert f"{stem(parent)}/{child}" in facts or f" {child}" in facts, (model.name, parent, child)


def _decisive(node: Element, model: Model) -> Iterator[tuple[str, str]]:
    """Yield the elements of a request whose values can decide about its outcome."""
    for child in node:
        kind = model.content[child.tag].type
        if "QBD" in model.content[child.tag].absent:
            continue
        if isinstance(kind, Aggregate):
            if not kind.is_reference:
                yield from _decisive(child, model.content[child.tag])
        elif kind.base in NUMBERS | VALUES and child.tag not in {"EditSequence", "ListID", "TxnID", "TxnLineID"}:
            yield node.tag, child.tag


def test_a_fact_without_a_rule_says_so() -> None:
    assert warning_of("Transfer posts AccountsReceivable for nobody") == "Transfer posts AccountsReceivable for nobody"
    assert about("Transfer posts AccountsReceivable for nobody") == MISSING
    assert (basis("Transfer posts Income"), basis("merge")) == ("missing", "assumed")


@pytest.mark.parametrize(
    ("text", "yes", "no"),
    [
        ("A/{B,C}=*", ("A/B=1", "A/C=x y"), ("A/D=1", "A/B")),
        ("A: B? C", ("A: C", "A: B C"), ("A: B", "A: C B", "A:")),
        ("A: B?", ("A:", "A: B"), ("A: C",)),
        ("{A,B.}:", ("A:", "B.:"), ("B1:", "A: C")),
    ],
)
def test_the_form_of_facts_in_the_table(text: str, yes: tuple[str, ...], no: tuple[str, ...]) -> None:
    assert [bool(pattern_of(text).fullmatch(fact)) for fact in (*yes, *no)] == [True] * len(yes) + [False] * len(no)


def test_every_fact_in_the_table_names_elements_of_the_schema() -> None:
    names = _names_of_the_schema()
    for name, rule in RULES.items():
        for fact in rule.facts:
            place = fact.partition(":")[0].replace("{", ",").replace("}", ",").partition("=")[0]
            for word in place.replace("/", ",").split(","):
                part = word.strip()
                is_name = part.isalnum() and part[0].isupper()
                assert not is_name or any(part in known for known in names), (name, fact, word)


def _names_of_the_schema() -> set[str]:
    names = set()
    pending, seen = [*schema().requests.values()], set[int]()
    while pending:
        model = pending.pop()
        names |= {model.name, stem(model.name), *model.values}
        if isinstance(model.type, Aggregate) and id(model.type) not in seen:
            seen.add(id(model.type))
            pending += model.type.elements.values()
    return names


# The silent acceptances that were reported: each is refused, or it warns.


def order(keeper: Bookkeeper, kind: str = "SalesOrder") -> tuple[str, str]:
    """Add an order of 5 at 10.00 and return the ids of the order and of its line."""
    party = {"SalesOrder": {"CustomerRef": "Ada"}, "PurchaseOrder": {"VendorRef": "Supplier"}}[kind]
    record = keeper.add(kind, **party, **{f"{kind}LineAdd": [{"ItemRef": "Hinge", "Quantity": 5, "Rate": "10"}]})
    return record.findtext("TxnID", ""), record.findtext(f"{kind}LineRet/TxnLineID", "")


def test_no_order_is_linked_twice_in_silence() -> None:
    for kind, line_name, party in (
        ("Invoice", "InvoiceLineAdd", {"CustomerRef": "Ada"}),
        ("ItemReceipt", "ItemLineAdd", {"VendorRef": "Supplier"}),
    ):
        keeper = Bookkeeper()
        txn_id, line_id = order(keeper, "SalesOrder" if kind == "Invoice" else "PurchaseOrder")
        link = {"LinkToTxn": {"TxnID": txn_id, "TxnLineID": line_id}}
        for fields in (
            {"LinkToTxnID": txn_id, line_name: [{"Quantity": 1, **link}]},
            {"LinkToTxnID": [txn_id, txn_id]},
            {line_name: [link, link]},
            {line_name: [{"Quantity": 6, **link}]},
        ):
            with_rollback = keeper.company.snapshot()
            assert added(keeper, kind, RefNumber="7", **party, **fields), fields
            keeper.company.restore(with_rollback)
            keeper.books = keeper.company.books


def test_a_discount_over_mixed_tax_warns() -> None:
    keeper = Bookkeeper()
    keeper.add("ItemDiscount", Name="Flat", SalesTaxCodeRef="Tax", DiscountRate="10", AccountRef="Discounts")
    lines = [{"ItemRef": "Paint", "Rate": "100"}, {"ItemRef": "Work", "Rate": "100"}, {"ItemRef": "Flat"}]

    assert added(keeper, "Invoice", CustomerRef="Ada", RefNumber="1", ItemSalesTaxRef="State", InvoiceLineAdd=lines)


def test_receivables_and_payables_without_a_name_warn() -> None:
    keeper = Bookkeeper()
    keeper.invoice()
    for kind, fields in (
        (
            "Transfer",
            {"TransferFromAccountRef": "Accounts Receivable", "TransferToAccountRef": "Checking", "Amount": "5.00"},
        ),
        (
            "Deposit",
            {
                "DepositToAccountRef": "Checking",
                "DepositLineAdd": [{"AccountRef": "Accounts Receivable", "Amount": "5.00"}],
            },
        ),
        (
            "Check",
            {"AccountRef": "Checking", "ExpenseLineAdd": [{"AccountRef": "Accounts Receivable", "Amount": "5.00"}]},
        ),
        (
            "CreditCardCharge",
            {"AccountRef": "Card", "ExpenseLineAdd": [{"AccountRef": "Accounts Receivable", "Amount": "5.00"}]},
        ),
    ):
        assert added(keeper, kind, **fields), kind


@pytest.mark.parametrize(("name", "account_type"), [("Sales", "Expense"), ("Accounts Receivable", "Bank")])
def test_a_change_of_an_account_type_warns(name: str, account_type: str) -> None:
    keeper = Bookkeeper()
    keeper.invoice()

    assert changed(keeper, keeper.get(name, "Account"), AccountType=account_type)


def test_time_of_a_customer_and_billable_time_warn() -> None:
    keeper = Bookkeeper()
    keeper.add("OtherName", Name="Helper")
    times = {"TxnDate": "2026-01-02", "Duration": "PT1H0M0S"}

    assert added(keeper, "TimeTracking", EntityRef="Helper", **times) == set()
    assert added(keeper, "TimeTracking", EntityRef="Ada", **times)
    assert added(keeper, "TimeTracking", EntityRef="Helper", BillableStatus="Billable", **times)


def test_the_administration_of_sales_tax_warns() -> None:
    keeper = Bookkeeper()
    invoice = keeper.invoice(ItemSalesTaxRef="State", InvoiceLineAdd=[{"ItemRef": "Paint", "Rate": "100"}])

    assert invoice.findtext("SalesTaxTotal") == "6.00"
    assert changed(keeper, keeper.get("Tax", "SalesTaxCode"), IsTaxable=False)
    line = {"ItemSalesTaxRef": "State", "Amount": "6.00"}
    assert added(
        keeper, "SalesTaxPaymentCheck", PayeeEntityRef="Supplier", RefNumber="1", TxnDate="2026-09-01",
        BankAccountRef="Checking",
        SalesTaxPaymentCheckLineAdd=[line],
    )  # fmt: skip


def test_a_payment_without_an_amount_and_a_value_without_a_quantity_warn() -> None:
    keeper = Bookkeeper()
    invoice = keeper.invoice()
    applied = [{"TxnID": invoice.findtext("TxnID")}]
    item = {
        "IncomeAccountRef": "Sales", "COGSAccountRef": "Cost of Goods Sold", "AssetAccountRef": "Inventory Asset",
    }  # fmt: skip

    assert added(
        keeper, "ReceivePayment", CustomerRef="Ada", RefNumber="1", TotalAmount="5.00", AppliedToTxnAdd=applied
    )
    assert added(keeper, "ItemInventory", Name="New", TotalValue="5.00", **item)


def test_a_build_waits_for_its_components() -> None:
    keeper = Bookkeeper()
    keeper.add(
        "ItemInventoryAssembly", Name="Gate", IncomeAccountRef="Sales", COGSAccountRef="Cost of Goods Sold",
        AssetAccountRef="Inventory Asset", ItemInventoryAssemblyLine=[{"ItemInventoryRef": "Hinge", "Quantity": 2}],
    )  # fmt: skip

    added(
        keeper, "BuildAssembly", ItemInventoryAssemblyRef="Gate", RefNumber="1", QuantityToBuild=1,
        MarkPendingIfRequired=True,
    )  # fmt: skip
    build = keeper.ask("BuildAssemblyQueryRq")[0]
    assert build.findtext("IsPending") == "true"
    assert changed(keeper, build, RemovePending=True)


@pytest.mark.parametrize(
    "options",
    [
        {"ReportPeriod": {"ToReportDate": "2026-01-31"}},
        {"ReturnRows": "All"},
        {"ReturnColumns": "All"},
        {"SummarizeColumnsBy": "Month"},
        {"ReportBasis": "Cash"},
    ],
)
@pytest.mark.parametrize("kind", ["ProfitAndLossStandard", "BalanceSheetStandard"])
def test_a_report_beyond_the_captured_ones_warns(kind: str, options: dict[str, str]) -> None:
    assert warnings(Bookkeeper(), "GeneralSummaryReportQueryRq", {"GeneralSummaryReportType": kind, **options})


@pytest.mark.parametrize("name", ["classes", "estimates", "multi_currency", "inventory"])
def test_a_preference_that_nobody_captured_warns(name: str) -> None:
    keeper = Bookkeeper()
    keeper.company.set_preference(name, "on" if name == "multi_currency" else "off")
    if name == "multi_currency":
        assert warnings(keeper, "CustomerQueryRq") == set()
        keeper.add("Currency", Name="Test Euro", CurrencyCode="EUR")
        keeper.add("Customer", Name="Eva", CurrencyRef="Test Euro")

    assert warnings(keeper, "CustomerQueryRq")


def test_the_tax_warns_only_if_its_rounding_matters() -> None:
    keeper = Bookkeeper()
    for rate, expected in (("100", set()), ("0.34", {"rounding_of_tax"})):
        line = {"ItemRef": "Paint", "Rate": rate}
        found = added(
            keeper, "Invoice", CustomerRef="Ada", RefNumber=rate, ItemSalesTaxRef="Both", InvoiceLineAdd=[line] * 2
        )
        assert found == expected


def test_what_breaks_a_link_warns() -> None:
    keeper = Bookkeeper()
    invoice = keeper.invoice()
    keeper.add("ReceivePayment", CustomerRef="Ada", TotalAmount="50.00", IsAutoApply=True)
    identity = {"TxnDelType": "Invoice", "TxnID": invoice.findtext("TxnID")}

    assert changed(keeper, keeper.get(invoice), Memo="Thank you") == set()
    assert changed(keeper, keeper.get(invoice), InvoiceLineMod=[{"TxnLineID": "-1", "ItemRef": "Work", "Rate": "300"}])
    assert warnings(keeper, "TxnDelRq", identity) == {"broken_links"}
