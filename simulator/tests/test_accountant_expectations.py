"""Expectations of an accountant: what the books say after some entries. Each value was derived by hand, before any run.

`simulator.tests.shop` says what a scenario is, and which questions it answers.
"""

from __future__ import annotations

from typing import Any

import pytest

from simulator.tests.shop import STOCK, Scenarios, Shop

SCENARIOS = Scenarios()
expect = SCENARIOS.expect

# Stock: ten parts at 6.00 are worth 60.00. A sale takes the average cost of its day out of the stock.


@expect(on_hand="0", average="6.00", Inventory_Asset="0.00", Cost_of_Goods_Sold="60.00")
def the_average_stays_when_all_parts_are_sold(shop: Shop) -> None:
    shop.buy(1, 10, "6")
    shop.sell(2, 10)


# five sold too many at 6.00 were worth 8.00: 60 + 5 x 8
@expect(on_hand="5", average="8.00", Inventory_Asset="40.00", Cost_of_Goods_Sold="100.00")
def a_receipt_corrects_parts_that_were_sold_before_it(shop: Shop) -> None:
    shop.buy(1, 10, "6")
    shop.sell(2, 10)
    shop.sell(3, 5)
    shop.buy(4, 10, "8")


# 20 parts for 300.00 on the day of the sale
@expect(average="15.00", Inventory_Asset="225.00", Cost_of_Goods_Sold="75.00")
def a_bill_that_is_dated_before_a_sale_changes_its_cost(shop: Shop) -> None:
    shop.buy(1, 10, "10")
    shop.sell(10, 5)
    shop.buy(5, 10, "20")


@expect(average="7.00", Inventory_Asset="42.00", Cost_of_Goods_Sold="28.00")
def a_changed_cost_changes_the_cost_of_a_later_sale(shop: Shop) -> None:
    shop.buy(1, 10, "6")
    shop.sell(2, 4)
    shop.change_line("bill", Cost="7")


@expect(on_hand="0", Inventory_Asset="0.00", Cost_of_Goods_Sold="60.00")
def a_deleted_bill_never_was(shop: Shop) -> None:
    shop.buy(1, 10, "6")
    shop.buy(2, 10, "10", "second")
    shop.sell(3, 10)
    shop.delete("second")


@expect(Inventory_Asset="0.00", Cost_of_Goods_Sold="100.00")
def a_void_bill_brings_no_parts(shop: Shop) -> None:
    shop.buy(1, 10, "6")
    shop.buy(2, 10, "10", "second")
    shop.sell(3, 10)
    shop.void("bill")


@expect(on_hand="10", Inventory_Asset="60.00", Cost_of_Goods_Sold="0.00")
def a_deleted_sale_puts_its_parts_back(shop: Shop) -> None:
    shop.buy(1, 10, "6")
    shop.sell(2, 4)
    shop.delete("sale")


@expect(Inventory_Asset="36.00", Cost_of_Goods_Sold="24.00")
def a_sale_that_is_dated_before_the_receipt_costs_what_the_receipt_cost(shop: Shop) -> None:
    shop.buy(5, 10, "6")
    shop.sell(1, 4)


@expect(on_hand="7", Inventory_Asset="42.00", Cost_of_Goods_Sold="18.00")
def parts_that_a_customer_returns_come_back_at_the_average(shop: Shop) -> None:
    shop.buy(1, 10, "6")
    shop.sell(2, 5)
    lines = [{"ItemRef": "Part", "Quantity": 2}]
    shop.enter("return", "CreditMemo", 3, CustomerRef="Ada", CreditMemoLineAdd=lines)


@expect(on_hand="8", Accounts_Payable="46.00")
def parts_that_go_back_to_the_vendor_reduce_the_debt_by_the_credit(shop: Shop) -> None:
    shop.buy(1, 10, "6")
    lines = [{"ItemRef": "Part", "Quantity": 2, "Cost": "7"}]
    shop.enter("credit", "VendorCredit", 2, VendorRef="Supplier", ItemLineAdd=lines)


@expect(on_hand="7", average="6.00", Inventory_Asset="42.00", Shrinkage="18.00")
def lost_parts_are_an_expense_at_the_average(shop: Shop) -> None:
    shop.buy(1, 10, "6")
    lines = [{"ItemRef": "Part", "QuantityAdjustment": {"QuantityDifference": -3}}]
    shop.enter("count", "InventoryAdjustment", 2, AccountRef="Shrinkage", InventoryAdjustmentLineAdd=lines)


@expect(average="5.00", Inventory_Asset="40.00", Shrinkage="10.00", Cost_of_Goods_Sold="10.00")
def a_new_value_sets_the_average_of_later_sales(shop: Shop) -> None:
    shop.buy(1, 10, "6")
    lines = [{"ItemRef": "Part", "ValueAdjustment": {"NewQuantity": 10, "NewValue": "50.00"}}]
    shop.enter("value", "InventoryAdjustment", 2, AccountRef="Shrinkage", InventoryAdjustmentLineAdd=lines)
    shop.sell(3, 2)


# 3 parts for 10.00: 3.33, then 3.33 or 3.34, and nothing is left over
@expect(on_hand="0", Inventory_Asset="0.00", Cost_of_Goods_Sold="10.00")
def the_last_part_takes_the_last_cent(shop: Shop) -> None:
    lines = [{"ItemRef": "Part", "Quantity": 3, "Amount": "10.00"}]
    shop.enter("bill", "Bill", 1, VendorRef="Supplier", ItemLineAdd=lines)
    shop.sell(2, 1)
    shop.sell(3, 2)


@expect(Inventory_Asset="0.00", Cost_of_Goods_Sold="140.00", Accounts_Payable="140.00")
def a_bill_that_is_moved_after_the_sale_costs_the_same_in_the_end(shop: Shop) -> None:
    shop.buy(1, 10, "6")
    shop.buy(2, 10, "8", "second")
    shop.sell(3, 20)
    shop.change("second", TxnDate="2026-07-20")


# Links: an invoice of 100.00 to Ada, of which 60.00 are paid


def _part_paid(shop: Shop) -> None:
    shop.invoice()
    shop.receive("60")


@expect(refused="yes", open_invoice="40.00", customer_Ada="40.00")
def an_invoice_cannot_become_less_than_what_was_paid(shop: Shop) -> None:
    _part_paid(shop)
    shop.change_line("invoice", Rate="50")


@expect(refused="yes", customer_Ada="40.00", customer_Bruno="0.00")
def a_part_paid_invoice_cannot_become_that_of_another_customer(shop: Shop) -> None:
    _part_paid(shop)
    shop.change("invoice", CustomerRef="Bruno")


@expect(refused="yes", open_invoice="40.00", Undeposited_Funds="60.00")
def a_payment_cannot_become_less_than_what_it_pays(shop: Shop) -> None:
    _part_paid(shop)
    shop.change("payment", TotalAmount="30.00")


@expect(open_invoice="0.00", open_payment="60.00", customer_Ada="-60.00", Accounts_Receivable="-60.00")
def a_void_invoice_leaves_its_payment_unused(shop: Shop) -> None:
    _part_paid(shop)
    shop.void("invoice")


@expect(open_invoice="100.00", customer_Ada="100.00", Undeposited_Funds="0.00")
def without_its_payment_an_invoice_is_open_again(shop: Shop) -> None:
    _part_paid(shop)
    shop.delete("payment")


@expect(customer_Ada="-60.00", open_payment="60.00", Sales="0.00")
def a_payment_outlives_its_invoice(shop: Shop) -> None:
    _part_paid(shop)
    shop.delete("invoice")


@expect(refused="yes", Checking="60.00", Undeposited_Funds="0.00", open_invoice="40.00")
def a_deposited_payment_cannot_be_changed(shop: Shop) -> None:
    _part_paid(shop)
    shop.deposit()
    shop.change("payment", TotalAmount="70.00")


@expect(Checking="0.00", Undeposited_Funds="60.00")
def a_deleted_deposit_puts_the_payment_back(shop: Shop) -> None:
    _part_paid(shop)
    shop.deposit()
    shop.delete("deposit")


@expect(refused="yes", open_invoice="40.00", count_ReceivePayment="1")
def what_is_paid_cannot_be_paid_again(shop: Shop) -> None:
    _part_paid(shop)
    shop.receive("50", "second")


@expect(refused="yes", vendor_Supplier="60.00", Rent="90.00")
def a_bill_cannot_become_less_than_what_was_paid(shop: Shop) -> None:
    shop.rent("90")
    shop.pay_bill("30")
    shop.change_line("bill", Amount="20.00")


@expect(vendor_Supplier="90.00", Checking="0.00", Accounts_Payable="90.00")
def a_void_check_pays_nothing(shop: Shop) -> None:
    shop.rent("90")
    shop.pay_bill("30")
    shop.void("check")


# Numbers continue from the last one that was used


def _numbered(shop: Shop, *numbers: str) -> None:
    for place, number in enumerate(numbers, 1):
        shop.invoice(label=f"{place}", **({"RefNumber": number} if number else {}))


@expect(number_2="101", number_last="102")
def a_deleted_number_is_not_used_again(shop: Shop) -> None:
    _numbered(shop, "100", "")
    shop.delete("2")
    shop.invoice(label="last")


@expect(number_2="501", number_4="51")
def numbers_follow_the_one_that_was_used_last_not_the_highest(shop: Shop) -> None:
    _numbered(shop, "500", "", "50", "")


@expect(number_last="INV-010")
def letters_and_zeros_of_a_number_are_kept(shop: Shop) -> None:
    _numbered(shop, "INV-009")
    shop.invoice(label="last")


def _check(shop: Shop, bank: str, label: str, number: str = "") -> None:
    lines = [{"AccountRef": "Rent", "Amount": "1.00"}]
    given: dict[str, Any] = {"RefNumber": number} if number else {}
    shop.enter(label, "Check", AccountRef=bank, ExpenseLineAdd=lines, **given)


@expect(number_other="8", number_next="1002", number_bill_payment="1003")
def each_bank_account_counts_its_checks_with_those_that_pay_bills(shop: Shop) -> None:
    _check(shop, "Checking", "first", "1001")
    _check(shop, "Savings", "saved", "7")
    _check(shop, "Savings", "other")
    _check(shop, "Checking", "next")
    shop.rent("10")
    rows = [{"TxnID": shop.key("bill"), "PaymentAmount": "10.00"}]
    bank: dict[str, Any] = {"PayeeEntityRef": "Supplier", "BankAccountRef": "Checking"}
    shop.enter("bill payment", "BillPaymentCheck", 2, **bank, IsToBePrinted=False, AppliedToTxnAdd=rows)


@expect(number_estimate="8", number_last="101")
def estimates_count_for_themselves(shop: Shop) -> None:
    _numbered(shop, "100")
    fields: dict[str, Any] = {"CustomerRef": "Ada", "EstimateLineAdd": [{"ItemRef": "Work"}]}
    shop.enter("first", "Estimate", RefNumber="7", **fields)
    shop.enter("estimate", "Estimate", **fields)
    shop.invoice(label="last")


# Credits without a payment: an invoice of 100.00 and a credit of 30.00, a bill of 90.00 and a credit of 20.00


@expect(open_invoice="70.00", open_credit="0.00", customer_Ada="70.00", count_ReceivePayment="0")
def a_credit_settles_an_invoice_directly(shop: Shop) -> None:
    shop.invoice()
    shop.credit("30")
    shop.apply("credit", "30.00")


@expect(open_invoice="100.00", open_credit="30.00", customer_Ada="70.00")
def a_credit_is_unused_again_without_the_invoice_that_it_settled(shop: Shop) -> None:
    shop.invoice(label="first")
    shop.credit("30")
    shop.apply("credit", "30.00", "first")
    shop.delete("first")
    shop.invoice()


@expect(open_bill="70.00", vendor_Supplier="70.00", Checking="0.00", count_BillPaymentCheck="0")
def a_credit_of_a_vendor_settles_a_bill_directly(shop: Shop) -> None:
    shop.rent("90")
    lines = [{"AccountRef": "Rent", "Amount": "20.00"}]
    shop.enter("credit", "VendorCredit", VendorRef="Supplier", ExpenseLineAdd=lines)
    shop.pay_bill("0.00", SetCredit={"CreditTxnID": shop.key("credit"), "AppliedAmount": "20.00"})


# Orders and foreign credits


@expect(status="570", count_Invoice="0", Accounts_Receivable="0.00")
def an_order_that_was_closed_by_hand_takes_no_invoice(shop: Shop) -> None:
    shop.order(5)
    shop.change("order", IsManuallyClosed=True)
    shop.fulfil()


@expect(status="570", count_Invoice="1", customer_Ada="100.00")
def an_order_that_is_invoiced_takes_no_second_invoice(shop: Shop) -> None:
    shop.order(5)
    shop.fulfil()
    shop.fulfil(label="second")


@expect(refused="yes", count_Invoice="0", customer_Bruno="0.00")
def an_order_of_another_customer_takes_no_invoice(shop: Shop) -> None:
    shop.order(5)
    shop.fulfil("Bruno")


@expect(refused="yes", count_Invoice="0")
def a_line_that_fulfils_an_order_names_no_item(shop: Shop) -> None:
    shop.order(5)
    shop.fulfil(ItemRef="Part")


@expect(refused="no", open_invoice="75.00", customer_Ada="75.00")
def a_credit_of_a_journal_entry_settles_an_invoice(shop: Shop) -> None:
    shop.invoice()
    shop.journal(("Rent", "25.00", ""), ("Accounts Receivable", "25.00", "Ada"))
    shop.apply("journal", "25.00")


@expect(refused="no", customer_Ada="0.00", Checking="-20.00", Undeposited_Funds="20.00")
def a_payment_settles_a_refund_by_check(shop: Shop) -> None:
    lines = [{"AccountRef": "Accounts Receivable", "Amount": "20.00", "CustomerRef": "Ada"}]
    shop.enter("refund", "Check", AccountRef="Checking", PayeeEntityRef="Ada", ExpenseLineAdd=lines)
    shop.receive("20", invoice="refund")


@expect(refused="yes", open_invoice="100.00", open_credit="30.00")
def a_credit_of_another_customer_settles_nothing(shop: Shop) -> None:
    shop.invoice()
    shop.credit("30", "Bruno")
    shop.apply("credit", "30.00")


@expect(refused="yes", open_invoice="100.00")
def a_credit_in_other_receivables_settles_nothing(shop: Shop) -> None:
    shop.invoice()
    shop.credit("30", ARAccountRef="Second receivables")
    shop.apply("credit", "30.00")


# Entries that an accountant refuses, and their neighbours that are right


@expect(refused="yes", count_JournalEntry="0")
def a_journal_entry_has_one_line_of_receivables(shop: Shop) -> None:
    shop.journal(("Accounts Receivable", "10.00", "Ada"), ("Accounts Receivable", "10.00", "Bruno"))


@expect(refused="yes")
def a_journal_entry_does_not_mix_receivables_and_payables(shop: Shop) -> None:
    shop.journal(("Accounts Receivable", "10.00", "Ada"), ("Accounts Payable", "10.00", "Supplier"))


@expect(refused="yes")
def a_journal_entry_has_no_negative_amounts(shop: Shop) -> None:
    shop.journal(("Rent", "-10.00", ""), ("Checking", "-10.00", ""))


@expect(refused="yes")
def a_journal_entry_names_no_account_that_is_not_posted_to(shop: Shop) -> None:
    shop.journal(("Estimates", "10.00", ""), ("Checking", "10.00", ""))


@expect(refused="yes")
def receivables_in_a_journal_entry_need_a_customer(shop: Shop) -> None:
    shop.journal(("Accounts Receivable", "10.00", ""), ("Sales", "10.00", ""))


@expect(refused="no", customer_Ada="10.00", Sales="10.00")
def a_journal_entry_can_charge_a_customer(shop: Shop) -> None:
    shop.journal(("Accounts Receivable", "10.00", "Ada"), ("Sales", "10.00", ""))


@expect(refused="yes", Sales="0.00")
def an_invoice_is_not_negative(shop: Shop) -> None:
    shop.invoice("-10")


@expect(refused="yes", Accounts_Payable="10.00")
def a_bill_is_not_negative(shop: Shop) -> None:
    shop.rent("10")
    shop.rent("-10", "negative")


@expect(refused="yes", Checking="0.00")
def a_check_is_not_negative(shop: Shop) -> None:
    lines = [{"AccountRef": "Rent", "Amount": "-1.00"}]
    shop.enter("check", "Check", AccountRef="Checking", ExpenseLineAdd=lines)


@expect(refused="yes", Sales="0.00")
def a_transfer_does_not_go_to_income(shop: Shop) -> None:
    accounts: dict[str, Any] = {"TransferFromAccountRef": "Checking", "TransferToAccountRef": "Sales"}
    shop.enter("transfer", "Transfer", **accounts, Amount="10.00")


@expect(refused="no", Checking="-10.00", Savings="10.00")
def a_transfer_goes_from_bank_to_bank(shop: Shop) -> None:
    accounts: dict[str, Any] = {"TransferFromAccountRef": "Checking", "TransferToAccountRef": "Savings"}
    shop.enter("transfer", "Transfer", **accounts, Amount="10.00")


@expect(refused="yes", Rent="0.00")
def a_billable_line_needs_a_customer(shop: Shop) -> None:
    lines = [{"AccountRef": "Rent", "Amount": "10.00", "BillableStatus": "Billable"}]
    shop.enter("bill", "Bill", VendorRef="Supplier", ExpenseLineAdd=lines)


@expect(refused="yes")
def an_item_in_stock_needs_its_accounts(shop: Shop) -> None:
    shop.list_object("ItemInventory", Name="Loose", IncomeAccountRef="Sales")


@expect(refused="yes")
def the_costs_of_an_item_are_not_income(shop: Shop) -> None:
    shop.list_object("ItemInventory", Name="Odd", **{**STOCK, "COGSAccountRef": "Sales"})


@expect(refused="yes")
def the_stock_of_an_item_is_not_an_expense(shop: Shop) -> None:
    shop.list_object("ItemInventory", Name="Odd", **{**STOCK, "AssetAccountRef": "Rent"})


@expect(refused="yes")
def an_account_below_another_has_its_type(shop: Shop) -> None:
    shop.list_object("Account", Name="Petty cash", ParentRef="Checking", AccountType="Expense")


@expect(refused="no")
def an_account_below_another_of_its_type_is_right(shop: Shop) -> None:
    shop.list_object("Account", Name="Petty cash", ParentRef="Checking", AccountType="Bank")


@expect(refused="yes", Checking="0.00")
def an_invoice_is_owed_to_receivables(shop: Shop) -> None:
    shop.invoice(ARAccountRef="Checking")


@expect(refused="yes", Rent="90.00", vendor_Supplier="90.00")
def a_bill_is_not_paid_from_an_expense_account(shop: Shop) -> None:
    shop.rent("90")
    rows = [{"TxnID": shop.key("bill"), "PaymentAmount": "10.00"}]
    bank: dict[str, Any] = {"PayeeEntityRef": "Supplier", "BankAccountRef": "Rent"}
    shop.enter("check", "BillPaymentCheck", 2, **bank, IsToBePrinted=True, AppliedToTxnAdd=rows)


@expect(refused="yes", Shrinkage="0.00")
def a_payment_is_not_deposited_to_an_expense(shop: Shop) -> None:
    shop.invoice()
    rows = [{"TxnID": shop.key("invoice"), "PaymentAmount": "10.00"}]
    to: dict[str, Any] = {"CustomerRef": "Ada", "DepositToAccountRef": "Shrinkage"}
    shop.enter("payment", "ReceivePayment", 2, **to, TotalAmount="10.00", AppliedToTxnAdd=rows)


@expect(refused="yes", Accounts_Payable="0.00")
def a_check_is_not_drawn_on_payables(shop: Shop) -> None:
    lines = [{"AccountRef": "Rent", "Amount": "1.00"}]
    shop.enter("check", "Check", AccountRef="Accounts Payable", ExpenseLineAdd=lines)


# More of each, derived after the first run of those above


@expect(on_hand="10", Inventory_Asset="60.00", Cost_of_Goods_Sold="0.00", Sales="40.00")
def a_sale_that_becomes_one_of_work_takes_no_part(shop: Shop) -> None:
    shop.buy(1, 10, "6")
    shop.sell(2, 2)
    shop.change_line("sale", ItemRef="Work", Quantity="2", Rate="20")


@expect(on_hand="3", Inventory_Asset="18.00", Cost_of_Goods_Sold="42.00", Accounts_Receivable="140.00")
def a_sale_of_more_parts_costs_more(shop: Shop) -> None:
    shop.buy(1, 10, "6")
    shop.sell(2, 4)
    shop.change_line("sale", Quantity="7", Rate="20")


# three bought at 9.00 cover three of five; the last two are still missing and cost 9.00 each
@expect(on_hand="-2", Inventory_Asset="-18.00", Cost_of_Goods_Sold="45.00")
def a_receipt_of_a_part_of_what_is_missing_sets_the_cost_of_all(shop: Shop) -> None:
    shop.sell(1, 5)
    shop.buy(2, 3, "9")


# 2 parts at 6.00 make a gate of 12.00; at 7.50 one of 15.00
@expect(Inventory_Asset="45.00", Cost_of_Goods_Sold="15.00", on_hand="6")
def a_changed_cost_of_a_component_reaches_the_sale_of_the_product(shop: Shop) -> None:
    parts = [{"ItemInventoryRef": "Part", "Quantity": 2}]
    shop.list_object("ItemInventoryAssembly", Name="Gate", SalesPrice="50", **STOCK, ItemInventoryAssemblyLine=parts)
    shop.buy(1, 8, "6")
    shop.enter("build", "BuildAssembly", 2, ItemInventoryAssemblyRef="Gate", QuantityToBuild=1)
    lines = [{"ItemRef": "Gate", "Quantity": 1}]
    shop.enter("sale", "Invoice", 3, CustomerRef="Ada", InvoiceLineAdd=lines)
    shop.change_line("bill", Cost="7.50")


@expect(open_invoice="100.00", customer_Ada="100.00")
def a_void_credit_settles_nothing(shop: Shop) -> None:
    shop.invoice()
    shop.credit("30")
    shop.apply("credit", "30.00")
    shop.void("credit")


@expect(open_payment="40.00", open_invoice="0.00", customer_Ada="-40.00")
def of_two_paid_invoices_the_deleted_one_frees_its_part_alone(shop: Shop) -> None:
    shop.invoice()
    shop.invoice("40", label="second")
    rows = [
        {"TxnID": shop.key("invoice"), "PaymentAmount": "100.00"},
        {"TxnID": shop.key("second"), "PaymentAmount": "40.00"},
    ]
    shop.enter("payment", "ReceivePayment", 2, CustomerRef="Ada", TotalAmount="140.00", AppliedToTxnAdd=rows)
    shop.delete("second")


@expect(open_invoice="0.00", customer_Ada="0.00", Discounts="-2.00", Undeposited_Funds="98.00")
def a_discount_settles_with_the_payment(shop: Shop) -> None:
    shop.invoice()
    row = {"TxnID": shop.key("invoice"), "PaymentAmount": "98.00", "DiscountAmount": "2.00"}
    rows = [{**row, "DiscountAccountRef": "Discounts"}]
    shop.enter("payment", "ReceivePayment", 2, CustomerRef="Ada", TotalAmount="98.00", AppliedToTxnAdd=rows)


@expect(refused="yes", customer_Ada="0.00", Undeposited_Funds="0.00")
def a_void_invoice_takes_no_payment(shop: Shop) -> None:
    shop.invoice()
    shop.void("invoice")
    shop.receive("10")


@expect(refused="yes", open_credit="30.00", open_invoice="100.00")
def a_credit_does_not_settle_more_than_it_is(shop: Shop) -> None:
    shop.invoice()
    shop.credit("30")
    shop.apply("credit", "31.00")


@expect(refused="yes", open_credit="30.00")
def a_credit_does_not_settle_more_than_the_invoice(shop: Shop) -> None:
    shop.invoice("20")
    shop.credit("30")
    shop.apply("credit", "30.00")


@expect(number_last="201")
def a_number_that_is_changed_is_the_last_one_used(shop: Shop) -> None:
    _numbered(shop, "100")
    shop.change("1", RefNumber="200")
    shop.invoice(label="last")


@expect(refused="yes", count_Transfer="0")
def a_transfer_goes_to_another_account(shop: Shop) -> None:
    accounts: dict[str, Any] = {"TransferFromAccountRef": "Checking", "TransferToAccountRef": "Checking"}
    shop.enter("transfer", "Transfer", **accounts, Amount="10.00")


@expect(refused="yes", count_JournalEntry="0")
def debits_equal_credits(shop: Shop) -> None:
    shop.journal(("Rent", "10.00", ""), ("Checking", "9.00", ""))


@expect(refused="yes")
def receivables_in_a_journal_entry_are_not_owed_by_a_vendor(shop: Shop) -> None:
    shop.journal(("Accounts Receivable", "10.00", "Supplier"), ("Sales", "10.00", ""))


@expect(refused="yes")
def payables_in_a_journal_entry_are_not_owed_to_a_customer(shop: Shop) -> None:
    shop.journal(("Rent", "10.00", ""), ("Accounts Payable", "10.00", "Ada"))


@expect(refused="no", vendor_Supplier="10.00", Accounts_Payable="10.00")
def a_journal_entry_can_owe_to_a_vendor(shop: Shop) -> None:
    shop.journal(("Rent", "10.00", ""), ("Accounts Payable", "10.00", "Supplier"))


@expect(refused="yes", Checking="0.00")
def payables_on_a_check_need_a_vendor(shop: Shop) -> None:
    lines = [{"AccountRef": "Accounts Payable", "Amount": "5.00"}]
    shop.enter("check", "Check", AccountRef="Checking", ExpenseLineAdd=lines)


@expect(refused="yes", Checking="0.00")
def receivables_on_a_deposit_need_a_customer(shop: Shop) -> None:
    lines = [{"AccountRef": "Accounts Receivable", "Amount": "5.00"}]
    shop.enter("deposit", "Deposit", DepositToAccountRef="Checking", DepositLineAdd=lines)


@expect(on_hand="10", Inventory_Asset="60.00", Rent="0.00", Cost_of_Goods_Sold="0.00")
def a_bought_part_that_becomes_work_is_not_in_stock(shop: Shop) -> None:
    shop.buy(1, 10, "6")
    shop.buy(2, 2, "9", "second")
    shop.change_line("second", ItemRef="Paint")


@expect(refused="yes", Sales="0.00")
def a_sales_receipt_is_not_negative(shop: Shop) -> None:
    lines = [{"ItemRef": "Work", "Rate": "-5"}]
    shop.enter("receipt", "SalesReceipt", CustomerRef="Ada", SalesReceiptLineAdd=lines)


@expect(refused="yes", Sales="0.00")
def a_credit_is_not_negative(shop: Shop) -> None:
    shop.credit("-5")


@expect(refused="yes", Rent="0.00")
def a_credit_of_a_vendor_is_not_negative(shop: Shop) -> None:
    lines = [{"AccountRef": "Rent", "Amount": "-5.00"}]
    shop.enter("credit", "VendorCredit", VendorRef="Supplier", ExpenseLineAdd=lines)


@expect(refused="no", customer_Ada="0.00", count_Invoice="1")
def an_invoice_of_nothing_is_an_invoice(shop: Shop) -> None:
    shop.invoice("0")


@expect(refused="no", customer_Ada="90.00", Sales="90.00")
def a_line_can_be_negative_if_the_total_is_not(shop: Shop) -> None:
    lines = [{"ItemRef": "Work", "Rate": "100"}, {"ItemRef": "Work", "Rate": "-10"}]
    shop.enter("invoice", "Invoice", CustomerRef="Ada", InvoiceLineAdd=lines)


@expect(refused="yes", Checking="0.00")
def a_customer_is_not_paid_with_a_check_for_bills(shop: Shop) -> None:
    shop.rent("90")
    rows = [{"TxnID": shop.key("bill"), "PaymentAmount": "10.00"}]
    bank: dict[str, Any] = {"PayeeEntityRef": "Ada", "BankAccountRef": "Checking"}
    shop.enter("check", "BillPaymentCheck", 2, **bank, IsToBePrinted=True, AppliedToTxnAdd=rows)


@pytest.mark.parametrize(("place", "question", "expected"), SCENARIOS.cases)
def test_the_books_say_what_an_accountant_expects(place: int, question: str, expected: str) -> None:
    assert SCENARIOS.answer(place, question) == expected
