"""Each situation sets up a company, and the books are as its steps say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import simulator
from simulator import Company, set_up
from simulator.inspection.views import problems
from simulator.situations import SHIPPED, names
from simulator.tests.support import ask

if TYPE_CHECKING:
    from collections.abc import Callable
    from xml.etree.ElementTree import Element

README = (Path(simulator.__file__ or "").parent / "README.md").read_text(encoding="utf-8")


def balances(company: Company) -> dict[str, str]:
    accounts = (
        (account.full_name, company.books.ledger.accounts.get(account.id)) for account in company.books["Account"]
    )
    return {name: str(balance) for name, balance in accounts if balance}


def first(company: Company, request: str, content: str = "") -> Element:
    response: Element = ask(company, f"<{request}>{content}</{request}>")[0]
    return response[0]


def partial_receipts(company: Company) -> None:
    order = first(company, "PurchaseOrderQueryRq", "<IncludeLineItems>true</IncludeLineItems>")
    assert order.findtext("PurchaseOrderLineRet/ReceivedQuantity") == "4"
    assert order.findtext("IsFullyReceived") == "false"
    assert balances(company) == {"Inventory Asset": "80.00", "Accounts Payable": "-80.00"}


def negative_stock(company: Company) -> None:
    item = first(company, "ItemInventoryQueryRq")
    assert (item.findtext("QuantityOnHand"), item.findtext("AverageCost")) == ("5", "5.00")
    assert balances(company)["Cost of Goods Sold"] == "25.00"


def bounced_check(company: Company) -> None:
    paid = [invoice.findtext("IsPaid") for invoice in ask(company, "<InvoiceQueryRq/>")[0]]
    assert paid == ["false", "false"]
    assert balances(company) == {"Accounts Receivable": "125.00", "Checking": "-25.00", "Sales": "-100.00"}


def year_end(company: Company) -> None:
    content = "<GeneralSummaryReportType>BalanceSheetStandard</GeneralSummaryReportType><ReportPeriod>"
    content = f"{content}<ToReportDate>2026-01-31</ToReportDate></ReportPeriod>"
    cells = [row.findall("ColData") for row in first(company, "GeneralSummaryReportQueryRq", content).iter()]
    rows = {row[0].get("value"): row[1].get("value") for row in cells if len(row) > 1}
    assert (rows["Retained Earnings"], rows["Net Income"]) == ("300.00", "500.00")
    assert company.preferences["closing_date"] == "2025-12-31"


def sales_tax_paid(company: Company) -> None:
    owed = first(company, "SalesTaxPayableQueryRq", "<AsOfDate>2026-12-31</AsOfDate>")
    assert owed.findtext("Amount") == "0.00"
    assert balances(company)["Checking"] == "-6.00"


CHECKS: dict[str, Callable[[Company], None]] = {
    "bounced-check": bounced_check,
    "negative-stock": negative_stock,
    "partial-receipts": partial_receipts,
    "sales-tax-paid": sales_tax_paid,
    "year-end": year_end,
}


@pytest.mark.parametrize("name", names())
def test_a_situation_is_as_it_says(name: str) -> None:
    company = Company.empty()
    company.strict = True

    about, *steps = set_up(company, name)

    assert f"| `{name}` | {about} |" in README
    assert all(re.fullmatch(r"[A-Z0-9].*\.", text) for text in (about, *steps))
    assert problems(company) == []
    assert (company.executed, company.simplifications, company.strict) == ([], {}, True)
    CHECKS[name](company)


UNKNOWN = "<ListDelRq><ListDelType>Account</ListDelType><ListID>1-1</ListID></ListDelRq>"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<Situation", "is not an XML document"),
        ("<Pair/>", "holds Step and Preference, not Pair"),
        ("<Situation><Stop/></Situation>", "holds Step and Preference, not Stop"),
        ("<Situation><Step><NoneRq/></Step></Situation>", "Step 1 cannot be executed. 0x80040400"),
        (f"<Situation><Step>{UNKNOWN}</Step></Situation>", "Step 1 of .* failed. ListDelRs got 3120"),
        ("<Situation><Preference name='x' value='on'/></Situation>", "There is no preference 'x'"),
    ],
)
def test_a_situation_that_fails_says_where(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "own.xml"
    file.write_text(content)

    with pytest.raises(ValueError, match=message):
        set_up(Company.empty(), file)


def test_an_unknown_situation_names_the_others() -> None:
    with pytest.raises(ValueError, match="bounced-check, negative-stock"):
        set_up(Company.empty(), "nothing")
    assert sorted(CHECKS) == names() == sorted(file.stem for file in SHIPPED.glob("*.xml"))
