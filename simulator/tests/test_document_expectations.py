"""Expectations of an accountant who read Intuit's help: links, discounts, open accounts, types, builds, time and taxes.

Each value was derived from a document or by hand, before any run. `simulator.tests.shop` says what a scenario is, and
which questions it answers.
"""

from __future__ import annotations

from typing import Any

import pytest

from simulator.tests.shop import STOCK, Scenarios, Shop

SCENARIOS = Scenarios()
expect = SCENARIOS.expect


def line_of(shop: Shop, label: str, place: int = 0, **content: Any) -> dict[str, Any]:
    """Return a line that links to a line of an order."""
    lines = [line for line in shop.keeper.get(shop.documents[label]).iter() if line.tag.endswith("LineRet")]
    return {**content, "LinkToTxn": {"TxnID": shop.key(label), "TxnLineID": lines[place].findtext("TxnLineID")}}


def bill_order(shop: Shop, label: str = "invoice", **fields: Any) -> None:
    shop.enter(label, "Invoice", 5, CustomerRef="Ada", **fields)


def purchase(shop: Shop, quantity: int = 5) -> None:
    """Order parts at 10.00 from the supplier."""
    lines = [{"ItemRef": "Part", "Quantity": quantity, "Rate": "10"}]
    shop.enter("purchase", "PurchaseOrder", VendorRef="Supplier", PurchaseOrderLineAdd=lines)


def receive_parts(shop: Shop, kind: str = "ItemReceipt", label: str = "receipt", **fields: Any) -> None:
    shop.enter(label, kind, 5, VendorRef="Supplier", **fields)


# Links: an order of five parts at 20.00


@expect({"order.IsFullyInvoiced": "true", "order.SalesOrderLineRet/Invoiced": "5"}, customer_Ada="100.00", problems="0")
def a_whole_order_is_invoiced(shop: Shop) -> None:
    shop.order(5)
    shop.fulfil()


@expect({"last.Subtotal": "60.00", "order.IsFullyInvoiced": "true", "order.SalesOrderLineRet/Invoiced": "5"})
def the_second_invoice_takes_the_rest(shop: Shop) -> None:
    shop.order(5)
    shop.fulfil(Quantity=2)
    shop.fulfil(label="last")


@expect({"order.IsFullyInvoiced": "false", "order.SalesOrderLineRet/Invoiced": "2"}, customer_Ada="40.00")
def a_part_of_an_order_leaves_the_rest_open(shop: Shop) -> None:
    shop.order(5)
    shop.fulfil(Quantity=2)


@expect({"order.SalesOrderLineRet/Invoiced": "0"}, refused="yes", count_Invoice="0", customer_Ada="0.00")
def an_order_and_a_line_of_it_are_not_linked_together(shop: Shop) -> None:
    shop.order(5)
    bill_order(shop, LinkToTxnID=[shop.key("order")], InvoiceLineAdd=[line_of(shop, "order", Quantity=1)])


@expect({"invoice.Subtotal": "75.00", "order.IsFullyInvoiced": "true"}, refused="no")
def a_linked_line_can_have_another_rate(shop: Shop) -> None:
    shop.order(5)
    bill_order(shop, InvoiceLineAdd=[line_of(shop, "order", Rate="15")])


@expect({"invoice.Subtotal": "140.00", "order.IsFullyInvoiced": "true"}, refused="no", named_more_than_ordered="yes")
def a_linked_line_can_have_a_larger_quantity(shop: Shop) -> None:
    shop.order(5)
    bill_order(shop, InvoiceLineAdd=[line_of(shop, "order", Quantity=7)])


@expect({"order.SalesOrderLineRet/Invoiced": "0", "order.IsFullyInvoiced": "false"}, refused="no", customer_Ada="0.00")
def a_void_invoice_fulfils_nothing(shop: Shop) -> None:
    shop.order(5)
    shop.fulfil()
    shop.void("fulfilment")


@expect({"ItemInventory Part.QuantityOnSalesOrder": "3"}, on_hand="-2")
def what_is_invoiced_is_no_longer_on_order(shop: Shop) -> None:
    shop.order(5)
    shop.fulfil(Quantity=2)


@expect(refused="yes", count_Invoice="0")
def an_order_of_a_job_is_not_that_of_another_customer(shop: Shop) -> None:
    shop.order(5, "Ada:Kitchen")
    shop.fulfil("Bruno")


@expect({"invoice.Subtotal": "108.00", "order.IsFullyInvoiced": "true"})
def a_discount_of_an_order_comes_over_with_its_lines(shop: Shop) -> None:
    lines = [{"ItemRef": "Part", "Quantity": 6}, {"ItemRef": "Ten off"}]
    shop.enter("order", "SalesOrder", CustomerRef="Ada", SalesOrderLineAdd=lines)
    bill_order(shop, LinkToTxnID=[shop.key("order")])


@expect({"invoice.Subtotal": "160.00"}, refused="no", customer_Ada="160.00")
def an_estimate_becomes_an_invoice(shop: Shop) -> None:
    shop.enter("estimate", "Estimate", CustomerRef="Ada", EstimateLineAdd=[{"ItemRef": "Work", "Quantity": 2}])
    bill_order(shop, LinkToTxnID=[shop.key("estimate")])


@expect({"invoice.Subtotal": "60.00"}, refused="no")
def two_lines_of_an_order_are_invoiced_by_two_lines(shop: Shop) -> None:
    lines = [{"ItemRef": "Part", "Quantity": 5}, {"ItemRef": "Part", "Quantity": 2}]
    shop.enter("order", "SalesOrder", CustomerRef="Ada", SalesOrderLineAdd=lines)
    places = [line_of(shop, "order", 0, Quantity=1), line_of(shop, "order", 1, Quantity=2)]
    bill_order(shop, InvoiceLineAdd=places)


@expect({"purchase.IsFullyReceived": "true"}, on_hand="5", average="10.00", Inventory_Asset="50.00")
def a_whole_purchase_order_is_received(shop: Shop) -> None:
    purchase(shop)
    receive_parts(shop, LinkToTxnID=[shop.key("purchase")])


@expect(refused="yes", on_hand="0", Accounts_Payable="0.00")
def a_purchase_order_and_a_line_of_it_are_not_linked_together(shop: Shop) -> None:
    purchase(shop)
    links: dict[str, Any] = {"LinkToTxnID": [shop.key("purchase")]}
    receive_parts(shop, **links, ItemLineAdd=[line_of(shop, "purchase", Quantity=1)])


@expect({"purchase.PurchaseOrderLineRet/ReceivedQuantity": "2", "ItemInventory Part.QuantityOnOrder": "3"}, on_hand="2")
def a_part_of_a_purchase_order_is_billed(shop: Shop) -> None:
    purchase(shop)
    receive_parts(shop, "Bill", ItemLineAdd=[line_of(shop, "purchase", Quantity=2)])


@expect(status="570", on_hand="5", vendor_Supplier="50.00")
def what_is_received_is_not_billed_from_the_order_again(shop: Shop) -> None:
    purchase(shop)
    receive_parts(shop, LinkToTxnID=[shop.key("purchase")])
    receive_parts(shop, "Bill", "bill", LinkToTxnID=[shop.key("purchase")])


# Discounts: taxed at 6 %, unless the line says otherwise


def _taxed(shop: Shop, *lines: tuple[str, str], kind: str = "Invoice") -> None:
    """Enter a form. A line is an item and a rate or ''."""
    fields = [{"ItemRef": item, **({"Rate": rate} if rate else {})} for item, rate in lines]
    shop.list_object(
        "ItemDiscount", Name="Off", SalesTaxCodeRef="Tax", DiscountRate="10", AccountRef="Discounts"
    )  # fmt: skip
    shop.list_object("ItemDiscount", Name="Rebate", SalesTaxCodeRef="Non", DiscountRate="10", AccountRef="Discounts")
    content: dict[str, Any] = {f"{kind}LineAdd": fields}
    shop.enter("form", kind, CustomerRef="Ada", ItemSalesTaxRef="State", **content)


@expect({"form.SalesTaxTotal": "5.40"}, customer_Ada="95.40", Discounts="-10.00", named_discount_over_mixed_tax="no")
def an_amount_off_a_taxable_line_is_taken_off_before_the_tax(shop: Shop) -> None:
    _taxed(shop, ("Paint", "100"), ("Off", ""))


@expect({"form.SalesTaxTotal": "5.70"}, customer_Ada="195.70", named_discount_over_mixed_tax="yes")
def an_amount_off_mixed_lines_counts_for_each_in_proportion(shop: Shop) -> None:
    _taxed(shop, ("Paint", "100"), ("Work", "100"), ("Off", ""))


# 60.00 of 100.00 are taxable: 60.00 less 6.00, at 6 %
@expect({"form.SalesTaxTotal": "3.24", "form.Subtotal": "90.00"})
def three_lines_share_an_amount_off(shop: Shop) -> None:
    _taxed(shop, ("Paint", "60"), ("Work", "30"), ("Work", "10"), ("Off", ""))


@expect({"form.SalesTaxTotal": "10.80", "form.Subtotal": "180.00"}, named_discount_over_mixed_tax="no")
def a_percentage_off_a_subtotal_of_taxable_lines(shop: Shop) -> None:
    _taxed(shop, ("Paint", "100"), ("Paint", "100"), ("Subtotal", ""), ("Ten off", ""))


@expect({"form.Subtotal": "145.00", "form.SalesTaxTotal": "8.70"})
def a_percentage_is_of_the_line_above_it(shop: Shop) -> None:
    _taxed(shop, ("Paint", "100"), ("Paint", "50"), ("Ten off", ""))


@expect({"form.Subtotal": "180.00"}, named_discount_over_mixed_tax="yes")
def how_a_percentage_off_mixed_lines_is_taxed_is_not_documented(shop: Shop) -> None:
    _taxed(shop, ("Paint", "100"), ("Work", "100"), ("Subtotal", ""), ("Ten off", ""))


@expect({"form.SalesTaxTotal": "6.00", "form.Subtotal": "90.00"})
def a_discount_that_is_not_taxable_is_taken_off_after_the_tax(shop: Shop) -> None:
    _taxed(shop, ("Paint", "100"), ("Rebate", ""))


@expect({"form.SalesTaxTotal": "4.80", "form.Subtotal": "80.00"})
def two_discounts_are_both_taken_off_before_the_tax(shop: Shop) -> None:
    _taxed(shop, ("Paint", "100"), ("Off", ""), ("Off", ""))


@expect({"form.SalesTaxTotal": "5.70"}, Undeposited_Funds="195.70", Sales_Tax_Payable="5.70")
def a_sales_receipt_takes_a_discount_like_an_invoice(shop: Shop) -> None:
    _taxed(shop, ("Paint", "100"), ("Work", "100"), ("Off", ""), kind="SalesReceipt")


@expect({"form.SalesTaxTotal": "5.70"}, customer_Ada="-195.70", Sales_Tax_Payable="-5.70", Discounts="10.00")
def a_credit_takes_the_discount_back(shop: Shop) -> None:
    _taxed(shop, ("Paint", "100"), ("Work", "100"), ("Off", ""), kind="CreditMemo")


@expect(refused="yes", customer_Ada="0.00", Discounts="0.00")
def a_discount_is_not_larger_than_the_form(shop: Shop) -> None:
    _taxed(shop, ("Paint", "5"), ("Off", ""))


# Receivables and payables: nothing moves them without a name


def _move(shop: Shop, source: str, target: str) -> None:
    accounts: dict[str, Any] = {"TransferFromAccountRef": source, "TransferToAccountRef": target}
    shop.enter("transfer", "Transfer", **accounts, Amount="10.00")


@expect(refused="yes", Accounts_Receivable="0.00", count_Transfer="0", problems="0")
def a_transfer_does_not_come_from_receivables(shop: Shop) -> None:
    _move(shop, "Accounts Receivable", "Checking")


@expect(refused="yes", Accounts_Payable="0.00")
def a_transfer_does_not_go_to_payables(shop: Shop) -> None:
    _move(shop, "Checking", "Accounts Payable")


@expect(refused="no", customer_Ada="-5.00", Accounts_Receivable="-5.00", Checking="5.00", problems="0")
def a_deposit_can_be_received_from_a_customer(shop: Shop) -> None:
    lines = [{"EntityRef": "Ada", "AccountRef": "Accounts Receivable", "Amount": "5.00"}]
    shop.enter("deposit", "Deposit", DepositToAccountRef="Checking", DepositLineAdd=lines)


@expect(refused="yes", Accounts_Receivable="0.00")
def a_deposit_does_not_come_from_receivables_of_a_vendor(shop: Shop) -> None:
    lines = [{"EntityRef": "Supplier", "AccountRef": "Accounts Receivable", "Amount": "5.00"}]
    shop.enter("deposit", "Deposit", DepositToAccountRef="Checking", DepositLineAdd=lines)


@expect(refused="yes", Accounts_Payable="0.00", Checking="0.00")
def cash_back_does_not_go_to_payables(shop: Shop) -> None:
    back = {"AccountRef": "Accounts Payable", "Amount": "5.00"}
    lines = [{"AccountRef": "Sales", "Amount": "9.00"}]
    shop.enter("deposit", "Deposit", DepositToAccountRef="Checking", CashBackInfoAdd=back, DepositLineAdd=lines)


@expect(refused="yes", Accounts_Payable="0.00")
def payables_on_a_check_are_not_owed_to_a_customer(shop: Shop) -> None:
    lines = [{"AccountRef": "Accounts Payable", "Amount": "5.00"}]
    shop.enter("check", "Check", AccountRef="Checking", PayeeEntityRef="Ada", ExpenseLineAdd=lines)


@expect(refused="no", vendor_Supplier="-5.00", Accounts_Payable="-5.00")
def a_check_can_pay_a_vendor_in_advance(shop: Shop) -> None:
    lines = [{"AccountRef": "Accounts Payable", "Amount": "5.00"}]
    shop.enter("check", "Check", AccountRef="Checking", PayeeEntityRef="Supplier", ExpenseLineAdd=lines)


@expect(refused="yes", Card="0.00")
def a_card_charge_does_not_go_to_receivables_without_a_name(shop: Shop) -> None:
    lines = [{"AccountRef": "Accounts Receivable", "Amount": "5.00"}]
    shop.enter("charge", "CreditCardCharge", AccountRef="Card", ExpenseLineAdd=lines)


@expect(refused="yes", Accounts_Receivable="0.00", vendor_Supplier="0.00")
def a_bill_does_not_charge_a_customer_and_owe_to_a_vendor(shop: Shop) -> None:
    lines = [{"AccountRef": "Accounts Receivable", "Amount": "5.00", "CustomerRef": "Ada"}]
    shop.enter("bill", "Bill", VendorRef="Supplier", ExpenseLineAdd=lines)


@expect(refused="yes", Accounts_Payable="0.00")
def a_journal_entry_has_one_line_of_payables(shop: Shop) -> None:
    shop.journal(("Accounts Payable", "10.00", "Supplier"), ("Accounts Payable", "10.00", "Tax Agency"))


@expect(refused="yes", Accounts_Receivable="0.00", Checking="-5.00", Rent="5.00")
def a_changed_check_does_not_go_to_receivables_without_a_name(shop: Shop) -> None:
    lines = [{"AccountRef": "Rent", "Amount": "5.00"}]
    shop.enter("check", "Check", AccountRef="Checking", ExpenseLineAdd=lines)
    shop.change_line("check", AccountRef="Accounts Receivable")


@expect(refused="no", customer_Ada="80.00", Accounts_Receivable="80.00", Sales="80.00", problems="0")
def a_statement_charge_is_owed_by_its_customer(shop: Shop) -> None:
    shop.enter("charge", "Charge", CustomerRef="Ada", ItemRef="Work")


@expect(refused="yes", Accounts_Receivable="0.00")
def a_sales_receipt_is_not_deposited_to_receivables(shop: Shop) -> None:
    fields: dict[str, Any] = {"CustomerRef": "Ada", "DepositToAccountRef": "Accounts Receivable"}
    shop.enter("receipt", "SalesReceipt", **fields, SalesReceiptLineAdd=[{"ItemRef": "Work"}])


@expect(refused="yes", Accounts_Receivable="0.00", Inventory_Asset="0.00")
def stock_is_not_adjusted_against_receivables(shop: Shop) -> None:
    lines = [{"ItemRef": "Part", "QuantityAdjustment": {"QuantityDifference": 2}}]
    fields: dict[str, Any] = {"AccountRef": "Accounts Receivable", "CustomerRef": "Ada"}
    shop.enter("count", "InventoryAdjustment", **fields, InventoryAdjustmentLineAdd=lines)


# What is paid "cannot be found"


@expect(status="3120", open_invoice="0.00", count_ReceivePayment="1")
def a_paid_invoice_takes_no_payment(shop: Shop) -> None:
    shop.invoice()
    shop.receive("100")
    shop.receive("1", "second")


@expect(status="3120", vendor_Supplier="0.00", Checking="-90.00")
def a_paid_bill_takes_no_payment(shop: Shop) -> None:
    shop.rent("90")
    shop.pay_bill("90")
    shop.pay_bill("1", "second")


# Types of accounts


def _retype(shop: Shop, name: str, account_type: str) -> None:
    shop.documents[name] = shop.keeper.get(name, "Account")
    account = shop.documents.pop(name)
    identity = {field: account.findtext(field) for field in ("ListID", "EditSequence")}
    shop.note(shop.keeper.ask("AccountModRq", {"AccountMod": {**identity, "AccountType": account_type}}))


@expect({"Account Rent.AccountType": "CostOfGoodsSold", "sheet Net Income": "-10.00"}, refused="no")
def an_expense_becomes_a_cost_with_its_history(shop: Shop) -> None:
    shop.rent("10")
    _retype(shop, "Rent", "CostOfGoodsSold")


@expect({"Account Checking.AccountType": "Bank"}, refused="yes")
def a_bank_account_with_checks_does_not_become_an_expense(shop: Shop) -> None:
    lines = [{"AccountRef": "Rent", "Amount": "5.00"}]
    shop.enter("check", "Check", AccountRef="Checking", ExpenseLineAdd=lines)
    _retype(shop, "Checking", "Expense")


@expect({"Account Card.AccountType": "CreditCard"}, refused="yes")
def a_card_with_charges_does_not_become_a_bank_account(shop: Shop) -> None:
    lines = [{"AccountRef": "Rent", "Amount": "5.00"}]
    shop.enter("charge", "CreditCardCharge", AccountRef="Card", ExpenseLineAdd=lines)
    _retype(shop, "Card", "Bank")


@expect({"Account Savings.AccountType": "OtherCurrentAsset"}, refused="no")
def an_unused_bank_account_becomes_another_asset(shop: Shop) -> None:
    _retype(shop, "Savings", "OtherCurrentAsset")


@expect(refused="yes")
def a_second_receivables_account_stays_one(shop: Shop) -> None:
    _retype(shop, "Second receivables", "OtherCurrentAsset")


@expect(refused="yes")
def undeposited_funds_stay_what_they_are(shop: Shop) -> None:
    _retype(shop, "Undeposited Funds", "Bank")


@expect({"Account Till.AccountType": "OtherCurrentAsset"}, refused="no")
def a_subaccount_changes_its_type_without_its_parent(shop: Shop) -> None:
    shop.list_object("Account", Name="Till", ParentRef="Checking", AccountType="Bank")
    _retype(shop, "Checking:Till", "OtherCurrentAsset")
    assert shop.status != "0"
    account = shop.keeper.get("Checking:Till", "Account")
    identity = {field: account.findtext(field) for field in ("ListID", "EditSequence")}
    content = {**identity, "ParentRef": {"ListID": "", "FullName": ""}, "AccountType": "OtherCurrentAsset"}
    shop.note(shop.keeper.ask("AccountModRq", {"AccountMod": content}))


@expect(refused="yes")
def no_request_adds_an_account_that_nothing_posts_to(shop: Shop) -> None:
    shop.list_object("Account", Name="Quotes", AccountType="NonPosting")


# Builds: a gate of two parts, parts at 6.00


def _gate(shop: Shop, parts: int = 0, day: int = 1) -> None:
    lines = [{"ItemInventoryRef": "Part", "Quantity": 2}]
    shop.list_object("ItemInventoryAssembly", Name="Gate", SalesPrice="50", **STOCK, ItemInventoryAssemblyLine=lines)
    if parts:
        shop.buy(day, parts, "6")


def _build(shop: Shop, day: int = 10, quantity: int = 1, label: str = "build", **fields: Any) -> None:
    shop.enter(label, "BuildAssembly", day, ItemInventoryAssemblyRef="Gate", QuantityToBuild=quantity, **fields)


GATES = "ItemInventoryAssembly Gate.QuantityOnHand"


@expect({GATES: "2", "ItemInventoryAssembly Gate.AverageCost": "12.00"}, on_hand="4", Inventory_Asset="48.00")
def a_gate_costs_what_its_parts_cost(shop: Shop) -> None:
    _gate(shop, 8)
    _build(shop, quantity=2)


@expect({GATES: "0"}, status="3180", on_hand="8")
def a_build_before_its_parts_arrive_is_refused(shop: Shop) -> None:
    _gate(shop, 8, day=11)
    _build(shop)


@expect({GATES: "0", "build.IsPending": "true"}, refused="no", on_hand="1", Inventory_Asset="6.00")
def a_pending_build_moves_nothing(shop: Shop) -> None:
    _gate(shop, 1)
    _build(shop, MarkPendingIfRequired=True)


@expect({GATES: "0", "build.IsPending": "true"}, refused="yes")
def a_pending_build_is_not_finished_without_its_parts(shop: Shop) -> None:
    _gate(shop, 1)
    _build(shop, MarkPendingIfRequired=True)
    shop.change("build", RemovePending=True)


@expect({GATES: "1", "build.IsPending": "false"}, refused="no", on_hand="1")
def a_pending_build_is_finished_with_its_parts(shop: Shop) -> None:
    _gate(shop, 1)
    _build(shop, MarkPendingIfRequired=True)
    shop.buy(9, 2, "6", "more")
    shop.change("build", RemovePending=True)


@expect({GATES: "0", "build.IsPending": "true"}, on_hand="0", Inventory_Asset="0.00", problems="0")
def without_the_bill_of_its_parts_a_build_is_pending(shop: Shop) -> None:
    _gate(shop, 2)
    _build(shop)
    shop.delete("bill")


@expect({GATES: "1", "build.IsPending": "false"}, on_hand="-2")
def a_later_sale_of_parts_leaves_a_build_alone(shop: Shop) -> None:
    _gate(shop, 4)
    _build(shop)
    shop.sell(11, 4)


@expect({GATES: "0", "build.IsPending": "true"}, on_hand="0")
def an_earlier_sale_of_its_parts_makes_a_build_pending(shop: Shop) -> None:
    _gate(shop, 4)
    _build(shop)
    shop.sell(9, 4)


@expect({GATES: "1"}, refused="no", on_hand="4", Inventory_Asset="36.00")
def a_smaller_build_gives_parts_back(shop: Shop) -> None:
    _gate(shop, 6)
    _build(shop, quantity=3)
    shop.change("build", QuantityToBuild=1)


@expect({GATES: "1"}, refused="yes", on_hand="1")
def a_build_does_not_become_larger_than_its_parts_allow(shop: Shop) -> None:
    _gate(shop, 3)
    _build(shop)
    shop.change("build", QuantityToBuild=2)


@expect({GATES: "0"}, status="3180", on_hand="3")
def parts_that_a_gate_has_twice_are_both_needed(shop: Shop) -> None:
    lines = [{"ItemInventoryRef": "Part", "Quantity": 2}] * 2
    shop.list_object("ItemInventoryAssembly", Name="Gate", **STOCK, ItemInventoryAssemblyLine=lines)
    shop.buy(1, 3, "6")
    _build(shop)


@expect({"build.QuantityToBuild": "0.5"}, refused="no", on_hand="0")
def half_a_gate_needs_half_of_its_parts(shop: Shop) -> None:
    _gate(shop, 1)
    shop.enter("build", "BuildAssembly", 10, ItemInventoryAssemblyRef="Gate", QuantityToBuild="0.5")


@expect({GATES: "0"}, on_hand="4", Inventory_Asset="24.00")
def a_deleted_build_gives_its_parts_back(shop: Shop) -> None:
    _gate(shop, 4)
    _build(shop, quantity=2)
    shop.delete("build")


# Time


def _work(shop: Shop, label: str = "time", **fields: Any) -> None:
    shop.enter(label, "TimeTracking", **{"EntityRef": "Supplier", "Duration": "PT8H0M", **fields})


@expect({"time.BillableStatus": "NotBillable"}, refused="no", Checking="0.00", count_TimeTracking="1")
def time_of_a_subcontractor_posts_nothing(shop: Shop) -> None:
    _work(shop)


@expect(refused="yes", count_TimeTracking="0")
def a_customer_enters_no_time(shop: Shop) -> None:
    _work(shop, EntityRef="Ada")


@expect(refused="yes", count_TimeTracking="0")
def billable_time_without_a_customer(shop: Shop) -> None:
    _work(shop, ItemServiceRef="Work", BillableStatus="Billable")


@expect(refused="yes", count_TimeTracking="0")
def billable_time_without_a_service(shop: Shop) -> None:
    _work(shop, CustomerRef="Ada", BillableStatus="Billable")


@expect({"time.BillableStatus": "Billable", "time.Duration": "PT1H30M"}, refused="no", customer_Ada="0.00")
def billable_time_is_no_invoice_yet(shop: Shop) -> None:
    _work(shop, CustomerRef="Ada", ItemServiceRef="Work", BillableStatus="Billable", Duration="PT1H30M45S")


# Sales tax administration: paint of 100.00 at 6 % for the Tax Agency


def _owe(shop: Shop) -> None:
    lines = [{"ItemRef": "Paint", "Rate": "100"}]
    shop.enter("sale", "Invoice", CustomerRef="Ada", ItemSalesTaxRef="State", InvoiceLineAdd=lines)


def _pay_tax(shop: Shop, agency: str, amount: str) -> None:
    bank: dict[str, Any] = {"PayeeEntityRef": agency, "BankAccountRef": "Checking", "IsToBePrinted": True}
    lines = [{"ItemSalesTaxRef": "State", "Amount": amount}]
    shop.enter("tax", "SalesTaxPaymentCheck", 20, **bank, SalesTaxPaymentCheckLineAdd=lines)


@expect(refused="no", Sales_Tax_Payable="0.00", Checking="-6.00")
def a_tax_is_paid_to_its_agency(shop: Shop) -> None:
    _owe(shop)
    _pay_tax(shop, "Tax Agency", "6.00")


@expect(refused="yes", Sales_Tax_Payable="6.00", Checking="0.00")
def a_tax_is_not_paid_to_another_vendor(shop: Shop) -> None:
    _owe(shop)
    _pay_tax(shop, "Supplier", "6.00")


@expect(refused="no", Sales_Tax_Payable="4.00")
def a_part_of_the_tax_is_paid(shop: Shop) -> None:
    _owe(shop)
    _pay_tax(shop, "Tax Agency", "2.00")


@expect({"SalesTaxCode Own.IsTaxable": "true"}, refused="yes", Sales_Tax_Payable="6.00")
def a_code_on_an_invoice_stays_taxable(shop: Shop) -> None:
    shop.list_object("SalesTaxCode", Name="Own", IsTaxable=True)
    lines = [{"ItemRef": "Paint", "Rate": "100", "SalesTaxCodeRef": "Own"}]
    shop.enter("sale", "Invoice", CustomerRef="Ada", ItemSalesTaxRef="State", InvoiceLineAdd=lines)
    code = shop.keeper.get("Own", "SalesTaxCode")
    identity = {field: code.findtext(field) for field in ("ListID", "EditSequence")}
    shop.note(shop.keeper.ask("SalesTaxCodeModRq", {"SalesTaxCodeMod": {**identity, "IsTaxable": False}}))


@expect({"sale.SalesTaxTotal": "0.00"}, customer_Eve="100.00", Sales_Tax_Payable="0.00")
def a_customer_who_is_exempt_pays_no_tax(shop: Shop) -> None:
    _owe(shop)
    shop.delete("sale")
    shop.list_object("Customer", Name="Eve", SalesTaxCodeRef="Non")
    lines = [{"ItemRef": "Paint", "Rate": "100"}]
    shop.enter("sale", "Invoice", CustomerRef="Eve", ItemSalesTaxRef="State", InvoiceLineAdd=lines)


@expect(Sales_Tax_Payable="0.00", customer_Ada="0.00", Sales="0.00")
def a_credit_takes_the_tax_back(shop: Shop) -> None:
    _owe(shop)
    lines = [{"ItemRef": "Paint", "Rate": "100"}]
    shop.enter("credit", "CreditMemo", CustomerRef="Ada", ItemSalesTaxRef="State", CreditMemoLineAdd=lines)


# 6 % and 1.25 % of 100.00
@expect({"sale.SalesTaxTotal": "7.25"}, Sales_Tax_Payable="7.25")
def a_group_of_taxes_is_their_sum(shop: Shop) -> None:
    lines = [{"ItemRef": "Paint", "Rate": "100"}]
    shop.enter("sale", "Invoice", CustomerRef="Ada", ItemSalesTaxRef="Both", InvoiceLineAdd=lines)


# Retained earnings: 70.00 earned in 2025, 30.00 in 2026


def _years(shop: Shop) -> None:
    shop.keeper.ask("SpecialAccountAddRq", {"SpecialAccountAdd": {"SpecialAccountType": "RetainedEarnings"}})
    for year, amount in (("2025", "70"), ("2026", "30")):
        shop.keeper.invoice(TxnDate=f"{year}-03-01", InvoiceLineAdd=[{"ItemRef": "Work", "Rate": amount}])


@expect({"sheet Retained Earnings": "70.00", "sheet Net Income": "30.00", "sheet TOTAL ASSETS": "100.00"})
def earnings_of_former_years_are_retained(shop: Shop) -> None:
    _years(shop)


@expect({"sheet Retained Earnings": "45.00", "sheet Total Equity": "75.00"}, refused="no", Checking="-25.00")
def a_dividend_reduces_what_is_retained(shop: Shop) -> None:
    _years(shop)
    shop.journal(("Retained Earnings", "25.00", ""), ("Checking", "25.00", ""))


@expect(refused="yes")
def retained_earnings_stay_equity(shop: Shop) -> None:
    _years(shop)
    _retype(shop, "Retained Earnings", "OtherCurrentLiability")


@expect(status="3100")
def retained_earnings_exist_once(shop: Shop) -> None:
    _years(shop)
    special = {"SpecialAccountAdd": {"SpecialAccountType": "RetainedEarnings"}}
    shop.note(shop.keeper.ask("SpecialAccountAddRq", special))


@pytest.mark.parametrize(("place", "question", "expected"), SCENARIOS.cases)
def test_the_books_say_what_the_documents_say(place: int, question: str, expected: str) -> None:
    assert SCENARIOS.answer(place, question) == expected
