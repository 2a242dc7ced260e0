"""Amounts of sales forms: prices, percentages, subtotals, groups, taxes, and defaults of the customer."""

from __future__ import annotations

import random
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Any

import pytest

from simulator.tests.bookkeeping import Bookkeeper, amounts

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


@pytest.fixture
def keeper() -> Bookkeeper:
    return Bookkeeper()


def lines(*contents: dict[str, Any]) -> list[dict[str, Any]]:
    return list(contents)


@pytest.mark.parametrize(
    ("line", "rate", "amount"),
    [
        ({"ItemRef": "Paint"}, "12.50", "12.50"),
        ({"ItemRef": "Paint", "Quantity": 3}, "12.50", "37.50"),
        ({"ItemRef": "Paint", "Quantity": "1.333", "Rate": "0.335"}, "0.335", "0.45"),
        ({"ItemRef": "Paint", "Quantity": 3, "Amount": "10.00"}, "3.33333", "10.00"),
        ({"ItemRef": "Paint", "Amount": "10.00"}, "10.00", "10.00"),
        ({"ItemRef": "Paint", "Quantity": 0}, "12.50", "0.00"),
        ({"Desc": "A note"}, None, None),
        ({"Desc": "Freight", "Amount": "9.00"}, None, "9.00"),
    ],
)
def test_the_amount_of_a_line_is_quantity_times_rate(
    keeper: Bookkeeper, line: dict[str, Any], rate: str | None, amount: str | None
) -> None:
    invoice_line = keeper.invoice(InvoiceLineAdd=[line]).find("InvoiceLineRet")

    assert invoice_line is not None
    assert (invoice_line.findtext("Rate"), invoice_line.findtext("Amount")) == (rate, amount)


def test_discounts_apply_to_the_line_or_the_subtotal_above(keeper: Bookkeeper) -> None:
    invoice = keeper.invoice(
        InvoiceLineAdd=lines(
            {"ItemRef": "Work", "Quantity": 2},
            {"ItemRef": "Ten off"},
            {"ItemRef": "Paint", "Quantity": 2},
            {"ItemRef": "Subtotal"},
            {"ItemRef": "Ten off", "RatePercent": "50"},
        )
    )

    assert amounts(invoice) == ["160.00", "-16.00", "25.00", "169.00", "-84.50"]
    assert [line.findtext("RatePercent") for line in invoice.iter("InvoiceLineRet")][1::3] == ["-10.00", "-50.00"]
    assert invoice.findtext("Subtotal") == "84.50"
    assert keeper.balance("Accounts Receivable") == Decimal("84.50")
    assert (keeper.balance("Sales"), keeper.balance("Discounts")) == (Decimal("185.00"), Decimal("-100.50"))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("discount", [{"ItemRef": "Off"}, {"ItemRef": "Ten off"}], ids=["amount", "percentage"])
def test_a_taxable_discount_reduces_what_is_taxed_in_proportion(
    keeper: Bookkeeper, seed: int, discount: dict[str, Any]
) -> None:
    chance = random.Random(seed)
    off = f"{chance.randint(100, 900) / 100:.2f}"
    keeper.add("ItemDiscount", Name="Off", SalesTaxCodeRef="Tax", DiscountRate=off, AccountRef="Discounts")
    keeper.company.strict = True
    has_subtotal = discount["ItemRef"] == "Ten off" or chance.random() < 0.5
    above = [
        (chance.choice(("Paint", "Work")), Decimal(chance.randint(100, 9999)) / 100)
        for _ in range(chance.randint(1, 4))
    ]

    invoice = keeper.invoice(
        ItemSalesTaxRef="State",
        InvoiceLineAdd=lines(
            *({"ItemRef": item, "Rate": f"{amount:.2f}"} for item, amount in above),
            *([{"ItemRef": "Subtotal"}] if has_subtotal else []),
            discount,
        ),
    )

    total, taxable = (
        sum((amount for item, amount in above if item in items), Decimal()) for items in (("Paint", "Work"), ("Paint",))
    )
    reduction = Decimal(off) if discount["ItemRef"] == "Off" else cents(total / 10)
    base = taxable - cents(reduction * taxable / total)
    assert invoice.findtext("Subtotal") == f"{total - reduction:.2f}"
    assert invoice.findtext("SalesTaxTotal") == f"{cents(base * 6 / 100):.2f}"
    assert ("discount_over_mixed_tax" in keeper.company.simplifications) == (taxable != total)


def cents(amount: Decimal) -> Decimal:
    return amount.quantize(Decimal("0.01"), ROUND_HALF_UP)


@pytest.mark.parametrize(
    ("above", "tax"),
    [
        # 10.00 off 100.00 taxable and 100.00 not, at 6 %
        (("Paint", "Work"), "5.70"),
        (("Work", "Paint"), "5.70"),
        (("Paint", "Work", "Subtotal"), "5.70"),
        # a subtotal of the taxable line, or of the other one, limits the discount to it
        (("Work", "Subtotal", "Paint", "Subtotal"), "5.40"),
        (("Paint", "Subtotal", "Work", "Subtotal"), "6.00"),
        (("Paint", "Paint"), "11.40"),
        (("Work", "Work"), "0.00"),
    ],
)
def test_an_amount_off_mixed_lines_reduces_the_tax_by_their_share(
    keeper: Bookkeeper, above: tuple[str, ...], tax: str
) -> None:
    keeper.add("ItemDiscount", Name="Off", SalesTaxCodeRef="Tax", DiscountRate="10", AccountRef="Discounts")
    items = [{"ItemRef": item, **({"Rate": "100"} if item in {"Paint", "Work"} else {})} for item in (*above, "Off")]

    assert keeper.invoice(ItemSalesTaxRef="State", InvoiceLineAdd=items).findtext("SalesTaxTotal") == tax


def test_a_discount_that_is_not_taxable_leaves_the_tax_as_it_is(keeper: Bookkeeper) -> None:
    keeper.add("ItemDiscount", Name="Off", SalesTaxCodeRef="Non", DiscountRate="10", AccountRef="Discounts")

    invoice = keeper.invoice(
        ItemSalesTaxRef="State", InvoiceLineAdd=lines({"ItemRef": "Paint", "Rate": "100"}, {"ItemRef": "Off"})
    )

    assert (invoice.findtext("Subtotal"), invoice.findtext("SalesTaxTotal")) == ("90.00", "6.00")


def test_a_payment_item_reduces_the_invoice_by_the_payment(keeper: Bookkeeper) -> None:
    invoice = keeper.invoice(
        InvoiceLineAdd=lines({"ItemRef": "Work", "Quantity": 2}, {"ItemRef": "Cash paid", "Amount": "60.00"})
    )

    assert amounts(invoice) == ["160.00", "-60.00"]
    assert invoice.findtext("BalanceRemaining") == "100.00"
    assert keeper.balance("Undeposited Funds") == Decimal("60.00")


def test_an_item_group_expands_to_its_items(keeper: Bookkeeper) -> None:
    invoice = keeper.invoice(
        InvoiceLineAdd=lines({"ItemRef": "Work"}), InvoiceLineGroupAdd=[{"ItemGroupRef": "Kit", "Quantity": 2}]
    )

    group = invoice.find("InvoiceLineGroupRet")
    assert group is not None
    assert [
        (line.findtext("ItemRef/FullName"), line.findtext("Quantity")) for line in group.iter("InvoiceLineRet")
    ] == [
        ("Door", "2"),
        ("Hinge", "6"),
    ]
    assert group.findtext("TotalAmount") == "230.00"
    assert invoice.findtext("Subtotal") == "310.00"


def test_price_levels_change_the_price_of_an_item(keeper: Bookkeeper) -> None:
    keeper.add("PriceLevel", Name="Trade", PriceLevelFixedPercentage="-12.5")
    keeper.add("PriceLevel", Name="Odd", PriceLevelPerItem=[{"ItemRef": "Paint", "CustomPrice": "11"}])
    keeper.add("Customer", Name="Trader", PriceLevelRef="Trade")

    invoice = keeper.invoice(
        "Trader",
        InvoiceLineAdd=lines(
            {"ItemRef": "Paint", "Quantity": 2},
            {"ItemRef": "Paint", "PriceLevelRef": "Odd"},
            {"ItemRef": "Work", "PriceLevelRef": "Odd"},
            {"ItemRef": "Paint", "Rate": "1.00"},
        ),
    )

    assert [line.findtext("Rate") for line in invoice.iter("InvoiceLineRet")] == ["10.94", "11.00", "80.00", "1.00"]
    assert amounts(invoice) == ["21.88", "11.00", "80.00", "1.00"]


def test_a_unit_of_measure_multiplies_the_price(keeper: Bookkeeper) -> None:
    keeper.add(
        "UnitOfMeasureSet",
        Name="Count",
        UnitOfMeasureType="Count",
        BaseUnit={"Name": "each", "Abbreviation": "ea"},
        RelatedUnit=[{"Name": "dozen", "Abbreviation": "dz", "ConversionRatio": "12"}],
        DefaultUnit=[{"UnitUsedFor": "Sales", "Unit": "dozen"}],
    )
    keeper.add("ItemNonInventory", Name="Nail", UnitOfMeasureSetRef="Count", SalesOrPurchase={"Price": "0.25"})

    invoice = keeper.invoice(
        InvoiceLineAdd=lines(
            {"ItemRef": "Nail", "Quantity": 2}, {"ItemRef": "Nail", "Quantity": 2, "UnitOfMeasure": "each"}
        )
    )

    assert [line.findtext("UnitOfMeasure") for line in invoice.iter("InvoiceLineRet")] == ["dozen", "each"]
    assert amounts(invoice) == ["6.00", "0.50"]
    code, message = keeper.refusal(
        "Invoice", CustomerRef="Ada", InvoiceLineAdd=[{"ItemRef": "Nail", "UnitOfMeasure": "box"}]
    )
    assert code == "3140"
    assert '"box"' in message


@pytest.mark.parametrize(
    ("item", "percentage", "tax"),
    [("State", "6.00", "0.75"), ("County", "1.25", "0.16"), ("Both", "7.25", "0.91")],
)
def test_sales_tax_is_rounded_for_each_agency(keeper: Bookkeeper, item: str, percentage: str, tax: str) -> None:
    invoice = keeper.invoice(
        ItemSalesTaxRef=item, InvoiceLineAdd=lines({"ItemRef": "Work"}, {"ItemRef": "Paint", "Quantity": 1})
    )

    assert invoice.findtext("SalesTaxPercentage") == percentage
    assert invoice.findtext("SalesTaxTotal") == tax
    assert Decimal(invoice.findtext("BalanceRemaining", "")) == Decimal("92.50") + Decimal(tax)
    assert keeper.balance("Sales Tax Payable") == Decimal(tax)


def test_no_tax_is_due_from_a_customer_who_is_not_taxable(keeper: Bookkeeper) -> None:
    keeper.add("Customer", Name="Charity", SalesTaxCodeRef="Non", ItemSalesTaxRef="Both")

    invoice = keeper.invoice("Charity", InvoiceLineAdd=lines({"ItemRef": "Paint"}))

    assert invoice.findtext("ItemSalesTaxRef/FullName") == "Both"
    assert invoice.findtext("SalesTaxTotal") == "0.00"
    assert invoice.findtext("InvoiceLineRet/SalesTaxCodeRef/FullName") == "Non"


def test_a_form_takes_address_terms_and_due_date_from_its_customer(keeper: Bookkeeper) -> None:
    invoice = keeper.invoice(TxnDate="2026-01-31")

    assert invoice.findtext("BillAddress/City") == "Bayfield"
    assert [line.text for line in invoice.find("BillAddressBlock") or ()] == ["Ada", "1 Street", "Bayfield, CA 94001"]
    assert invoice.findtext("TermsRef/FullName") == "Net 30"
    assert invoice.findtext("DueDate") == "2026-03-02"
    assert invoice.findtext("SuggestedDiscountAmount") == "2.00"
    assert invoice.findtext("SuggestedDiscountDate") == "2026-02-10"
    assert keeper.invoice("Bruno", TxnDate="2026-01-31").findtext("DueDate") == "2026-01-31"


@pytest.mark.parametrize(
    ("day", "due"), [("2026-01-05", "2026-01-15"), ("2026-01-12", "2026-02-15"), ("2026-12-20", "2027-01-15")]
)
def test_date_driven_terms_are_due_on_a_day_of_the_month(keeper: Bookkeeper, day: str, due: str) -> None:
    keeper.add("DateDrivenTerms", Name="15th", DayOfMonthDue=15, DueNextMonthDays=5)

    assert keeper.invoice(TermsRef="15th", TxnDate=day).findtext("DueDate") == due


def test_a_credit_memo_and_a_sales_receipt_post_the_other_way_and_to_cash(keeper: Bookkeeper) -> None:
    content = lines({"ItemRef": "Paint", "Quantity": 4})

    memo = keeper.add("CreditMemo", CustomerRef="Ada", ItemSalesTaxRef="State", CreditMemoLineAdd=content)
    receipt = keeper.add("SalesReceipt", CustomerRef="Ada", ItemSalesTaxRef="State", SalesReceiptLineAdd=content)

    assert (memo.findtext("TotalAmount"), memo.findtext("CreditRemaining")) == ("53.00", "53.00")
    assert receipt.findtext("TotalAmount") == "53.00"
    assert keeper.balance_of("Ada") == Decimal(-53)
    assert keeper.balance("Undeposited Funds") == Decimal(53)
    assert (keeper.balance("Sales"), keeper.balance("Sales Tax Payable")) == (Decimal(0), Decimal(0))


def test_a_pending_invoice_posts_nothing(keeper: Bookkeeper) -> None:
    keeper.invoice(IsPending=True)

    assert keeper.balance_of("Ada") == 0


def test_a_statement_charge_is_open_until_it_is_paid(keeper: Bookkeeper) -> None:
    charge = keeper.add("Charge", CustomerRef="Ada", ItemRef="Work", Quantity=2)

    assert (charge.findtext("Amount"), charge.findtext("BalanceRemaining"), charge.findtext("IsPaid")) == (
        "160.00",
        "160.00",
        "false",
    )
    assert keeper.balance_of("Ada") == Decimal(160)


def test_an_invoice_copies_the_lines_of_a_sales_order_and_the_order_is_invoiced(keeper: Bookkeeper) -> None:
    content = lines({"ItemRef": "Door", "Quantity": 3, "Rate": "90"}, {"ItemRef": "Hinge", "Quantity": 9})
    order = keeper.add("SalesOrder", CustomerRef="Ada", SalesOrderLineAdd=content)
    first_line = order.findtext("SalesOrderLineRet/TxnLineID")
    assert keeper.get("Door", "ItemInventory").findtext("QuantityOnSalesOrder") == "3"

    keeper.invoice(
        InvoiceLineAdd=lines({"Quantity": 1, "LinkToTxn": {"TxnID": order.findtext("TxnID"), "TxnLineID": first_line}})
    )
    partly = keeper.get(order)
    rest = keeper.add("Invoice", CustomerRef="Ada", LinkToTxnID=[order.findtext("TxnID")])
    wholly = keeper.get(order)

    assert [line.findtext("Invoiced") for line in partly.iter("SalesOrderLineRet")] == ["1", "0"]
    assert partly.findtext("IsFullyInvoiced") == "false"
    assert [(line.findtext("Quantity"), line.findtext("Amount")) for line in rest.iter("InvoiceLineRet")] == [
        ("2", "180.00"),
        ("9", "45.00"),
    ]
    assert [line.findtext("Invoiced") for line in wholly.iter("SalesOrderLineRet")] == ["3", "9"]
    assert wholly.findtext("IsFullyInvoiced") == "true"
    assert keeper.get("Door", "ItemInventory").findtext("QuantityOnSalesOrder") == "0"
    unknown = {"TxnID": "1-1", "TxnLineID": "1-1"}
    assert keeper.refusal("Invoice", CustomerRef="Ada", InvoiceLineAdd=[{"LinkToTxn": unknown}])[0] == "3120"


def test_nothing_is_entered_on_or_before_the_closing_date(keeper: Bookkeeper) -> None:
    invoice = keeper.invoice(TxnDate="2026-03-31")
    keeper.company.set_preference("closing_date", "2026-03-31")

    line = [{"ItemRef": "Work"}]
    assert keeper.refusal("Invoice", CustomerRef="Ada", TxnDate="2026-03-31", InvoiceLineAdd=line)[0] == "3171"
    assert keeper.delete(invoice).get("statusCode") == "3161"
    assert keeper.invoice(TxnDate="2026-04-01") is not None


def change(keeper: Bookkeeper, record: Element, **fields: Any) -> Element:
    kind = record.tag.removesuffix("Ret")
    head = {name: keeper.get(record).findtext(name) for name in ("TxnID", "EditSequence")}
    response = keeper.ask(f"{kind}ModRq", {f"{kind}Mod": {**head, **fields}})
    assert response.get("statusCode") == "0", response.get("statusMessage")
    return response[0]


def line_ids(record: Element) -> list[str | None]:
    return [line.findtext("TxnLineID") for line in record.iter() if line.tag.endswith("LineRet")]


def test_a_mod_computes_amounts_tax_and_balance_again(keeper: Bookkeeper) -> None:
    invoice = keeper.invoice(
        ItemSalesTaxRef="State",
        InvoiceLineAdd=lines({"ItemRef": "Paint", "Quantity": 2}, {"ItemRef": "Ten off"}, {"ItemRef": "Work"}),
    )
    first, second, third = line_ids(invoice)

    invoice_after = change(
        keeper,
        invoice,
        InvoiceLineMod=lines({"TxnLineID": first, "Quantity": 8}, {"TxnLineID": second}, {"TxnLineID": third}),
    )

    assert amounts(invoice_after) == ["100.00", "-10.00", "80.00"]
    assert (invoice_after.findtext("SalesTaxTotal"), invoice_after.findtext("BalanceRemaining")) == ("5.40", "175.40")
    assert keeper.balance_of("Ada") == Decimal("175.40")


def test_a_mod_of_the_amount_changes_the_rate_and_a_mod_of_the_item_all_of_the_line(keeper: Bookkeeper) -> None:
    invoice = keeper.invoice(InvoiceLineAdd=lines({"ItemRef": "Paint", "Quantity": 2}, {"ItemRef": "Work"}))
    first, second = line_ids(invoice)

    by_amount = change(
        keeper,
        invoice,
        InvoiceLineMod=lines({"TxnLineID": first, "Amount": "30.00"}, {"TxnLineID": second, "ItemRef": "Paint"}),
    )

    descriptions_and_rates = [
        (line.findtext("Desc"), line.findtext("Rate")) for line in by_amount.iter("InvoiceLineRet")
    ]
    assert descriptions_and_rates == [("Paint", "15.00"), ("Paint", "12.50")]
    assert amounts(by_amount) == ["30.00", "12.50"]


def test_a_mod_keeps_prices_when_the_item_changes_later(keeper: Bookkeeper) -> None:
    invoice = keeper.invoice(InvoiceLineAdd=lines({"ItemRef": "Hinge", "Quantity": 2}))
    item = keeper.get("Hinge", "ItemInventory")
    head = {name: item.findtext(name) for name in ("ListID", "EditSequence")}
    keeper.ask("ItemInventoryModRq", {"ItemInventoryMod": {**head, "SalesPrice": "99.00"}})

    assert amounts(change(keeper, invoice, Memo="Later")) == ["10.00"]
    assert keeper.balance("Cost of Goods Sold") == Decimal(4)


def test_a_payment_can_be_applied_to_another_invoice(keeper: Bookkeeper) -> None:
    first, second = keeper.invoice(), keeper.invoice()
    application = {"TxnID": first.findtext("TxnID"), "PaymentAmount": "100.00"}
    payment = keeper.add("ReceivePayment", CustomerRef="Ada", TotalAmount="100.00", AppliedToTxnAdd=[application])

    payment_after = change(
        keeper, payment, AppliedToTxnMod=[{"TxnID": second.findtext("TxnID"), "PaymentAmount": "100.00"}]
    )  # fmt: skip

    assert payment_after.findtext("UnusedPayment") == "0.00"
    assert keeper.get(first).findtext("IsPaid") == "false"
    assert keeper.get(second).findtext("IsPaid") == "true"


def test_discount_and_shipping_of_the_whole_form_exist_in_no_desktop_edition(keeper: Bookkeeper) -> None:
    response = keeper.try_to_add(
        "Invoice",
        CustomerRef="Ada",
        DiscountLineAdd={"RatePercent": "10", "AccountRef": "Discounts"},
        ShippingLineAdd={"Amount": "7.00", "AccountRef": "Sales"},
        InvoiceLineAdd=[{"ItemRef": "Work", "Rate": "100"}],
    )

    assert response.get("statusCode") == "530"
    assert response.findtext("InvoiceRet/BalanceRemaining") == "100.00"
    assert (keeper.balance("Discounts"), keeper.balance("Sales")) == (Decimal(0), Decimal(100))


def test_the_lines_of_a_printed_address_are_cut_at_41_characters(keeper: Bookkeeper) -> None:
    invoice = keeper.invoice(BillAddress={"Addr1": "A", "City": "x" * 31, "State": "y" * 21})

    assert invoice.findtext("BillAddressBlock/Addr2") == f"{'x' * 31}, {'y' * 8}"
